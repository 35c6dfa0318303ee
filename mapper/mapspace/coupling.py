"""The dims together: combinations of one chain per dim by number and by chance, when the dims share axes.

The tables go dim by dim over the states that coupled_counts.py defines: what the dims before share so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..mapping import Ints
from .chains import ChainSpace
from .constraints import SharedLimit
from .coupled_counts import MOST_STATES, CoupledCounts
from .integers import BigInts, compact, divide
from .quotients import TooLargeError

MOST_ENTRIES = 2**21  # of the table that samples and numbers need for one dim: half a gigabyte
PLACES = 16  # of the table that finds an entry, for each entry,
MOST_PLACES = 2**16  # and in all: half a megabyte
BITS = 62  # of a number that holds a state and a random number; few make draws slow, never wrong


@dataclass(frozen=True, slots=True)
class _Step:
    """The choices of one dim: an entry per state (among those reachable) and group that leads on, sorted so."""

    start: Ints  # (state + 1,) first entry of each state
    group: Ints  # (entry,)
    key: Ints  # (entry,) state * groups + group
    next: Ints  # (entry,) the state of the next dim
    onward: BigInts  # (entry,) ways to choose the dims after this one
    before: BigInts  # (entry + 1,) ways of all entries before
    bits: int  # of a random number
    # (entry,) state and end of the entry's share of 2**bits, in one number; the share's end rounded down
    threshold: Ints
    shift: int  # of such a number, to its place in `guide`
    guide: Ints  # (place,) the entry of all numbers there; -1 where there are several


class Joint:
    """All combinations of one chain per dim that respect what the dims share, by number and by chance.

    Raises TooLargeError.
    """

    def __init__(self, spaces: Sequence[ChainSpace], shared: Sequence[SharedLimit], fixed_orders: int = 1):
        self.spaces, self._shared, self._fixed_orders = tuple(spaces), tuple(shared), fixed_orders
        self._ways = CoupledCounts(spaces, shared, fixed_orders)

    @property
    def total(self) -> int:
        """The number of combinations, each counted as often as it has loop orders. Raises TooLargeError."""
        return self._ways.total

    @property
    def least(self) -> int:
        """How many of them are within the axes whichever bounds of their classes they have, as far as that is known."""
        try:
            return CoupledCounts(self.spaces, self._shared, self._fixed_orders, sure=True).total
        except TooLargeError:
            return 0

    def fits(self, most: int, tried: int) -> bool:
        """Whether the tables for samples and numbers have at most `most` entries for each dim.

        That is known at once unless up to `tried` times as many have to be looked at.
        """
        if self._ways.most_moves <= most:
            return True
        if self._ways.most_moves > tried * most or self._ways.most_states > MOST_STATES:
            return False
        try:
            return max(len(step.group) for step in self.steps) <= most
        except TooLargeError:
            return False

    @cached_property
    def steps(self) -> list[_Step]:
        """The tables for samples and numbers, a dim each. Raises TooLargeError."""
        steps, states = [], np.zeros(1, np.int64)  # states as flat indices, 0 the empty start
        for dim in range(len(self.spaces)):
            step, states = self._step(dim, states)
            steps.append(step)
        return steps

    def _entries(self, dim: int, states: Ints) -> tuple[Ints, Ints, Ints]:
        """List the choices of `dim` that can be completed: index in `states`, group, next state. # (entry,) each"""
        place = np.full(len(self._ways.weights[dim]), -1)
        place[states] = np.arange(len(states))
        leads_on = self._ways.weights[dim + 1] != 0
        choices, entries = [np.zeros((3, 0), np.int64)], 0
        for group, before, flat in self._ways.moves(dim):
            state = place[before]
            possible = np.flatnonzero((state >= 0) & leads_on[flat])
            entries += len(possible)
            if entries > MOST_ENTRIES:
                raise TooLargeError(f"a table of more than {MOST_ENTRIES:,} entries for one dim")
            choices.append(np.stack([state[possible], group[possible], flat[possible]]))
        state, group, flat = np.concatenate(choices, axis=1)
        sort = np.argsort(state, kind="stable")
        return state[sort], group[sort], flat[sort]

    def _step(self, dim: int, states: Ints) -> tuple[_Step, Ints]:
        """The tables of `dim` for the `states` reachable before it, and the states reachable after it."""
        state, group, flat = self._entries(dim, states)
        counts = self._ways.counts(dim)
        start = np.searchsorted(state, np.arange(len(states) + 1))
        next_states, following = np.unique(flat, return_inverse=True)
        onward = self._ways.weights[dim + 1][flat].astype(object)
        ways = counts[group] * onward
        end = np.cumsum(ways)
        bits = BITS - len(states).bit_length()
        ways_on = self._ways.weights[dim][states].astype(object)
        share = (end - (end - ways)[start[state]]) * 2**bits // ways_on[state]
        before = compact(np.concatenate([np.zeros(1, dtype=object), end]))
        onward = onward.astype(before.dtype)  # both wide or neither: chains * onward is as large as before
        threshold = (state << bits) + share.astype(np.int64)
        step = _Step(
            start, group, state * len(counts) + group, following, onward, before, bits, threshold,
            *_guide(threshold, bits, len(states)),
        )  # fmt: skip
        return step, next_states

    def sample(self, rng: np.random.Generator, n: int) -> Ints:
        """The groups of `n` combinations, in exact proportion to what they contain. # (combination, dim)

        Per dim a table finds a random number among the rounded shares of the groups, and a binary search where its
        place in the table holds several. Where it falls on the very number to which a share was rounded (once in 2**40
        or so) more bits decide, in integers.
        """
        groups, state = np.empty((n, len(self.spaces)), np.int64, order="F"), np.zeros(n, np.int64)
        for dim, step in enumerate(self.steps):
            drawn = (state << step.bits) + rng.integers(0, 1 << step.bits, n)
            entry = step.guide[drawn >> step.shift]
            unclear = np.flatnonzero(entry < 0)
            entry[unclear] = np.searchsorted(step.threshold, drawn[unclear], side="right")
            for i in unclear[step.threshold[np.maximum(entry[unclear] - 1, 0)] == drawn[unclear]]:
                entry[i] = _decide(step, int(state[i]), int(drawn[i]) & ((1 << step.bits) - 1), rng)
            groups[:, dim], state = step.group[entry], step.next[entry]
        return groups

    def unrank(self, index: BigInts) -> tuple[Ints, list[BigInts], BigInts]:
        """Of combinations by number: their groups # (combination, dim), the chain in each group, the loop order."""
        groups, ranks, state = np.empty((len(index), len(self.spaces)), np.int64), [], np.zeros(len(index), np.int64)
        rest = index
        for dim, step in enumerate(self.steps):
            sought = step.before[step.start[state]] + rest
            entry = np.searchsorted(step.before, sought, side="right") - 1
            rank, rest = divide(sought - step.before[entry], step.onward[entry])
            ranks.append(compact(rank))
            groups[:, dim], state = step.group[entry], step.next[entry]
        return groups, ranks, rest

    def rank(self, groups: Ints, ranks: Sequence[BigInts], order: BigInts) -> BigInts:
        """The number of each combination; ValueError if the dims do not fit together."""
        index, state = order, np.zeros(len(groups), np.int64)
        for dim, step in enumerate(self.steps):
            sought = state * len(self.spaces[dim].counts) + groups[:, dim]
            entry = np.minimum(np.searchsorted(step.key, sought), len(step.key) - 1)
            if (step.key[entry] != sought).any():
                raise ValueError(f"mapping {(step.key[entry] != sought).argmax()} is not in the mapspace")
            index = index + (step.before[entry] - step.before[step.start[state]]) + ranks[dim] * step.onward[entry]
            state = step.next[entry]
        return index


def _guide(threshold: Ints, bits: int, states: int) -> tuple[int, Ints]:
    """By how much to shift a number to its place, and the entry of each place; -1 where a threshold lies within."""
    places = min(PLACES * len(threshold), MOST_PLACES) // max(states, 1)  # of each state; none where nothing fits
    shift = max(0, bits - max(places - 1, 1).bit_length())
    ends = np.searchsorted(threshold, np.arange((states << (bits - shift)) + 1) << shift)  # thresholds before each
    return shift, np.where(ends[1:] == ends[:-1], ends[:-1], -1)


def _decide(step: _Step, state: int, drawn: int, rng: np.random.Generator) -> int:
    """The entry at the point `drawn` / 2**bits of the shares of `state`, by drawing further bits until it is clear."""
    first, last = int(step.start[state]), int(step.start[state + 1])
    base = int(step.before[first])
    ends = [int(end) - base for end in step.before[first + 1 : last + 1]]
    bits = step.bits
    while True:
        low, high = drawn * ends[-1] >> bits, (drawn + 1) * ends[-1] - 1 >> bits
        entries = np.searchsorted(np.array(ends, dtype=object), [low, high], side="right")
        if entries[0] == entries[1]:
            return first + int(entries[0])
        drawn, bits = (drawn << 32) + int(rng.integers(0, 1 << 32)), bits + 32
