"""All choices of kept tensors of a proof: bounded one by one or in turn, waiting or closed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..certificate import BOUNDED, Choice
from ..problem import ROUNDING, Point
from ..search import Task
from ..search.outcome import Coverage
from .certify import kept_names
from .keep_choice import KeepChoice
from .leaves import LeafEvaluator
from .retention_order import ChoicesByBound
from .wide_choice import FoldedChoice, WideChoice

Waiting = KeepChoice | WideChoice | FoldedChoice


@dataclass(frozen=True, eq=False)
class _State:
    """Replaced as a whole, as Ctrl-C may come at any time."""

    waiting: tuple[Waiting, ...] = ()
    number_bounded: int = 0
    closed_coverage: Coverage = Coverage()  # coverage of the closed choices
    certified: tuple[Choice, ...] = ()  # the closed choices in the certificate, where asked for


class AllChoices:
    """All choices of kept tensors.

    So many are `begun`, bounded one by one; those are `waiting`, or closed. The others come in turn.
    """

    def __init__(self, task: Task, leaves: LeafEvaluator, corner: Point) -> None:
        """Prepare them; `corner`: cycles and energy that are below those of every mapping."""
        self.task, self.leaves = task, leaves
        self.number = task.space.keep_choices.number
        self.in_turn = ChoicesByBound(task.space.keep_choices, corner)
        self._state = _State()

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The choices bounded one by one that may have a better mapping."""
        return self._state.waiting

    @property
    def number_bounded(self) -> int:
        """How many have been bounded one by one."""
        return self._state.number_bounded

    @property
    def bounded(self) -> bool:
        """Whether every choice is bounded, if only by what its tensors cost at least."""
        return self.in_turn.added_up or self.number_bounded == self.number

    @property
    def least_waiting(self) -> float:
        """The bound value of the choices not bounded one by one; inf where there are none."""
        return np.inf if self.number_bounded == self.number else self.bound_from(self.number_bounded)

    def bound_from(self, place: int) -> float:
        """Return the bound value of the choices from a place on."""
        energy_pj, cycles = np.array([self.in_turn.energy(place)]), np.array([self.in_turn.cycles])
        return float(self.leaves.incumbents.bound_value(energy_pj, cycles)[0])

    @property
    def corners_in_turn(self) -> list[Point]:
        """List the point below all mappings of the choices not bounded one by one, if there are any."""
        return (
            []
            if self.number_bounded == self.number
            else [(self.in_turn.cycles, self.in_turn.energy(self.number_bounded))]
        )

    @property
    def least(self) -> float:
        """The bound value of mappings not seen."""
        return min([self.least_waiting, *(choice.least for choice in self.waiting)])

    @property
    def open(self) -> int:
        """The number of open sets: those not bounded one by one are one set."""
        return sum(choice.open for choice in self.waiting) + (self.number_bounded < self.number)

    @property
    def coverage(self) -> Coverage:
        """The coverage of the combinations of chains of all choices."""
        in_turn = Coverage(open=(self.number - self.number_bounded) * self.leaves.chains.number)
        return sum((choice.coverage for choice in self.waiting), self._state.closed_coverage) + in_turn

    def begin(self, choice: Waiting) -> None:
        """Let the next choice in turn wait, now that it is bounded."""
        before = self._state
        self._state = replace(before, waiting=(*before.waiting, choice), number_bounded=before.number_bounded + 1)

    def exchange(self, before: Waiting, after: Waiting) -> None:
        """Let a choice wait in another form."""
        waiting = tuple(after if choice is before else choice for choice in self.waiting)
        self._state = replace(self._state, waiting=waiting)

    def rule_out(self) -> None:
        """Close the choices that have no better mapping."""
        cutoff = self.leaves.incumbents.cutoff * (1 - ROUNDING)
        self.close([choice for choice in self.waiting if choice.least >= cutoff])
        if self.in_turn.added_up and self.number_bounded < self.number and self.least_waiting >= cutoff:
            before = self._state
            certified = (*before.certified, *self._certified_in_turn()) if self.task.options.certify else ()
            coverage = before.closed_coverage + Coverage(
                ruled_out=(self.number - before.number_bounded) * self.leaves.chains.number
            )
            self._state = replace(before, number_bounded=self.number, closed_coverage=coverage, certified=certified)

    def close(self, choices: Sequence[Waiting]) -> None:
        """Close choices that have no better mapping."""
        before, closed = self._state, set(choices)
        certified = [choice.certified(self.leaves.chains.names) for choice in choices if self.task.options.certify]
        self._state = replace(
            before,
            waiting=tuple(choice for choice in before.waiting if choice not in closed),
            closed_coverage=sum((choice.coverage.closed() for choice in choices), before.closed_coverage),
            certified=(*before.certified, *certified),
        )

    def certified(self) -> tuple[Choice, ...]:
        """Convert all choices for the certificate."""
        waiting = [choice.certified(self.leaves.chains.names) for choice in self.waiting]
        return (*self._state.certified, *waiting, *self._certified_in_turn())

    def _certified_in_turn(self) -> list[Choice]:
        """Convert those not bounded one by one: columns bound each at least as well as the sums of its tensors."""
        arch, workload = self.task.space.arch, self.task.space.workload
        keeps = [self.in_turn.keep(place) for place in range(self.number_bounded, self.number)]
        return [Choice(keep=kept_names(arch, workload, k), weights=[], trees=[], verdicts=BOUNDED) for k in keeps]
