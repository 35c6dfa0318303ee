"""Least energy and cycles of a stage in all steps of all combinations of tiles, from those of layers of all sizes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import and_

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..fusion import boxes, passes
from ..mapping import Floats, Ints, unique_rows
from .family import Family
from .stage_bounds import Listed, StageProblem

FINE_ROWS = 700_000  # of a StageProblem, at least: coarse bounds take a third of the time
IMPOSSIBLE = 1e60  # in place of infinity, which times no steps is no number


@dataclass(frozen=True, eq=False)
class LoopSizes:
    """Per loop the sizes that it gives a stage, and in how many steps each tile gives which."""

    variants: tuple[dict[str, int], ...]
    steps: dict[bool, Floats]  # by whether it retains # (tile, variant)
    first: dict[bool, Floats]  # of them the first step alone # (tile, variant)

    @classmethod
    def of(cls, family: Family, stage: int, loop: str) -> "LoopSizes":
        """Collect them of a stage."""
        tables = {
            retains: family.tables[loop, retains] for retains in (False, True) if (loop, retains) in family.tables
        }
        dims = tables[False].moved(stage)
        sizes = {retains: table.sizes(stage) for retains, table in tables.items()}
        rows, _ = unique_rows(np.concatenate([own for both in sizes.values() for own in both[0]]))
        if not dims:
            rows = np.zeros((1, 0), np.int64)
        number = {tuple(row): i for i, row in enumerate(rows.tolist())}
        steps, first = {}, {}
        for retains, (own_sizes, running) in sizes.items():
            steps[retains] = np.zeros((len(own_sizes), len(rows)))
            first[retains] = np.zeros((len(own_sizes), len(rows)))
            for tile, (listed, at) in enumerate(zip(own_sizes, running, strict=True)):
                which = np.array([number[tuple(row)] for row in listed.tolist()], np.int64)
                np.add.at(steps[retains][tile], which, 1.0)
                np.add.at(first[retains][tile], which[at == 0], 1.0)
        variants = tuple(dict(zip(dims, row, strict=True)) for row in rows.tolist())
        return cls(variants, steps, first)


@dataclass(frozen=True, eq=False)
class StageTables:
    """The bounds of one stage with some of its other tensors kept."""

    family: Family
    stage: int
    kept: frozenset[str]
    listed: Listed  # of the stage

    @cached_property
    def sizes(self) -> tuple[LoopSizes, ...]:
        """Per loop the sizes that it gives."""
        return tuple(LoopSizes.of(self.family, self.stage, loop) for loop in self.family.loops)

    def _layer(self, *, accumulates: bool) -> tuple[Floats, Floats]:
        """Bound layers of all sizes. # (variant of each loop, ...) each"""
        family, stage = self.family, self.family.stages[self.stage]
        resident = family.group().resident(self.stage) | self.kept
        tensors = tuple(replace(own, accumulates=accumulates or own.accumulates) if own.output else own
                        for own in stage.tensors)  # fmt: skip
        # dims that no loop moves are as long as what later stages need of them
        largest = {dim: int(own.lengths[0]) for dim, own in boxes(family.group())[0][self.stage].dims.items()}
        for own in self.sizes:
            for dim in own.variants[0]:
                largest[dim] = max(variant[dim] for variant in own.variants)
        layer = replace(stage, tensors=tensors, sizes=tuple(largest[dim] for dim in stage.dims))
        arch = self._with_room(family.arch.with_resident(family.level, resident), layer)
        variants = tuple(own.variants for own in self.sizes)
        key = arch, layer.nameless, tuple(tuple(tuple(v.items()) for v in own) for own in variants)
        if key not in family.known.bounds:
            energies, charges, fine = family.energies, family.charges, max(FINE_ROWS, 2 * family.most_rows)
            made = StageProblem(arch, layer, energies, charges, family.preset, variants, self.listed, fine)
            family.known.bounds[key] = made.bounds()
        energy, cycles = (np.where(np.isfinite(own), own, IMPOSSIBLE) for own in family.known.bounds[key])
        sizes = dict(zip(stage.dims, layer.sizes, strict=True))
        return self._with_passes(energy, cycles, sizes, accumulates=accumulates)

    def _with_room(self, arch: Architecture, layer: Workload) -> Architecture:
        """Give the keeper more room for words that stand there once, and that the stage reads as several tensors."""
        family, level = self.family, arch.levels[self.family.level]
        if level.usable_bits is None:
            return arch
        bits = {own.name: layer.tensor_words(own) * level.bits(own.name, own.word_bits) for own in layer.tensors}
        more, group = 0, family.group()
        for producer in {link.producer for link in group.inputs(self.stage)}:
            read = [bits[link.tensor] for link in group.inputs(self.stage) if link.producer == producer]
            more += sum(read) - max(read)
        lasting = sum(bits[name] for stage, name in family.lasting if stage == self.stage)
        more += max(0, lasting - (family.reserved[self.stage] if family.reserved else 0))
        return arch.with_usable(family.level, level.usable_bits + more)

    def _with_passes(
        self, energy: Floats, cycles: Floats, largest: Mapping[str, int], *, accumulates: bool
    ) -> tuple[Floats, Floats]:
        """Add what operators on words between stages take at least, whatever the loops.

        Rows count as cut in steps that add to sums, if each loop that may be the reason cuts them.
        """
        family, output = self.family, self.family.stages[self.stage].output.name
        kept = output in self.kept or (self.stage, output) in family.lasting
        loops = [loop for loop in family.loops if loop in family.reduced] if accumulates else []
        groups = [family.group(((loop, 1),)) for loop in loops] or [family.group()]
        every = [
            Counter(passes(group, family.level, self.stage, accumulates=accumulates, output_kept=kept))
            for group in groups
        ]
        leak_pj = family.charges.leak_pj_per_cycle(family.arch, family.energies)
        for own in reduce(and_, every).elements():
            words = self._places(own.dims, largest)
            took = np.vectorize(partial(own.cycles, family.arch), otypes=[float])(words)
            energy, cycles = (
                energy + words * own.energy_pj(family.arch, family.energies) + leak_pj * took,
                cycles + took,
            )
        return energy, cycles

    def _places(self, dims: Sequence[str], largest: Mapping[str, int]) -> Ints:
        """Count the indices of some dims in layers of all sizes. # (variant of each loop, ...)"""
        words = np.ones([len(own.variants) for own in self.sizes], np.int64)
        for dim in dims:
            loop = next((i for i, own in enumerate(self.sizes) if dim in own.variants[0]), None)
            if loop is None:
                words = words * largest[dim]
            else:
                shape = [1] * words.ndim
                shape[loop] = -1
                words = words * np.array([own[dim] for own in self.sizes[loop].variants]).reshape(shape)
        return words

    @cached_property
    def plain(self) -> tuple[Floats, Floats]:
        """Bounds of layers whose output begins empty."""
        return self._layer(accumulates=False)

    @cached_property
    def adding(self) -> tuple[Floats, Floats] | None:
        """Bounds of layers whose output adds; None of a stage that is never one."""
        last = self.stage == len(self.family.stages) - 1
        return self._layer(accumulates=True) if last and self.family.reduced else None

    def sums(self, retained: frozenset[str]) -> tuple[Floats, Floats]:
        """Bound energy and cycles of all steps together, for all combinations of tiles.

        # (tile of each loop, ...) each
        """
        energy, cycles = (
            self._summed(retained, self.plain[i], self.adding[i] if self.adding is not None else None) for i in (0, 1)
        )
        return energy, cycles

    def _summed(self, retained: frozenset[str], plain: Floats, adding: Floats | None) -> Floats:
        loops = self.family.loops
        every = [own.steps[loop in retained] for own, loop in zip(self.sizes, loops, strict=True)]
        if adding is None:
            return _contracted(plain, every)
        reduced = self.family.reduced
        first = [
            (own.first if loop in reduced else own.steps)[loop in retained]
            for own, loop in zip(self.sizes, loops, strict=True)
        ]
        return _contracted(adding, every) + _contracted(plain - adding, first)


def _contracted(table: Floats, operators: Sequence[Floats]) -> Floats:
    """Sum a table over the variants of each loop, by the steps that each tile has of them."""

    def along(result: Floats, operator: Floats) -> Floats:
        return np.tensordot(result, operator, axes=(0, 1))  # the first axis goes, tiles come last

    return np.asarray(reduce(along, operators, table))
