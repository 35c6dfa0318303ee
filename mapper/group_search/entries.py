"""What a search of groups holds: combinations of tiles, and groups, with what none of their mappings is below."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import inf

import numpy as np

from ..fusion import Group, KeptTensor, Standing, Transfer, transfer_cycles
from ..mapping import Floats, Ints
from ..problem import Objective, WeightedSum
from ..search.options import SearchOptions
from .family import Family
from .grid import Grid, subsets
from .kept_options import Kept
from .solver import Solved, Solver
from .stage_bounds import Listed
from .stage_tables import IMPOSSIBLE, StageTables


@dataclass(frozen=True, eq=False)
class Tiles:
    """All combinations of tiles with a choice of retained loops in an order, the least bound first."""

    space: "Space"
    retained: frozenset[str]
    order: tuple[str, ...]
    bounds: Floats  # (combination,) ascending
    places: Ints  # (combination,) the number of each in the grid
    at: int = 0  # those before were divided

    @property
    def bound(self) -> float:
        """What no group of those that are left is below."""
        return float(self.bounds[self.at])

    @property
    def rest(self) -> "Tiles | None":
        """Those after the first; None where it is the last."""
        return replace(self, at=self.at + 1) if self.at + 1 < len(self.bounds) else None

    @property
    def place(self) -> tuple[int, ...]:
        """The first, by the number of the tile of each loop."""
        shape = tuple(map(len, self.space.family.tiles))
        return tuple(int(i) for i in np.unravel_index(self.places[self.at], shape)) if shape else ()


@dataclass(frozen=True, eq=False)
class LeastSum:
    """What no mappings of a group are below, by the proofs of its layers, each in so many steps."""

    slope: float | None
    least: float  # energy + slope x cycles in pJ; cycles where `slope` is None
    layers: tuple[tuple[Solved, int], ...]
    rough: bool = False  # the mapspaces of layers are only bounded, each as a whole

    @property
    def certified(self) -> bool:
        """Whether each layer has a proof that can be checked."""
        return all(layer.proof is not None for layer, _ in self.layers)


@dataclass(frozen=True, eq=False)
class Open:
    """A group, with what none of its mappings is below: energy, cycles, and energy + slope x cycles at some slopes."""

    space: "Space"
    group: Group
    energy_pj: float
    cycles: float
    sums: tuple[LeastSum, ...] = ()  # at the slopes for which its layers were bounded or solved

    @property
    def solved(self) -> tuple[LeastSum, ...]:
        """The sums at the slopes for which its layers were solved."""
        return tuple(own for own in self.sums if not own.rough)

    def corner(self, objective: Objective | WeightedSum) -> tuple[float, float, float]:
        """Find where the objective is least above all these lines: its value, energy and cycles.

        Along a line between two corners the objective, which grows with both, is least at an end.
        """
        fewest = max([self.cycles, *(own.least for own in self.sums if own.slope is None)])
        lines = [(0.0, self.energy_pj), *((own.slope, own.least) for own in self.sums if own.slope is not None)]
        places = [fewest]
        for i, (slope, least) in enumerate(lines):
            for other_slope, other_least in lines[:i]:
                if slope != other_slope:
                    places.append(max(fewest, (least - other_least) / (slope - other_slope)))
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


class Space:
    """The groups of a family: their bounds, and the layers that are solved."""

    def __init__(
        self, family: Family, options: SearchOptions, check: Callable[[], None], deadline: float | None
    ) -> None:
        """Begin; `check` is called while tiles are bounded, and may raise; layers are solved until a deadline."""
        self.family, self.solver, self._check = family, Solver(family, options, deadline), check
        keepable = family.keepable()
        listed = [Listed(check=check, lasting=family.chains_of(stage)) for stage in family.stages]
        self.tables = {
            (stage, kept): StageTables(family, stage, kept, listed[stage])
            for stage in range(len(family.stages))
            for kept in subsets([name for number, name in keepable if number == stage])
        }

    def take_tables(self, other: "Space") -> None:
        """Take the bounds of combinations of tiles from another space of the same family."""
        self.tables, self.grids = other.tables, other.grids

    @cached_property
    def grids(self) -> dict[frozenset[str], Grid]:
        """The combinations of tiles, by the loops that retain."""
        return {
            retained: Grid(self.family, self.tables, retained, self._check) for retained in self.family.retentions()
        }

    def entries(self, objective: Objective | WeightedSum) -> Iterator[Tiles]:
        """Yield all combinations of tiles and orders that may have a group, with their bounds."""
        for retained, grid in self.grids.items():
            for order in grid.orders:
                values = np.where(grid.distinct(order), grid.values(order, objective), np.inf).reshape(-1)
                places = np.argsort(values, kind="stable")[: np.isfinite(values).sum()]
                if len(places):
                    yield Tiles(self, retained, order, values[places], places)

    def least_sums(self, slopes: Sequence[float]) -> Floats:
        """Bound energy + slope x cycles of all groups, and energy and cycles by themselves. # (slope + 2,)"""
        at = np.array(slopes, float)
        every = (grid.least_sums(order, at) for grid in self.grids.values() for order in grid.orders)
        least: Floats = np.minimum.reduce([np.full(len(at) + 2, np.inf), *every])
        return least

    def divided(self, tiles: Tiles) -> Iterator[Open]:
        """Yield the groups of the first of these combinations of tiles: every choice of kept tensors that has room."""
        family, retained, place = self.family, tiles.retained, tiles.place
        sizes = {loop: int(own[at]) for loop, own, at in zip(family.loops, family.tiles, place, strict=True)}
        grid = self.grids[retained]
        sums = {key: [float(own[place]) for own in grid.sums(*key)] for key in self.tables}
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
        arch, charges = self.family.arch, self.family.charges
        ends, moved = (arch.levels[0], arch.levels[self.family.level]), [own.transfer for _, own in kept]
        cycles = float(transfer_cycles(moved, *ends, drain_reads=charges.drain_reads))
        energy = sum(own.energy_pj for _, own in kept) + charges.leak_pj_per_cycle(arch, self.family.energies) * cycles
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
