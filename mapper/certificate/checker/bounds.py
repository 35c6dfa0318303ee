"""Lower bounds on all mappings of a set of chains: docs/optimal.md, section 3, implemented again for the checker.

A set of chains is represented by the least entry of each column over its rows.
"""

from collections.abc import Callable
from functools import reduce

import numpy as np

from ...mapping import Bools, Floats
from .columns import Columns, Product, Words

Value = Callable[[Product], Floats]  # the least value of a product over each set # (set,)
ROUNDED = 1e-9  # relative, taken from cycles before they are rounded up
SLACK = 1e-12  # relative, for rounding in products and sums of floats


def energy_and_cycles(columns: Columns, value: Value, n: int) -> tuple[Floats, Floats]:
    """Bound the cost of the mappings of each of `n` sets, in pJ and cycles; inf: none can be valid. # (set,) each"""
    cycles = value(columns.cycles)
    for flow in columns.flows.values():  # as long as the words of the busiest instance take
        needed = sum((_least(words, value, [], n) for words in flow), np.zeros(n))
        cycles = np.maximum(cycles, np.ceil(needed * (1 - ROUNDED)))
    energy = columns.macs_pj + columns.leak_pj * cycles
    extra: list[dict[int, Floats]] = [{d: np.zeros(n) for d in by_dim} for by_dim in columns.loops]
    for words in columns.words:
        energy = energy + _least(words, value, extra, n)
    for level, by_dim in enumerate(extra):
        if by_dim:  # the level's innermost loop runs over one of these dims, or the level has no loop
            choices = [np.where(np.isinf(value(columns.idle[level])), np.inf, 0.0)]
            choices += [np.where(np.isinf(value(columns.loops[level][d])), np.inf, pj) for d, pj in by_dim.items()]
            energy = energy + reduce(np.minimum, choices)
    return np.where(_fits(columns, value, n), energy, np.inf), cycles


def _least(words: Words, value: Value, extra: list[dict[int, Floats]], n: int) -> Floats:
    """Bound the energy of a charge (of a flow: the cycles) from below, for any loop order. # (set,)

    Adds the energy that depends on the innermost loop to `extra`, at the level where most words move.
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
                extra[level][d] += np.where(at_level, pj(np.maximum(value(product), most)) - lowest, 0.0)
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
