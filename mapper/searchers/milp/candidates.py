"""The mappings that a solution leads to: repaired, in their best loop orders, and counted exactly."""

from dataclasses import dataclass, replace

import numpy as np

from ...bounds import charges
from ...mapping import Bools, Ints, MappingBatch, unique_rows
from ...mapspace import sorted_placement
from ...model import validity
from ...proof import best_orders
from ...search import RecordThreshold, Scores, Task
from ...search.variation import Individuals, MappingSampler
from .roundings import raised

REPAIRS = 64  # bounds halved of one mapping at most
COPIES = 16  # of a solution that does not fit: each is repaired in a way of its own


@dataclass(frozen=True, eq=False)
class ScoredCandidates:
    """Some mappings with their scores, and those that a record may name."""

    scores: Scores
    individuals: Individuals
    named: Ints  # places in `individuals`


class Candidates:
    """Makes mappings of solutions."""

    def __init__(self, task: Task) -> None:
        self.task, self.space = task, task.space
        self._repair = MappingSampler(task.space).repair
        orders = self.space.orders.levels
        self._order = np.array([[*o.outermost, *o.idle, *o.free, *o.innermost] for o in orders], np.int8)

    def scored(self, bounds: Ints, keep: Bools, chunk: int) -> ScoredCandidates | None:
        """Make and score the mappings of a solution # (slot, dim), and of it with axes filled; None where none can be
        made to fit."""
        individuals = self._fitted(self._individuals(raised(self.space, bounds), keep))
        if not len(individuals):
            individuals = self._fitted(self._individuals(np.repeat(bounds[None], COPIES, axis=0), keep))
        if not len(individuals):
            return None
        batch = self._arranged(individuals, keep)
        scores = self._scores(batch, chunk)
        ordered = Individuals(batch.factors, batch.order, batch.keep)
        return ScoredCandidates(scores, ordered, np.union1d(scores.records, scores.candidates))

    def _individuals(self, bounds: Ints, keep: Bools) -> Individuals:
        n = len(bounds)
        return Individuals(bounds, np.repeat(self._order[None], n, axis=0), np.repeat(keep[None], n, axis=0))

    def _fitted(self, individuals: Individuals) -> Individuals:
        """Make bounds chains of the mapspace, and tiles fit; the same at every call."""
        fit = self._repair.fitted(individuals, np.random.default_rng(0), REPAIRS)
        bounds, _ = unique_rows(fit.bounds)
        return self._individuals(bounds, individuals.keep[0])

    def _arranged(self, individuals: Individuals, keep: Bools) -> MappingBatch:
        """Give them their best loop orders."""
        space, task = self.space, self.task
        batch = MappingBatch.of(space.arch, space.workload, individuals.bounds, individuals.order, individuals.keep)
        moved = charges(space.arch, space.workload, task.table, keep, task.charges)
        return sorted_placement(space, replace(batch, order=best_orders(batch, moved, space.orders.levels)))

    def _scores(self, batch: MappingBatch, chunk: int) -> Scores:
        """Evaluate them."""
        goal, reasons = self.task.goal, validity(batch)
        values, points = (np.full((len(batch), len(names)), np.inf) for names in (goal.objectives, goal.front))
        valid = np.flatnonzero(reasons == 0)
        if len(valid):
            figures, several = self.task.valuation.values(batch.take(valid), RecordThreshold()), len(goal.objectives)
            values[valid], points[valid] = figures[:, :several], figures[:, several:]
        return Scores.of(chunk, reasons, values, points if goal.front else None)
