"""The values by which searches rank mappings: exact wherever a bound could hide a better one.

For some mappings the closed form counts words too high (docs/model.md, section 2). Their values are then upper bounds,
and lower bounds can be counted as quickly. Only where the lower bound would be recorded is a mapping counted anew, so
that what is recorded, the best and the front, is what exact counts of all mappings would give.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...energy import EnergyTable
from ..mapping import Bools, Floats, Ints, Mappings, dominated
from ..model import Costs, Counts, evaluate, least_counts, recount
from ..problem import Charges, Objective
from .recorder import RecordThreshold, Scores


@dataclass(frozen=True, eq=False)
class Valuation:
    """What the values of mappings are: the objectives to minimise, then the axes of a front."""

    table: EnergyTable
    costs: Charges
    columns: tuple[Objective, ...]
    several: int  # number of objectives to minimise

    def values(self, batch: Mappings, known: RecordThreshold) -> Floats:
        """Compute the values of valid mappings # (mapping, column): exactly of each that improves on `known` and on all
        before it; of others they may be upper bounds."""
        costs = evaluate(batch, self.table, self.costs)
        values = self._of(costs)
        flagged = np.flatnonzero(~costs.exact)
        if len(flagged):
            self._count_anew(batch, values, flagged, known, costs.counts)
        return values

    def may_improve(self, least: Floats, known: RecordThreshold) -> Bools:
        """Mark the mappings that would be recorded after `known` with these values, the least possible. # (mapping,)"""
        better = may_precede(list(least[:, : self.several].T), known.values)
        if self.several < len(self.columns):
            better |= ~dominated(least[:, self.several :], known.front)
        return better

    def _of(self, costs: Costs) -> Floats:
        return np.stack([objective.of(costs) for objective in self.columns], axis=1).astype(np.float64)

    def _count_anew(
        self, batch: Mappings, values: Floats, flagged: Ints, known: RecordThreshold, counts: Counts
    ) -> None:
        """Put exact values in place of the upper bounds of those of `flagged` that may be recorded, in turn.

        `counts` are those of the batch.
        """
        flagged_batch = batch.take(flagged)
        least = self._of(
            evaluate(flagged_batch, self.table, self.costs, least_counts(flagged_batch, counts.take(flagged)))
        )
        remaining, seen = np.flatnonzero(self.may_improve(least, known)), 0
        while len(remaining):
            i = int(flagged[remaining[0]])
            known, seen = self._after(known, values[seen:i]), i
            hopeful = self.may_improve(least[remaining], known)
            if hopeful[0]:
                one = batch.take([i]).arranged()
                values[i] = self._of(evaluate(one, self.table, self.costs, recount(one, counts.take(np.array([i])))))[0]
                hopeful[0] = False
            remaining = remaining[hopeful]

    def _after(self, known: RecordThreshold, values: Floats) -> RecordThreshold:
        """Return what is to beat after mappings of these values."""
        own, axes = values[:, : self.several], values[:, self.several :]
        points = axes if self.several < len(self.columns) else None
        return known.after(Scores.of(0, np.zeros(len(values), np.int8), own, points)) if len(values) else known


def may_precede(columns: Sequence[Floats], values: tuple[float, ...]) -> Bools:
    """Mark the rows of `columns` that are lexicographically before `values`. # (mapping,)"""
    precedes = np.zeros(len(columns[0]), bool)
    equal = ~precedes
    for column, best in zip(columns, values, strict=False):  # before the first best there is a single value, inf
        precedes |= equal & (column < best)
        equal &= column == best
    return precedes
