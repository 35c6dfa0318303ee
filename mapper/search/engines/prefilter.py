"""Screens draws: a compiled engine selects the mappings that could be recorded, and NumPy evaluates them.

An engine's energies may differ from NumPy's in the last bits, so they decide nothing alone: NumPy evaluates every
mapping that, with values off by SLACK, could improve the best or the front. After the first chunks those are few.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...mapping import Floats, Ints, dominated, uncovered_by_earlier
from ...mapspace import LazyBatch, Mapspace
from ...problem import Objective
from ..pruning import Pruning
from ..recorder import RecordThreshold
from ..values import Valuation, may_precede
from .engine import Engine, Sight

SLACK = 1e-9  # relative; sums of some hundred energies differ by 1e-14 or so
FEW = 4096  # for so few mappings NumPy's bounds cost less than drawing the loop orders of all their chunks
WHOLE = 2.0**53  # smaller whole numbers are the same in every engine


@dataclass(frozen=True, eq=False)
class Prefiltered:
    """The mappings of one draw after screening."""

    reasons: NDArray[np.int8]  # (mapping,) 0 valid
    where: Ints  # (left,) the valid mappings that no bound ruled out
    values: Floats  # (left, objective) NumPy's; inf where the mapping cannot be recorded


@dataclass(frozen=True, eq=False)
class Prefilter:
    """The screen for the mappings of one mapspace."""

    space: Mapspace
    valuation: Valuation
    pruning: Pruning | None = None

    def screen(self, draws: Iterable[LazyBatch], known: RecordThreshold, seen: int) -> list[Prefiltered]:
        """Select from each of `draws` the mappings that may improve on `known` and on the draws before it.

        `seen` is the number of mappings before them.
        """
        engine = self.engine
        looked = _ahead((draw, engine.look(draw)) for draw in draws)
        firsts = [(draw, *self._first(sight, known)) for draw, sight in looked]
        remaining = LazyBatch.joined([draw.take(where) for draw, _, where in firsts])
        ends = np.cumsum([len(where) for _, _, where in firsts])[:-1]
        values = np.split(self._values(engine, remaining, known, seen), ends)
        return [Prefiltered(reasons, where, own) for (_, reasons, where), own in zip(firsts, values, strict=True)]

    @property
    def engine(self) -> Engine:
        """The compiled engine that runs the model."""
        from .jax_engine import BLOCK, SMALL_BLOCK, jax_engine

        rank, block = self.valuation, SMALL_BLOCK if self.pruning else BLOCK
        return jax_engine(self.space, rank.table, rank.costs, rank.columns, block)

    def _first(self, sight: Sight, known: RecordThreshold) -> tuple[NDArray[np.int8], Ints]:
        """Return the reason codes, and the valid mappings whose cycles leave room to improve on `known`."""
        reasons = sight.reasons()
        remaining = np.flatnonzero(reasons == 0)
        if self.pruning:
            remaining = remaining[self.pruning.first_sight(sight.cycles()[remaining], known)]
        return reasons, remaining

    def _values(self, engine: Engine, draw: LazyBatch, known: RecordThreshold, seen: int) -> Floats:
        """Evaluate with NumPy the mappings that could be recorded; inf for the others. # (mapping, objective)"""
        values = np.full((len(draw), len(self.valuation.columns)), np.inf)
        remaining = np.arange(len(draw))
        if self.pruning and len(draw) <= FEW:
            remaining = self.pruning.hopeful(draw, known, seen)
        if remaining.size:
            least, most = engine.values(draw.take(remaining))
            remaining = remaining[may_improve(least, most, self.valuation.columns, self.valuation.several, known)]
        if remaining.size:
            values[remaining] = self.valuation.values(draw.take(remaining), known)
        return values


def _ahead[T](items: Iterable[T]) -> Iterator[T]:
    """Yield each item after its successor has been made, so that the item's computation runs in the background."""
    waiting: list[T] = []
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting


def may_improve(
    least: Floats, most: Floats, objectives: Sequence[Objective], several: int, known: RecordThreshold
) -> Ints:
    """Select the mappings that could be recorded: those not surely beaten by `known` or by an earlier mapping.

    Their values are at `least` and at `most` these, which may be off by SLACK # (mapping, objective); the first
    `several` are to be minimised, the others are axes of a front. Returns indices. # (selected,)
    """
    low, high = _around(least, objectives)[0], _around(most, objectives)[1]
    before = np.minimum.accumulate(np.concatenate([[np.inf], high[:-1, 0]]))
    promising = may_precede(list(low[:, :several].T), known.values)
    promising &= low[:, 0] < before if several == 1 else low[:, 0] <= before
    if several < len(objectives):
        low, high = low[:, several:], high[:, several:]
        open_ = np.flatnonzero(~dominated(low, known.front))
        promising[open_[uncovered_by_earlier(low[open_], high[open_])]] = True
    return np.flatnonzero(promising)


def _around(values: Floats, objectives: Sequence[Objective]) -> tuple[Floats, Floats]:
    """Bound NumPy's values from below and above. Cycles are whole numbers, exact in every engine while below WHOLE."""
    slack = np.full_like(values, SLACK)
    for column, objective in enumerate(objectives):
        if objective.whole:
            slack[values[:, column] < WHOLE, column] = 0.0
    return values * (1 - slack), values * (1 + slack)
