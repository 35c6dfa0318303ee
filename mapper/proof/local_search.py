"""Improves the first mappings of `--search optimal` by exchanging chains while that helps.

The proof does not depend on it; good mappings early make the proof short.
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

DRAWN = 4096  # mappings drawn; the best of them are improved
BOUNDED = 16_384  # combinations bounded at once
EXCHANGED = 32  # chain combinations tried in one exchange
MOST_PAIRS = 100_000  # of chain combinations of two groups exchanged together
BOUNDED_STEPS, CHARGES_A_STEP = 500, 8  # steps of bounding some combinations, each with all charges
DRAWN_STEPS = 60_000  # of drawing mappings
MOST_FRONT_PAIRS = 5_000  # the same for a front, whose every mapping is improved


@dataclass(eq=False)
class LocalSearch:
    """Exchanges chains of the mappings of `leaves` while that improves them."""

    leaves: LeafEvaluator
    active: bool = True  # whether it looks for better mappings at all
    _done: set[tuple[float, float]] = field(default_factory=set)  # points of the front improved already

    def start(self, relaxed: Relaxation, rng: np.random.Generator, most: int) -> None:
        """Improve the best so far, then the `most` best drawn mappings, with the relaxation's kept tensors."""
        incumbents = self.leaves.incumbents
        if not self.active:
            return
        if isinstance(incumbents, FrontIncumbents):
            self._offer_drawn(relaxed, rng)
            self._spread(relaxed, incumbents)
            return
        if incumbents.best is not None and (incumbents.best.keep[0] == relaxed.keep).all():
            self._improve(relaxed, incumbents.best, incumbents.least)
        batch = self._drawn(relaxed, rng)
        if len(batch):
            costs = evaluate(batch, self.leaves.task.table, self.leaves.task.charges)
            values = incumbents.worth(costs.energy_pj, costs.cycles)
            for i in np.argsort(values)[:most].tolist():
                self._improve(relaxed, batch.take([i]), float(values[i]))

    def _drawn(self, relaxed: Relaxation, rng: np.random.Generator) -> MappingBatch:
        """Draw some valid mappings with the relaxation's kept tensors."""
        space = self.leaves.task.space
        relaxed.groups[0].deadline(DRAWN_STEPS)
        batch = space.sample(rng, DRAWN)
        batch = replace(batch, keep=np.repeat(relaxed.keep[None], len(batch), axis=0))
        return batch.take(np.flatnonzero((validity(batch) == 0) & inside_memories(space, batch)))

    # One objective

    def _improve(self, relaxed: Relaxation, batch: MappingBatch, value: float) -> None:
        """Exchange chains of a group, then of two, of the single mapping of `batch`, while that improves its `value`.

        Does nothing for a mapping with chains that the relaxation does not have.
        """
        rows, before = rows_of(relaxed.groups, batch), np.inf
        while rows is not None and value < before:
            before = value
            for exchanged in self._choices(relaxed, MOST_PAIRS):
                if self.leaves.late():
                    return
                rows, value = self._exchange(relaxed, rows, value, exchanged)

    def _choices(self, relaxed: Relaxation, most: int) -> list[tuple[int, ...]]:
        """List the groups, and the pairs of groups with at most `most` combinations."""
        number = range(len(relaxed.groups))
        pairs = [(g, h) for g in number for h in range(g) if _together(relaxed, g, h) <= most]
        return [*((g,) for g in number), *pairs]

    def _exchange(
        self, relaxed: Relaxation, rows: Ints, value: float, exchanged: tuple[int, ...]
    ) -> tuple[Ints, float]:
        """Evaluate the combinations with the least bounds that differ from `rows` only in these groups.

        Returns the best of them and its value, or `rows` and `value` if none is better.
        """
        n = _together(relaxed, *exchanged)
        grid = np.unravel_index(np.arange(n), [len(relaxed.groups[g]) for g in exchanged])
        where = {g: grid[i] for i, g in enumerate(exchanged)}
        starts = range(0, n, BOUNDED)
        parts = [{g: group_rows[start : start + BOUNDED] for g, group_rows in where.items()} for start in starts]
        bounds = np.concatenate([self._bounds(relaxed, rows, part, min(BOUNDED, n - start))
                                 for start, part in zip(starts, parts, strict=True)])  # fmt: skip
        few = np.argsort(bounds)[:EXCHANGED]
        few = few[bounds[few] < value * (1 - ROUNDING)]
        if not len(few):
            return rows, value
        tried = np.repeat(rows[None], len(few), axis=0)
        for g in exchanged:
            tried[:, g] = where[g][few]
        values = self.leaves.evaluate(tried, np.full(len(few), np.inf), relaxed)
        least = int(values.argmin())
        return (tried[least], float(values[least])) if values[least] < value else (rows, value)

    def _bounds(self, relaxed: Relaxation, rows: Ints, where: dict[int, Ints], n: int) -> Floats:
        """Return the bound values of `rows` with the rows of some groups exchanged. # (n,)"""
        relaxed.groups[0].deadline(BOUNDED_STEPS + n * len(relaxed.charges) // CHARGES_A_STEP)
        bound = relaxed.bound(
            lambda g, column: relaxed.columns[g][column][where[g] if g in where else rows[g : g + 1]], n
        )
        values = self.leaves.incumbents.bound_value(bound.energy_pj, bound.cycles)
        return bound.value(values, self.leaves.incumbents.bound_value)

    # A front

    def _offer_drawn(self, relaxed: Relaxation, rng: np.random.Generator) -> None:
        batch = self._drawn(relaxed, rng)
        if len(batch):
            costs, incumbents = (
                evaluate(batch, self.leaves.task.table, self.leaves.task.charges),
                self.leaves.incumbents,
            )
            for i in incumbents.promising(costs.energy_pj, costs.cycles).tolist():
                # most are of no use after those before them
                if incumbents.bound_value(costs.energy_pj[[i]], costs.cycles[[i]])[0] < incumbents.cutoff * (
                    1 - ROUNDING
                ):
                    self.leaves.offer(batch.take([i]))

    def _spread(self, relaxed: Relaxation, incumbents: FrontIncumbents) -> None:
        """Exchange chains of every mapping of the front, as long as that adds mappings to the front."""
        choices = self._choices(relaxed, MOST_FRONT_PAIRS)
        while (batch := self._next(relaxed, incumbents)) is not None:
            rows = rows_of(relaxed.groups, batch)
            assert rows is not None, "a front has chains of all groups"
            for exchanged in choices:
                if self.leaves.late():
                    return
                self._exchange(relaxed, rows, incumbents.cutoff, exchanged)

    def _next(self, relaxed: Relaxation, incumbents: FrontIncumbents) -> MappingBatch | None:
        """Take a mapping of the front not yet improved, with the relaxation's kept tensors; None if there is none."""
        for batch, cycles, energy_pj in zip(
            incumbents.batches, incumbents.cycles.tolist(), incumbents.energy_pj.tolist(), strict=True
        ):
            if (cycles, energy_pj) not in self._done and (batch.keep[0] == relaxed.keep).all():
                self._done.add((cycles, energy_pj))
                return batch
        return None


def _together(relaxed: Relaxation, *exchanged: int) -> int:
    return prod(len(relaxed.groups[g]) for g in exchanged)
