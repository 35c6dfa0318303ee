"""The mappings that a cost model has answered, and a fit of its answers to our figures.

The fit is a ridge regression of the logarithm of the answers on the logarithms of our figures: energy by memory and
tensor (which stands for words), cycles, cycles by memory, and instances. It is there to rank, not to predict.
"""

from dataclasses import dataclass, field

import numpy as np

from ..mapping import Floats, Ints, floats, unique_rows
from ..model import Costs
from ..search.variation import Individuals

RIDGE = 0.1
HALF = 16  # the rank from the best at which an answer has half the weight of the best
DIGITS = 9  # of a logarithm, by which figures are the same


def features(costs: Costs) -> Floats:
    """Return the logarithms of the figures of each mapping. # (mapping, feature)"""
    n, levels, tensors = costs.level_energy_pj.shape
    totals = (costs.energy_pj[:, None], floats(costs.cycles)[:, None])
    by_level = (
        costs.level_energy_pj.reshape(n, levels * tensors),
        floats(costs.level_cycles),
        floats(costs.counts.instances),
    )
    logarithms: Floats = np.log1p(np.concatenate([*totals, *by_level], axis=1))
    return logarithms


@dataclass(frozen=True, eq=False)
class Answered:
    """Mappings with an answer that is a number."""

    some: Individuals
    features: Floats  # (mapping, feature)
    values: Floats = field(default_factory=lambda: np.empty(0))  # (mapping,)

    def with_more(self, some: Individuals, figures: Floats, values: Floats) -> "Answered":
        """Return these and those of `some` that were not refused, whose value is inf."""
        given = np.flatnonzero(np.isfinite(values))
        return Answered(
            Individuals.joined([self.some, some.take(given)]),
            np.concatenate([self.features, figures[given]]),
            np.concatenate([self.values, values[given]]),
        )

    def best(self, most: int) -> Individuals:
        """Return those of least value, one of each value: many are children of one mapping and differ in nothing."""
        _, first = np.unique(self.values, return_index=True)
        return self.some.take(first[:most])

    def different(self, figures: Floats) -> Ints:
        """Return the places of figures unlike those answered and unlike the figures before them."""
        every = np.rint(np.concatenate([self.features, figures]) * 10.0**DIGITS).astype(np.int64)
        _, first = np.unique(unique_rows(every)[1], return_index=True)
        return np.sort(first[first >= len(self.features)]) - len(self.features)

    def ranked(self, figures: Floats) -> Ints:
        """Return the places of mappings, the one of least expected answer first."""
        above_0 = self.values[self.values > 0]
        logarithms = np.log(np.maximum(self.values, above_0.min(initial=1.0) if len(above_0) else 1.0))
        rank = np.argsort(np.argsort(self.values, kind="stable"), kind="stable")
        weight = 1 / (1 + rank / HALF)
        mean, spread = self.features.mean(axis=0), self.features.std(axis=0)
        spread[spread == 0] = 1.0

        def columns(some: Floats) -> Floats:
            return np.concatenate([(some - mean) / spread, np.ones((len(some), 1))], axis=1)

        known = columns(self.features)
        ridge = np.diag([*np.full(known.shape[1] - 1, RIDGE), 0.0])  # the mean is free
        slopes = np.linalg.solve((known.T * weight) @ known + ridge, known.T @ (weight * logarithms))
        return np.argsort(columns(figures) @ slopes, kind="stable")
