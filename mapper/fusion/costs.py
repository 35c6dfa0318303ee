"""What a group costs: the sum of its stages in all steps, and of what comes and goes for kept tensors."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...arch import Storage
from ...energy import EnergyTable, LevelEnergy
from ...workloads import Tensor
from ..model import rate
from ..model.figures import Mapped
from ..problem import Charges
from .held_words import KeptTensor
from .machine import Standing
from .passes import layer_passes, pass_costs
from .steps import StepLayer


@dataclass(frozen=True)
class Transfer:
    """The words of a kept tensor between the outermost level and the keeper, in all steps together."""

    tensor: Tensor
    reads: int  # of the outermost level
    updates: int  # of the outermost level
    fills: int  # of the keeper
    drains: int  # of the keeper: words that move up

    @classmethod
    def of(cls, tensor: Tensor, kept: KeptTensor) -> "Transfer":
        """Count those of a tensor, as of a level next to the outermost (docs/model.md, rules 2 to 4)."""
        if not tensor.output:
            return cls(tensor, kept.moved, 0, kept.moved, 0)
        again = kept.moved - (kept.distinct if tensor.begins_empty else 0)
        return cls(tensor, again, kept.moved, again, kept.moved)

    def energies_pj(
        self, outer: tuple[Storage, LevelEnergy], keeper: tuple[Storage, LevelEnergy], *, drain_reads: bool
    ) -> tuple[float, float]:
        """Compute its energy at the outermost level and at the keeper."""
        level, figures = outer
        share = level.bits(self.tensor.name, self.tensor.word_bits) / level.width_bits
        outer_pj = share * (self.reads * figures.read_pj + self.updates * figures.update_pj)
        level, figures = keeper
        share = level.bits(self.tensor.name, self.tensor.word_bits) / level.width_bits
        return outer_pj, share * (self.fills * figures.write_pj + drain_reads * self.drains * figures.read_pj)

    def energy_pj(
        self, outer: tuple[Storage, LevelEnergy], keeper: tuple[Storage, LevelEnergy], *, drain_reads: bool
    ) -> float:
        """Compute its energy at both levels."""
        return sum(self.energies_pj(outer, keeper, drain_reads=drain_reads))


@dataclass(frozen=True, eq=False)
class GroupCosts:
    """Energy and cycles of a group whose stages have these mappings."""

    standing: Standing
    energies: EnergyTable
    charges: Charges
    layers: Mapping[StepLayer, int]  # each with the number of its steps
    mapped: Mapping[StepLayer, Mapped]

    @cached_property
    def transfers(self) -> tuple[Transfer, ...]:
        """What comes and goes for kept tensors."""
        group = self.standing.group
        return tuple(
            Transfer.of(next(own for own in group.stages[stage].tensors if own.name == name), kept)
            for (stage, name), kept in self.standing.kept.items()
        )

    @cached_property
    def transfer_cycles(self) -> int:
        """The cycles of these words, which nothing else goes on beside: the slowest of both levels and directions."""
        ends = self.standing.arch.levels[0], self.standing.arch.levels[self.standing.level]
        return transfer_cycles(self.transfers, *ends, drain_reads=self.charges.drain_reads)

    @cached_property
    def transfer_pj(self) -> float:
        """The energy of these words, and the leakage of these cycles."""
        arch, level = self.standing.arch, self.standing.level
        ends = [(arch.levels[i], self.energies.levels[i]) for i in (0, level)]
        words = sum(own.energy_pj(*ends, drain_reads=self.charges.drain_reads) for own in self.transfers)
        return words + self.charges.leak_pj_per_cycle(arch, self.energies) * self.transfer_cycles

    @cached_property
    def _passes(self) -> tuple[float, int]:
        """Energy and cycles of operators on words between stages, in all steps."""
        group, level = self.standing.group, self.standing.level
        energy, cycles = 0.0, 0
        for layer, number in self.layers.items():
            sizes = dict(zip(group.stages[layer.stage].dims, layer.sizes, strict=True))
            listed = layer_passes(group, level, layer)
            pj, took = pass_costs(listed, self.standing.arch, self.energies, self.charges, sizes)
            energy, cycles = energy + number * pj, cycles + number * took
        return energy, cycles

    @property
    def pass_pj(self) -> float:
        """The energy of operators on words between stages, and the leakage of their cycles."""
        return self._passes[0]

    @property
    def pass_cycles(self) -> int:
        """The cycles of operators on words between stages."""
        return self._passes[1]

    @property
    def beside_pj(self) -> float:
        """The energy of all that is no mapping of a stage: kept tensors that move, and operators."""
        return self.transfer_pj + self.pass_pj

    @property
    def beside_cycles(self) -> int:
        """The cycles of all that is no mapping of a stage."""
        return self.transfer_cycles + self.pass_cycles

    @cached_property
    def energy_pj(self) -> float:
        """The energy of all steps."""
        return self.beside_pj + sum(n * self.mapped[layer].energy_pj for layer, n in self.layers.items())

    @cached_property
    def cycles(self) -> int:
        """The cycles of all steps: stages take turns."""
        return self.beside_cycles + sum(n * int(self.mapped[layer].cycles) for layer, n in self.layers.items())

    @property
    def edp(self) -> float:
        """Energy-delay product, in pJ * cycles."""
        return self.energy_pj * self.cycles

    @cached_property
    def outer_words(self) -> dict[tuple[int, str], int]:
        """The words of each tensor of each stage that the outermost level reads and takes, in all steps together."""
        words: Counter[tuple[int, str]] = Counter()
        for layer, number in self.layers.items():
            for name, own in outer_words(self.mapped[layer]).items():
                words[layer.stage, name] += number * own
        for key, moved in zip(self.standing.kept, self.transfers, strict=True):
            words[key] += moved.reads + moved.updates
        return dict(words)


def outer_words(mapped: Mapped) -> dict[str, int]:
    """Count the words of each tensor of a mapping that the outermost level reads and takes."""
    counts, tensors = mapped.costs.counts, mapped.batch.workload.tensors
    return {own.name: int(counts.reads[0, 0, v] + counts.updates[0, 0, v]) for v, own in enumerate(tensors)}


def transfer_cycles(transfers: Sequence[Transfer], outer: Storage, keeper: Storage, *, drain_reads: bool) -> int:
    """Compute the cycles that the words of kept tensors take together: the most that a bandwidth asks for."""
    flows = transfer_flows(transfers, outer, keeper, drain_reads=drain_reads)
    return max((int(-(-words * cycles // many)) for words, (many, cycles) in flows), default=0)


def transfer_flows(
    transfers: Sequence[Transfer], outer: Storage, keeper: Storage, *, drain_reads: bool
) -> list[tuple[int, tuple[float, int]]]:
    """List the words of kept tensors that pass each bandwidth together, and the bandwidth: words in so many cycles."""
    reads, updates = sum(own.reads for own in transfers), sum(own.updates for own in transfers)
    drains, fills = sum(own.drains for own in transfers) if drain_reads else 0, sum(own.fills for own in transfers)
    moved = (outer, reads, updates), (keeper, drains, fills)
    return [
        (bandwidth.of(read, written), rate(bandwidth.rate))
        for level, read, written in moved
        for bandwidth in level.bandwidths
    ]
