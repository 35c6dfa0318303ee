"""Screening: which mappings of a draw could be recorded, by a compiled engine; their values, by NumPy.

An engine's energies may differ from NumPy's in the last bits. So they decide nothing alone: a mapping that could be an
improvement, or on the front, if its values were off by SLACK is evaluated again. After the first chunks those are few.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....energy import EnergyTable
from ...mapping import Floats, Ints, covered, uncovered_by_earlier
from ...mapspace import LazyBatch, Mapspace
from ...model import CostOptions, Objective, evaluate
from ..pruning import Pruning, may_precede
from ..recorder import ToBeat
from .engine import Engine, Sight

SLACK = 1e-9  # relative; sums of some hundred energies differ by 1e-14 or so
FEW = 4096  # mappings, for which NumPy's bounds cost less than drawing loop orders for all of their chunks
WHOLE = 2.0**53  # whole numbers below are the same in every engine


@dataclass(frozen=True, eq=False)
class Prefiltered:
    """The mappings of one draw after screening."""

    reasons: NDArray[np.int8]  # (mapping,) 0 valid
    where: Ints  # (left,) the valid ones that no bound ruled out
    values: Floats  # (left, objective) NumPy's; inf where the mapping cannot be recorded


@dataclass(frozen=True, eq=False)
class Prefilter:
    """The screen of one mapspace."""

    space: Mapspace
    table: EnergyTable
    costs: CostOptions
    objectives: tuple[Objective, ...]  # those to minimise, then the axes of the front
    several: int  # of them to minimise
    pruning: Pruning | None = None

    def screen(self, draws: Iterable[LazyBatch], known: ToBeat, seen: int) -> list[Prefiltered]:
        """Of each of `draws` what may improve on `known` and on the draws before it, after `seen` mappings."""
        engine = self.engine
        looked = _ahead((draw, engine.look(draw)) for draw in draws)
        firsts = [(draw, *self._first(sight, known)) for draw, sight in looked]
        left = LazyBatch.joined([draw.take(where) for draw, _, where in firsts])
        ends = np.cumsum([len(where) for _, _, where in firsts])[:-1]
        values = np.split(self._values(engine, left, known, seen), ends)
        return [Prefiltered(reasons, where, own) for (_, reasons, where), own in zip(firsts, values, strict=True)]

    @property
    def engine(self) -> Engine:
        """What runs the model."""
        from .jax_engine import BLOCK, SMALL_BLOCK, jax_engine  # which imports jax

        return jax_engine(self.space, self.table, self.costs, self.objectives, SMALL_BLOCK if self.pruning else BLOCK)

    def _first(self, sight: Sight, known: ToBeat) -> tuple[NDArray[np.int8], Ints]:
        """The reason codes, and which mappings are valid and may improve on what is `known` at first sight."""
        reasons = sight.reasons()
        left = np.flatnonzero(reasons == 0)
        if self.pruning:
            left = left[self.pruning.first_sight(sight.cycles()[left], known)]
        return reasons, left

    def _values(self, engine: Engine, draw: LazyBatch, known: ToBeat, seen: int) -> Floats:
        """NumPy's values of what could be recorded, inf of the rest. # (mapping, objective)"""
        values = np.full((len(draw), len(self.objectives)), np.inf)
        left = np.arange(len(draw))
        if self.pruning and len(draw) <= FEW:
            left = self.pruning.hopeful(draw, known, seen)
        if left.size:
            left = left[may_improve(engine.values(draw.take(left)), self.objectives, self.several, known)]
        if left.size:
            costs = evaluate(draw.take(left), self.table, self.costs)
            values[left] = np.stack([objective.of(costs) for objective in self.objectives], axis=1)
        return values


def _ahead[T](items: Iterable[T]) -> Iterator[T]:
    """The items, each when the next one is there already: what it began has gone on meanwhile."""
    waiting: list[T] = []
    for item in items:
        waiting.append(item)
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting


def may_improve(values: Floats, objectives: Sequence[Objective], several: int, known: ToBeat) -> Ints:
    """Which mappings could be recorded, of values that may be off by SLACK # (mapping, objective), `several` to
    minimise and the rest axes of a front: those not surely behind `known`, or behind one before them. # (found,)"""
    low, high = _around(values, objectives)
    before = np.minimum.accumulate(np.concatenate([[np.inf], high[:-1, 0]]))
    promising = may_precede(list(low[:, :several].T), known.values)
    promising &= low[:, 0] < before if several == 1 else low[:, 0] <= before
    if several < len(objectives):
        low, high = low[:, several:], high[:, several:]
        open_ = np.flatnonzero(~covered(low, known.front))
        promising[open_[uncovered_by_earlier(low[open_], high[open_])]] = True
    return np.flatnonzero(promising)


def _around(values: Floats, objectives: Sequence[Objective]) -> tuple[Floats, Floats]:
    """Bounds on NumPy's values: cycles are whole numbers, the same in every engine while they are small enough."""
    slack = np.full_like(values, SLACK)
    for column, objective in enumerate(objectives):
        if objective.whole:
            slack[values[:, column] < WHOLE, column] = 0.0
    return values * (1 - slack), values * (1 + slack)
