"""Results of layers and networks: what a search or an evaluation returns, and how it prints itself."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import override

from ...arch import Architecture
from ...energy import EnergyTable, area_um2
from ...workloads import Workload
from ..certificate import Layer
from ..mapping import MappingBatch
from ..model import REASONS, Costs, first_objective
from ..model.bounds import ROUNDING, Ideal, ideal
from ..search import Coverage, Ended, FrontProof, Statistics
from . import proof_text as proof
from . import tables
from .front import FrontMapping, front_table
from .loop_nest import loop_nest
from .network_edp import LayerNeeds, LeastSum, edp_bound
from .show import Shown


@dataclass(frozen=True, eq=False, repr=False)
class Result(Shown):
    """A workload on an architecture: the mapping with its costs, or why there is none.

    `mapspace`, `objective`, `seed` and `strategy` are None for a mapping that was evaluated, not searched for.
    """

    arch: Architecture
    workload: Workload
    table: EnergyTable
    batch: MappingBatch | None  # of one mapping
    costs: Costs | None  # of that mapping
    statistics: Statistics = field(default_factory=Statistics)
    mapspace: str | None = None
    objective: str | None = None
    seed: int | None = None
    hint: str = ""  # without a valid mapping: what stands in the way
    remainders: tuple[str, ...] = ()  # the slots that may have them in this mapspace
    reason: str = ""  # why these slots
    lower_bound: float | None = None  # of the objective, over the whole mapspace, where the search proved one
    optimal: bool = False  # whether it is proven that no mapping of the mapspace is better
    searched: float | None = None  # the objective of the search's own best, where the proof found a better mapping
    sums: tuple[LeastSum, ...] = ()  # proven for the network's EDP
    alone: float | None = None  # the objective of a better mapping, where this one was chosen for its network
    proof: FrontProof | None = None  # of the front, where the search proved something about it
    coverage: Coverage | None = None  # what became of all combinations of chains, where the search tried to prove
    certificate: Layer | None = None  # of the proof, where the options ask for it
    axes: tuple[str, ...] = ()  # of the front
    front: tuple[FrontMapping, ...] = ()  # by its first axis, where the options ask for it
    strategy: str | None = None  # of the search

    @property
    def found(self) -> bool:
        """Whether there is a valid mapping."""
        return self.batch is not None

    @property
    def gap(self) -> float | None:
        """The share of the objective by which the best mapping may be lower; None where the search proved nothing."""
        if self.lower_bound is None or self.objective is None or self.batch is None:
            return None
        return _gap(float(getattr(self, first_objective(self.objective).column)), self.lower_bound)

    @property
    def own_gap(self) -> float:
        """The gap of the best mapping known for the layer alone; 1 without a proof."""
        if self.alone is None or self.lower_bound is None:
            return 1.0 if self.gap is None else self.gap
        return _gap(self.alone, self.lower_bound)

    def needs(self, count: int) -> LayerNeeds:
        """Return what every mapping needs at least; the network has the layer `count` times, the objective is EDP."""
        least, proof = self.ideal, self.proof
        corners = () if proof is None else (*((each.cycles, each.energy_pj) for each in self.front), *proof.corners)
        return LayerNeeds(count, least.energy_pj, least.cycles, self.lower_bound or 0.0, self.sums, corners)

    @property
    def cycles(self) -> int:
        """Cycles of the mapping, bandwidths counted."""
        return int(self.valid_costs.cycles[0])

    @property
    def energy_pj(self) -> float:
        return float(self.valid_costs.energy_pj[0])

    @property
    def edp(self) -> float:
        """Energy-delay product, in pJ * cycles."""
        return float(self.valid_costs.edp[0])

    @property
    def utilization(self) -> float:
        """The share of the MAC units at work: MACs / (cycles * MAC units)."""
        return float(self.valid_costs.utilization[0])

    @property
    def macs(self) -> int:
        """MACs of the workload, those on zeros of padding included."""
        return self.workload.macs

    @property
    def ineffectual_macs(self) -> int:
        """MACs on the zeros of padding; `macs` includes them."""
        return self.workload.ineffectual_macs

    @cached_property
    def area_um2(self) -> float:
        """Area of all levels and MAC units."""
        return area_um2(self.arch, self.table)

    @cached_property
    def ideal(self) -> Ideal:
        """What no mapping on this architecture can beat."""
        return ideal(self.arch, self.workload, self.table)

    @property
    def valid_costs(self) -> Costs:
        """The costs of the mapping. Raises ValueError where there is no mapping."""
        if self.costs is None:
            raise ValueError(f"no valid mapping of {self.workload.name} was found, so it has no costs")
        return self.costs

    @override
    def _title(self) -> str:
        what = f"{self.workload.name} on {self.arch.name}"
        return f"{what}: EDP {self.edp:.4g} pJ cycles" if self.found else f"{what}: no valid mapping found"

    @override
    def _parts(self) -> list[str | tables.TextTable]:
        """The loop nest, the accesses, the totals, and how the search went."""
        parts: list[str | tables.TextTable] = [tables.heading(self.arch, self.workload)]
        if self.mapspace == "auto":
            parts.append(f"remainders at {self.reason}" if self.remainders else f"no remainders: {self.reason}")
        if self.batch is None:
            parts.append("no valid mapping found" + (f"\n{self.hint}" if self.hint else ""))
        else:
            parts += [loop_nest(self.batch), tables.level_table(self.batch, self.valid_costs), self._totals()]
            parts += [front_table(self.front, self.axes, self.cycles, self.energy_pj)] if self.front else []
        if self.statistics.evaluated:
            parts.append(tables.search_line(self.statistics))
        if self.gap is not None:
            what = str(self.objective), str(self.mapspace), self.gap, self.statistics
            parts.append(proof.proof_line(*what, searched=self.searched, alone=self.alone))
        if self.proof is not None:
            parts += proof.front_proof_parts(self.front, self.proof)
        return parts

    def _totals(self) -> str:
        return tables.totals(self, self.valid_costs.options) + self._bound_by()

    def _bound_by(self) -> str:
        """Name the level whose bandwidth sets the cycles; an empty text where compute sets them."""
        levels, compute = self.valid_costs.level_cycles[0], int(self.valid_costs.counts.cycles[0])
        slowest = int(levels.argmax())
        if levels[slowest] <= compute:
            return ""
        name, roofline = self.arch.levels[slowest].name, ", at its roofline" if self.cycles <= self.ideal.cycles else ""
        return f"\nbound by     the bandwidth of {name}{roofline}; compute needs {compute:,} cycles"


@dataclass(frozen=True, eq=False, repr=False)
class NetworkResult(Shown):
    """The results of the layers of a network, in turn, with how often each counts.

    Delay and energy add up over the layers; EDP is the product of these sums.
    """

    name: str
    layers: tuple[tuple[Result, int], ...]
    missing: int = 0  # layers that an interruption left out
    alike: tuple[tuple[str, ...], ...] = ()  # per layer the names of equal layers, which count with it
    numbers: tuple[int, ...] = ()  # per layer its place among all, from 0, where some may be missing

    @property
    def found(self) -> bool:
        """Whether every layer has a mapping."""
        return not self.missing and all(result.found for result, _ in self.layers)

    @property
    def cycles(self) -> int:
        return sum(result.cycles * count for result, count in self.layers)

    @property
    def energy_pj(self) -> float:
        return sum(result.energy_pj * count for result, count in self.layers)

    @property
    def edp(self) -> float:
        """Energy-delay product of the network as a whole, in pJ * cycles: (sum of energies) * (sum of cycles)."""
        return self.energy_pj * self.cycles

    @property
    def macs(self) -> int:
        return sum(result.macs * count for result, count in self.layers)

    @property
    def ineffectual_macs(self) -> int:
        """MACs on the zeros of padding; `macs` includes them."""
        return sum(result.ineffectual_macs * count for result, count in self.layers)

    @property
    def utilization(self) -> float:
        """The share of the MAC units at work: MACs / (cycles * MAC units)."""
        arch = self.layers[0][0].arch
        return self.macs / (self.cycles * arch.instances(len(arch.levels)))

    @property
    def area_um2(self) -> float:
        return self.layers[0][0].area_um2

    @property
    def ideal(self) -> Ideal:
        return Ideal(
            sum(result.ideal.cycles * count for result, count in self.layers),
            sum(result.ideal.energy_pj * count for result, count in self.layers),
        )

    @cached_property
    def lower_bound(self) -> float | None:
        """A lower bound of the objective over all choices of mappings; None unless every layer has a lower bound."""
        bounds = [(result.lower_bound, count) for result, count in self.layers if result.lower_bound is not None]
        if not self.found or len(bounds) < len(self.layers):
            return None
        objective = str(self.layers[0][0].objective)
        if all(first_objective(objective).powers):
            return min(self.edp, edp_bound([result.needs(count) for result, count in self.layers]).edp)
        return proof.network_bound(objective, bounds)

    @property
    def gap(self) -> float | None:
        """The share of the objective by which the best choice of mappings may be lower; None without a proof."""
        if (bound := self.lower_bound) is None:
            return None
        objective = first_objective(str(self.layers[0][0].objective))
        return _gap(float(getattr(self, objective.column)), bound)

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no choice of mappings is better."""
        return self.gap is not None and self.gap <= ROUNDING

    @property
    def statistics(self) -> Statistics:
        """The sums over the searches of all layers."""
        searches = [result.statistics for result, _ in self.layers]
        ends = [reason for search in searches for reason in search.ended] + [Ended.INTERRUPTED] * bool(self.missing)
        return Statistics(
            sum(search.evaluated for search in searches),
            sum(search.valid for search in searches),
            {reason: sum(search.invalid[reason] for search in searches) for reason in REASONS[1:]},
            sum(search.seconds for search in searches),
            ended=tuple(dict.fromkeys(ends)),
        )

    @override
    def _title(self) -> str:
        what = f"{self.name} on {self.layers[0][0].arch.name}, {len(self.layers)} layers"
        return f"{what}: EDP {self.edp:.4g} pJ cycles" if self.found else f"{what}: not all have a mapping"

    @override
    def _parts(self) -> list[str | tables.TextTable]:
        """A line per layer and the totals; the layers' own reports are `layers[i][0]`."""
        mapped = [(result, count) for result, count in self.layers if result.found]
        parts: list[str | tables.TextTable] = [f"{self.name} on {self.layers[0][0].arch.name}"]
        if mapped:
            rows = [(r.workload.name, count, r.cycles, r.energy_pj, r.utilization) for r, count in mapped]
            parts.append(tables.layer_table(rows))
        parts += [
            f"{result.workload.name} counts for {', '.join(names)} too: the same dims and tensors"
            for (result, _), names in zip(self.layers, self.alike, strict=False)
            if names
        ]
        parts += [
            front_table(result.front, result.axes, result.cycles, result.energy_pj, result.workload.name)
            for result, _ in mapped
            if result.front
        ]
        parts += [str(result) for result, _ in self.layers if not result.found]
        if self.missing:
            parts.append(f"interrupted: {self.missing} layers were not searched")
        if self.found:
            parts.append(tables.totals(self, self.layers[0][0].valid_costs.options))
        whole = self.statistics
        counted = "; seconds of the searches alone, without starts and waits" if Ended.BUDGET in whole.ended else ""
        parts.append(tables.search_line(whole) + counted)
        if self.gap is not None:
            each = [(layer.workload.name, layer.own_gap, layer.alone is not None) for layer, _ in self.layers]
            parts.append(proof.network_line(str(self.layers[0][0].objective), self.gap, each))
        return parts


def _gap(value: float, lower_bound: float) -> float:
    """The share of a value that lies above its lower bound; 0 where the value is 0."""
    return max(0.0, 1 - lower_bound / value) if value else 0.0
