"""Finds the best mappings of the layers that stages are in steps, each once: for a sum of energy and cycles."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arch import Architecture
from ...workloads import InputError
from ..certificate import LayerProof
from ..fusion import Standing, StepLayer
from ..mapping import MappingBatch, Outline
from ..mapspace import Mapspace, MapspaceTooLargeError, Preset
from ..model import evaluate, validity
from ..model.figures import Mapped
from ..problem import OBJECTIVES, Effort, Goal, Problem, effort_text
from ..proof import Proof, prove_sum
from ..search import Observers, Task
from ..search.options import SearchOptions
from ..search.outcome import STEPS_A_MAPPING, Ended, Outcome, Statistics
from ..search.variation import MappingSampler, adapted
from .family import Family

NEAR = 4  # mappings of layers solved before that are tried as a start
LEAST_SECONDS = 0.05  # of a time limit, for a layer
FAR = 1.5  # times the bound of a whole mapspace: a start above it is no good one


class UnsolvedError(Exception):
    """A layer was left without a mapping before it was known whether it has one."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The best mapping of a layer by energy + slope x cycles, or by cycles alone."""

    layer: StepLayer
    keeper: str
    resident: frozenset[str]
    room_bits: int | None  # of the keeper, for the other tensors
    slope: float | None
    mapped: Mapped
    least: float  # no mapping has less of it, in pJ or cycles
    proof: LayerProof | None  # of that, where certificates are asked for


class Solver:
    """The layers solved so far. Equal layers on equal machines are solved once."""

    def __init__(self, family: Family, options: SearchOptions, deadline: float | None) -> None:
        """Begin; `deadline`, by time.monotonic, is for all layers together."""
        self.family, self.deadline = family, deadline
        effort = effort_text(_with_few_mappings(options.limits))
        self.options = replace(options, strategy="optimal", front="", samples=None, effort=effort)
        self._solved: dict[object, list[tuple[Architecture, Solved | None]]] = {}
        self._near: dict[int, list[MappingBatch]] = {}  # by stage, of the layers solved last

    def begin_with(self, stage: int, batches: Sequence[MappingBatch]) -> None:
        """Take mappings of a stage's layer on other machines to begin with."""
        self._near[stage] = [*batches][:NEAR]

    def solve(
        self, standing: Standing, layer: StepLayer, slope: float | None, statistics: Statistics, *, root_only: bool
    ) -> Solved | None:
        """Solve a layer for energy + `slope` x cycles, or for cycles where it is None. None: no mapping is valid.

        With `root_only` its mapspace is bounded as a whole, where a layer of its stage was solved before: its mapping
        is then one near to that of this layer. What it takes is added to `statistics`. Raises ValueError where what
        stays in the keeper leaves no room, and UnsolvedError.
        """
        machine, whole = standing.machine(layer), not root_only or slope is None or layer.stage not in self._near
        key = layer, standing.group.resident(layer.stage), slope
        for known in [self._solved.setdefault((*key, True), []), self._solved.setdefault((*key, whole), [])]:
            for other, solved in known:
                if self._serves(standing, other, machine, solved):
                    return solved
        rough = next((solved for other, solved in self._solved.get((*key, False), []) if other == machine), None)
        solved, took = self._solve(standing, layer, slope, rough, root_only=not whole)
        statistics.add(took)
        self._solved[*key, whole].append((machine, solved))
        if whole and solved is not None:
            self._near[layer.stage] = [solved.mapped.batch, *self._near.get(layer.stage, [])][:NEAR]
        return solved

    def _serves(self, standing: Standing, other: Architecture, machine: Architecture, solved: Solved | None) -> bool:
        """Whether what was solved on another machine, with as much room in the keeper or more, holds on this one."""
        rooms = [arch.levels[standing.level].capacity_bits for arch in (other, machine)]
        if rooms[0] == rooms[1] or solved is None:
            return rooms[0] == rooms[1]
        if None in rooms or rooms[0] < rooms[1]:  # type: ignore[operator]
            return False
        return not validity(refitted(solved.mapped.batch, self.family.keeper, rooms[1]))[0]

    def _solve(
        self, standing: Standing, layer: StepLayer, slope: float | None, rough: Solved | None, *, root_only: bool
    ) -> tuple[Solved | None, Statistics]:
        machine = standing.machine(layer)
        family = self.family
        problem = Problem(machine, layer.workload(standing.group), family.energies, family.charges)
        try:
            space = _mapspace(problem, family.preset)
        except MapspaceTooLargeError as error:
            raise UnsolvedError(str(error)) from None
        except InputError:
            return None, Statistics()  # it is empty
        task, observers = Task(problem, space, self._in_time()), Observers(None, None)
        if slope is None:
            (delay,) = (name for name, own in OBJECTIVES.items() if own.powers == (0, 1))
            outcome = Proof().run(replace(task, problem=replace(problem, goal=Goal((delay,)))), observers)
        else:
            outcome = self._least_sum(task, layer.stage, slope, rough, root_only=root_only)
        if outcome.statistics.interrupted:
            raise KeyboardInterrupt  # a proof takes it, and says so
        if outcome.best is None:
            if not {Ended.SEEN_ALL, Ended.EMPTY} & set(outcome.statistics.ended):
                raise UnsolvedError(f"of {problem.workload.name} no mapping was found in time or effort")
            return None, outcome.statistics
        proof, least = outcome.certificate, outcome.lower_bound or 0.0
        if self.options.certify:  # what is said is what the certificate says
            least = proof.lower_bound if proof is not None else 0.0
        mapped, room = Mapped.of(problem, outcome.best.own()), standing.free_bits(layer.stage)
        resident = standing.group.resident(layer.stage)
        return Solved(layer, family.keeper, resident, room, slope, mapped, least, proof), outcome.statistics

    def _in_time(self) -> SearchOptions:
        """The options, with the seconds that are left as a cap."""
        if self.deadline is None:
            return self.options
        return replace(self.options, time_limit=max(LEAST_SECONDS, self.deadline - time.monotonic()))

    def _least_sum(self, task: Task, stage: int, slope: float, rough: Solved | None, *, root_only: bool) -> Outcome:
        """Prove the least sum of a layer, from the mappings of layers of its stage that were solved before.

        `rough`: what is known of it where its mapspace was bounded as a whole.
        """
        observers = Observers(None, None)
        if rough is not None:
            costs = rough.mapped
            near = costs.energy_pj + slope * costs.cycles <= FAR * rough.least
            return prove_sum(task, slope, observers, rough.mapped.batch if near else None)
        start = self._start(task, stage, slope)
        return prove_sum(task, slope, observers, start, root_only=root_only and start is not None)

    def _start(self, task: Task, stage: int, slope: float) -> MappingBatch | None:
        """Make the mappings of layers solved before mappings of this one; the best of them, or None."""
        levels = [level.name for level in task.space.arch.levels]  # a tensor that stays may be a level less
        known = [own for own in self._near.get(stage, []) if [level.name for level in own.arch.levels] == levels]
        outlines = [Outline(own.factors[0], own.order[0], own.keep[0], 1) for own in known]
        if not outlines:
            return None
        batch = adapted(MappingSampler(task.space), outlines, task.options.seed)
        if not len(batch):
            return None
        costs = evaluate(batch, task.table, task.charges)
        return batch.take(np.argsort(costs.energy_pj + slope * costs.cycles, kind="stable")[:1])


def _mapspace(problem: Problem, preset: Preset) -> Mapspace:
    """Make the mapspace of distinct loop orders, or of all where there are too many to count.

    Raises InputError where it is empty, and MapspaceTooLargeError where all orders are too many, too.
    """
    try:
        return Mapspace(problem.arch, problem.workload, preset, distinct=True)
    except MapspaceTooLargeError:
        return Mapspace(problem.arch, problem.workload, preset)


def _with_few_mappings(limits: Effort) -> Effort:
    """Let a layer's proof that runs out of steps look for better mappings for no longer than it took."""
    if limits.steps is None:
        return limits
    most = max(1, limits.steps // STEPS_A_MAPPING)
    return replace(limits, mappings=most if limits.mappings is None else min(limits.mappings, most))


def refitted(batch: MappingBatch, memory: str, capacity_bits: int | None) -> MappingBatch:
    """Return the mappings on a machine whose memory of this name has another capacity; they may not fit."""
    levels = tuple(
        replace(own, capacity_bits=capacity_bits) if own.of_memory == memory else own for own in batch.arch.levels
    )
    return replace(batch, arch=replace(batch.arch, levels=levels))
