"""Searches the groups of a family best first: what has the least bound is looked at next, until nothing is left below the
best or effort is used up.

First whole tiles with a choice of retained loops, bounded by grid.py; then each order of the loops and choice of kept
tensors of them, bounded the same way with what they move exactly; then groups, whose layers are solved (solver.py). Of a solved
group the bound follows from the proofs of its layers.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf

import numpy as np

from ..fusion import Group, GroupCosts, KeptTensor, Standing, StepLayer, Transfer, step_layers
from ..problem import OBJECTIVES, ROUNDING, Objective
from ..search.options import SearchOptions
from .family import Family
from .grid import Grid, Kept, subsets
from .solver import Solver
from .stage_tables import IMPOSSIBLE, StageTables

NEAR = 1.05  # slopes within this factor are the same


@dataclass(order=True, frozen=True)
class Tiles:
    """A combination of tiles with a choice of retained loops."""

    retained: tuple[str, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Open:
    """A group whose layers are not solved."""

    group: Group
    energy_pj: float  # at least
    cycles: float


@dataclass(frozen=True)
class _Depth:
    """A depth at which a tensor may be kept: the room that it takes, and the energy of what it moves."""

    depth: int
    bits: int
    energy_pj: float


@dataclass(frozen=True, eq=False)
class Best:
    """The best group, with its costs."""

    group: Group
    costs: GroupCosts


@dataclass(eq=False)
class GroupOutcome:
    """The result of a search: the best group, what no group is below, and what was looked at."""

    best: Best | None = None
    lower_bound: float = inf
    solved: int = 0  # groups
    tiles: int = 0  # combinations of tiles, with choices of retained loops
    stopped_by: str = ""
    bounds: list[float] = field(default_factory=list)


class GroupSearch:
    """A search of a family."""

    def __init__(self, family: Family, objective: Objective, options: SearchOptions, most: int) -> None:
        """Begin; `most`: groups that are solved at most."""
        self.family, self.objective, self.most = family, objective, most
        self.solver, self.outcome = Solver(family, options), GroupOutcome()
        self.slope: float | None = None
        keepable = family.keepable()
        self.tables = {
            (stage, kept): StageTables(family, stage, kept)
            for stage in range(len(family.stages))
            for kept in subsets([name for number, name in keepable if number == stage])
        }
        self._grids: dict[tuple[str, ...], Grid] = {}
        self._heap: list[tuple[float, int, Tiles | Open]] = []
        self._pushed = 0

    def run(self) -> GroupOutcome:
        """Search until nothing is left below the best, or so many groups are solved."""
        self._begin()
        outcome = self.outcome
        closed = inf
        while self._heap:
            bound, _, entry = self._heap[0]
            if bound >= self._value() * (1 - ROUNDING):
                break
            if outcome.solved >= self.most and outcome.best is not None:
                outcome.stopped_by = "effort"
                break
            heapq.heappop(self._heap)
            if isinstance(entry, Tiles):
                for group in self._divided(entry):
                    self._push(self.objective.value(group.energy_pj, group.cycles), group)
            else:
                closed = min(closed, self._solve(entry))
        least = min([closed, *(entry[0] for entry in self._heap[:1])])
        outcome.lower_bound = min(least, self._value())
        outcome.stopped_by = outcome.stopped_by or "every group ruled out or solved"
        return outcome

    def _value(self) -> float:
        best = self.outcome.best
        return inf if best is None else self.objective.value(best.costs.energy_pj, float(best.costs.cycles))

    def _push(self, bound: float, entry: Tiles | Open) -> None:
        self._pushed += 1
        heapq.heappush(self._heap, (bound, self._pushed, entry))

    def _begin(self) -> None:
        """Bound all combinations of tiles."""
        for retained in self.family.retentions():
            key = tuple(sorted(retained))
            grid = self._grids[key] = Grid(self.family, self.tables, retained)
            energy, cycles = grid.bounds
            with np.errstate(invalid="ignore"):
                values = self.objective.value(energy, cycles)
            possible = np.isfinite(values) & (energy < IMPOSSIBLE / 1e3)
            self.outcome.tiles += values.size
            for place in np.argwhere(possible).tolist() if values.shape else [()]:
                self._heap.append((float(values[tuple(place)]), len(self._heap), Tiles(key, tuple(place))))
        self._pushed = len(self._heap)
        heapq.heapify(self._heap)

    def _divided(self, tiles: Tiles) -> Iterator[Open]:
        """Yield the groups of a combination of tiles: every order and choice of kept tensors that has room."""
        family, retained = self.family, frozenset(tiles.retained)
        sizes = {loop: int(own[at]) for loop, own, at in zip(family.loops, family.tiles, tiles.place, strict=True)}
        sums = {
            key: [float(own.reshape(-1)[0]) for own in table.sums(retained, tiles.place)]
            for key, table in self.tables.items()
        }
        seen = set()
        for order in self._grids[tiles.retained].orders:
            plain = family.group(tuple((loop, sizes[loop]) for loop in order), retained)
            if retained - frozenset(plain.loops) or plain.shared in seen:
                continue  # the same group as without the loop in `retained`, or in another order
            seen.add(plain.shared)
            yield from self._of_order(plain, sums)

    def _of_order(self, plain: Group, sums: Mapping[tuple[int, frozenset[str]], Sequence[float]]) -> Iterator[Open]:
        """Yield the groups with these loops: every choice of kept tensors that has room."""
        family, stages = self.family, range(len(self.family.stages))
        standing = Standing(plain, family.arch)
        free = [standing.free_bits(stage) for stage in stages]
        least = min((bits for bits in free if bits is not None), default=inf)
        if least < 0:
            return
        options = {key: list(self._depths(plain, standing, key, least)) for key in family.keepable()}
        for chosen in product(*([None, *own] for own in options.values())):
            kept = [(key, own) for key, own in zip(options, chosen, strict=True) if own is not None]
            if sum(own.bits for _, own in kept) > least:
                continue
            names = {stage: frozenset(name for (number, name), _ in kept if number == stage) for stage in stages}
            energy = sum(sums[stage, own][0] for stage, own in names.items())
            cycles = sum(sums[stage, own][1] for stage, own in names.items())
            if energy < IMPOSSIBLE / 1e3:
                group = replace(plain, kept=tuple((key, own.depth) for key, own in kept))
                yield Open(group, energy + sum(own.energy_pj for _, own in kept), cycles)

    def _depths(self, plain: Group, standing: Standing, key: Kept, room: float) -> "Iterator[_Depth]":
        """Yield the depths at which a tensor may be kept: those that no other beats in room and words."""
        family, (stage, name) = self.family, key
        tensor = next(own for own in family.stages[stage].tensors if own.name == name)
        ends = [(family.arch.levels[i], family.energies.levels[i]) for i in (0, family.level)]
        found: list[_Depth] = []
        for depth in range(len(plain.shared) + 1):
            group = replace(plain, kept=((key, depth),))
            kept = KeptTensor.of(group, stage, name, standing.boxes[stage])
            pj = Transfer.of(tensor, kept).energy_pj(*ends, drain_reads=family.charges.drain_reads)
            found.append(_Depth(depth, kept.most * standing.bits(stage, name), pj))
        for i, own in enumerate(found):
            beaten = any(
                (other.bits, other.energy_pj, j) < (own.bits, own.energy_pj, i)
                and other.bits <= own.bits
                and other.energy_pj <= own.energy_pj
                for j, other in enumerate(found)
            )
            if own.bits <= room and not beaten:
                yield own

    def _solve(self, entry: Open) -> float:
        """Solve the layers of a group, which may become the best; return what it is not below."""
        standing = Standing(entry.group, self.family.arch)
        layers: dict[StepLayer, int] = {}
        for stage, box in enumerate(standing.boxes):
            layers |= step_layers(entry.group, stage, box)
        slope = self._slope(entry)
        moved = GroupCosts(standing, self.family.energies, self.family.charges, {}, {})
        self.outcome.solved += 1
        least, mapped = 0.0, {}
        for layer, number in layers.items():
            solved = self.solver.solve(standing, layer, slope)
            if solved is None:
                return inf
            mapped[layer] = solved.mapped
            least += number * solved.least
        costs = GroupCosts(standing, self.family.energies, self.family.charges, layers, mapped)
        if self.objective.value(costs.energy_pj, float(costs.cycles)) < self._value():
            self.outcome.best = Best(entry.group, costs)
        return self._bound(entry, least, slope, moved)

    def _slope(self, entry: Open) -> float | None:
        """The pJ that a cycle is worth: that of the best group, or of the bounds of the first."""
        by_energy, by_cycles = self.objective.powers
        if not by_energy:
            return None
        if not by_cycles:
            return 0.0
        best = self.outcome.best
        energy, cycles = (entry.energy_pj, entry.cycles) if best is None else (best.costs.energy_pj, best.costs.cycles)
        wanted = by_cycles / by_energy * energy / cycles
        if self.slope is None or not self.slope / NEAR <= wanted <= self.slope * NEAR:
            self.slope = wanted
        return self.slope

    def _bound(self, entry: Open, least: float, slope: float | None, moved: GroupCosts) -> float:
        """What no mapping of a group is below, from the least sum of its layers and its bounds."""
        if slope is None:
            return self.objective.value(0.0, least + moved.transfer_cycles)
        least += moved.transfer_pj + slope * moved.transfer_cycles
        if not slope:
            return self.objective.value(least, 1.0)
        energy, cycles = entry.energy_pj, entry.cycles
        corners = ((energy, max(cycles, (least - energy) / slope)), (max(energy, least - slope * cycles), cycles))
        return min(self.objective.value(*corner) for corner in corners)


def objective_of(names: tuple[str, ...]) -> Objective:
    """The objective of a group."""
    return OBJECTIVES[names[0]]
