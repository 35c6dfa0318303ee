"""Results of layers: what a search or an evaluation returns, and how it prints itself."""

from dataclasses import dataclass
from functools import cached_property
from typing import override

from ...energy import area_um2
from ..bounds import Ideal, ideal
from ..bounds.sums import LayerBounds, LeastSum
from ..calibration import Prediction
from ..model import Costs
from ..model.figures import DramUse, Mapped, binding, bound_text
from ..problem import Problem
from ..search.outcome import Answer, Evidence, Proven
from ..store import StoreHistory
from . import proof_text as proof
from . import tables
from .answer import answer_text
from .described import ProblemResult, Searched
from .front import front_table
from .layered import Layered
from .layouts import Layouts
from .loop_nest import loop_nest
from .show import Printable
from .transformed import searched_space
from .why import Why
from .widths import mac_line, narrow_sums


@dataclass(frozen=True, eq=False, repr=False)
class Result(ProblemResult, Proven, Printable, Layered["Result"]):
    """A problem, its mapping with the costs, or why there is none, and what is proven of it."""

    problem: Problem
    mapped: Mapped | None  # the mapping with its costs; None: none was found
    search: Searched | None = None  # None: the mapping was evaluated, not searched for
    evidence: Evidence = Evidence()
    front: tuple[Mapped, ...] = ()  # by its first axis, where the goal asks for it
    hint: str = ""  # without a valid mapping: what stands in the way; where few MAC units are busy: the use of the axes
    # where the proof found a better mapping: the first objective by which the search's own best differs, and its value
    before: tuple[str, float] | None = None
    sums: tuple[LeastSum, ...] = ()  # proven for the network's EDP
    alone: float | None = None  # the objective of a better mapping, where this one was chosen for its network
    answer: Answer | None = None  # of the cost model, where one was asked
    layouts: Layouts | None = None  # those that were searched, where asked for
    why: Why | None = None  # what holds the best mapping back, where asked for
    known: StoreHistory | None = None  # where the mapping comes from, where a store was asked

    missing = 0  # it is of one layer

    @property
    def searched(self) -> float | None:
        """An objective of the search's own best, where the proof found a better mapping."""
        return self.before[1] if self.before else None

    @property
    def searched_by(self) -> str:
        """The name of that objective, the first by which they differ."""
        return self.before[0] if self.before else ""

    @property
    @override
    def layers(self) -> tuple[tuple["Result", int], ...]:  # type: ignore[override]
        """Itself, once."""
        return ((self, 1),)

    @property
    @override
    def title(self) -> str:
        """The name of the layer, and what transformations made of it."""
        return self.workload.title

    @property
    def gap(self) -> float | None:
        """The share of the objective by which the best mapping may be lower; None where the search proved nothing."""
        if self.lower_bound is None or self.batch is None:
            return None
        return proof.gap_between(float(self.problem.goal.minimised[0].of(self.valid_costs)[0]), self.lower_bound)

    @property
    def own_gap(self) -> float:
        """The gap of the best mapping known for the layer alone; 1 without a proof."""
        if self.alone is None or self.lower_bound is None:
            return 1.0 if self.gap is None else self.gap
        return proof.gap_between(self.alone, self.lower_bound)

    def needs(self, count: int) -> LayerBounds:
        """Return what every mapping needs at least; the network has the layer `count` times, the objective is EDP."""
        least, proof = self.ideal, self.proof
        corners = () if proof is None else (*((point.cycles, point.energy_pj) for point in self.front), *proof.corners)
        return LayerBounds(count, least.energy_pj, least.cycles, self.lower_bound or 0.0, self.sums, corners)

    @property
    @override
    def clock_ns(self) -> float | None:
        return self.arch.clock_ns

    @property
    @override
    def tokens(self) -> None:
        """A layer alone handles none."""

    @property
    @override
    def known_energy_pj(self) -> float | None:
        return self.energy_pj if self.table.counted else None

    @property
    @override
    def cycles(self) -> int:
        """Cycles of the mapping, bandwidths counted."""
        return int(self.valid_costs.cycles[0])

    @property
    def fill_drain(self) -> tuple[int, int] | None:
        """Cycles in which the systolic array fills and drains, and all its cycles; None without such an array."""
        counts = self.valid_costs.counts
        array = int(counts.cycles[0] - counts.starts[0])
        return None if self.arch.systolic is None else (int(counts.fill_drain[0]), array)

    @property
    def starts(self) -> int | None:
        """Cycles in which tiles begin; None on a machine whose tiles begin at once."""
        return int(self.valid_costs.counts.starts[0]) if self.arch.starts else None

    @property
    def dram(self) -> DramUse | None:
        """Bursts and rows of a DRAM; None on a machine without them."""
        return None if self.batch is None else DramUse.of(self.batch, self.valid_costs.counts)

    @property
    def prediction(self) -> Prediction | None:
        """What the machine's calibration predicts; None without a mapping, or without one."""
        return None if self.mapped is None else Prediction.of(self.mapped, self.problem)

    @property
    def energy_pj(self) -> float:
        return float(self.valid_costs.energy_pj[0])

    @property
    def edp(self) -> float:
        """Energy-delay product, in pJ * cycles."""
        return float(self.valid_costs.edp[0])

    @property
    def utilization(self) -> float:
        """The share of the MAC units that are busy: MACs / (cycles * MAC units)."""
        return float(self.valid_costs.utilization[0])

    @property
    @override
    def macs(self) -> int:
        """MACs of the workload, those on zeros of padding included."""
        return self.workload.macs

    @property
    @override
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
    def bound_by(self) -> str | None:
        """What sets the cycles: compute, or the bandwidths of levels; None without a mapping."""
        return None if self.costs is None else bound_text(binding(self.arch, self.costs))

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
        what = f"{self.title} on {self.arch.name}"
        missing = "not searched" if self.unsearched else "no valid mapping found"
        return f"{what}: {tables.figure(self, self.table.counted) if self.found else missing}"

    @override
    def _parts(self) -> list[str | tables.TextTable]:
        """The loop nest, the accesses, the totals, and how the search went."""
        return _report(self)


def _report(result: Result) -> list[str | tables.TextTable]:
    """The parts of the report of a layer."""
    parts: list[str | tables.TextTable] = [tables.heading(result.arch, result.workload)]
    if result.mapspace == "auto":
        parts.append(f"remainders at {result.reason}" if result.remainders else f"no remainders: {result.reason}")
    if result.batch is None:
        parts.append("\n".join(filter(None, ["no valid mapping found" * (not result.unsearched), result.hint])))
    else:
        parts += [loop_nest(result.batch), tables.level_table(result.batch, result.valid_costs, result.table.counted)]
        parts.append(_totals(result))
        parts += [front_table(result.front, result.axes, result.cycles, result.energy_pj)] if result.front else []
    parts += [answer_text(result.answer)] if result.answer else []
    if result.statistics.evaluated:
        parts.append(tables.search_line(result.statistics))
    parts += [str(result.known)] if result.known and result.found else []
    parts += [result.layouts.text(str(result.objective))] if result.layouts else []
    return [*parts, *_proven(result), *([] if result.why is None else [str(result.why)])]


def _proven(result: Result) -> list[str | tables.TextTable]:
    """What is proven of the mapping and of the front."""
    parts: list[str | tables.TextTable] = []
    space = searched_space(result.mapspace, result.workload) + (result.layouts.of_all if result.layouts else "")
    if result.gap is not None:
        if result.before is not None:
            parts.append(proof.found_line(*result.before))
        what = str(result.objective), space, result.gap
        if result.alone is None:
            parts.append(proof.proof_line(*what, result.statistics, result.stages))
        else:
            parts.append(proof.network_choice_line(*what, result.alone))
    if result.proof is not None:
        parts += proof.front_proof_parts(result.front, result.proof, space)
    return parts


def _totals(result: Result) -> str:
    """The totals, what is to be said of the widths of words, what sets the cycles, and the hint."""
    line = mac_line(result.arch, result.workload, result.table)
    widths = "".join(f"\n{note}" for note in [line, *(f"warning      {text}" for text in result.warnings)] if note)
    hint = f"\nhint         {result.hint}" if result.hint and result.mapspace else ""
    return tables.totals(result, result.valid_costs.options, result.table) + widths + _bound_by(result) + hint


def _bound_by(result: Result) -> str:
    """Name the bandwidths that set the cycles; an empty text where compute sets them."""
    limits, counts = binding(result.arch, result.valid_costs), result.valid_costs.counts
    if not limits:
        return ""
    compute = int(counts.cycles[0] - counts.starts[0])
    roofline = ", at its roofline" if result.cycles <= result.ideal.cycles else ""
    return f"\nbound by     the {bound_text(limits)}{roofline}; compute needs {compute:,} cycles"
