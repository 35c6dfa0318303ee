"""The table of designers: a new one is a file and a line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .branch_and_bound import BranchAndBound
from .designer import Designer
from .one_by_one import Optuna, RandomOrder
from .space import Space
from .standing import Standing

Make = Callable[[Space, Standing, int, int], Designer]  # with how many trials side by side, and a seed


@dataclass(frozen=True)
class DesignerRow:
    """A designer, and what it needs."""

    make: Make | None  # None: every point is searched, in turn
    by_bounds: bool = False  # whether it needs searches that prove
    package: str = ""  # that has to be installed, of the extra of the same name


DESIGNERS: Mapping[str, DesignerRow] = {
    "grid": DesignerRow(None),
    "branch-and-bound": DesignerRow(lambda space, standing, width, _: BranchAndBound(space, standing, width), True),
    "random": DesignerRow(RandomOrder),
    "optuna": DesignerRow(Optuna, package="optuna"),
}
GRID, DEFAULT = "grid", "branch-and-bound"  # without and with something to be found
