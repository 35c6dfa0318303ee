"""Adds mappings to a front by exchanging chains of those that are on it.

The proof does not depend on it; good mappings early make the proof short. Where a single objective is proven evolution
finds as good mappings alone, in half the time (decision 129).
"""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ..bounds import Relaxation
from ..mapping import Floats, Ints, MappingBatch
from ..mapspace import inside_memories
from ..model import evaluate, validity
from ..problem import ROUNDING
from .chain_groups import rows_of
from .incumbents import FrontIncumbents
from .leaves import LeafEvaluator

DRAWN = 4096  # mappings drawn and offered
BOUNDED = 16_384  # combinations bounded at once
EXCHANGED = 32  # chain combinations tried in one exchange
MOST_PAIRS = 5_000  # of chain combinations of two groups exchanged together
BOUNDED_STEPS, CHARGES_A_STEP = 500, 8  # steps of bounding some combinations, each with all charges
DRAWN_STEPS = 60_000  # of drawing mappings


@dataclass(eq=False)
class FrontSearch:
    """Exchanges chains of the mappings of a front while that adds mappings to it."""

    leaves: LeafEvaluator
    incumbents: FrontIncumbents  # of these
    _done: set[tuple[float, float]] = field(default_factory=set)  # points of the front improved already

    def start(self, relaxed: Relaxation, rng: np.random.Generator) -> None:
        """Offer drawn mappings, and improve every mapping of the front, with the relaxation's kept tensors."""
        batch = self._drawn(relaxed, rng)
        if len(batch):
            costs = evaluate(batch, self.leaves.task.table, self.leaves.task.charges)
            for i in self.incumbents.promising(costs.energy_pj, costs.cycles).tolist():
                # most are of no use after those before them
                value = self.incumbents.bound_value(costs.energy_pj[[i]], costs.cycles[[i]])[0]
                if value < self.incumbents.cutoff * (1 - ROUNDING):
                    self.leaves.offer(batch.take([i]))
        choices = self._choices(relaxed)
        while (batch_of_one := self._next(relaxed)) is not None:
            rows = rows_of(relaxed.groups, batch_of_one)
            assert rows is not None, "a front has chains of all groups"
            for exchanged in choices:
                if self.leaves.late():
                    return
                self._exchange(relaxed, rows, exchanged)

    def _drawn(self, relaxed: Relaxation, rng: np.random.Generator) -> MappingBatch:
        """Draw some valid mappings with the relaxation's kept tensors."""
        space = self.leaves.task.space
        relaxed.groups[0].deadline(DRAWN_STEPS)
        batch = space.sample(rng, DRAWN)
        batch = replace(batch, keep=np.repeat(relaxed.keep[None], len(batch), axis=0))
        return batch.take(np.flatnonzero((validity(batch) == 0) & inside_memories(space, batch)))

    def _choices(self, relaxed: Relaxation) -> list[tuple[int, ...]]:
        """List the groups, and the pairs of groups with few combinations."""
        number = range(len(relaxed.groups))
        pairs = [(g, h) for g in number for h in range(g) if _together(relaxed, g, h) <= MOST_PAIRS]
        return [*((g,) for g in number), *pairs]

    def _exchange(self, relaxed: Relaxation, rows: Ints, exchanged: tuple[int, ...]) -> None:
        """Evaluate the combinations with the least bounds that differ from `rows` only in these groups."""
        n = _together(relaxed, *exchanged)
        grid = np.unravel_index(np.arange(n), [len(relaxed.groups[g]) for g in exchanged])
        where = {g: grid[i] for i, g in enumerate(exchanged)}
        starts = range(0, n, BOUNDED)
        parts = [{g: group_rows[start : start + BOUNDED] for g, group_rows in where.items()} for start in starts]
        bounds = np.concatenate([self._bounds(relaxed, rows, part, min(BOUNDED, n - start))
                                 for start, part in zip(starts, parts, strict=True)])  # fmt: skip
        few = np.argsort(bounds)[:EXCHANGED]
        few = few[bounds[few] < self.incumbents.cutoff * (1 - ROUNDING)]
        if len(few):
            tried = np.repeat(rows[None], len(few), axis=0)
            for g in exchanged:
                tried[:, g] = where[g][few]
            self.leaves.evaluate(tried, np.full(len(few), np.inf), relaxed)

    def _bounds(self, relaxed: Relaxation, rows: Ints, where: dict[int, Ints], n: int) -> Floats:
        """Return the bound values of `rows` with the rows of some groups exchanged. # (n,)"""
        relaxed.groups[0].deadline(BOUNDED_STEPS + n * len(relaxed.charges) // CHARGES_A_STEP)
        bound = relaxed.bound(
            lambda g, column: relaxed.columns[g][column][where[g] if g in where else rows[g : g + 1]], n
        )
        values = self.incumbents.bound_value(bound.energy_pj, bound.cycles)
        return bound.value(values, self.incumbents.bound_value)

    def _next(self, relaxed: Relaxation) -> MappingBatch | None:
        """Take a mapping of the front not yet improved, with the relaxation's kept tensors; None if there is none."""
        for batch, cycles, energy_pj in zip(
            self.incumbents.batches, self.incumbents.cycles.tolist(), self.incumbents.energy_pj.tolist(), strict=True
        ):
            if (cycles, energy_pj) not in self._done and (batch.keep[0] == relaxed.keep).all():
                self._done.add((cycles, energy_pj))
                return batch
        return None


def _together(relaxed: Relaxation, *exchanged: int) -> int:
    return prod(len(relaxed.groups[g]) for g in exchanged)
