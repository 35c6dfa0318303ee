"""Lower bounds of whole groups: those of stages, added up over the steps of every combination of tiles."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, combinations
from operator import and_

import numpy as np

from .....arch import Architecture
from .....energy import EnergyTable
from .....workloads import Workload
from ....mapping import Floats
from ....problem import Charges
from .layer_bounds import StageBounds
from .passes import pass_figures, passes_of
from .stages import Stages
from .traces import Trace
from .walks import Walks

NEVER = 1e60  # in place of infinity, which times no steps is no number


def subsets(names: Sequence[str]) -> list[frozenset[str]]:
    """List all sets of some names."""
    return [frozenset(own) for own in chain.from_iterable(combinations(names, n) for n in range(len(names) + 1))]


@dataclass(frozen=True, eq=False)
class Machine:
    """The machine of a group, and what is counted."""

    arch: Architecture
    level: int  # of the keeper
    table: EnergyTable
    costs: Charges
    remainders: Sequence[str]


@dataclass(eq=False)
class StageSums:
    """What a stage costs at least in all steps, for every combination of tiles."""

    walks: Walks
    machine: Machine
    tiles: Mapping[str, Sequence[int]]  # per shared dim
    stage: int

    def __post_init__(self) -> None:
        self._known: dict[tuple[frozenset[str], bool], tuple[Floats, Floats]] = {}

    @property
    def stages(self) -> Stages:
        """The stages of the group."""
        return self.walks.stages

    @cached_property
    def variants(self) -> dict[str, list[dict[str, int]]]:
        """Per loop the different sizes of the dims that it moves."""
        every = {}
        for loop, tiles in self.tiles.items():
            traces = [trace for tile in tiles for trace in self._traces(loop, tile).values()]
            listed = [trace.sizes(step, self.stage) for trace in traces for step in range(trace.steps)]
            distinct = {self._moved(loop, sizes) for sizes in listed if sizes is not None}
            every[loop] = [dict(own) for own in sorted(distinct)]
        return every

    def _moved(self, loop: str, sizes: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
        return tuple((dim, sizes[dim]) for dim in sorted(self.stages.moved(loop)[self.stage]))

    def _traces(self, loop: str, tile: int) -> dict[bool, Trace]:
        every = (False, True)
        return {
            own: self.walks.trace(loop, tile, retains=own) for own in every if self.walks.has(loop, tile, retains=own)
        }

    @cached_property
    def _numbers(self) -> dict[tuple[str, bool], tuple[Floats, Floats]]:
        """Per loop, and whether it retains, in how many steps each tile has each variant; and of these the first step.

        # (tile, variant) each
        """
        numbers = {}
        for loop, tiles in self.tiles.items():
            place = {tuple(sorted(own.items())): i for i, own in enumerate(self.variants[loop])}
            for retains in (False, True):
                steps, first = np.zeros((len(tiles), len(place))), np.zeros((len(tiles), len(place)))
                for i, tile in enumerate(tiles):
                    trace = self._traces(loop, tile).get(retains)
                    every = [] if trace is None else [trace.sizes(step, self.stage) for step in range(trace.steps)]
                    for step, sizes in enumerate(every):
                        if sizes is not None:
                            steps[i, place[self._moved(loop, sizes)]] += 1
                            first[i, place[self._moved(loop, sizes)]] += step == 0
                numbers[loop, retains] = steps, first
        return numbers

    def _bounds(self, kept: frozenset[str], *, accumulates: bool) -> tuple[Floats, Floats]:
        """Bound the stage as a layer of all sizes. # (variant of each loop, ...) each"""
        key = kept, accumulates
        if key not in self._known:
            whole = self.walks.whole.sizes(0, self.stage)
            assert whole is not None, "without loops each stage runs"
            layer = self.stages.layer(
                self.stage, [whole[dim] for dim in self.stages.layers[self.stage].dims], accumulates=accumulates
            )
            arch = self.machine.arch.with_resident(self.machine.level, self.stages.between[self.stage] | kept)
            arch = self._with_room(arch, layer)
            own = StageBounds(arch, layer, self.machine.table, self.machine.remainders, self.machine.costs,
                              list(self.variants.values()))  # fmt: skip
            energy, cycles = (np.where(np.isfinite(figure), figure, NEVER) for figure in own.bounds())
            pj, took = self._passes(layer, kept, accumulates=accumulates)
            self._known[key] = energy + pj, cycles + took
        return self._known[key]

    def _with_room(self, arch: Architecture, layer: Workload) -> Architecture:
        """The machine with room for tensors that the stage reads of one producer: their words stand there once."""
        level = arch.levels[self.machine.level]
        if level.usable_bits is None:
            return arch
        bits = {own.name: layer.tensor_words(own) * level.bits(own.name, own.word_bits) for own in layer.tensors}
        more = 0
        for producer in range(self.stage):
            read = [bits[own.tensor] for own in self.stages.inputs(self.stage) if own.producer == producer]
            more += sum(read) - max(read, default=0)
        return arch.with_usable(self.machine.level, level.usable_bits + more)

    def _passes(self, layer: Workload, kept: frozenset[str], *, accumulates: bool) -> tuple[Floats, Floats]:
        """Energy and cycles of operators in a step of each size, whatever the loops. # (variant of each loop, ...) each

        Where sums begin, rows count as whole; where they go on, as cut if each loop that may be the reason cuts them.
        """
        shape = tuple(map(len, self.variants.values()))
        energy, cycles = np.zeros(shape), np.zeros(shape)
        choices = [{loop} for loop in self.tiles if loop not in layer.output.dims] if accumulates else [set[str]()]
        output_kept = layer.output.name in kept
        every = [
            Counter(passes_of(self.stages, self.stage, cuts, accumulates=accumulates, output_kept=output_kept))
            for cuts in choices
        ]
        listed = list(reduce(and_, every).elements())
        if not listed:
            return energy, cycles
        machine = self.machine.arch, self.machine.level, self.machine.table
        for at in np.ndindex(*shape):
            sizes = dict(zip(layer.dims, layer.sizes, strict=True))
            for i, own in zip(at, self.variants.values(), strict=True):
                sizes |= own[i]
            energy[at], cycles[at] = pass_figures(listed, sizes, machine, self.machine.costs)
        return energy, cycles

    def of(self, kept: frozenset[str], retained: frozenset[str]) -> tuple[Floats, Floats]:
        """Bound energy and cycles of all steps. # (tile of each loop, ...) each"""
        last = self.stage == len(self.stages.layers) - 1
        reduced = set(self.tiles) - self.stages.last.output.dims if last else set()
        numbers = {loop: self._numbers[loop, loop in retained] for loop in self.tiles}
        every = [numbers[loop][0] for loop in self.tiles]
        first = [numbers[loop][1 if loop in reduced else 0] for loop in self.tiles]
        plain = self._bounds(kept, accumulates=False)
        if not reduced:
            energy, cycles = (_added(figure, every) for figure in plain)
            return energy, cycles
        adding = self._bounds(kept, accumulates=True)
        energy, cycles = (
            _added(more, every) + _added(own - more, first) for own, more in zip(plain, adding, strict=True)
        )
        return energy, cycles


def _added(figure: Floats, numbers: Sequence[Floats]) -> Floats:
    """Add up a figure of all variants, by the number of steps of each. # (tile of each loop, ...)"""

    def along(rest: Floats, own: Floats) -> Floats:
        return np.moveaxis(np.tensordot(own, rest, axes=(1, 0)), 0, -1)

    return np.asarray(reduce(along, numbers, figure))
