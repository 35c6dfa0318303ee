"""Lower bounds on all mappings of a set of chains: docs/optimal.md, section 3, implemented again for the checker.

A set of chains is represented by the least entry of each column over its rows.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

import numpy as np

from ...mapping import Bools, Floats
from .columns import Columns, Product, Words

Value = Callable[[Product], Floats]  # the least value of a product over each set # (set,)
ROUNDED = 1e-9  # relative, taken from cycles before they are rounded up
SLACK = 1e-12  # relative, for rounding in products and sums of floats
NONE = -1  # in place of the dim of an innermost loop: there is none


class LeastCosts:
    """What the mappings of each of `n` sets cost at least."""

    def __init__(self, columns: Columns, value: Value, n: int) -> None:
        self._columns, self._value, self._fits = columns, value, _fits(columns, value, n)
        self._choices = [_choices(columns, level, value) for level in range(len(columns.loops))]
        self._energy = _Total(columns.words, value, self._choices, n)
        self._flows = [_Total(words, value, self._choices, n) for words in columns.flows.values()]
        self.cycles = self._took([flow.least for flow in self._flows])  # (set,)
        self.energy_pj = self._paid(self._energy.least, self.cycles)  # inf: none can be valid # (set,)

    def settled(self, test: Callable[[Floats, Floats], Bools]) -> Bools:
        """Test whether all mappings of each set settle a claim: those that cost this much and more do. # (set,)

        Of each level one innermost loop is there, or none: so it is enough that one level settles it with every loop.
        """
        settled = test(self.energy_pj, self.cycles)
        for level in sorted({level for flow in self._flows for level, extra in enumerate(flow.extra) if extra}):
            settled = settled | reduce(np.logical_and, (test(*costs) for costs in self._with_loops(level)))
        return settled

    def _with_loops(self, level: int) -> Iterator[tuple[Floats, Floats]]:
        """Bound energy and cycles with each innermost loop of a level, and with none. # (set,) each"""
        for d, absent in self._choices[level].items():
            took = self._took([flow.with_loop(level, d) for flow in self._flows])
            yield self._paid(self._energy.with_loop(level, d) + absent, took), took

    def _took(self, flow_cycles: Sequence[Floats]) -> Floats:
        """Bound the cycles: each flow takes as long as the words of the busiest instance do, and tiles begin beside it.
        # (set,)"""
        rounded = (np.ceil(needed * (1 - ROUNDED)) for needed in flow_cycles)
        slowest = reduce(np.maximum, rounded, self._value(self._columns.cycles))
        return slowest + sum(cycles * self._value(tiles) for cycles, tiles in self._columns.starts.values())

    def _paid(self, words_pj: Floats, took: Floats) -> Floats:
        """Add the energy of MACs and leakage; inf where nothing fits. # (set,)"""
        leak = self._columns.leak_pj
        return np.where(self._fits, self._columns.macs_pj + words_pj + (leak * took if leak else 0.0), np.inf)


def _choices(columns: Columns, level: int, value: Value) -> dict[int, Floats]:
    """Say which dims the innermost loop of a level may be of, NONE for no loop: 0 if so, else inf. # (set,)"""
    products = {NONE: columns.idle[level], **columns.loops[level]}
    return {d: np.where(np.isinf(value(product)), np.inf, 0.0) for d, product in products.items()}


class _Total:
    """The sum of some charges, for each set."""

    def __init__(self, words: Sequence[Words], value: Value, choices: Sequence[dict[int, Floats]], n: int) -> None:
        self.extra: list[dict[int, Floats]] = [{} for _ in choices]  # per level, by dim # (set,)
        self.lowest = sum((_least(own, value, self.extra, n) for own in words), np.zeros(n))
        self.closing = [
            reduce(np.minimum, (extra.get(d, 0.0) + absent for d, absent in by_dim.items())) if extra else np.zeros(n)
            for extra, by_dim in zip(self.extra, choices, strict=True)
        ]
        self.least = self.lowest + sum(self.closing)

    def with_loop(self, level: int, d: int) -> Floats:
        """Bound it where the innermost loop of a level is of dim d. # (set,)"""
        elsewhere = (closing for other, closing in enumerate(self.closing) if other != level)
        return self.lowest + sum(elsewhere) + self.extra[level].get(d, 0.0)


def _least(words: Words, value: Value, extra: list[dict[int, Floats]], n: int) -> Floats:
    """Bound the energy of a charge (of a flow: the cycles) from below, for any loop order. # (set,)

    Adds what depends on the innermost loop to `extra`, at the level where most words move.
    """
    most, at = np.zeros(n), np.full(n, -1)
    for level in range(len(words.changing) - 1, -1, -1):
        largest = reduce(np.maximum, map(value, words.changing[level].values()), np.zeros(n))
        at, most = np.where(largest > most, level, at), np.maximum(most, largest)
    most = np.maximum(most, value(words.always))
    distinct = 1.0 / value(words.first) if words.first is not None else np.zeros(n)
    charge = words.charge
    wires = np.zeros(n) if words.hops is None else charge.hop_pj * words.hops.least(value, n)
    word_pj = charge.pj - charge.first_pj + wires

    def pj(moved: Floats) -> Floats:
        first = charge.first_pj * np.maximum(moved - distinct, 0.0) if charge.first_pj else np.zeros(n)
        return first + np.multiply(word_pj, moved, out=np.zeros(n), where=word_pj > 0)  # `moved` may be infinite

    lowest = pj(most)
    for level, by_dim in enumerate(words.innermost):
        at_level = at == level
        if at_level.any():
            for d, product in by_dim.items():
                more = np.where(at_level, pj(np.maximum(value(product), most)) - lowest, 0.0)
                extra[level][d] = extra[level].get(d, 0.0) + more
    return lowest


def _fits(columns: Columns, value: Value, n: int) -> Bools:
    """Test whether some mapping of each set may fit capacities, axes and numbers of loops. # (set,)"""
    fits = np.ones(n, bool)
    for capacity, tiles in columns.capacities:
        fits &= sum((bits * value(tile) for _, bits, tile in tiles), np.zeros(n)) <= capacity
    for _, size, least, spread, inverse in columns.axes:
        fits &= (value(spread) <= size) & (least * value(inverse) <= 1 + SLACK)
    for most, loops in columns.most_loops:
        fits &= value(loops) <= 2.0**most
    return fits
