"""All groups of some stages in one keeper: shared loops, tiles, and what each tile of a loop makes of each stage.

What a stage computes along its dims in the steps of one shared loop depends on the tile of that loop alone, and on
whether it retains. So tables with an entry for each tile of each loop say all about every combination of tiles.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations
from math import prod
from typing import Self

import numpy as np

from ...arch import Architecture
from ...energy import EnergyTable
from ...workloads import InputError, Workload
from ..bounds import grouped
from ..fusion import Between, Box, Group, HeldWords, Link, boxes
from ..mapping import Bools, Floats, Ints
from ..mapspace import Frame, Preset
from ..problem import Charges
from .stage_bounds import Chains
from .tiles import ALL_TILES, LEAST, tiles_of

# steps of the loop over the queries of a head, where a causal mask makes all different; the few where chains are many
MOST_STEPS, FEW_STEPS = 128, 8
MOST_ROWS = 1_500_000  # chains of all sizes of a dim that are bounded, about
MOST_COMBINATIONS = 2**18  # of tiles
FEWEST, FORCED_ROWS = 12, 700_000  # tiles of a shared dim that are tried, whatever there is to bound up to so much
SAMPLES = (1, 3, 10)  # parts of a dim by which its chains are estimated

Moves = tuple[tuple[Box, ...], dict[int, Between]]


@dataclass(frozen=True, eq=False)
class Known:
    """What searches of several groups on one machine have in common, in one preset and with equal tiles."""

    chains: dict[Workload, Chains] = field(default_factory=dict)  # by layer
    # energy and cycles of layers of all sizes on a machine, with these variants # (variant of each loop, ...) each
    bounds: dict[tuple[Architecture, Workload, object], tuple[Floats, Floats]] = field(default_factory=dict)
    families: "dict[tuple[tuple[Workload, ...], tuple[Link, ...]], Family]" = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Family:
    """The stages, their links and the machine of a group that is searched."""

    stages: tuple[Workload, ...]
    links: tuple[Link, ...]
    arch: Architecture
    energies: EnergyTable
    charges: Charges
    preset: Preset
    keeper: str
    most_rows: int = MOST_ROWS  # chains of all sizes of a dim that are bounded, about: fewer tiles of dims with many
    lasting: frozenset[tuple[int, str]] = frozenset()  # as of a Group
    reserved: tuple[int, ...] = ()
    known: Known = field(default_factory=Known)

    def with_tables_of(self, known: "Known") -> Self:
        """Take what is known of the layers, and of groups of the same layers on this machine, and add to it."""
        object.__setattr__(self, "known", known)
        earlier = known.families.setdefault((self.stages, self.links), self)
        for name in ("loops", "_moves", "tiles", "tables", "repeating"):
            self.__dict__[name] = getattr(earlier, name)
        return self

    def chains_of(self, stage: Workload) -> Chains:
        """The chains that are listed of a layer, for other groups with it."""
        return self.known.chains.setdefault(stage.nameless, {})

    @cached_property
    def level(self) -> int:
        """The number of the keeper's level."""
        return self.arch.number_of(self.keeper)

    def group(
        self,
        shared: tuple[tuple[str, int], ...] = (),
        retained: frozenset[str] = frozenset(),
        kept: tuple[tuple[tuple[int, str], int], ...] = (),
    ) -> Group:
        """Make a group of the family; loops of a single step are left out."""
        sizes = self.stages[-1]
        own = tuple((dim, tile) for dim, tile in shared if tile < sizes.size(dim))
        looped = retained & {dim for dim, _ in own}
        return Group(self.stages, self.links, self.keeper, own, looped, kept, self.lasting, self.reserved)

    @cached_property
    def loops(self) -> tuple[str, ...]:
        """The dims of the last stage that are shared: those that move what some stage before computes.

        Of two that move one window the first is shared: those of the output come first, filters last.
        """
        last, shared = self.stages[-1], list[str]()
        windows = [rank for tensor in last.tensors for rank in tensor.ranks if len(rank) > 1]
        filters = {term.dim for rank in windows for term in rank} - last.output.dims
        for dim in sorted(self._moves, key=lambda dim: dim in filters):
            _, between = self._moves[dim]
            moves = any(interval.loop == dim for needed in between.values() for interval in needed.ranks)
            if moves and not any(self._share_window(dim, before) for before in shared):
                shared.append(dim)
        return tuple(shared)

    @cached_property
    def _moves(self) -> dict[str, Moves]:
        """What stages compute, and what is needed between them, with one loop over each dim of the last stage, of the
        least tile that a group may have; without dims that may have none of those that are tried."""
        moves = {}
        for dim, size in zip(self.stages[-1].dims, self.stages[-1].sizes, strict=True):
            for tile in range(1, min(size - 1, ALL_TILES) + 1):
                with suppress(ValueError):
                    moves[dim] = boxes(self.group(((dim, tile),)))
                    break
        return moves

    def _share_window(self, *loops: str) -> bool:
        """Whether loops over two dims move one dim or one window of some stage."""
        for stage, *computed in zip(self.stages, *(self._moves[loop][0] for loop in loops), strict=True):
            windows = [[term.dim for term in rank] for tensor in stage.tensors for rank in tensor.ranks]
            for dims in [*windows, *([dim] for dim in stage.dims)]:
                if all(any(box.dims[dim].loop is not None for dim in dims) for box in computed):
                    return True
        return False

    @cached_property
    def tiles(self) -> tuple[Ints, ...]:
        """Per loop the tiles that are tried; under a causal mask those of few steps."""
        sizes, rows = [self.stages[-1].size(dim) for dim in self.loops], [self._rows(dim) for dim in self.loops]
        multiples = [self._multiple(dim, n) for dim, n in zip(self.loops, rows, strict=True)]
        most = [max(LEAST, min(FEWEST, int(FORCED_ROWS / n)), int(self.most_rows / n)) for n in rows]
        numbers = [len(tiles_of(*own)) for own in zip(sizes, most, multiples, strict=True)]
        while prod(numbers) > MOST_COMBINATIONS and max(numbers) > FEWEST:
            longest = numbers.index(max(numbers))
            most[longest] = numbers[longest] = max(FEWEST, numbers[longest] * 3 // 4)
        return tuple(tiles_of(*own) for own in zip(sizes, most, multiples, strict=True))

    def _multiple(self, dim: str, rows: float) -> int:
        """Return what the tiles of a loop are multiples of: of few steps a head where it moves causal queries."""
        steps = max(FEW_STEPS, min(MOST_STEPS, int(MOST_ROWS / rows)))
        masked = [link.causal.queries for link in self.links if link.causal is not None and self._masks(dim, link)]
        return max((-(-queries // steps) for queries in masked), default=1)

    def _rows(self, loop: str) -> float:
        """Estimate how many chains a size has, with those of dims of one window, of the stage with the most."""
        rows, (computed, _) = [1.0], self._moves[loop]
        for stage, box in zip(self.stages, computed, strict=True):
            for dims in grouped(stage):
                moved = [d for d in dims if box.dims[stage.dims[d]].loop == loop]
                if moved:
                    samples = [self._combinations(stage, dims, moved, part) for part in SAMPLES]
                    rows.append(sum(samples) / len(samples))
        return max(rows)

    def _combinations(self, stage: Workload, dims: Sequence[int], moved: Sequence[int], part: int) -> int:
        """Count the combinations of chains of some dims, of which those moved have one part of so many."""
        sizes = tuple(-(-size // part) if d in moved else size for d, size in enumerate(stage.sizes))
        try:
            frame = Frame.of(self.arch, replace(stage, sizes=sizes), self.preset, distinct=True)
            return prod(frame.chains(d).total for d in dims)
        except InputError:
            return 1

    def _masks(self, dim: str, link: Link) -> bool:
        """Whether a shared loop moves the queries of a causal mask."""
        computed, _ = self._moves[dim]
        return link.causal is not None and computed[link.consumer].dims[link.causal.query].loop == dim

    @cached_property
    def reduced(self) -> frozenset[str]:
        """The loops over which the last stage adds up."""
        return frozenset(self.loops) - self.stages[-1].output.dims

    @cached_property
    def tables(self) -> dict[tuple[str, bool], "LoopTable"]:
        """What the tiles of each loop make of the stages, where it retains and where it does not; some never retain."""
        tables = {}
        for dim, tiles in zip(self.loops, self.tiles, strict=True):
            tables[dim, False] = LoopTable.of(self, dim, tiles, retains=False)
            with suppress(ValueError):
                tables[dim, True] = LoopTable.of(self, dim, tiles, retains=True)
        return tables

    @cached_property
    def repeating(self) -> frozenset[str]:
        """The loops in whose steps some words between stages are needed again: those for which it matters to retain."""
        return frozenset(dim for dim in self.loops if self.tables[dim, False].repeats.any())

    def retentions(self) -> Iterator[frozenset[str]]:
        """Yield every choice of the loops that retain."""
        dims = sorted(dim for dim in self.repeating if (dim, True) in self.tables)
        yield from map(frozenset, chain.from_iterable(combinations(dims, n) for n in range(len(dims) + 1)))

    def keepable(self) -> list[tuple[int, str]]:
        """List the tensors of stages that are between none and that the keeper may keep; of a stage alone none."""
        if len(self.stages) == 1:
            return []
        level, plain = self.arch.levels[self.level], self.group()
        outer = frozenset[str]().union(*(own.keep for own in self.arch.levels[: self.level]))
        return [
            (number, tensor.name)
            for number, stage in enumerate(self.stages)
            for tensor in stage.tensors
            if not (plain.intermediate(number, tensor.name) or plain.stays(number, tensor.name))
            and tensor.name not in level.bypass | outer
        ]


@dataclass(frozen=True, eq=False)
class TileSteps:
    """One tile of one loop: the boxes of all stages, and what is needed between them."""

    boxes: tuple[Box, ...]
    between: dict[int, Between]
    held: dict[int, HeldWords]
    trips: int


@dataclass(frozen=True, eq=False)
class LoopTable:
    """What the tiles of one loop make of the stages."""

    loop: str
    tiles: Ints
    steps: tuple[TileSteps, ...]  # per tile; of one that no group has those of another stand in
    possible: Bools  # (tile,) whether a group may have it

    @classmethod
    def of(cls, family: Family, loop: str, tiles: Ints, *, retains: bool) -> "LoopTable":
        """Make that of a loop; `retains`: whether words stay that later tiles need again.

        Raises ValueError where no group has any of the tiles.
        """
        steps, why = list[TileSteps | None](), ""
        for tile in tiles.tolist():
            retained = frozenset({loop}) if retains else frozenset[str]()
            group = replace(family.group(), shared=((loop, tile),), retained=retained)
            try:
                computed, between = boxes(group)
            except ValueError as error:
                steps, why = [*steps, None], str(error)
                continue
            held = {stage: HeldWords.of(group, needed) for stage, needed in between.items()}
            steps.append(TileSteps(computed, between, held, group.trips(loop)))
        stand_in = next((own for own in steps if own is not None), None)
        if stand_in is None:
            raise ValueError(why)
        possible = np.array([own is not None for own in steps])
        return cls(loop, tiles, tuple(stand_in if own is None else own for own in steps), possible)

    @cached_property
    def repeats(self) -> Bools:
        """Whether some words between stages are needed in several steps of each tile; also where no group has it.

        # (tile,)
        """
        every = [any(needed.repeats(self.loop, own.trips) for needed in own.between.values()) for own in self.steps]
        repeats: Bools = np.array(every) | ~self.possible
        return repeats

    def moved(self, stage: int) -> tuple[str, ...]:
        """The dims of a stage that the loop moves."""
        dims = self.steps[0].boxes[stage].dims
        return tuple(dim for dim, own in dims.items() if own.loop == self.loop)

    def sizes(self, stage: int) -> tuple[list[Ints], list[Ints]]:
        """Per tile the sizes that the dims moved have in the steps in which a stage runs, and which steps these are.

        # (step in which it runs, dim) and (step,) each
        """
        sizes, numbers = [], []
        moved = self.moved(stage)
        for own in self.steps:
            box = own.boxes[stage]
            running = box.running(self.loop, own.trips)
            columns = [box.dims[dim].lengths[running] for dim in moved]
            sizes.append(np.stack(columns, axis=1) if columns else np.zeros((len(running), 0), np.int64))
            numbers.append(running)
        return sizes, numbers
