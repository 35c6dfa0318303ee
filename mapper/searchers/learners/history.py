"""The history of a search: scored mappings from which models learn, and the keys of all mappings seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...mapspace import Mapspace
from ...search.variation import Individuals
from .nests import Keys, keys_of


@dataclass(frozen=True, eq=False)
class History:
    """Scored mappings in the order in which they were scored, and the keys of all mappings ever scored.

    A value of inf is a refusal: the mapping fits every memory, but the cost model gives it no cost.
    """

    individuals: Individuals
    values: Floats  # (individual, objective)
    seen: Keys  # (seen,)

    @classmethod
    def empty(cls, space: Mapspace) -> Self:
        """Make the history of a search that begins."""
        return cls(no_individuals(space), np.empty((0, 1)), np.empty(0, np.uint64))

    def __len__(self) -> int:
        return len(self.individuals)

    @property
    def accepted(self) -> Bools:
        """Whether the cost model gave a cost. # (individual,)"""
        return np.isfinite(self.values[:, 0])

    @property
    def ranks(self) -> Ints:
        """The place of each mapping among the values, equal ones the same: by the first objective, then the second,
        and so on; refusals after all others. # (individual,)"""
        return ranks_of(self.values)

    @property
    def targets(self) -> Floats:
        """The targets of a regression. # (individual,)"""
        return log_targets(self.values[:, 0])

    def best(self, n: int) -> Individuals:
        """Return the best `n` mappings that have a cost, the best first."""
        order = np.argsort(self.ranks, kind="stable")
        return self.individuals.take(order[self.accepted[order]][:n])

    def with_more(self, space: Mapspace, individuals: Individuals, values: Floats, most: int) -> "History":
        """Add scored mappings; of more than `most` the best half and the newest others stay to be learnt from."""
        seen = np.union1d(self.seen, keys_of(space, individuals))
        before = self.values if len(self.values) else np.empty((0, values.shape[1]))
        every = History(Individuals.joined([self.individuals, individuals]), np.concatenate([before, values]), seen)
        if len(every) <= most:
            return every
        stay = np.zeros(len(every), bool)
        stay[np.argsort(every.ranks, kind="stable")[: most // 2]] = True
        stay[np.flatnonzero(~stay)[-(most - most // 2) :]] = True
        return History(every.individuals.take(stay), every.values[stay], seen)

    def plain(self) -> dict[str, Any]:
        """Convert to plain values for a state on disk; `of_plain` reads them."""
        return {"some": self.individuals.plain(), "values": self.values.tolist(), "seen": self.seen.tolist()}

    @classmethod
    def of_plain(cls, space: Mapspace, state: Mapping[str, Any]) -> "History":
        """Read the values of `plain`."""
        seen = np.array(state["seen"], np.uint64)
        if not state["values"]:
            return cls(no_individuals(space), np.empty((0, 1)), seen)
        return cls(Individuals.of_plain(state["some"]), np.array(state["values"]), seen)


def no_individuals(space: Mapspace) -> Individuals:
    """Make an empty set of individuals."""
    slots, levels = len(space.arch.slots), len(space.arch.levels)
    dims, tensors = len(space.workload.dims), len(space.workload.tensors)
    bounds, order = np.empty((0, slots, dims), np.int64), np.empty((0, levels, dims), np.int8)
    return Individuals(bounds, order, np.empty((0, levels, tensors), bool))


def ranks_of(values: Floats) -> Ints:
    """Rank rows of values # (row, objective) lexicographically; equal rows have the same rank. # (row,)"""
    order = np.lexsort(values.T[::-1])
    ascending = values[order]
    higher = np.zeros(len(order), np.int64)
    higher[1:] = (ascending[1:] != ascending[:-1]).any(axis=1)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.cumsum(higher)
    return ranks


def log_targets(values: Floats) -> Floats:
    """Convert costs to log2, as they range over orders of magnitude; zeros are taken for half of the least other cost.

    A refusal, inf, becomes a penalty: the worst target and one standard deviation more. # (mapping,)
    """
    accepted = np.isfinite(values)
    if not accepted.any():
        return np.zeros(len(values))
    over_zero = values[accepted & (values > 0)]
    least = max(over_zero.min() / 2, np.finfo(float).tiny) if len(over_zero) else 1.0
    logs: Floats = np.log2(np.maximum(values, least))
    logs[~accepted] = logs[accepted].max() + logs[accepted].std() + 1e-3  # worse, where all accepted are equal, too
    return logs
