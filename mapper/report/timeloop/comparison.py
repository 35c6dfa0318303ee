"""Timeloop's statistics beside our figures of a mapping: each difference with its rule, each energy taken apart."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod
from pathlib import Path

from ....arch import Architecture
from ....workloads import Fault, InputError
from ...mapping import MappingBatch
from ...model import Costs
from ..result import Result
from .explanation import Explanation
from .statistics import WORDS, StatedLevel, StatedTensor, Statistics, read_statistics

NO_TENSOR = StatedTensor(0, dict.fromkeys(WORDS, 0.0))  # Timeloop leaves out what is never used


@dataclass(frozen=True)
class Figure:
    """A count by us and by Timeloop, over all instances, and the names of the rules that make them differ."""

    level: str
    tensor: str
    name: str
    ours: int
    timeloop: float
    rules: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return self.ours == self.timeloop


@dataclass(frozen=True)
class Energy:
    """The energy of a component in pJ, and what Timeloop's is more by."""

    component: str
    ours: float
    timeloop: float
    counts: float = 0.0  # for it counts other words
    vectors: float = 0.0  # for it reads and writes whole vectors of the instances of a cluster that are in use
    leakage: float = 0.0  # for it charges leakage always

    @property
    def other(self) -> float:
        """The rest: other figures per access, and what two decimals round."""
        return self.timeloop - self.ours - self.counts - self.vectors - self.leakage


@dataclass(frozen=True)
class Beside:
    """The comparison of a mapping."""

    source: str
    sparse: bool  # whether Timeloop's run was of a sparse design
    figures: tuple[Figure, ...]
    energies: tuple[Energy, ...]  # the last is the total
    too_large: str  # why nothing could be explained, else empty


def compare_with_timeloop(result: Result, path: Path) -> Beside:
    """Compare the costs of a mapping with what Timeloop states of it in the file at `path`.

    Raises InputError where that is none of Timeloop's statistics, or they are of another machine or layer, or the
    machine has no counterpart there.
    """
    stated = read_statistics(path)
    batch, costs = result.batch, result.costs
    assert batch is not None
    assert costs is not None
    _check(stated, batch)
    try:
        explanation = Explanation(batch)
    except ValueError as error:
        raise InputError(Fault("--beside", None, "", str(error))) from error
    visits, reason = explanation.nest.visits, ""
    if visits > explanation.nest.MOST_VISITS:
        reason = f"the nest has too many loops to be walked by Timeloop's rules: {visits:,} visits"
    figures = tuple(_figures(batch, costs, stated, None if reason else explanation))
    return Beside(stated.source, stated.sparse, figures, tuple(_energies(result, batch, costs, stated)), reason)


def _check(stated: Statistics, batch: MappingBatch) -> None:
    """Raise InputError for another machine or layer: instances, then levels and tensors that are not here.

    Dummies and networks say nothing of tensors.
    """
    if instance_faults := list(_other_instances(stated, batch.arch)):
        raise InputError(instance_faults)
    levels = {level.name: level for level in batch.arch.levels}
    tensors = {tensor.name for tensor in batch.workload.tensors}
    faults = []
    for name, level in stated.levels.items():
        used = {tensor for tensor, words in level.tensors.items() if any(words.words.values())}
        if used and name not in levels:
            faults.append(Fault(stated.source, level.line, name, f"{batch.arch.name} has no such level"))
            continue
        for tensor in sorted(used - tensors):
            line, place = level.tensors[tensor].line, f"{name}.{tensor}"
            faults.append(Fault(stated.source, line, place, f"{batch.workload.name} has no such tensor"))
    if faults:
        raise InputError(faults)


def _other_instances(stated: Statistics, arch: Architecture) -> Iterator[Fault]:
    """A fault for each level, and for the MAC units, of which the statistics have more or fewer than the machine."""
    units = next(iter(stated.levels))  # the MAC units stand first, whatever their name
    instances = {level.name: arch.instances(i) for i, level in enumerate(arch.levels)}
    for name, level in stated.levels.items():
        ours = arch.instances(len(arch.levels)) if name == units else instances.get(name)
        if ours is not None and level.instances not in (0, ours):
            rule = f"the statistics are of a machine with {level.instances:,} of it, {arch.name} has {ours:,}"
            yield Fault(stated.source, level.line, name, rule)


def _figures(batch: MappingBatch, costs: Costs, stated: Statistics, why: Explanation | None) -> Iterator[Figure]:
    """Every count, MACs and cycles first."""
    counts = costs.counts
    macs, cycles = batch.workload.macs, int(costs.cycles[0])
    rules = why.computes(stated.computes, macs) if why and stated.computes != macs else ()
    yield Figure("", "", "MACs", macs, stated.computes, rules)
    rules = why.cycles(stated.cycles, int(counts.cycles[0])) if why and stated.cycles != cycles else ()
    if "unknown" in rules and stated.sparse and stated.cycles < cycles:
        rules = ("sparse",)
    yield Figure("", "", "cycles", cycles, stated.cycles, rules)
    for i, level in enumerate(batch.arch.levels):
        for v, tensor in enumerate(batch.workload.tensors):
            if not batch.keep[0, i, v]:
                continue
            theirs = _stated(stated, level.name, tensor.name)
            for name in WORDS:
                ours, words = int(getattr(counts, name)[0, i, v]), theirs.words.get(name, 0.0)
                total = words * theirs.instances
                figure = Figure(level.name, tensor.name, name, ours, total, ())
                if why and not figure.equal:
                    rules = why.words((i, v), name, words, ours, theirs.instances)
                    figure = replace(figure, rules=rules)
                yield figure


def _stated(stated: Statistics, level: str, tensor: str) -> StatedTensor:
    return stated.levels.get(level, StatedLevel(0)).tensors.get(tensor, NO_TENSOR)


def _energies(result: Result, batch: MappingBatch, costs: Costs, stated: Statistics) -> Iterator[Energy]:
    """The energy of each component, and their sum."""
    energies = [_of_level(result, batch, costs, stated, i) for i in range(len(batch.arch.levels))]
    macs, pj = batch.workload.macs, result.table.compute.mac_pj(batch.workload)
    units = next(iter(stated.levels.values()))
    energies.append(Energy(batch.arch.compute.name, macs * pj, units.energy_pj, counts=(stated.computes - macs) * pj))
    ours, theirs = float(costs.interconnect_energy_pj[0].sum()), stated.network_pj
    if ours or theirs:
        energies.append(Energy("networks", ours, theirs))
    if leak := float(costs.leak_energy_pj[0]):  # that of Timeloop stands at each level
        energies.append(Energy("leakage", leak, 0.0, leakage=-leak))
    yield from energies
    sums = [sum(getattr(energy, name) for energy in energies) for name in ("counts", "vectors", "leakage")]
    yield Energy("total", float(costs.energy_pj[0]), _whole(stated, sum(energy.timeloop for energy in energies)), *sums)


def _whole(stated: Statistics, parts: float) -> float:
    """The energy of all: that of `parts`, to 0.01 pJ each, if it rounds to what the file tells to 0.01 uJ."""
    return parts if abs(parts - stated.energy_pj) < 0.0051 * 1e6 else stated.energy_pj


def _of_level(result: Result, batch: MappingBatch, costs: Costs, stated: Statistics, i: int) -> Energy:
    storage, figures = batch.arch.levels[i], result.table.levels[i]
    cluster = storage.attribute("cluster_size", 1)
    shared = cluster if isinstance(cluster, int) else 1
    spread = prod(
        int(n)
        for s, slot in enumerate(batch.arch.slots)
        if slot.spatial and slot.level < i
        for n in batch.factors[0, s]
    )
    together = spread / min(spread, batch.arch.instances(i) / shared)  # instances in use of a cluster
    level = stated.levels.get(storage.name, StatedLevel(0))
    counts = vectors = 0.0
    for v, tensor in enumerate(batch.workload.tensors):
        theirs = level.tensors.get(tensor.name, NO_TENSOR)
        vector = storage.width_bits / storage.bits(tensor.name, tensor.word_bits)  # words
        row = vector / shared  # of one instance
        for name, pj in zip(WORDS, (figures.read_pj, figures.write_pj, figures.update_pj), strict=True):
            words, ours = theirs.words.get(name, 0.0), int(getattr(costs.counts, name)[0, i, v])
            counts += (words * theirs.instances - ours) * pj / vector
            vectors += (ceil(words / row) / together - words / vector) * theirs.instances * pj
    timeloop = sum(tensor.energy_pj for tensor in level.tensors.values()) + level.leak_pj
    energy = float(costs.level_energy_pj[0, i].sum())
    return Energy(storage.name, energy, timeloop, counts, vectors, level.leak_pj)
