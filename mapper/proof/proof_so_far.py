"""Collects what a running proof knows: the best mappings so far, and bounds on all mappings not seen."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..bounds import ideal
from ..certificate import FRONT, LayerProof
from ..mapping import MappingBatch
from ..problem import ROUNDING, Objective, Point, at_most
from ..search import Task
from ..search.outcome import Ended, Evidence, FrontProof, Outcome, StageProof, Statistics
from .all_choices import AllChoices
from .certify import certified_layer
from .incumbents import FrontIncumbents, Incumbents, without_equals
from .keep_choice import KeepChoice
from .leaves import LeafEvaluator


class ProofSoFar:
    """The best mappings and the bounds of a proof, and the outcome that follows from them."""

    def __init__(self, task: Task, leaves: LeafEvaluator, stages: Sequence[StageProof] = ()) -> None:
        self.task, self.leaves, self.stages = task, leaves, tuple(stages)
        self.counted = True  # whether all combinations of chains are accounted for
        self.before: Outcome | None = None  # of an earlier run that reached this stage, whose bounds hold
        self.earlier: Outcome | None = None  # of an earlier run, whatever it reached
        least = ideal(task.space.arch, task.space.workload, task.table, task.charges)
        self.corner: Point = (float(least.cycles), least.energy_pj)  # below every mapping
        self.choices = AllChoices(task, leaves, self.corner)

    @property
    def incumbents(self) -> Incumbents:
        """The best mappings so far."""
        return self.leaves.incumbents

    @property
    def objective(self) -> Objective:
        """The objective that the proof is about."""
        return self.incumbents.objectives[0]

    @property
    def statistics(self) -> Statistics:
        return self.leaves.recorder.statistics

    @property
    def progress(self) -> str:
        """The state of the proof in a line."""
        stage = f"{self.objective.title}: " if len(self.task.goal.objectives) > 1 else ""
        if not self.choices.bounded:
            return f"{stage}{self.choices.number_bounded:,} of {self.choices.number:,} choices of what is kept bounded"
        cutoff = self.incumbents.cutoff if self.incumbents.best is not None else np.inf
        share = max(0.0, 1 - self.choices.least / cutoff) if cutoff else 0.0
        return f"{stage}the best possible at most {at_most(share)} below, {self.choices.open:,} sets open"

    @property
    def outcome_so_far(self) -> Outcome:
        """The best mappings so far, with the proof of an earlier run."""
        front: tuple[MappingBatch, ...] = ()
        if isinstance(self.incumbents, FrontIncumbents):
            stay = np.flatnonzero(without_equals(self.incumbents.energy_pj, self.incumbents.cycles))
            front = tuple(self.incumbents.batches[i] for i in stay.tolist())
        before = Evidence() if self.before is None else self.before.evidence
        evidence = Evidence(before.lower_bound, front=before.front, stages=self.stages)
        return Outcome(self.incumbents.best, self.statistics, evidence, front)

    @property
    def to_save(self) -> Outcome:
        """The outcome so far, or that of an earlier run until this one has as much."""
        earlier, own_stages = self.earlier, len(self.stages)
        if earlier is not None and earlier.statistics.trace:
            stages, value = len(earlier.stages), earlier.statistics.trace[-1][1]
            if stages > own_stages or (stages == own_stages and value < self.incumbents.least):
                return earlier
        return self.outcome_so_far

    def remember(self) -> None:
        """Take what an earlier run had found, where this one ended before it found as much."""
        earlier = self.earlier
        if earlier is not None and len(earlier.stages) == len(self.stages):
            self.before, steps = earlier, self.statistics.steps
            for batch in ([] if earlier.best is None else [earlier.best]) + list(earlier.front):
                self.leaves.offer(batch)
            self.statistics.steps = steps  # to remember is no work: a resumed run has the steps of one that was not

    def outcome(self) -> Outcome:
        """Make the outcome; it has only the ideal bounds where the combinations do not add up."""
        coverage = self.choices.coverage
        if coverage.total != self.leaves.chains.number * self.choices.number:
            self.statistics.stop(Ended.UNCOUNTED)
            self.counted = False
        outcome, least = self.outcome_so_far, self.incumbents.least
        evidence = replace(outcome.evidence, coverage=coverage)
        if least == np.inf:
            return replace(outcome, evidence=evidence)
        if isinstance(self.incumbents, FrontIncumbents):
            corners, pending = self._corners(self.incumbents)
            proofs = [corners_within(self.corner, corners), FrontProof.of(self._within_reach(self.incumbents))]
            evidence = replace(evidence, front=tightest(self.incumbents, [*proofs, evidence.front]))
        else:
            pending = min(self.choices.least, self.leaves.unresolved) if self.counted else self._ideal_value
        lower = min(least, max(pending, self._ideal_value, evidence.lower_bound or 0.0))
        evidence = replace(evidence, lower_bound=lower, optimal=lower >= least * (1 - ROUNDING))
        if self.task.options.certify and outcome.best is not None:
            evidence = replace(evidence, certificate=self._certificate(outcome.best, pending))
        return replace(outcome, evidence=evidence)

    def _certificate(self, best: MappingBatch, pending: float) -> LayerProof | None:
        """Make the certificate of this run's proof, without the bounds of an earlier run; None without a proof.

        Where compulsory cycles say as much as the sets of chains, it has none of these.
        """
        proven = self.choices.bounded and self.counted
        if self._compulsory and not (proven and self._ideal_value < min(pending, self.incumbents.least)):
            bound = min(self._ideal_value, self.incumbents.least)
            return certified_layer(self.task, self.objective.name, (best,), bound, (), ())
        if not proven:
            return None
        choices = self.choices.certified()
        if isinstance(self.incumbents, FrontIncumbents):
            front = self.incumbents
            return certified_layer(self.task, FRONT, front.batches, 0.0, self._corners(front)[0], choices)
        bound = min(pending, self.incumbents.least)
        return certified_layer(self.task, self.objective.name, (best,), bound, (), choices)

    @property
    def _compulsory(self) -> bool:
        """Whether the checker can verify the ideal bound of the objective: it counts compulsory cycles."""
        hindered = {Ended.INEXACT, Ended.SYSTOLIC, Ended.TOO_MANY_NAMED, Ended.TOO_MANY_COARSE}
        return (
            self.objective.powers == (0, 1) and not self.task.goal.front and not hindered & set(self.statistics.ended)
        )

    @property
    def _ideal_value(self) -> float:
        """The lower bound of the objective by the ideal bounds."""
        cycles, energy_pj = self.corner
        return float(self.objective.value(np.array([energy_pj]), np.array([cycles]))[0])

    def _within_reach(self, front: FrontIncumbents) -> list[Point]:
        """List the points of the front, scaled by the least reach of what is open: bounds that no corner shows."""
        least = min(self.choices.least if self.counted else 0.0, self.leaves.unresolved)
        return front.times(least) if least < np.inf else []

    def _corners(self, front: FrontIncumbents) -> tuple[list[Point], float]:
        """List points of which each mapping not seen is above one, on both axes, and bound its first objective.

        They are those that certificates show: the ideal bounds may be above them.
        """
        uncertain = self.leaves.unresolved
        if not self.counted:
            return [self.corner], self._ideal_value
        corners, pending = list[Point](), np.inf
        if uncertain < np.inf:
            corners, pending = front.times(uncertain), float(front.least_times(np.array([uncertain]))[0])
        for choice in self.choices.waiting:
            assert isinstance(choice, KeepChoice), "a front has no coarse bounds"
            points, bound = choice.corners(front)
            corners, pending = corners + points, min(pending, bound)
        for cycles, energy_pj in self.choices.corners_in_turn:
            value = self.objective.value(np.array([energy_pj]), np.array([cycles]))
            corners, pending = [*corners, (cycles, energy_pj)], min(pending, float(value[0]))
        return corners, pending


def corners_within(ideal_corner: Point, corners: Sequence[Point]) -> FrontProof:
    """The proof by corners, each raised to the ideal bounds."""
    cycles, energy_pj = ideal_corner
    return FrontProof.of([(max(least, cycles), max(least_pj, energy_pj)) for least, least_pj in corners])


def tightest(front: FrontIncumbents, proofs: Sequence[FrontProof | None]) -> FrontProof:
    """The proof that leaves the least gap to the front; None stands for no proof, as of no earlier run."""
    return min(
        (proof for proof in proofs if proof is not None), key=lambda proof: proof.gap(front.energy_pj, front.cycles)
    )
