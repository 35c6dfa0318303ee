"""Bounds choices of kept tensors one by one, those that may be best first, until none may beat those bounded."""

from dataclasses import dataclass

import numpy as np

from ..bounds import DimGroup, Relaxation
from ..mapping import Bools
from ..problem import ROUNDING
from ..runtime import InternalError
from ..search.outcome import MOST_KEPT, STEPS_A_ROW
from .all_choices import AllChoices, Waiting
from .choice_bounds import choice_of
from .coarse_bound import LONG
from .incumbents import BestIncumbent
from .keep_choice import KeepChoice
from .retention_order import SHARE, by_tensors, in_turn_by_tensors
from .wide_choice import FoldedChoice, WideChoice
from .work import Piece, Work

CHOICE_STEPS = 10_000  # of bounding a choice, if it has few rows
HELD = 2**19  # rows of chains with columns of choices that wait, in all: some hundreds of megabytes


@dataclass(eq=False)
class Bounding:
    """The bounding of the choices of a proof, piece by piece."""

    choices: AllChoices
    root: float = np.inf  # the least bound of the choices as they were bounded first

    def __post_init__(self) -> None:
        self.task, self.leaves = self.choices.task, self.choices.leaves

    def order(self) -> Work[None]:
        """Put the choices in turn: by what each tensor costs at least, where there are many."""
        task, every, groups = self.task, self.task.space.keep_choices, self.leaves.chains.groups
        listed = [group for group in groups if isinstance(group, DimGroup)]
        if by_tensors(every, listed=len(listed) == len(groups)):
            coarse = max(map(len, groups)) > LONG

            def relaxation(keep: Bools) -> Work[Relaxation]:
                yield Piece(CHOICE_STEPS // 10)
                terms = None if coarse else self.leaves.chains.terms
                return Relaxation(listed, task.table, keep, task.charges, coarse=coarse, terms=terms)

            self.choices.in_turn = yield from in_turn_by_tensors(every, relaxation)

    def cannot_finish(self, used: int, limit: int | None) -> bool:
        """Test whether more choices may be best than can be bounded one by one in the steps of the limit.

        Never in its first quarter, as the best gets better meanwhile.
        """
        if limit is None or not SHARE * limit <= used < limit or not self.choices.in_turn.added_up:
            return False
        steps = max(STEPS_A_ROW * self.leaves.chains.rows_of_all, CHOICE_STEPS)
        last = self.choices.number_bounded + min((limit - used) // steps, MOST_KEPT)
        if last >= self.choices.number:
            return False
        self.choices.in_turn.keep(last)
        return self.choices.bound_from(last) < self.leaves.incumbents.cutoff * (1 - ROUNDING)

    @property
    def needed(self) -> bool:
        """Whether a choice not bounded yet may be better than those that are."""
        choices = self.choices
        if not choices.in_turn.added_up:
            return choices.number_bounded < choices.number
        least = min((choice.least for choice in choices.waiting), default=np.inf)
        return choices.number_bounded < choices.number and choices.least_waiting <= least

    def step(self) -> Work[None]:
        """Bound the next choice, and close it if it is above the best."""
        yield Piece(CHOICE_STEPS // 10)
        choices, incumbents, number = self.choices, self.leaves.incumbents, self.choices.number_bounded + 1
        last = number == choices.number
        choice = yield from self._bounded(choices.in_turn.keep(number - 1), last=last)
        waiting = self._waiting_form(choice)
        choices.begin(waiting)
        cutoff = incumbents.cutoff * (1 - ROUNDING)
        self.root = min(self.root, choice.least)
        if isinstance(choice, KeepChoice) and choice.coarse_bound is not None:
            self.root = min(self.root, cutoff)  # it ruled out what is no better than the best, which may have changed
        if choice.least >= cutoff:
            choices.close([waiting])
        yield Piece(visible=True)
        if incumbents.best is not None and self._least_of_all > incumbents.cutoff * (1 + ROUNDING):
            raise InternalError("internal error: a mapping is below the bound of its mapspace; please report it")

    def unfold(self, folded: FoldedChoice) -> Work[None]:
        """Bound a choice again, to divide it."""
        choice = yield from self._bounded(folded.keep, last=False)
        self.choices.exchange(folded, choice)

    @property
    def _least_of_all(self) -> float:
        """The lower bound of the mapspace as a whole."""
        return min(self.root, self.choices.least_waiting)

    def _bounded(self, keep: Bools, *, last: bool) -> Work[KeepChoice | WideChoice]:
        choice = yield from choice_of(self.task, self.leaves, keep, last=last)
        if choice.least < self.leaves.incumbents.cutoff * (1 - ROUNDING):
            choice.sharpen()
        return choice

    def _waiting_form(self, choice: KeepChoice | WideChoice) -> Waiting:
        """Fold a choice where those that wait hold much already."""
        if self.task.options.certify or not isinstance(self.leaves.incumbents, BestIncumbent):
            return choice  # what rules it out is needed, or its point
        held = choice.rows + sum(waiting.rows for waiting in self.choices.waiting)
        if isinstance(choice, WideChoice) or held <= HELD or not self.choices.waiting:
            return choice
        return FoldedChoice(choice.relaxed.keep, choice.least, self.leaves.chains.number)
