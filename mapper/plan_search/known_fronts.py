"""Mixes what is known: the plans through ways that were met whose energy and cycles no other of them beats.

At one slope dynamic programming finds a corner of the front of all plans. Between corners lie plans in which some parts
have the mappings of one slope, some those of another: they matter where cycles or energy are limited.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..fusion import GroupCosts
from ..mapping import pareto_rows
from ..problem import Point
from .prices import Prices
from .states import Component, Move, States
from .ways import Way

MOST_POINTS = 256  # of a front: the others are left out, evenly


class Choice(NamedTuple):
    """A move, and the loops and mappings of its layers."""

    move: Move
    costs: GroupCosts | None  # None: it has no layers

    @property
    def point(self) -> Point:
        """Cycles and energy."""
        cycles, energy_pj = self.move.beside
        if self.costs is not None:
            cycles, energy_pj = cycles + float(self.costs.cycles), energy_pj + self.costs.energy_pj
        return cycles, energy_pj


class Chain(NamedTuple):
    """Choices up to here, the last first."""

    choice: Choice
    before: "Chain | None"


class Mixed(NamedTuple):
    """Energy and cycles of choices for all components, each executed as often as it occurs."""

    cycles: float
    energy_pj: float
    choices: tuple[Choice, ...]


class _Point(NamedTuple):
    cycles: float
    energy_pj: float
    chain: Chain | None


def mixed_front(components: Iterable[Component], ways: Iterable[Sequence[Way]], prices: Prices) -> list[Mixed]:
    """Find the front of all plans through the moves of some ways of each component; from the fewest cycles on.

    At most MOST_POINTS are kept of each state, and of the whole.
    """
    front = [Mixed(0.0, 0.0, ())]
    for component, own in zip(components, ways, strict=True):
        count, ends = component.count, _front_of(component.states, own, prices)
        front = _thinned(
            [
                Mixed(a.cycles + count * b.cycles, a.energy_pj + count * b.energy_pj, a.choices + _choices(b.chain))
                for a in front
                for b in ends
            ]
        )
    return front


def _front_of(states: States, ways: Sequence[Way], prices: Prices) -> list[_Point]:
    """The front of the plans of one component."""
    passed = {move for way in ways for move in way.moves}
    points: dict[int, list[_Point]] = {0: [_Point(0.0, 0.0, None)]}
    waiting: dict[int, list[_Point]] = {}
    for move in states.moves:  # all moves into a state stand before those from it
        if move not in passed:
            continue
        if move.before in waiting:
            points[move.before] = _thinned(waiting.pop(move.before))
        choices = [(choice, *choice.point) for choice in _choices_of(move, prices)]
        waiting.setdefault(move.after, []).extend(
            _Point(before.cycles + cycles, before.energy_pj + energy_pj, Chain(choice, before.chain))
            for before in points[move.before]
            for choice, cycles, energy_pj in choices
        )
    return _thinned(waiting[states.end])


def _choices_of(move: Move, prices: Prices) -> list[Choice]:
    return [Choice(move, None)] if move.group is None else [Choice(move, own) for own in prices.every[move.group].costs]


def _choices(chain: Chain | None) -> tuple[Choice, ...]:
    """All choices of a chain, in turn."""
    turned = list[Choice]()
    while chain is not None:
        turned.append(chain.choice)
        chain = chain.before
    return tuple(reversed(turned))


def _thinned[P: (_Point, Mixed)](points: list[P]) -> list[P]:
    """The points that no other beats, from the fewest cycles on; of too many some, evenly, both ends among them."""
    cycles, energies = np.array([(point.cycles, point.energy_pj) for point in points]).T
    rows = pareto_rows(cycles, energies)
    if len(rows) > MOST_POINTS:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_POINTS).round().astype(int)]
    return [points[row] for row in rows]
