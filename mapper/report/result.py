"""Results of layers: what a search or an evaluation returns, and how it prints itself."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import override

from ...arch import Architecture
from ...energy import EnergyTable, area_um2
from ...workloads import Workload
from ..certificate import Layer
from ..mapping import MappingBatch
from ..model import Costs, first_objective
from ..model.bounds import Ideal, ideal
from ..search import Answer, Coverage, FrontProof, StageProof, Statistics
from ..store import Known
from . import proof_text as proof
from . import tables
from .answer import answer_text
from .front import FrontMapping, front_table
from .loop_nest import loop_nest
from .network_edp import LayerNeeds, LeastSum
from .show import Shown
from .why import Why
from .widths import mac_line, narrow_sums


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
    hint: str = ""  # without a valid mapping: what stands in the way; where few MAC units work: the use of the axes
    remainders: tuple[str, ...] = ()  # the slots that may have them in this mapspace
    reason: str = ""  # why these slots
    lower_bound: float | None = None  # of the objective, over the whole mapspace, where the search proved one
    optimal: bool = False  # whether it is proven that no mapping of the mapspace is better
    searched: float | None = None  # an objective of the search's own best, where the proof found a better mapping
    searched_by: str = ""  # the name of that objective, the first by which they differ
    sums: tuple[LeastSum, ...] = ()  # proven for the network's EDP
    alone: float | None = None  # the objective of a better mapping, where this one was chosen for its network
    proof: FrontProof | None = None  # of the front, where the search proved something about it
    coverage: Coverage | None = None  # what became of all combinations of chains, where the search tried to prove
    stages: tuple[StageProof, ...] = ()  # the proof by each of several objectives; the bound above is of the first
    certificate: Layer | None = None  # of the proof, where the options ask for it
    axes: tuple[str, ...] = ()  # of the front
    front: tuple[FrontMapping, ...] = ()  # by its first axis, where the options ask for it
    strategy: str | None = None  # of the search
    answer: Answer | None = None  # of the cost model, where one was asked
    why: Why | None = None  # what holds the best mapping back, where asked for
    known: Known | None = None  # where the mapping comes from, where a store was asked

    @property
    def found(self) -> bool:
        """Whether there is a valid mapping."""
        return self.batch is not None

    @property
    def gap(self) -> float | None:
        """The share of the objective by which the best mapping may be lower; None where the search proved nothing."""
        if self.lower_bound is None or self.objective is None or self.batch is None:
            return None
        return proof.gap_between(float(getattr(self, first_objective(self.objective).column)), self.lower_bound)

    @property
    def own_gap(self) -> float:
        """The gap of the best mapping known for the layer alone; 1 without a proof."""
        if self.alone is None or self.lower_bound is None:
            return 1.0 if self.gap is None else self.gap
        return proof.gap_between(self.alone, self.lower_bound)

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
    def fill_drain(self) -> tuple[int, int] | None:
        """Cycles in which the systolic array fills and drains, and all its cycles; None without such an array."""
        counts = self.valid_costs.counts
        return None if self.arch.systolic is None else (int(counts.fill_drain[0]), int(counts.cycles[0]))

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
        """What no mapping on this architecture can beat; without a mapping, whatever is charged beside the accesses."""
        return ideal(self.arch, self.workload, self.table, self.costs.options if self.costs else None)

    @property
    def warnings(self) -> list[str]:
        """What a reader should know before using the figures: partial sums that lose bits."""
        return [] if self.batch is None else narrow_sums(self.batch, self.valid_costs)

    @property
    def valid_costs(self) -> Costs:
        """The costs of the mapping. Raises ValueError where there is no mapping."""
        if self.costs is None:
            raise ValueError(f"no valid mapping of {self.workload.name} was found, so it has no costs")
        return self.costs

    @override
    def _title(self) -> str:
        what = f"{self.workload.name} on {self.arch.name}"
        return f"{what}: {tables.figure(self, self.table.counted)}" if self.found else f"{what}: no valid mapping found"

    @override
    def _parts(self) -> list[str | tables.TextTable]:
        """The loop nest, the accesses, the totals, and how the search went."""
        parts: list[str | tables.TextTable] = [tables.heading(self.arch, self.workload)]
        if self.mapspace == "auto":
            parts.append(f"remainders at {self.reason}" if self.remainders else f"no remainders: {self.reason}")
        if self.batch is None:
            parts.append("no valid mapping found" + (f"\n{self.hint}" if self.hint else ""))
        else:
            parts += [loop_nest(self.batch), tables.level_table(self.batch, self.valid_costs, self.table.counted)]
            parts.append(_totals(self))
            parts += [front_table(self.front, self.axes, self.cycles, self.energy_pj)] if self.front else []
        parts += [answer_text(self.answer)] if self.answer else []
        if self.statistics.evaluated:
            parts.append(tables.search_line(self.statistics))
        parts += [str(self.known)] if self.known and self.found else []
        if self.gap is not None:
            if self.searched is not None:
                parts.append(proof.found_line(self.searched_by, self.searched))
            what = str(self.objective), str(self.mapspace), self.gap, self.statistics
            if self.alone is None:
                parts.append(proof.proof_line(*what, self.stages))
            else:
                parts.append(proof.network_choice_line(*what[:3], self.alone))
        if self.proof is not None:
            parts += proof.front_proof_parts(self.front, self.proof)
        return parts if self.why is None else [*parts, str(self.why)]


def _totals(result: Result) -> str:
    """The totals, what is to be said of the widths of words, what sets the cycles, and the hint."""
    line = mac_line(result.arch, result.workload, result.table)
    widths = "".join(f"\n{each}" for each in [line, *(f"warning      {text}" for text in result.warnings)] if each)
    hint = f"\nhint         {result.hint}" if result.hint and result.mapspace else ""
    return tables.totals(result, result.valid_costs.options, result.table.counted) + widths + _bound_by(result) + hint


def _bound_by(result: Result) -> str:
    """Name the level whose bandwidth sets the cycles; an empty text where compute sets them."""
    levels, compute = result.valid_costs.level_cycles[0], int(result.valid_costs.counts.cycles[0])
    slowest = int(levels.argmax())
    if levels[slowest] <= compute:
        return ""
    roofline = ", at its roofline" if result.cycles <= result.ideal.cycles else ""
    name = result.arch.levels[slowest].name
    return f"\nbound by     the bandwidth of {name}{roofline}; compute needs {compute:,} cycles"
