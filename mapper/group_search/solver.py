"""Finds the best mappings of the layers that stages are in steps, each once: for a sum of energy and cycles."""

from dataclasses import dataclass, replace

from ...arch import Architecture
from ...workloads import InputError
from ..certificate import LayerProof
from ..fusion import Standing, StepLayer
from ..mapspace import Mapspace
from ..model import validity
from ..model.figures import Mapped
from ..problem import OBJECTIVES, Goal, Problem
from ..proof import Proof, prove_sum
from ..search import Observers, Task
from ..search.options import SearchOptions
from ..search.outcome import Statistics
from .family import Family


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

    def __init__(self, family: Family, options: SearchOptions) -> None:
        self.family = family
        self.options = replace(options, strategy="optimal", front="", samples=None)
        self._solved: dict[object, list[tuple[Architecture, Solved | None]]] = {}

    def solve(self, standing: Standing, layer: StepLayer, slope: float | None, statistics: Statistics) -> Solved | None:
        """Solve a layer for energy + `slope` x cycles, or for cycles where it is None. None: no mapping is valid.

        What it takes is added to `statistics`. Raises ValueError where what stays in the keeper leaves no room.
        """
        machine = standing.machine(layer)
        known = self._solved.setdefault((layer, standing.group.resident(layer.stage), slope), [])
        for other, solved in known:
            if self._serves(standing, other, machine, solved):
                return solved
        solved, took = self._solve(machine, standing, layer, slope)
        statistics.add(took)
        known.append((machine, solved))
        return solved

    def _serves(self, standing: Standing, other: Architecture, machine: Architecture, solved: Solved | None) -> bool:
        """Whether what was solved on another machine, with as much room in the keeper or more, holds on this one."""
        rooms = [arch.levels[standing.level].capacity_bits for arch in (other, machine)]
        if rooms[0] == rooms[1] or solved is None:
            return rooms[0] == rooms[1]
        if None in rooms or rooms[0] < rooms[1]:  # type: ignore[operator]
            return False
        batch = solved.mapped.batch
        level = next(i for i, own in enumerate(batch.arch.levels) if own.of_memory == self.family.keeper)
        levels = list(batch.arch.levels)
        for i in range(level, len(levels)):
            if levels[i].of_memory == self.family.keeper:
                levels[i] = replace(levels[i], capacity_bits=rooms[1])
        return not validity(replace(batch, arch=replace(batch.arch, levels=tuple(levels))))[0]

    def _solve(
        self, machine: Architecture, standing: Standing, layer: StepLayer, slope: float | None
    ) -> tuple[Solved | None, Statistics]:
        family = self.family
        problem = Problem(machine, layer.workload(standing.group), family.energies, family.charges)
        try:
            space = Mapspace(machine, problem.workload, family.preset, distinct=True)
        except InputError:
            return None, Statistics()
        task, observers = Task(problem, space, self.options), Observers(None, None)
        if slope is None:
            (delay,) = (name for name, own in OBJECTIVES.items() if own.powers == (0, 1))
            outcome = Proof().run(replace(task, problem=replace(problem, goal=Goal((delay,)))), observers)
        else:
            outcome = prove_sum(task, slope, observers)
        if outcome.statistics.interrupted:
            raise KeyboardInterrupt  # a proof takes it, and says so
        if outcome.best is None:
            return None, outcome.statistics
        proof, least = outcome.certificate, outcome.lower_bound or 0.0
        if self.options.certify:  # what is said is what the certificate says
            least = proof.lower_bound if proof is not None else 0.0
        mapped, room = Mapped.of(problem, outcome.best.own()), standing.free_bits(layer.stage)
        resident = standing.group.resident(layer.stage)
        return Solved(layer, family.keeper, resident, room, slope, mapped, least, proof), outcome.statistics
