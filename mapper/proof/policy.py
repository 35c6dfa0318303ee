"""Chooses what a proof does next: a pure function of its state, whose actions the loop carries out.

Every threshold by which a proof chooses between bounding, dividing, evolving and ending stands here, with its reason.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from ..search.outcome import STEPS_A_MAPPING, Ended

EVOLVED = 0.25  # of the steps of a proof, for evolution beside it: both bring better mappings
DIVES = 32  # openings of nodes before the first dive; then at each power of two, as dives bring less and less
MOST_TIMES = 4  # as many steps for halving as for rounds beside it, or the reverse
UNAIDED = 4_000_000  # steps of the trees of a certificate before halving goes beside them
ALONE = 2**15  # nodes opened before a choice goes on in rounds: a second, for which no other process need begin


class Form(Enum):
    """How far the proof of a choice of kept tensors is."""

    WIDE = auto()  # of its chains too many are left to divide
    FOLDED = auto()  # bounded, without its columns
    WHOLE = auto()  # bounded, not divided
    BRANCHING = auto()  # divided, its nodes open
    ROUNDS = auto()  # divided, its nodes opened in rounds, with halving beside them


class Waiting(Protocol):
    """A choice of kept tensors that may have a better mapping."""

    @property
    def form(self) -> Form:
        """How far its proof is."""

    @property
    def has_rounds(self) -> bool:
        """Whether it may go on in rounds."""

    @property
    def opened(self) -> int:
        """The nodes opened so far."""


@dataclass(frozen=True)
class Standing[C: Waiting]:
    """The state of a proof, as far as it decides what comes next."""

    first: C | None = None  # of the choices that wait, that with the least bound; None where none waits
    unbounded: bool = False  # whether a choice not bounded yet may be better than those that are,
    cannot_finish: bool = False  # and more of them than can be bounded within the effort
    root_only: bool = False  # whether the mapspace is bounded as a whole and no more
    used_up: bool = False  # whether effort or time is used up
    divisions: int = 1  # times that choices were divided, this one included


@dataclass(frozen=True)
class Bound:
    """Bound the next choice."""


@dataclass(frozen=True)
class Unfold[C]:
    """Bound a choice again, to divide it."""

    choice: C


@dataclass(frozen=True)
class Branch[C]:
    """Divide a choice for the first time."""

    choice: C


@dataclass(frozen=True)
class Open[C]:
    """Open the best nodes of a choice."""

    choice: C


@dataclass(frozen=True)
class Dive[C]:
    """Follow the best nodes of a choice down to mappings."""

    choice: C


@dataclass(frozen=True)
class Round[C]:
    """Open nodes of a choice in a round, with halving beside it."""

    choice: C


@dataclass(frozen=True)
class GiveUp:
    """There is no proof, for this reason: let the evolution have the rest of the effort."""

    reason: Ended


@dataclass(frozen=True)
class End:
    """End, for this reason; without one, as nothing is left to open, or effort or time is used up."""

    reason: Ended | None = None


type Action[C] = Bound | Unfold[C] | Branch[C] | Open[C] | Dive[C] | Round[C] | GiveUp | End


def next_action[C: Waiting](state: Standing[C]) -> Action[C]:
    """Choose what a proof does next."""
    if state.unbounded:
        return GiveUp(Ended.TOO_SHORT) if state.cannot_finish else Bound()
    if state.root_only:
        return End(Ended.ROOT_ONLY)
    choice = state.first
    if choice is None or state.used_up:
        return End()
    if choice.form is Form.WIDE:
        return GiveUp(Ended.TOO_MANY_CHAINS)
    if choice.form is Form.FOLDED:
        return Unfold(choice)
    return _division(state, choice)


def _division[C: Waiting](state: Standing[C], choice: C) -> Action[C]:
    """Choose how a choice that may have the best mapping is divided."""
    if choice.form is Form.ROUNDS:
        return Round(choice)
    if choice.form is Form.WHOLE:
        return Branch(choice)
    if state.divisions >= DIVES and state.divisions.bit_count() == 1:
        return Dive(choice)
    return Open(choice)


def evolves(mappings: int, steps: int) -> bool:
    """Test whether the evolution beside a proof, of so many mappings by now, has had less than its share of `steps`."""
    return mappings * STEPS_A_MAPPING < steps * EVOLVED


def halves(steps: int, of_rounds: int, gap: float, gap_of_rounds: float) -> bool:
    """Test whether halving, of so many steps by now, has had less than its share beside rounds.

    The gaps are those of their bounds to the limit: the one that is nearer has more steps, as the inverse squares.
    """
    times = (max(gap_of_rounds, 1e-9) / max(gap, 1e-9)) ** 2
    return steps < of_rounds * min(max(times, 1 / MOST_TIMES), MOST_TIMES)


def takes_long(choice: Waiting) -> bool:
    """Test whether a choice whose nodes were opened goes on in rounds, which several processes share."""
    return choice.opened > ALONE and choice.has_rounds


def takes_very_long(choice: Waiting, steps: int) -> bool:
    """Test whether the trees of a certificate, of so many steps by now, have halving beside them."""
    return steps > UNAIDED and choice.has_rounds
