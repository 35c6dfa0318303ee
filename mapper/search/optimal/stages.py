"""Proves several objectives in turn, a stage for each.

A stage finds the best mapping by its objective among those that equal the best by the objectives before; their values
are limits of its mappings. It begins once the stage before is closed. All stages share the time limit.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...certificate import Layer, Stage
from ...mapping import MappingBatch
from ...model import OBJECTIVES, evaluate, recount
from ...model.bounds import ROUNDING, Limit, exceeds
from ..ended import Ended
from ..outcome import Outcome, StageProof
from ..strategy import Task, Watch, goes_on
from .optimal import Optimal, Start
from .resume import restored, state_of


class Stages:
    """A proof by each objective of the options in turn, or of a front.

    `given` is a mapping to start with; with `root_only` each stage only bounds the mapspace as a whole.
    """

    def __init__(self, task: Task, watch: Watch, given: MappingBatch | None = None, *, root_only: bool = False) -> None:
        self.task, self.watch, self.root_only = task, watch, root_only
        self.stage = Optimal(task, watch, Start(given, root_only=root_only))
        self.certificates: list[Layer] = []  # of the closed stages

    def run(self) -> Outcome:
        """Prove stage by stage, until one stays open; go on from the state in `watch.part`, and save it there."""
        part = self.watch.part
        if part and (state := part.load()):
            if not goes_on(state, self.task.options.time_limit, part):
                return self._whole(restored(self.task.space, state))
            self._go_on(state)
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

    def _go_on(self, state: Mapping[str, Any]) -> None:
        """Go on from the state of an earlier run; a certificate needs the proofs of its closed stages again."""
        before = restored(self.task.space, state)
        if self.task.options.certify and before.stages:
            before = replace(before, lower_bound=before.stages[0].lower_bound, stages=())
        stage = Optimal(self.task, self.watch, Start(before.best, before.stages, self.root_only))
        for batch in [*([] if before.best is None else [before.best]), *before.front]:
            stage.leaves.offer(batch)
        trace = before.statistics.trace
        stage.evidence.before, stage.recorder.best = before, trace[-1][1] if trace else np.inf
        stage.recorder.statistics = replace(before.statistics, ended=())
        self.stage = stage

    def _more(self, outcome: Outcome) -> bool:
        """Test whether a stage is closed and another follows."""
        last = len(outcome.stages) + 1 == len(self.task.options.objectives)
        return outcome.optimal and not (last or self.task.options.front or outcome.statistics.interrupted)

    def _begin(self, before: Outcome) -> None:
        """Begin the stage after that of an outcome."""
        if before.certificate is not None:
            self.certificates.append(before.certificate)
        stages = (*before.stages, self._proven(before))
        stage = Optimal(self.task, self.watch, Start(before.best, stages, self.root_only))
        stage.recorder.statistics = replace(before.statistics, ended=())
        stage.recorder.best = self.stage.recorder.best
        stage.evolver = self.stage.evolver.pass_to(stage.leaves)
        self.stage = stage

    def _proven(self, outcome: Outcome) -> StageProof:
        """Return what the stage of an outcome proved."""
        name = self.task.options.objectives[len(outcome.stages)]
        value = None
        if outcome.best is not None:
            costs = evaluate(outcome.best, self.task.table, self.task.costs, recount(outcome.best))
            value = float(OBJECTIVES[name].of(costs)[0])
        return StageProof(name, value, outcome.lower_bound, outcome.optimal, outcome.coverage)

    def _whole(self, last: Outcome) -> Outcome:
        """Make the outcome of all stages from that of the last begun."""
        names = self.task.options.objectives
        if len(names) == 1:
            return last
        stages = (*last.stages, self._proven(last))
        if self.task.options.front:
            stages = self._of_front(last, stages[0])
        stages += tuple(StageProof(name) for name in names[len(stages) :])
        certificate = self._certificate(last.certificate)
        closed, first = all(stage.optimal for stage in stages), stages[0]
        last = replace(last, stages=stages, optimal=closed, certificate=certificate)
        return replace(last, lower_bound=first.lower_bound, coverage=first.coverage)

    def _of_front(self, outcome: Outcome, first: StageProof) -> tuple[StageProof, ...]:
        """Prove the other objectives by a front: a mapping not seen lies above a corner, which is within limits if the
        mapping is."""
        stages, limits = [first], list[Limit]()
        for name in self.task.options.objectives[1:]:
            before = stages[-1]
            if not before.optimal or before.value is None or outcome.proof is None:
                break
            limits.append(Limit.equal_to(OBJECTIVES[before.objective], before.value))
            found = self._proven(replace(outcome, stages=tuple(stages)))
            cycles, energy_pj = np.array(outcome.proof.corners, np.float64).reshape(-1, 2).T
            least = OBJECTIVES[name].value(energy_pj, cycles)[~exceeds(limits, energy_pj, cycles, ROUNDING)]
            assert found.value is not None, "the stage before has a value"
            lower = min(found.value, float(least.min(initial=np.inf)))
            stages.append(replace(found, lower_bound=lower, optimal=lower >= found.value * (1 - ROUNDING)))
        return tuple(stages)

    def _certificate(self, last: Layer | None) -> Layer | None:
        """Join the certificates of all stages begun: the first has the problem."""
        every = [*self.certificates, *([] if last is None else [last])]
        if len(every) < 2:
            return every[0] if every else None
        first, *others = every
        stages = [
            Stage(objective=each.objective, best=each.best[0], lower_bound=each.lower_bound, choices=each.choices)
            for each in others
        ]
        return first.model_copy(update={"stages": stages})
