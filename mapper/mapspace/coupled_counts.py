"""How many ways there are to choose one chain per dim, when the dims share axes or limits on loops.

The state after some dims is what they leave to the others: the room on each contended axis, the places that
`min_utilization` still asks for, the number of loops at each limited level. Of an axis of S places dims whose bounds
multiply to p leave floor(S / p), which takes about 2 sqrt(S) values and not S. `weights[d][state]` counts the ways to
choose the chains of dims d, d+1, ... from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, prod
from typing import Literal

import numpy as np

from ..mapping import Ints, unique_rows
from .bound_classes import largest_of
from .chains import ChainSpace
from .constraints import SharedLimit
from .integers import BigInts, compact, fitting
from .quotients import TooLargeError, different

MOST_FITS = 2**25  # of one dim, what its bounds leave of what there is on an axis: a gigabyte
MOST_STATES = 2**22  # of what the dims share; more would take minutes and gigabytes
MOST_MOVES = 2**27  # of one dim, from a state by a group: a minute
CHUNK = 2**20  # moves made at a time
MANY = 512  # moves of one group from which on it is made alone; several groups at once take longer per move


@dataclass(frozen=True, slots=True)
class _Coordinate:
    """One part of a state: its values before each dim, and what they become."""

    kind: Literal["room", "need", "loops"]
    shared: SharedLimit

    @property
    def start(self) -> int:
        """What there is before the first dim."""
        return {"room": self.shared.most, "need": self.shared.least, "loops": 0}[self.kind]

    def after(self, value: Ints, added: Ints) -> Ints:
        """What a group that adds `added` leaves of `value`; -1 where it does not fit. Both broadcast."""
        if self.kind == "room":
            remaining = value // added
            return np.where(remaining > 0, remaining, -1)
        if self.kind == "need":
            return -(-value // added)
        loops = value + added
        if self.shared.unlimited:
            enough: Ints = np.minimum(loops, self.shared.least)  # more do not matter
            return enough
        return np.where(loops <= self.shared.most, loops, -1)

    def added(self, space: ChainSpace, dim: int, sure: bool) -> Ints:
        """What each group of `dim` adds: a factor, or loops. # (group,)"""
        if self.kind == "loops":
            over_one = space.over_one[:, self.shared.slots].sum(axis=1)
            return over_one if dim in self.shared.members else 0 * over_one
        if dim not in self.shared.members:
            return np.ones(len(space.signature), np.int64)
        smallest, rule = space.signature[:, self.shared.slot], space.rules[self.shared.slot]
        return largest_of(smallest, rule.starts, rule.hi) if (self.kind == "need") != sure else smallest

    def orders(self, value: int) -> int:
        """By how much the loop orders of a combination that ends with `value` multiply; 0 where it is none."""
        if self.kind == "loops":
            return 0 if value < self.shared.least else factorial(value) if self.shared.orders else 1
        return int(self.kind == "room" or value == 1)


def _coordinates(shared: Sequence[SharedLimit]) -> Iterator[_Coordinate]:
    for limit in shared:
        yield _Coordinate("room" if limit.kind == "product" else "loops", limit)
        if limit.kind == "product" and limit.least > 1:
            yield _Coordinate("need", limit)


@dataclass(frozen=True, slots=True)
class _Moves:
    """What the groups of one dim do to one coordinate. The values that a group fits come first."""

    label: Ints  # (group,) what it adds, as a row of `places`
    fits: Ints  # (label,) how many values
    places: Ints  # (label, value) the place of what is left among the values before the next dim


class CoupledCounts:
    """The number of combinations from every state, each combination counted `fixed_orders` times.

    `fixed_orders` is the number of loop orders of every combination; what is shared may multiply it (`Shared.orders`).
    Of bounds in classes (bound_classes.py) it counts the combinations of which some could be within the axes, or with
    `sure` those of which all are. Raises TooLargeError.
    """

    def __init__(
        self, spaces: Sequence[ChainSpace], shared: Sequence[SharedLimit], fixed_orders: int, *, sure: bool = False
    ) -> None:
        self.spaces = tuple(spaces)
        self._coordinates = tuple(_coordinates(tuple(shared) or (SharedLimit("loops", 0, frozenset(), 0),)))
        self._values = [[np.array([coordinate.start]) for coordinate in self._coordinates]]  # per dim and coordinate
        self._moves: list[list[_Moves]] = []
        for dim, space in enumerate(self.spaces):
            columns = [coordinate.added(space, dim, sure) for coordinate in self._coordinates]
            self._follow(columns)
        self.shapes = [tuple(map(len, values)) for values in self._values]
        self.most_states = max(map(prod, self.shapes))
        self.most_moves = max((self._number_of_moves(dim) for dim in range(len(self.spaces))), default=0)
        self._fixed_orders = fixed_orders

    @cached_property
    def weights(self) -> list[BigInts]:
        """The number of ways to go on from each state before each dim, and after all. # (state,) each

        Raises TooLargeError.
        """
        if self.most_states > MOST_STATES:
            raise TooLargeError(f"needs {self.most_states:,} joint states, more than {MOST_STATES:,}")
        if self.most_moves > MOST_MOVES:
            raise TooLargeError(f"needs {self.most_moves:,} steps between joint states, more than {MOST_MOVES:,}")
        weights = [self._last(self._fixed_orders)]
        for dim in reversed(range(len(self.spaces))):
            weights.insert(0, self._before(dim, weights[0]))
        return weights

    @property
    def total(self) -> int:
        """The number of combinations. Raises TooLargeError."""
        return int(self.weights[0][0])

    def _follow(self, columns: Sequence[Ints]) -> None:
        """Add the moves of the next dim, whose groups add `columns` # (group,) each, and the values after it."""
        moves, after = [], []
        for coordinate, values, added in zip(self._coordinates, self._values[-1], columns, strict=True):
            labels, label = np.unique(added, return_inverse=True)
            if (quotients := len(labels) * len(values)) > MOST_FITS:
                raise TooLargeError(f"needs {quotients:,} quotients of an axis, more than {MOST_FITS:,}")
            remaining = coordinate.after(values[None], labels[:, None])
            onward = different(remaining[remaining >= 0])
            places = np.searchsorted(onward, remaining)  # anything where a group does not fit
            if coordinate.kind != "loops":  # the more there is, the more groups fit
                onward, places = onward[::-1], len(onward) - 1 - places
            moves.append(_Moves(label, (remaining >= 0).sum(axis=1), places))
            after.append(onward)
        self._moves.append(moves)
        self._values.append(after)

    def _number_of_moves(self, dim: int) -> int:
        return int(np.prod([moves.fits[moves.label].astype(float) for moves in self._moves[dim]], axis=0).sum())

    def counts(self, dim: int) -> BigInts:
        """The number of chains of each group of `dim`, in Python integers. # (group,)"""
        return self.spaces[dim].counts.astype(object)

    def _last(self, fixed_orders: int) -> BigInts:
        """The weight of each final state: its number of loop orders, 0 where an axis is used too little."""
        weight = np.array(fixed_orders, dtype=object)
        for coordinate, values in zip(self._coordinates, self._values[-1], strict=True):
            weight = weight[..., None] * np.array([coordinate.orders(int(value)) for value in values], dtype=object)
        return weight.reshape(-1)

    def moves(self, dim: int, groups: Ints | None = None) -> Iterator[tuple[Ints, Ints, Ints]]:
        """All moves by groups of `dim`, some at a time, group by group: the group, the state before and after.

        By these `groups` # (place,): instead of the group, its place among them.
        """
        moves, (before, after) = self._moves[dim], self.shapes[dim : dim + 2]
        label = np.stack([move.label if groups is None else move.label[groups] for move in moves])
        fits = np.stack([move.fits[own] for move, own in zip(moves, label, strict=True)])  # (coordinate, group)
        number = fits.prod(axis=0)
        ends, start = np.cumsum(number), 0
        while start < len(number):
            done = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + CHUNK, side="right")))
            if number[start] >= MANY:
                state, next_state = self._of_group(dim, label[:, start], fits[:, start])
                yield np.full(len(state), start), state, next_state
                start += 1
                continue
            large = np.flatnonzero(number[start:stop] >= MANY)
            stop = start + int(large[0]) if len(large) else stop
            group = np.repeat(np.arange(start, stop), number[start:stop])
            rest = np.arange(len(group)) - (ends - number)[group] + done
            state, next_state, times, onward = 0 * rest, 0 * rest, 1, 1
            for i in reversed(range(len(moves))):
                if before[i] == after[i] == 1:
                    continue
                rest, value = np.divmod(rest, fits[i, group])
                state += times * value
                next_state += onward * moves[i].places[label[i, group], value]
                times, onward = times * before[i], onward * after[i]
            yield group, state, next_state
            start = stop

    def _of_group(self, dim: int, label: Ints, fits: Ints) -> tuple[Ints, Ints]:
        """The moves of a group with these labels # (coordinate,): the state before and after."""
        state, next_state = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for i, (moves, most) in enumerate(zip(self._moves[dim], fits, strict=True)):
            if self.shapes[dim][i] == self.shapes[dim + 1][i] == 1:
                continue
            state = (state[:, None] * self.shapes[dim][i] + np.arange(most)).reshape(-1)
            onward = moves.places[label[i], :most]
            next_state = (next_state[:, None] * self.shapes[dim + 1][i] + onward).reshape(-1)
        return state, next_state

    def _before(self, dim: int, after: BigInts) -> BigInts:
        """weights[dim] from weights[dim + 1]: sum over groups of chains * weights[dim + 1][state with the group].

        Groups that add the same to each coordinate lead to the same states: they are counted as one.
        """
        kinds, kind = unique_rows(np.stack([moves.label for moves in self._moves[dim]], axis=1))
        groups = np.zeros(len(kinds), np.int64)
        groups[kind] = np.arange(len(kind))  # one of each kind
        counts = np.zeros(len(groups), object)
        np.add.at(counts, kind, self.counts(dim))
        after = compact(after)
        after = fitting(after, float(after.max(initial=0)) * float(counts.sum()))
        counts = counts.astype(after.dtype)
        weight = np.zeros(prod(self.shapes[dim]), after.dtype)
        for place, state, next_state in self.moves(dim, groups):
            np.add.at(weight, state, counts[place] * after[next_state])
        return weight
