"""Searches groups best first: what has the least bound is looked at next.

First whole combinations of tiles with a choice of retained loops, bounded by grid.py; then each order of the loops and
choice of kept tensors, bounded the same way with what they move exactly; then groups, whose layers are solved
(solver.py). Of a solved group the bound follows from the proofs of its layers. So at any moment the least bound of what
waits, and of what is solved, is one of all groups.
"""

import heapq
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import inf

import numpy as np

from ..fusion import Group, GroupCosts, KeptTensor, Standing, StepLayer, Transfer, step_layers, transfer_cycles
from ..problem import ROUNDING, Effort, Objective
from ..search.options import SearchOptions
from ..search.outcome import Ended, Statistics
from .family import Family
from .grid import Grid, Kept, subsets
from .solver import Solver
from .stage_tables import IMPOSSIBLE, StageTables

NEAR = 1.05  # slopes within this factor are the same, when a group is first solved
SAME = 1e-6  # relative: slopes that say the same
MOST_SLOPES = 12  # for which a group is solved
SHARE = 4  # a group has the steps of so many layers for each of its stages


@dataclass(frozen=True, eq=False)
class Tiles:
    """A combination of tiles with a choice of retained loops, in an order."""

    space: "_Space"
    retained: frozenset[str]
    order: tuple[str, ...]
    place: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Open:
    """A group, with what none of its mappings is below: energy, cycles, and energy + slope x cycles at some slopes."""

    space: "_Space"
    group: Group
    energy_pj: float
    cycles: float
    sums: tuple[tuple[float, float], ...] = ()  # (slope, pJ) of the slopes for which its layers were solved

    def corner(self, objective: Objective) -> tuple[float, float, float]:
        """Find where the objective is least above all these lines: its value, energy and cycles.

        Along a line between two corners the objective, which grows with both, is least at an end.
        """
        places = [self.cycles]
        lines = [(0.0, self.energy_pj), *self.sums]
        for i, (slope, least) in enumerate(lines):
            for other_slope, other_least in lines[:i]:
                if slope != other_slope:
                    places.append(max(self.cycles, (least - other_least) / (slope - other_slope)))
        points = [(max(least - slope * cycles for slope, least in lines), cycles) for cycles in places]
        return min((objective.value(energy, cycles), energy, cycles) for energy, cycles in points)


@dataclass(frozen=True)
class _Depth:
    """A depth at which a tensor may be kept: the room that it takes, and what it moves."""

    depth: int
    bits: int
    energy_pj: float
    transfer: Transfer

    def beats(self, other: "_Depth") -> bool:
        """Whether it takes no more room and moves no more in any direction, and is better or stands further out."""
        own, theirs = self._figures, other._figures
        return all(a <= b for a, b in zip(own, theirs, strict=True)) and (own, self.depth) < (theirs, other.depth)

    @property
    def _figures(self) -> tuple[int, ...]:
        moved = self.transfer
        return self.bits, moved.reads, moved.updates, moved.fills, moved.drains


@dataclass(frozen=True, eq=False)
class GroupOutcome:
    """The result of a search: the best group with its costs, and what no group is below."""

    best: GroupCosts | None
    lower_bound: float
    statistics: Statistics
    solved: int  # groups whose layers were solved
    tiles: int  # combinations of tiles, with choices of retained loops


class _Space:
    """The groups of a family: their bounds, and the layers that are solved."""

    def __init__(self, family: Family, options: SearchOptions) -> None:
        self.family, self.solver = family, Solver(family, options)
        keepable = family.keepable()
        self.tables = {
            (stage, kept): StageTables(family, stage, kept)
            for stage in range(len(family.stages))
            for kept in subsets([name for number, name in keepable if number == stage])
        }

    @cached_property
    def grids(self) -> dict[frozenset[str], Grid]:
        """The combinations of tiles, by the loops that retain."""
        return {retained: Grid(self.family, self.tables, retained) for retained in self.family.retentions()}

    def entries(self, objective: Objective) -> Iterator[tuple[float, Tiles]]:
        """Yield all combinations of tiles and orders that may have a group, with their bounds."""
        for retained, grid in self.grids.items():
            for order in grid.orders:
                values = grid.values(order, objective)
                values = np.where(grid.distinct(order), values, np.inf)
                places = np.argwhere(np.isfinite(values)) if values.shape else np.zeros((int(np.isfinite(values)), 0))
                for place in places.astype(np.int64).tolist():
                    yield float(values[tuple(place)]), Tiles(self, retained, order, tuple(place))

    def divided(self, tiles: Tiles) -> Iterator[Open]:
        """Yield the groups of a combination of tiles in an order: every choice of kept tensors that has room."""
        family, retained = self.family, tiles.retained
        sizes = {loop: int(own[at]) for loop, own, at in zip(family.loops, family.tiles, tiles.place, strict=True)}
        sums = {
            key: [float(own.reshape(-1)[0]) for own in table.sums(retained, tiles.place)]
            for key, table in self.tables.items()
        }
        yield from self._of_order(family.group(tuple((loop, sizes[loop]) for loop in tiles.order), retained), sums)

    def _of_order(self, plain: Group, sums: Mapping[tuple[int, frozenset[str]], Sequence[float]]) -> Iterator[Open]:
        """Yield the groups with these loops: every choice of kept tensors that has room."""
        family, stages = self.family, range(len(self.family.stages))
        standing = Standing(plain, family.arch)
        free = [standing.free_bits(stage) for stage in stages]
        room = min((bits for bits in free if bits is not None), default=inf)
        if room < 0:
            return
        options = {key: list(self._depths(plain, standing, key, room)) for key in family.keepable()}
        for chosen in product(*([None, *own] for own in options.values())):
            kept = [(key, own) for key, own in zip(options, chosen, strict=True) if own is not None]
            if sum(own.bits for _, own in kept) <= room:
                yield from self._with_kept(plain, sums, kept)

    def _with_kept(
        self,
        plain: Group,
        sums: Mapping[tuple[int, frozenset[str]], Sequence[float]],
        kept: "Sequence[tuple[Kept, _Depth]]",
    ) -> Iterator[Open]:
        """Yield the group with these kept tensors, where its stages may have mappings."""
        levels, drain_reads = self.family.arch.levels, self.family.charges.drain_reads
        moved = [own.transfer for _, own in kept]
        cycles = float(transfer_cycles(moved, levels[0], levels[self.family.level], drain_reads=drain_reads))
        energy = sum(own.energy_pj for _, own in kept)
        for stage in range(len(self.family.stages)):
            own = sums[stage, frozenset(name for (number, name), _ in kept if number == stage)]
            energy, cycles = energy + own[0], cycles + own[1]
        if energy < IMPOSSIBLE / 1e3:
            yield Open(self, replace(plain, kept=tuple((key, own.depth) for key, own in kept)), energy, cycles)

    def _depths(self, plain: Group, standing: Standing, key: Kept, room: float) -> Iterator[_Depth]:
        """Yield the depths at which a tensor may be kept: those that no other beats in room and words."""
        family, (stage, name) = self.family, key
        tensor = next(own for own in family.stages[stage].tensors if own.name == name)
        ends = [(family.arch.levels[i], family.energies.levels[i]) for i in (0, family.level)]
        listed: list[_Depth] = []
        for depth in range(len(plain.shared) + 1):
            kept = KeptTensor.of(replace(plain, kept=((key, depth),)), stage, name, standing.boxes[stage])
            moved = Transfer.of(tensor, kept)
            pj = moved.energy_pj(*ends, drain_reads=family.charges.drain_reads)
            listed.append(_Depth(depth, kept.most * standing.bits(stage, name), pj, moved))
        for own in listed:
            if own.bits <= room and not any(other.beats(own) for other in listed):
                yield own


class GroupSearch:
    """A search of families: the same stages with each memory that may be the keeper."""

    def __init__(self, families: Sequence[Family], objective: Objective, options: SearchOptions) -> None:
        self.objective, limits = objective, options.limits
        steps = None if limits.steps is None else SHARE * limits.steps * len(families[0].stages)
        self.limits = Effort(None, steps, limits.seconds)
        self.spaces = [_Space(family, options) for family in families]
        self.best: GroupCosts | None = None
        self.statistics = Statistics()
        self.solved = self.tiles = 0
        self._slope: float | None = None
        self._waiting: list[tuple[float, int, Tiles | Open]] = []
        self._number = 0  # of what waits: the first of equal bounds goes first
        self._closed = inf  # the least bound of solved groups
        self._began = 0.0

    def run(self, progress: Callable[["GroupSearch"], None] | None = None) -> GroupOutcome:
        """Search until nothing that waits may be better, effort is used up, or Ctrl-C.

        `progress` is called after each group. Raises KeyboardInterrupt where Ctrl-C came before the first.
        """
        self._began = time.monotonic()
        try:
            self._begin()
            self._search(progress)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            self.statistics.stop(Ended.INTERRUPTED)
        self.statistics.seconds = time.monotonic() - self._began
        return GroupOutcome(self.best, self.lower_bound, self.statistics, self.solved, self.tiles)

    @property
    def value(self) -> float:
        """The objective of the best group; inf before the first."""
        return inf if self.best is None else self.objective.value(self.best.energy_pj, float(self.best.cycles))

    @property
    def lower_bound(self) -> float:
        """What no group is below."""
        return min(self._closed, self.value, *(bound for bound, _, _ in self._waiting[:1]))

    def _search(self, progress: Callable[["GroupSearch"], None] | None) -> None:
        while self._waiting and self._waiting[0][0] < self.value * (1 - ROUNDING):
            if self.best is not None and (reason := self._used_up()):
                return self.statistics.stop(reason)
            bound, _, entry = self._waiting[0]
            if isinstance(entry, Tiles):
                more = [(max(bound, self._bound_of(own)), own) for own in entry.space.divided(entry)]
                heapq.heappop(self._waiting)  # only now: Ctrl-C may come at any time
                for own_bound, own in more:
                    self._push(own_bound, own)
            else:
                solved = self._solve(entry)
                heapq.heappop(self._waiting)
                if solved is not None:
                    self._take(max(bound, self._bound_of(solved)), solved)
                self.solved += not entry.sums
                if progress:
                    progress(self)
        return self.statistics.stop(Ended.SEEN_ALL)

    def _bound_of(self, entry: Open) -> float:
        return entry.corner(self.objective)[0]

    def _take(self, bound: float, solved: Open) -> None:
        """Let a solved group wait for another slope, or close it where no other says more."""
        slope = self._slope_for(solved)
        known = [own for own, _ in solved.sums]
        if slope is None or len(known) >= MOST_SLOPES or any(abs(own - slope) <= SAME * slope for own in known):
            self._closed = min(self._closed, bound)
        else:
            self._push(bound, solved)

    def _push(self, bound: float, entry: Open) -> None:
        self._number += 1
        heapq.heappush(self._waiting, (bound, self._number, entry))

    def _used_up(self) -> Ended | None:
        if self.limits.steps is not None and self.statistics.steps >= self.limits.steps:
            return Ended.EFFORT
        late = self.limits.seconds is not None and time.monotonic() - self._began >= self.limits.seconds
        return Ended.TIME_LIMIT if late else None

    def _begin(self) -> None:
        """Bound all combinations of tiles."""
        for space in self.spaces:
            for bound, entry in space.entries(self.objective):
                self._number += 1
                self._waiting.append((bound, self._number, entry))
            self.tiles += sum(int(np.prod(grid.shape)) for grid in space.grids.values())
        heapq.heapify(self._waiting)

    def _solve(self, entry: Open) -> Open | None:
        """Solve the layers of a group at another slope; it may become the best. None: a layer has no mapping."""
        family, slope = entry.space.family, self._slope_for(entry)
        standing = Standing(entry.group, family.arch)
        layers: dict[StepLayer, int] = {}
        for stage, box in enumerate(standing.boxes):
            layers |= step_layers(entry.group, stage, box)
        least, mapped = 0.0, {}
        for layer, number in layers.items():
            solved = entry.space.solver.solve(standing, layer, slope, self.statistics)
            if solved is None:
                return None
            mapped[layer] = solved.mapped
            least += number * solved.least
        costs = GroupCosts(standing, family.energies, family.charges, layers, mapped)
        if self.objective.value(costs.energy_pj, float(costs.cycles)) < self.value:
            self.best = costs
        if slope is None:
            return replace(entry, cycles=max(entry.cycles, least + costs.transfer_cycles))
        least += costs.transfer_pj + slope * costs.transfer_cycles
        if not slope:
            return replace(entry, energy_pj=max(entry.energy_pj, least), sums=((0.0, least),))
        return replace(entry, sums=(*entry.sums, (slope, least)))

    def _slope_for(self, entry: Open) -> float | None:
        """The pJ that a cycle is worth where a group is to be solved; None where only cycles count.

        At first that is where the best group is, which many groups share; then at the corner of the group itself.
        """
        by_energy, by_cycles = self.objective.powers
        if not by_energy:
            return None
        if not by_cycles:
            return 0.0
        best = self.best
        energy, cycles = (
            entry.corner(self.objective)[1:] if entry.sums or best is None else (best.energy_pj, best.cycles)
        )
        wanted = by_cycles / by_energy * energy / cycles
        if entry.sums:
            return wanted
        if self._slope is None or not self._slope / NEAR <= wanted <= self._slope * NEAR:
            self._slope = wanted
        return self._slope
