"""What a designer found, or a grid: what is known of each design, and how far it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from ..designs import Standing
from ..exploration import distinct_layers
from ..exploration.sets import NONE
from ..problem import OBJECTIVES
from ..report import gap_between
from .candidates import Candidates
from .plan import Plan, Point
from .store import FOUND, PointOutcome


@dataclass(frozen=True)
class OptimiseProgress:
    """How far a designer is."""

    proofs: int  # of layers
    open: int  # candidates that may still change the answer
    candidates: int
    best: float  # of what is minimised, or on the last axis; inf: none
    least: float  # nothing is below it

    @property
    def gap(self) -> float:
        """The share by which the best may be lower."""
        return gap_between(self.best, self.least)


@dataclass(eq=False)
class Optimised:
    """What a designer found."""

    candidates: Candidates
    standing: Standing
    outcomes: dict[int, PointOutcome] = field(default_factory=dict)  # by the point's number
    proofs: int = 0  # of layers, of sets and of designs
    proofs_beside: int = 0  # of the designs beside the best, for its sensitivity
    made: int = 0  # pieces that were not in the store
    interrupted: bool = False

    @cached_property
    def faulty(self) -> dict[int, str]:
        """By candidate why it cannot be made, or not be judged."""
        return {row: self.candidates.why_not(row) for row in np.flatnonzero(~self.candidates.made).tolist()}

    def outcome(self, row: int, workload: str) -> PointOutcome | None:
        """What the search of a candidate came to, of several seeds the best; None where there was none."""
        plan, (design, mapspace) = self.candidates.plan, self.candidates.place(row)
        numbers = [plan.number(Point(design, workload, mapspace, seed)) for seed in plan.seeds]
        outcomes = [self.outcomes[number] for number in numbers if number in self.outcomes]
        return min(outcomes, key=lambda outcome: (interval(plan, outcome)[1], outcome.status != FOUND), default=None)

    @property
    def layers(self) -> int:
        """Layers of all workloads, equal ones of a network once."""
        return sum(len(distinct_layers(work)) for work in self.candidates.plan.workloads.values())

    @property
    def all_proofs(self) -> int:
        """Proofs of the answer and of what was asked beside it."""
        return self.proofs + self.proofs_beside

    @property
    def progress(self) -> OptimiseProgress:
        """How far it is."""
        standing = self.standing
        score = standing.wanted.questions[0][-1]
        rows = np.flatnonzero(standing.known)
        best = float(score.of(standing.upper, rows).min(initial=inf))
        return OptimiseProgress(
            self.all_proofs, int(standing.open().sum()), len(self.candidates), best, standing.least(score)
        )


def proofs_of(result: Any) -> int:
    """How many layers were proven, or begun to be: not known from a machine that allows more."""
    if isinstance(result, PointOutcome):
        whole: Any = result.result or {}
        return sum(bool(layer["search"]["steps"]) for layer in whole.get("layers", [whole] if whole else []))
    return sum(bool(layer["steps"]) for layer in result["layers"])


def of_grid(plan: Plan, outcomes: Mapping[int, PointOutcome]) -> Optimised:
    """What the points of a grid say: of several seeds the least value and the largest bound."""
    candidates = Candidates.of(plan, 1)
    standing = standing_of(candidates)
    optimised = Optimised(candidates, standing, dict(outcomes))
    for number, outcome in outcomes.items():
        row, workload = candidates.row(plan.point(number))
        optimised.proofs += proofs_of(outcome)
        standing.searched[row] = True
        lower, upper = interval(plan, outcome)
        standing.lower[row, workload] = max(standing.lower[row, workload], lower)
        standing.upper[row, workload] = min(standing.upper[row, workload], upper)
    return optimised


def standing_of(candidates: Candidates, *, apart: bool = False) -> Standing:
    """What is asked of the candidates, of which nothing is known yet.

    With `apart`, and of plans, what is proven of one design says nothing of another.
    """
    wanted = candidates.plan.question.wanted(candidates.known)
    return Standing(replace(wanted, apart=wanted.apart or apart or candidates.plan.fuse != NONE))


def interval(plan: Plan, outcome: PointOutcome) -> tuple[float, float]:
    """What no mapping of a point that keeps all limits is below by the objective, and the best that is known.

    Both are inf where there is proven to be none, and the second where none is known.
    """
    whole: Any = outcome.result
    if outcome.none_keeps:
        return inf, inf
    if outcome.status != FOUND or whole is None:
        return 0.0, inf
    bound = whole.get("lower_bound") if outcome.least is None else outcome.least
    return float(bound or 0.0), float(whole[OBJECTIVES[plan.question.objective].column]) if outcome.kept else inf
