"""Checks the three verdicts by which a certificate rules out a set of chains, each for many sets at once."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...mapping import Bools, Floats, Ints
from .bounds import energy_and_cycles
from .claim import Claim
from .columns import Columns, Product
from .orders import Orders
from .sets import ChainSets
from .weighted import Weighted, log_of


class Verdicts:
    """Checks of the sets of chains for given kept tensors; each takes `boxes` # (set, group) and answers per set."""

    def __init__(self, columns: Columns, sets: ChainSets, claim: Claim, weighted: Sequence[Weighted]) -> None:
        self.columns, self.sets, self.claim, self.weighted = columns, sets, claim, weighted
        self._lows: dict[int, list[Floats]] = {}

    def bounded(self, boxes: Ints) -> Bools:
        """Test whether the least entries of the columns rule out each set. # (set,)"""
        return self.claim.settled(*self._costs(boxes))

    def _costs(self, boxes: Ints) -> tuple[Floats, Floats]:
        """Bound energy and cycles of each set by the least entries of the columns. # (set,) each"""
        known: dict[Product, Floats] = {(): np.ones(len(boxes))}

        def value(product: Product) -> Floats:
            if product not in known:
                g = len(product) - 1
                known[product] = value(product[:-1]) * self._low(g)[product[g]][boxes[:, g]]
            return known[product]

        return energy_and_cycles(self.columns, value, len(boxes))

    def _low(self, g: int) -> list[Floats]:
        """Return the least entries of each column of group g. # (node,) each"""
        if g not in self._lows:
            rows = self.sets.rows[g]
            self._lows[g] = [self.sets.least(g, column[rows]) for column in self.columns.columns[g]]
        return self._lows[g]

    def weighed(self, boxes: Ints) -> Bools:
        """Test whether some weighted product rules out each set. # (set,)"""
        settled, log_least = np.full(len(boxes), self.claim.empty), log_of(self.claim.least)
        for least, constant in self._weighted_lows:
            settled |= constant + sum(least[g][boxes[:, g]] for g in range(len(least))) >= log_least
        return settled

    @cached_property
    def _weighted_lows(self) -> list[tuple[list[Floats], float]]:
        """The least scores of every node, per group, and the constant, of each weighted product."""
        return [
            ([self.sets.least(g, score) for g, score in enumerate(product.scores)], product.constant)
            for product in self.weighted
        ]

    def evaluated(self, boxes: Ints) -> Bools:
        """Test whether no loop order of each set, a single combination, is better. # (set,)

        Raises Refused where a set has several combinations.
        """
        rows = self.sets.single(boxes)
        energy, cycles = self._costs(boxes)
        settled = self.claim.settled(energy, cycles)
        left = np.flatnonzero(~settled)
        chains = np.zeros((len(left), len(self.columns.workload.dims)), np.int64)
        for group, mine in zip(self.columns.groups, rows, strict=True):
            for d in group.dims:
                chains[:, d] = group.rows[d][mine[left]]
        if len(left):
            settled[left] = Orders(self.columns.problem, self.columns.keep, chains).settled(
                self.claim.settled, cycles[left]
            )
        return settled
