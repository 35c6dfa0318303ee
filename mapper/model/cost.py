"""Counts -> validity, energy, cycles, utilisation, EDP."""

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ...energy import EnergyTable
from ..mapping import Bools, Floats, Ints, Mappings, Numbers, floats, take_rows
from ..problem import Charges
from .counts import Counts, count
from .exactness import Rate, rate
from .interconnect import word_hops
from .nests import NestAnalysis, TileSizes

# Reason codes of `validity`: the index is the code, 0 is valid.
REASONS = ("valid", "capacity", "fanout", "utilization")


@dataclass(eq=False)
class Costs:
    """Costs of a batch; totals over the whole machine. Cycles are whole, of the type of the counts."""

    counts: Counts  # drained words among the reads, where the options count them
    energy_pj: Floats  # (mapping,)
    cycles: Numbers  # (mapping,) maximum over compute and levels
    utilization: Floats  # (mapping,) MACs / (cycles * MAC units)
    level_energy_pj: Floats  # (mapping, level, tensor)
    # (mapping, level) words / bandwidth of the busiest instance, beside which no tile begins; 0 without a bandwidth
    level_cycles: Numbers
    compute_energy_pj: float
    leak_energy_pj: Floats  # (mapping,) 0 unless asked for
    interconnect_energy_pj: Floats  # (mapping, level, tensor) of the array below each level; 0 unless asked for
    options: Charges
    exact: Bools  # (mapping,) whether all counts behind these figures are exact, those of the wires among them

    @property
    def edp(self) -> Floats:
        """Energy-delay product, pJ * cycles. # (mapping,)"""
        return self.energy_pj * floats(self.cycles)

    def take(self, where: Ints) -> Self:
        """The costs of the mappings `where`."""
        arrays: dict[str, Any] = {
            f.name: own[where] for f in fields(self) if isinstance(own := getattr(self, f.name), np.ndarray)
        }
        return replace(self, counts=self.counts.take(where), **arrays)


def validity(batch: Mappings, nest: NestAnalysis | None = None) -> NDArray[np.int8]:
    """The reason code of each mapping: 0 valid, else an index of REASONS, the first that applies. # (mapping,)

    `nest` is the analysis of `batch`, where the caller has it.

    Capacity: the kept tiles, clipped at the sizes, fit every instance (a level with multiple buffering offers
    that share of its capacity). Fanout: the bounds on an axis multiply to at most its size. Utilization: and to
    at least the share of it that a constraint asks for.
    """
    nest = nest or NestAnalysis(batch)
    xp, outside, idle = nest.xp, nest.no(), nest.no()
    for s, slot in enumerate(batch.arch.slots):
        if slot.axis is None:
            continue
        wide = [(d, table) for d, table in enumerate(batch.tables) if table.widest[s] > 1]
        least = slot.least
        if not least and prod(int(table.widest[s]) for _, table in wide) <= slot.axis.size:
            continue
        spread = nest.product(take_rows(table.bounds[:, s], nest.row(d)) for d, table in wide)
        outside = outside | (spread > slot.axis.size)
        if least:
            idle = idle | (spread < least)
    reason = xp.zeros(len(batch), dtype=np.int8)
    for name, fails in (("utilization", idle), ("fanout", outside), ("capacity", overfull(nest))):  # the last one stays
        reason = xp.where(fails, xp.asarray(REASONS.index(name), dtype=np.int8), reason)
    reasons: NDArray[np.int8] = reason
    return reasons


def overfull(nest: NestAnalysis) -> Bools:
    """Where the kept tiles of some memory do not fit. # (mapping,)"""
    overflow, tiles = nest.no(), TileSizes(nest)
    for levels in nest.batch.arch.stacks:
        storage = nest.batch.arch.levels[levels[0]]
        if storage.capacity_bits is not None:
            overflow = overflow | (tiles.memory_bits(levels) > storage.capacity_bits // storage.multiple_buffering)
    return overflow


def evaluate(
    batch: Mappings, table: EnergyTable, options: Charges | None = None, counts: Counts | None = None
) -> Costs:
    """Costs of every mapping of `batch`, valid or not; from its `counts` where they are known already."""
    nest, options = NestAnalysis(batch), options or Charges()
    counts = counts or count(batch, nest)
    counts = counts.with_drains() if options.drain_reads else counts
    workload, arch, xp = batch.workload, batch.arch, nest.xp
    level_cycles = bandwidth_cycles(nest, counts)
    cycles = counts.cycles
    for level, storage in enumerate(arch.levels):
        if storage.bandwidths:
            cycles = xp.maximum(cycles, level_cycles[:, level] + counts.starts)
    energy = level_energies(nest, counts, table)
    compute = workload.macs * table.compute.mac_pj(workload)
    leak = xp.zeros(len(batch))
    if leak_pj := options.leak_pj_per_cycle(arch, table):
        leak = floats(cycles) * leak_pj
    # one after the other, so that the batch's size does not change how sums round
    places = np.ndindex(len(arch.levels), len(workload.tensors))
    total = sum((energy[:, level, v] for level, v in places), compute + leak)
    interconnect_pj, exact = xp.zeros_like(energy), counts.exact
    if options.has_interconnect:
        crossed = counts.crossings(nest)
        interconnect_pj, exact = interconnect_energies(batch, crossed.words, options), crossed.exact
        total += interconnect_pj.sum(axis=(1, 2))
    units = arch.instances(len(arch.levels))
    return Costs(
        counts=counts,
        energy_pj=total,
        cycles=cycles,
        utilization=floats(workload.macs / (cycles * units)),
        level_energy_pj=energy,
        level_cycles=level_cycles,
        compute_energy_pj=compute,
        leak_energy_pj=leak,
        interconnect_energy_pj=interconnect_pj,
        options=options,
        exact=exact,
    )


def level_energies(nest: NestAnalysis, counts: Counts, table: EnergyTable) -> Floats:
    """Words times energy per word; a word is a fraction of a vector access. # (mapping, level, tensor)"""
    batch = nest.batch
    tensors, columns = batch.workload.tensors, []
    reads, fills, updates = floats(counts.reads), floats(counts.fills), floats(counts.updates)
    for level, (storage, figures) in enumerate(zip(batch.arch.levels, table.levels, strict=True)):
        for v, tensor in enumerate(tensors):
            bits = storage.bits(tensor.name, tensor.word_bits)
            read, updated = reads[:, level, v], updates[:, level, v]
            if storage.dram is not None:  # whole bursts are moved
                words = storage.blocks(batch.workload, tensor).words
                read, updated = words * floats(counts.burst_reads[:, v]), words * floats(counts.burst_updates[:, v])
            pj = read * figures.read_pj
            pj += fills[:, level, v] * figures.write_pj
            pj += updated * figures.update_pj
            pj = pj * (bits / storage.width_bits)
            if storage.dram is not None:
                pj += floats(counts.activations[:, v]) * storage.dram.activate_pj
            columns.append(pj)
    return nest.together(columns, len(batch.arch.levels), len(tensors))


def interconnect_energies(batch: Mappings, crossings: Numbers, options: Charges) -> Floats:
    """Energy of the wires in the array below each level, for the words that cross it. # (mapping, level, tensor)"""
    tensors = batch.workload.tensors
    pj = [[options.word_hop_pj(level.bits(t.name, t.word_bits)) for t in tensors] for level in batch.arch.levels]
    energy: Floats = word_hops(batch, crossings) * np.array(pj)
    return energy


def bandwidth_cycles(nest: NestAnalysis, counts: Counts) -> Numbers:
    """Cycles each memory's busiest instance needs for its words, at its bandwidths side by side. # (mapping, level)"""
    batch, xp, columns = nest.batch, nest.xp, list[Numbers]()
    for levels in batch.arch.stacks:
        storage = batch.arch.levels[levels[0]]
        cycles = xp.zeros(len(batch), dtype=counts.reads.dtype)
        for bandwidth in storage.bandwidths:
            words = counts.limited(bandwidth)
            of_all = sum((words[:, level] for level in levels[1:]), words[:, levels[0]])
            cycles = xp.maximum(cycles, transfer_cycles(of_all, bandwidth.rate))
        columns += [cycles] * len(levels)
    return nest.together(columns, len(columns))


def transfer_cycles(words: Numbers, bandwidth: Rate | float) -> Numbers:
    """Cycles that so many words take at so many words per cycle, rounded up."""
    many, cycles = bandwidth if isinstance(bandwidth, tuple) else rate(bandwidth)
    if words.dtype == object:
        needed: Numbers = -(-words * cycles // Fraction(many))
    else:
        needed = words.__array_namespace__().ceil(words * cycles / many)
    return needed
