"""Evaluates combinations of chains for `--search optimal`: finds their best loop orders, counts and offers them.

Where the closed form is flagged, exact counts decide about the best order; where they cannot, every order is tried.
Where there are too many orders, the combination stays open and its bound limits the proof.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

import numpy as np

from ...mapping import Bools, Floats, Ints, MappingBatch
from ...model import InternalError, evaluate, recount, validity
from ...model.bounds import ROUNDING, Charge, Relaxation, charges
from ..coverage import Coverage
from ..recorder import Recorder
from ..strategy import Task
from .best_orders import best_orders
from .chain_groups import ChainGroups, mappings_of
from .incumbents import Incumbents

EVALUATED = 2048  # chain combinations evaluated at once
MOST_ORDERS = 5_000  # loop orders tried for a combination of chains where energy alone does not decide


@dataclass(eq=False)
class LeafEvaluator:
    """Makes mappings from combinations of chains and their best orders, and offers them as incumbents."""

    task: Task
    incumbents: Incumbents
    recorder: Recorder
    late: Callable[[], bool]  # whether time is up
    unresolved: float = np.inf  # the least bound of chains whose best order is uncertain

    def __post_init__(self) -> None:
        self.chains = ChainGroups(self.task.space)

    def offer(self, batch: MappingBatch) -> None:
        """Offer the single mapping of `batch`, counted exactly."""
        costs = evaluate(batch, self.task.table, self.task.costs, recount(batch))
        if self.incumbents.offer(batch, float(costs.energy_pj[0]), float(costs.cycles[0])):
            self.recorder.best = self.incumbents.least
            self.recorder.statistics.trace.append((self.recorder.statistics.evaluated, self.incumbents.least))

    def see(self, rows: Ints, bounds: Floats, relaxed: Relaxation) -> Coverage:
        """Evaluate the combinations `rows` # (combination, group) whose bounds are still below the cutoff."""
        seen, statistics = Coverage(), self.recorder.statistics
        for start in range(0, len(rows), EVALUATED):
            part = slice(start, start + EVALUATED)
            hope = bounds[part] < self.incumbents.cutoff * (1 - ROUNDING)
            number, before = int(hope.sum()), statistics.valid
            if number:
                self.evaluate(rows[part][hope], bounds[part][hope], relaxed)
            valid = statistics.valid - before
            seen += Coverage(valid, number - valid, len(hope) - number)
        return seen

    def evaluate(self, rows: Ints, bounds: Floats, relaxed: Relaxation) -> Floats:
        """Evaluate each combination in its best orders; return its merit, inf where invalid. # (combination,)"""
        values = np.full(len(rows), np.inf)
        batch = self._batch(rows, relaxed)
        reasons = validity(batch)
        valid = np.flatnonzero(reasons == 0)
        self.recorder.statistics.count(reasons)
        if not len(valid):
            return values
        batch, bounds = batch.take(valid), bounds[valid]
        costs = evaluate(batch, self.task.table, self.task.costs)
        values[valid] = self.incumbents.merit(costs.energy_pj, costs.cycles)
        known = np.isfinite(bounds)
        if (values[valid][known] < bounds[known] - ROUNDING * abs(bounds[known])).any():
            raise InternalError("internal error: a mapping is below the bound of its chains; please report it")
        for i in self.incumbents.promising(costs.energy_pj, costs.cycles).tolist():
            self.offer(batch.take([i]))
        # where a bandwidth binds another order may need fewer cycles, unless none can
        slow = costs.cycles > costs.counts.cycles
        if slow.any():
            chosen = rows[valid]
            slow &= costs.cycles > relaxed.bound(lambda g, c: relaxed.columns[g][c][chosen[:, g]], len(chosen)).cycles
        self._settle(batch, bounds, ~costs.counts.exact | slow)
        return values

    def _charges(self, keep: Bools) -> list[Charge]:
        return charges(self.task.space.arch, self.task.space.workload, self.task.table, keep, self.task.costs)

    def _batch(self, rows: Ints, relaxed: Relaxation) -> MappingBatch:
        batch = mappings_of(self.task.space, relaxed.groups, rows, relaxed.keep)
        return replace(batch, order=best_orders(batch, self._charges(relaxed.keep), self.task.space.orders.levels))

    def _settle(self, batch: MappingBatch, bounds: Floats, doubtful: Bools) -> None:
        """Find the best loop orders of the mappings whose order the energy by closed form does not decide."""
        for i in np.flatnonzero(doubtful).tolist():
            if bounds[i] < self.incumbents.cutoff * (1 - ROUNDING):
                mapping = batch.take([i])
                if self.late() or not (self._recounted(mapping) or self._tried(mapping)):
                    self.unresolved = min(self.unresolved, float(bounds[i]))

    def _tried(self, batch: MappingBatch) -> bool:
        """Offer the single mapping of `batch` in every order, counted exactly.

        Returns False where there are too many orders, or time is up.
        """
        every = self._every_order(batch)
        if every is None:
            return False
        costs = evaluate(every, self.task.table, self.task.costs)
        some = range(len(every))
        if costs.counts.exact.all():
            some = self.incumbents.promising(costs.energy_pj, costs.cycles).tolist()
        for j in some:
            if self.late():
                return False
            self.offer(every.take([j]))
        return True

    def _recounted(self, batch: MappingBatch) -> bool:
        """Offer the single mapping of `batch` in the order with the least energy by exact counts.

        Returns whether that order is certainly the best: not where a bandwidth binds, as another order may need fewer
        cycles.
        """
        best = best_orders(batch, self._charges(batch.keep[0]), self.task.space.orders.levels, recounted=True)
        batch = replace(batch, order=best)
        self.offer(batch)
        costs = evaluate(batch, self.task.table, self.task.costs, recount(batch))
        return bool(costs.cycles[0] <= costs.counts.cycles[0])

    def _every_order(self, batch: MappingBatch) -> MappingBatch | None:
        """Make the single mapping of `batch` in every order that may matter; None if there are too many."""
        temporal = [s for s, slot in enumerate(batch.arch.slots) if not slot.spatial]
        choices = []
        for s, level in zip(temporal, self.task.space.orders.levels, strict=True):
            moving = [d for d in level.free if batch.tables[d].bounds[batch.rows[0, d], s] > 1]
            front = (*level.outermost, *level.idle, *(d for d in level.free if d not in moving))
            choices.append([(*front, *middle, *level.innermost) for middle in permutations(moving)])
        if prod(map(len, choices)) > MOST_ORDERS:
            return None
        orders = np.array(list(product(*choices)), np.int8)
        return replace(batch.take(np.zeros(len(orders), np.int64)), order=orders)
