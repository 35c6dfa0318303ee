"""Runs `--search optimal`: a branch and bound over the choices of kept tensors and the chains of each.

It branches over chains (branch_and_bound.py) with bounds that hold for all loop orders (relaxation.py), and finds the
best loop orders of each combination of chains that no bound rules out (leaves.py). docs/optimal.md argues why it passes
over no better mapping. Stopped early, as effort or time is used up or by Ctrl-C, it returns the best mapping and the
bounds proven so far.
"""

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from ..bounds import ObjectiveLimit
from ..mapping import MappingBatch
from ..problem import OBJECTIVES, ROUNDING
from ..runtime import TimeUp
from ..search import Observers, Recorder, Stop, Task
from ..search.outcome import Ended, Outcome, StageProof, Statistics
from .all_choices import Waiting
from .bounding import Bounding
from .effort_used import EffortUsed
from .front_search import FrontSearch
from .incumbents import BestIncumbent, FrontIncumbents, Incumbents
from .initial_evolution import Evolver, initial_evolution
from .keep_choice import KeepChoice
from .leaves import LeafEvaluator
from .policy import (
    Action,
    Bound,
    Branch,
    Dive,
    End,
    GiveUp,
    Open,
    Round,
    Standing,
    Unfold,
    evolves,
    next_action,
    takes_long,
    takes_very_long,
)
from .proof_so_far import ProofSoFar
from .resume import state_of
from .rounds import Rounds
from .why_no_proof import why_no_proof
from .wide_choice import FoldedChoice
from .work import Work


@dataclass(frozen=True)
class Start:
    """The beginning of a proof: a mapping, and the stages closed before; with `root_only` it is also the end."""

    given: MappingBatch | None = None
    stages: tuple[StageProof, ...] = ()
    root_only: bool = False  # bound the mapspace as a whole and no more
    below: float = np.inf  # only mappings below it by the objective are of use, whether there is one or not
    limits: tuple[ObjectiveLimit, ...] = ()  # only mappings within them are


class Optimal:
    """A running proof of the first objective not closed by a stage, among mappings equal to the best by the others."""

    def __init__(self, task: Task, observers: Observers, start: Start | None = None) -> None:
        self.task, self.observers, self.start = task, observers, start or Start()
        self.recorder = Recorder(Stop(None, time_limit=task.options.limits.seconds, effort=task.options.limits))
        self.effort = EffortUsed(task.options.limits, self.recorder)
        self.leaves = LeafEvaluator(task, _incumbents(task, self.start), self.recorder, self.effort.late)
        self.front_search: FrontSearch | None = None
        if isinstance(self.incumbents, FrontIncumbents):
            self.front_search = FrontSearch(self.leaves, self.incumbents)
        self.evolver = Evolver(self.leaves)
        self.so_far = ProofSoFar(task, self.leaves, self.start.stages)
        self.rng = np.random.default_rng(task.options.seed)
        self.bounding = Bounding(self.so_far.choices)
        self.rounds: Rounds | None = None  # the last

    def run(self) -> Outcome:
        """Search until every mapping is ruled out or seen, effort or time is used up, or Ctrl-C."""
        self.effort.begin()
        try:
            self._search()
            if Ended.EFFORT in self.statistics.ended and not self.start.root_only:
                self._evolve(Ended.EFFORT)
        except KeyboardInterrupt:
            self.statistics.stop(Ended.INTERRUPTED)
        finally:
            if self.rounds is not None:
                self.rounds.close()
        self.so_far.remember()
        self.statistics.seconds = self.effort.seconds
        return self.so_far.outcome()

    def _search(self) -> None:
        """Look for good mappings, then prove, where a proof is possible."""
        try:
            hindered = why_no_proof(self.task, self.leaves.chains)
            if self.start.given is not None:
                self.leaves.offer(self.start.given)
            if hindered and not self.start.root_only:
                self._evolve(hindered)
            elif hindered:
                self.statistics.stop(hindered)
            else:
                if self.start.given is None:
                    self._begin_with(self.task.start)
                    initial_evolution(self.evolver, self.effort.limits.seconds, lambda: self._tell(proving=False))
                self.leaves.chains.list_all(self.effort.check)
                self._work(self.bounding.order())
                self._branch()
        except TimeUp:
            if not self.effort.late():
                self.statistics.stop(Ended.TIME_LIMIT)

    def _begin_with(self, start: MappingBatch | None) -> None:
        """Offer mappings to begin with. They are not bred from: evolution from a poor one finds the best later."""
        self.evolver.breeds_start = False
        if start is not None:
            for number in range(len(start)):
                self.leaves.offer(start.take([number]))

    @property
    def incumbents(self) -> Incumbents:
        return self.leaves.incumbents

    @property
    def statistics(self) -> Statistics:
        return self.recorder.statistics

    def _branch(self) -> None:
        """Carry out what the policy chooses, until it ends the proof."""
        divisions = 1
        while True:
            self.so_far.choices.rule_out()
            if self._close_enough():
                return self.statistics.stop(Ended.CLOSE)
            match next_action(self._standing(divisions)):
                case Bound():
                    self._work(self.bounding.step())
                case Unfold(FoldedChoice() as choice):
                    self._work(self.bounding.unfold(choice))
                case GiveUp(reason):
                    return self._evolve(reason)
                case End(reason=None):
                    return self._end()
                case End(reason=Ended() as reason):
                    return self.statistics.stop(reason)
                case division:
                    self._divide(division)
                    divisions += 1
                    self._tell()
                    self._evolve_beside()

    def _close_enough(self) -> bool:
        """Whether bound and best are as near as the effort asks, where the proof is not closed yet."""
        gap, best = self.effort.limits.gap, self.incumbents.least
        if not gap or best == np.inf or self.task.goal.front:
            return False
        least = min(self.so_far.choices.least, self.leaves.unresolved)
        return best * (1 - gap) <= least < best * (1 - ROUNDING)

    def _standing(self, divisions: int) -> Standing[Waiting]:
        """Say where the proof is; while choices are not bounded, nothing is asked of those that wait."""
        if self.bounding.needed:
            limit = self.effort.limits.expected_steps
            return Standing(unbounded=True, cannot_finish=self.bounding.cannot_finish(self.statistics.steps, limit))
        if self.start.root_only:
            return Standing(root_only=True)
        first = min(self.so_far.choices.waiting, key=lambda choice: choice.least, default=None)
        used_up = first is not None and self.effort.late()
        return Standing(first, used_up=used_up, divisions=divisions)

    def _divide(self, action: Action[Waiting]) -> None:
        """Open some sets of chains of a choice; exchanges of a front have some of the steps."""
        match action:
            case Round(KeepChoice(rounds=Rounds() as rounds) as choice):
                self._halve_beside(choice)
                self._round(choice, rounds)
            case Branch(KeepChoice() as choice):
                self._search_front(choice)
                choice.grow(certify=self.task.options.certify)
            case Dive(KeepChoice() as choice):
                choice.dive(self.leaves)
                self._search_front(choice)
            case Open(KeepChoice() as choice):
                choice.step(self.leaves)
                if self.task.options.certify:
                    self._help_certificate(choice)
                elif takes_long(choice):
                    choice.dive(self.leaves)
                    choice.go_in_rounds(self.task)
            case _:
                raise AssertionError(f"nothing is divided by {action}")

    def _help_certificate(self, choice: KeepChoice) -> None:
        """Halve sets beside trees that take very long, which alone prove anything there, for the best mapping."""
        if takes_very_long(choice, choice.steps) and self._may_be_better(choice):
            choice.begin_halving()
            self._halve_beside(choice)
            choice.grow_again()

    def _search_front(self, choice: KeepChoice) -> None:
        """Improve the mappings of a front, where one is asked for."""
        if self.front_search is not None:
            self.front_search.start(choice.relaxed, self.rng)

    def _work[T](self, work: Work[T]) -> T:
        """Do a work piece by piece. Raises TimeUp where effort or time is used up."""
        while True:
            try:
                piece = next(work)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if piece.steps:
                self.effort.check(piece.steps)
            if piece.visible:
                self._tell()
            self._evolve_beside()

    def _evolve_beside(self) -> None:
        """Evolve until that has its share of the steps."""
        if self.start.root_only:
            return
        while evolves(self.evolver.seen, self.statistics.steps) and self.evolver.go_on(self.effort.late):
            self._tell()

    def _evolve(self, reason: Ended) -> None:
        """Evolve with the rest of the effort, without a limit until that brings nothing: there is no proof, or no more.

        With a time limit alone it goes on to its end.
        """
        limits = self.effort.limits
        timed = limits.mappings is None and limits.seconds is not None
        while not (self.evolver.used_up or (self.evolver.settled and not timed) or self.effort.out_of_time):
            self.evolver.step()
            self._tell(proving=reason is Ended.EFFORT)
        timed_out = reason in (Ended.EFFORT, Ended.TOO_SHORT) and self.effort.out_of_time
        self.statistics.stop(Ended.TIME_LIMIT if timed_out else reason)

    def _round(self, choice: KeepChoice, rounds: Rounds) -> None:
        """Open nodes of a choice in turns, with evolution and halving between them."""
        if self.rounds is not None and self.rounds is not rounds:
            self.rounds.close()  # workers keep what one choice shares, not what all do
        self.rounds = rounds
        with closing(rounds.round(self.leaves, self.effort.remaining, self._tell)) as turns:
            for _ in turns:
                self._tell()
                self._evolve_beside()
                self._halve_beside(choice)
                if self.effort.late() or not self._may_be_better(choice):
                    return

    def _halve_beside(self, choice: KeepChoice) -> None:
        """Halve sets of a choice until that has its share of the steps, or nothing is left."""
        while self._may_be_better(choice) and choice.halves_next and not self.effort.late():
            assert choice.halving is not None
            choice.halving.step(self.leaves)
            self._tell()
            self._evolve_beside()

    def _may_be_better(self, choice: KeepChoice) -> bool:
        """Test whether a choice may have a mapping better than the best."""
        return choice.least < self.incumbents.cutoff * (1 - ROUNDING)

    def _end(self) -> None:
        """Set the reason of the end, unless effort or time ended the search before all was seen."""
        if self.so_far.choices.waiting:
            return
        if self.leaves.unresolved >= self.incumbents.cutoff * (1 - ROUNDING):
            self.statistics.stop(Ended.SEEN_ALL)
        elif not self.statistics.ended and not self.effort.late():
            self.statistics.stop(Ended.LEFT_OPEN)

    def _tell(self, *, proving: bool = True) -> float:
        """Report progress, offer the state, return the seconds."""
        self.statistics.seconds = self.effort.seconds
        if self.observers.progress:
            self.recorder.proven = self.so_far.progress if proving else ""
            self.observers.progress(self.recorder)
        if self.observers.part:
            self.observers.part.offer(lambda: state_of(self.task.space, self.so_far.to_save, finished=False))
        return self.statistics.seconds


def _incumbents(task: Task, start: Start) -> Incumbents:
    objectives, stages = task.goal.minimised, start.stages
    if task.goal.front:
        return FrontIncumbents(objectives)
    closed = tuple(
        ObjectiveLimit.equal_to(OBJECTIVES[stage.objective], stage.value) for stage in stages if stage.value is not None
    )
    return BestIncumbent.below(start.below, objectives[len(stages) :], closed + start.limits)
