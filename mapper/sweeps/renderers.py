"""The pictures that a sweep has, and when they can be drawn."""

from typing import TYPE_CHECKING

from ..report import Drawing, Renderer
from .bounded_picture import draw_bounded
from .picture import draw_pareto
from .result import SweepResult
from .tornado import draw_tornado, why_no_tornado

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_sweep(swept: SweepResult, axes: "Axes | None" = None) -> "Figure":
    """Draw the points of a grid and their frontiers, or what a designer found and what it leaves open."""
    return draw_pareto(swept, axes) if swept.plan.grid else draw_bounded(swept, axes)


def _nothing_found(sweep: SweepResult) -> str:
    return "" if sweep.fronts else "no point has a mapping"


OF_SWEEP: tuple[Renderer[SweepResult], ...] = (
    Drawing("pareto", draw_sweep, _nothing_found),
    Drawing("tornado", draw_tornado, why_no_tornado),
)
