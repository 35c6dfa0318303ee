"""The pictures that a sweep has, and when they can be drawn."""

from ..report import Drawing, Renderer
from .picture import draw_pareto
from .result import SweepResult


def _nothing_found(sweep: SweepResult) -> str:
    return "" if sweep.fronts else "no point has a mapping"


OF_SWEEP: tuple[Renderer[SweepResult], ...] = (Drawing("pareto", draw_pareto, _nothing_found),)
