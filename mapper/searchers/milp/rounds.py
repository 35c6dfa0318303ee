"""One programme, solved round after round: each adds the tangents of its sums at the solution before."""

from collections.abc import Sequence
from math import inf

from ...mapping import Bools, Floats, Ints
from ...search import Task
from .factors import Factors
from .programme import Programme
from .traffic import Traffic

CLOSE = 1e-3  # of logarithms: as good as equal
ROOM = 1e-6  # of a memory


class Rounds:
    """The programme of one choice of kept tensors # (level, tensor), with the sizes that each dim may have."""

    def __init__(self, task: Task, keep: Bools, sizes: Sequence[Sequence[int]]) -> None:
        self.programme = Programme()
        self.factors = Factors(self.programme, task.space, keep, sizes)
        self.traffic = Traffic(task, self.factors)
        self.goal = self.traffic.goal(task.objective.powers)
        self.capacities = self.factors.capacities()
        for share in self.capacities:
            for form in share.floors():
                self.programme.require(form, most=0.0)
        for figure, variable in self.traffic.sums:
            for form in figure.floors():
                self.programme.require(form - variable, most=0.0)
        self.over = False  # whether a further round would bring nothing
        self.cut_off = False  # whether time was up for a solution
        self._best = inf  # the goal of the best solution that fits

    def solve(self, seconds: float) -> Ints | None:
        """Solve it once more, for so many seconds at most. # (slot, dim); None: no solution, or none in time"""
        solution = self.programme.solve(self.goal, seconds)
        self.cut_off |= solution.cut_off
        if solution.point is None:
            self.over = True
            return None
        self._add_tangents(solution.point)
        return self.factors.bounds(solution.point)

    def _add_tangents(self, point: Floats) -> None:
        """Add the tangents of what a solution has wrong; `over` where it is little, or one before is as good."""
        true, fits = point.copy(), True
        for share in self.capacities:
            if share.at(point) > ROOM:
                self.programme.require(share.tangent(point), most=0.0)
                fits = False
        for figure, variable in self.traffic.sums:
            (index,) = variable.factors
            value = figure.at(true)
            true[index] = value if figure is self.traffic.sums[0][0] else max(value, true[index])
            self.programme.require(figure.tangent(point) - variable, most=0.0)
        if fits:
            self._best = min(self._best, self.goal.at(true))
        self.over = self._best - self.goal.at(point) <= CLOSE
