"""Mixed-integer linear programmes, solved by HiGHS: forms of their variables, rows, and a solution."""

import ctypes
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ...mapping import Floats

GAP = 1e-4  # relative, of the goal, a logarithm of 20 to 40: less than half a percent
SLACK = 1e-7  # of a row: logarithms are rounded

_OPTIMAL, _LIMIT = 0, 1  # status codes of scipy.optimize.milp


@dataclass(frozen=True, eq=False)
class Form:
    """A linear form: a constant, and a factor for each of some variables."""

    factors: Mapping[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def __add__(self, other: "Form | float") -> "Form":
        if not isinstance(other, Form):
            return Form(self.factors, self.constant + other)
        factors = dict(self.factors)
        for variable, factor in other.factors.items():
            factors[variable] = factors.get(variable, 0.0) + factor
        return Form(factors, self.constant + other.constant)

    def __sub__(self, other: "Form") -> "Form":
        return self + other * -1.0

    def __mul__(self, factor: float) -> "Form":
        return Form({variable: own * factor for variable, own in self.factors.items()}, self.constant * factor)

    def at(self, point: Floats) -> float:
        """Return its value at a point # (variable,)."""
        return self.constant + sum(factor * float(point[variable]) for variable, factor in self.factors.items())


def total(forms: Iterable[Form]) -> Form:
    """Add forms."""
    factors, constant = dict[int, float](), 0.0
    for form in forms:
        constant += form.constant
        for variable, factor in form.factors.items():
            factors[variable] = factors.get(variable, 0.0) + factor
    return Form(factors, constant)


@dataclass(frozen=True, eq=False)
class Solution:
    """What a programme was solved to."""

    point: Floats | None  # (variable,); None: none was found
    cut_off: bool  # time was up before it was proven the best


class Programme:
    """Variables within limits, and rows: forms within limits."""

    def __init__(self) -> None:
        self._limits: list[tuple[float, float, bool]] = []  # per variable: least, most, whether it is whole
        self._rows: list[tuple[Form, float, float]] = []

    def variable(self, least: float = 0.0, most: float = inf, *, whole: bool = False) -> Form:
        """Add a variable."""
        self._limits.append((least, most, whole))
        return Form({len(self._limits) - 1: 1.0})

    def choice(self) -> Form:
        """Add a variable that is 0 or 1."""
        return self.variable(0.0, 1.0, whole=True)

    def require(self, form: Form, least: float = -inf, most: float = inf) -> None:
        """Add a row."""
        self._rows.append((form, least, most))

    def most(self, form: Form) -> float:
        """Return the most that a form reaches within the limits of its variables."""
        ends = (factor * self._limits[v][int(factor > 0)] for v, factor in form.factors.items())
        return form.constant + sum(ends)

    def solve(self, goal: Form, seconds: float) -> Solution:
        """Minimise `goal`, for so many seconds at most."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # takes half a second to import

        n = len(self._limits)
        least, most, whole = (np.array(column, float) for column in zip(*self._limits, strict=True))
        matrix = np.zeros((len(self._rows), n))
        low, high = np.empty(len(self._rows)), np.empty(len(self._rows))
        for i, (form, lower, upper) in enumerate(self._rows):
            matrix[i, list(form.factors)] = list(form.factors.values())
            low[i], high[i] = lower - form.constant - SLACK, upper - form.constant + SLACK
        costs = np.zeros(n)
        costs[list(goal.factors)] = list(goal.factors.values())
        rows, options = LinearConstraint(matrix, low, high), {"time_limit": seconds, "mip_rel_gap": GAP}
        with _silent():
            result = milp(costs, integrality=whole, bounds=Bounds(least, most), constraints=rows, options=options)
        return Solution(result.x if result.status in (_OPTIMAL, _LIMIT) else None, result.status == _LIMIT)


@contextmanager
def _silent() -> Iterator[None]:
    """Drop what native code writes to standard output: HiGHS has a print left in, which would spoil --json."""
    if os.name != "posix":
        yield
        return
    native = ctypes.CDLL(None)
    native.fflush(None)
    try:
        kept = os.dup(1)
    except OSError:  # standard output is closed
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        native.fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
