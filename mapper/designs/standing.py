"""What is known of all candidates of a design space, and which of them may still change the answer.

A candidate is a design with a mapspace. Of each and each workload there are a lower bound of the objective of mappings,
and the value of the best mapping that is known. Arrays over candidates: # (candidate, workload) or (candidate,).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..mapping import Bools, Floats, Ints, frontier
from ..problem import ROUNDING
from .results import SLACK


@dataclass(frozen=True, eq=False)
class Score:
    """A figure of candidates, less is better: the sum over the workloads of factor x objective ** power."""

    text: str  # as the user wrote it
    factors: Floats  # (candidate, workload)
    power: float  # 0: the design alone decides it
    unit: str = ""

    def of(self, objective: Floats, rows: Ints | slice = slice(None)) -> Floats:
        """Its values where the objective has these. # (candidate,)"""
        if not self.power:
            return np.asarray(self.factors[rows].sum(axis=1))
        with np.errstate(over="ignore"):
            return np.asarray((self.factors[rows] * objective[rows] ** self.power).sum(axis=1))


class Ceiling(NamedTuple):
    """A score that may be at most so much."""

    score: Score
    most: float


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is asked of a design space: the best by a score, the frontier of several, or both."""

    minimise: Score | None
    axes: tuple[Score, ...]
    possible: Bools  # candidates that can be made, and keep what is asked of the design alone # (candidate,)
    most: Floats  # that the objective may be, by the constraints # (candidate, workload)
    gap: float = 0.0  # share of a figure that need not be proven
    # whether what is known of a design says nothing of others: with limits of mappings that are not of the objective,
    # or figures of another model
    apart: bool = False
    ceilings: tuple[Ceiling, ...] = ()  # on sums over the workloads

    @property
    def questions(self) -> tuple[tuple[Score, ...], ...]:
        """The scores that are asked about together."""
        return tuple(own for own in ((self.minimise,) if self.minimise else (), self.axes) if own)


class Standing:
    """Bounds and values of all candidates as they become known; several may share them, each with what it wants."""

    def __init__(self, wanted: Wanted, sharing: "Standing | None" = None) -> None:
        self.wanted = wanted
        most, own = wanted.most, sharing
        self.lower: Floats = np.zeros_like(most) if own is None else own.lower
        self.upper: Floats = np.full_like(most, np.inf) if own is None else own.upper
        # nothing more will be known of it
        self.searched: Bools = np.zeros(len(wanted.possible), bool) if own is None else own.searched
        self.outdone: Bools = np.zeros(len(wanted.possible), bool)  # another is as good, whatever its mappings are

    def asked(self, minimise: Score, score: Score, most: float, possible: Bools) -> "Standing":
        """The same bounds and values, of which the least of `minimise` is wanted where `score` is at most so much."""
        own = self.wanted
        wanted = Wanted(minimise, (), possible, own.most, apart=own.apart, ceilings=(Ceiling(score, most),))
        return Standing(wanted, self)

    def raise_lower(self, rows: Ints, objective: Sequence[float]) -> None:
        """Take note that no mapping of these candidates is below `objective` # (workload,)"""
        self.lower[rows] = np.maximum(self.lower[rows], np.asarray(objective))

    def take(self, row: int, objective: Sequence[float]) -> None:
        """Take note of the best mappings known of a candidate: inf where none is # (workload,)"""
        self.searched[row] = True
        self.upper[row] = np.minimum(self.upper[row], np.asarray(objective))

    @property
    def excluded(self) -> Bools:
        """Candidates that cannot keep a limit, have no mapping, or are outdone, by what is proven. # (candidate,)"""
        beyond = np.isinf(self.lower) | (self.lower > self.wanted.most * (1 + ROUNDING))
        above = [score.of(self.lower) > most * (1 + ROUNDING) for score, most in self.wanted.ceilings]
        return np.asarray(np.logical_or.reduce([~self.wanted.possible, beyond.any(axis=1), self.outdone, *above]))

    @property
    def known(self) -> Bools:
        """Candidates with mappings that keep all limits. # (candidate,)"""
        kept = (self.upper <= self.wanted.most * (1 + SLACK)) & (self.upper < np.inf)
        below = [score.of(self.upper) <= most * (1 + SLACK) for score, most in self.wanted.ceilings]
        return np.asarray(np.logical_and.reduce([self.wanted.possible, kept.all(axis=1), *below]))

    @property
    def best_row(self) -> int | None:
        """The best known candidate by what is minimised, the first of equal ones; None: there is none."""
        score, rows = self.wanted.minimise, np.flatnonzero(self.known)
        return None if score is None or not len(rows) else int(rows[score.of(self.upper, rows).argmin()])

    @property
    def comparable(self) -> bool:
        """Whether the best known candidate has a value of which there are shares: above 0, and no overflow."""
        score, row = self.wanted.minimise, self.best_row
        return score is not None and row is not None and 0 < score.of(self.upper, np.array([row]))[0] < np.inf

    def best(self, scores: tuple[Score, ...]) -> Ints:
        """The known candidates that no other is better than, by the first score. # (candidate,)"""
        rows = np.flatnonzero(self.known)
        values = self.values(scores, self.upper, rows)
        on = frontier(values) if len(rows) else np.zeros(0, bool)
        return np.asarray(rows[on][np.lexsort(values[on].T[::-1])])

    def values(self, scores: tuple[Score, ...], objective: Floats, rows: Ints | slice = slice(None)) -> Floats:
        """The scores where the objective has these values. # (candidate, score)"""
        return np.stack([score.of(objective, rows) for score in scores], axis=1)

    def least(self, score: Score) -> float:
        """No candidate has a lower score; inf: none keeps the limits."""
        return float(score.of(self.lower)[~self.excluded].min(initial=np.inf))

    def potential(self) -> Floats:
        """By which factor a candidate may be better than all that is known; at most 1: not at all. # (candidate,)"""
        potential = np.zeros(len(self.wanted.possible))
        for scores in self.wanted.questions:
            lower, best = self.values(scores, self.lower), self.values(scores, self.upper, self.best(scores))
            alone = np.array([not score.power for score in scores])
            potential = np.maximum(potential, _least_factors(lower, best, alone))
        return np.where(self.excluded, 0.0, potential)

    def open(self) -> Bools:
        """Candidates that may change an answer by more than the gap, searched or not. # (candidate,)"""
        return self._beyond_gap(self.potential())

    def _beyond_gap(self, potential: Floats) -> Bools:
        return np.asarray(potential * (1 - self.wanted.gap) > 1 + ROUNDING)

    def waiting(self) -> Floats:
        """The potential of the open candidates of which more can be known; 0 of all others. # (candidate,)"""
        potential = self.potential()
        return np.where(self._beyond_gap(potential) & ~self.searched, potential, 0.0)


def _least_factors(lower: Floats, best: Floats, alone: Bools) -> Floats:
    """By which factor each candidate may be better than the one of `best` that comes nearest. # (candidate,)

    What the design alone decides is compared as it is: no gap makes a larger design as good.
    `lower`: # (candidate, score), `best`: # (known candidate, score), `alone`: # (score,)
    """
    if len(alone) == 2 and alone.sum() == 1:  # of area and EDP: the least EDP of all that are no larger
        size, value = int(alone.argmax()), int(alone.argmin())
        best = best[np.argsort(best[:, size], kind="stable")]
        least = np.array([np.inf, *np.minimum.accumulate(best[:, value])])
        no_larger = np.searchsorted(best[:, size], lower[:, size], side="right")
        return np.where(no_larger > 0, _factors(least[no_larger], lower[:, value]), np.inf)
    better = np.full(len(lower), np.inf)
    for own in best:
        factors = np.where(alone, np.where(own <= lower, 0.0, np.inf), _factors(own, lower))
        better = np.minimum(better, factors.max(axis=1))
    return better


def _factors(value: Floats, lower: Floats) -> Floats:
    """The value over its bound; 1 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(value / lower, nan=1.0, posinf=np.inf)
