"""The table of designers: a new one is a file and a line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .branch_and_bound import BranchAndBound
from .designer import Designer, Settings
from .one_by_one import Optuna, RandomOrder
from .space import Space
from .standing import Standing

Make = Callable[[Space, Standing, Settings], Designer]


@dataclass(frozen=True)
class DesignerRow:
    """A designer, and what it needs."""

    make: Make | None  # None: every point is searched, in turn
    by_bounds: bool = False  # whether it needs searches that prove
    package: str = ""  # that has to be installed, of the extra of the same name


DESIGNERS: Mapping[str, DesignerRow] = {
    "grid": DesignerRow(None),
    "branch-and-bound": DesignerRow(BranchAndBound, by_bounds=True),
    "random": DesignerRow(RandomOrder),
    "optuna": DesignerRow(Optuna, package="optuna"),
}
GRID, DEFAULT = "grid", "branch-and-bound"  # without and with something to be found
