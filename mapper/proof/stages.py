"""Proves several objectives in turn, a stage for each.

A stage finds the best mapping by its objective among those that equal the best by the objectives before; their values
are limits of its mappings. It begins once the stage before is closed. All stages share the effort.
"""

from dataclasses import replace
from itertools import takewhile

import numpy as np

from ..bounds import ObjectiveLimit, exceeds
from ..certificate import LayerProof, Stage
from ..mapping import MappingBatch
from ..model import evaluate, recount
from ..problem import OBJECTIVES, ROUNDING
from ..search import Observers, Task, is_unfinished
from ..search.outcome import Ended, Evidence, Outcome, StageProof
from .optimal import Optimal, Start
from .resume import restored, state_of


class Stages:
    """A proof by each objective of the options in turn, or of a front.

    `given` is a mapping to start with; with `root_only` each stage only bounds the mapspace as a whole.
    """

    def __init__(
        self, task: Task, observers: Observers, given: MappingBatch | None = None, *, root_only: bool = False
    ) -> None:
        self.task, self.observers, self.root_only = task, observers, root_only
        self.stage = Optimal(task, observers, Start(given, root_only=root_only))
        self.certificates: list[LayerProof | None] = []  # of the closed stages; None: nothing that can be checked
        self.before: Outcome | None = None  # that of an earlier run

    def run(self) -> Outcome:
        """Prove stage by stage, until one stays open, and save the state in `watch.part`.

        A proof that an earlier run began is done again from its beginning, so that it ends with the same mapping; what
        that run had found joins at the end. So is one that it had finished where a certificate is asked for, which no
        state holds.
        """
        part = self.observers.part
        if part and (state := part.load()):
            before = restored(self.task.space, state)
            if not (self.task.options.certify or is_unfinished(state, self.task.options.limits, part)):
                return self._whole(before)
            self.stage.so_far.earlier = self.before = before
        outcome = self.stage.run()
        try:
            while self._more(outcome):
                self._begin(outcome)
                outcome = self.stage.run()
        except KeyboardInterrupt:  # between two stages
            outcome.statistics.stop(Ended.INTERRUPTED)
        if part:
            part.save(state_of(self.task.space, outcome, finished=not outcome.statistics.interrupted))
        return self._whole(outcome)

    def _more(self, outcome: Outcome) -> bool:
        """Test whether a stage is closed and another follows."""
        last = len(outcome.stages) + 1 == len(self.task.goal.objectives)
        return outcome.optimal and not (last or self.task.goal.front or outcome.statistics.interrupted)

    def _begin(self, before: Outcome) -> None:
        """Begin the stage after that of an outcome."""
        self.certificates.append(before.certificate)
        stages = (*before.stages, self._proven(before))
        stage = Optimal(self.task, self.observers, Start(before.best, stages, self.root_only))
        stage.recorder.statistics = replace(before.statistics, ended=())
        stage.recorder.best = self.stage.recorder.best
        stage.evolver, stage.so_far.earlier = self.stage.evolver.pass_to(stage.leaves), self.before
        self.stage = stage

    def _proven(self, outcome: Outcome) -> StageProof:
        """Return what the stage of an outcome proved."""
        objective = self.task.goal.minimised[len(outcome.stages)]
        value = None
        if outcome.best is not None:
            costs = evaluate(outcome.best, self.task.table, self.task.charges, recount(outcome.best))
            value = float(objective.of(costs)[0])
        return StageProof(objective.name, value, outcome.lower_bound, outcome.optimal, outcome.coverage)

    def _whole(self, last: Outcome) -> Outcome:
        """Make the outcome of all stages from that of the last begun."""
        names = self.task.goal.objectives
        if len(names) == 1:
            return last
        stages = (*last.stages, self._proven(last))
        if self.task.goal.front:
            stages = self._of_front(last, stages[0])
        stages += tuple(StageProof(name) for name in names[len(stages) :])
        certificate = self._certificate(last.certificate)
        closed, first = all(stage.optimal for stage in stages), stages[0]
        proven = Evidence(first.lower_bound, closed, last.proof, first.coverage, stages, certificate)
        return replace(last, evidence=proven)

    def _of_front(self, outcome: Outcome, first: StageProof) -> tuple[StageProof, ...]:
        """Prove the other objectives by a front: a mapping not seen lies above a corner, which is within limits if the
        mapping is."""
        stages, limits = [first], list[ObjectiveLimit]()
        for objective in self.task.goal.minimised[1:]:
            before = stages[-1]
            if not before.optimal or before.value is None or outcome.proof is None:
                break
            limits.append(ObjectiveLimit.equal_to(OBJECTIVES[before.objective], before.value))
            stage = self._proven(replace(outcome, evidence=replace(outcome.evidence, stages=tuple(stages))))
            cycles, energy_pj = np.array(outcome.proof.corners, np.float64).reshape(-1, 2).T
            least = objective.value(energy_pj, cycles)[~exceeds(limits, energy_pj, cycles, ROUNDING)]
            assert stage.value is not None, "the stage before has a value"
            lower = min(stage.value, float(least.min(initial=np.inf)))
            stages.append(replace(stage, lower_bound=lower, optimal=lower >= stage.value * (1 - ROUNDING)))
        return tuple(stages)

    def _certificate(self, last: LayerProof | None) -> LayerProof | None:
        """Join the certificates of the stages, up to the first that has none: the first has the problem."""
        every = [proof for proof in takewhile(lambda proof: proof is not None, [*self.certificates, last]) if proof]
        if not every:
            return None
        first, *later_proofs = every
        stages = [
            Stage(objective=proof.objective, best=proof.best[0], lower_bound=proof.lower_bound, choices=proof.choices)
            for proof in later_proofs
        ]
        return first.model_copy(update={"stages": stages})
