"""Results of networks: what the searches of all layers return, and how they print themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import override

from ...workloads import variant
from ..bounds import Ideal
from ..bounds.sums import edp_bound
from ..calibration import Prediction
from ..model.figures import DramUse
from ..problem import ROUNDING, first_objective
from ..search.outcome import Ended, Statistics
from ..store import known_line
from . import proof_text as proof
from . import tables
from .front import front_table
from .layer_tables import layer_tables
from .layered import Layered
from .plans import NetworkPlan, plan_parts
from .result import Result
from .show import Printable
from .transformed import network_title, transformations

MOST_NAMED = 20  # of the layers that were not searched
MOST_EQUAL = 3  # of those that are equal to a layer
UNTRIED = "plan         none, layer by layer; --fuse auto fuses layers, or lets tensors stay on chip, and takes longer"


@dataclass(frozen=True, eq=False, repr=False)
class NetworkResult(Printable, Layered[Result]):
    """The results of the layers of a network, in turn, with how often each counts.

    Delay and energy add up over the layers; EDP is the product of these sums.
    """

    name: str
    layers: tuple[tuple[Result, int], ...]
    missing: int = 0  # layers that an interruption left out
    alike: tuple[tuple[str, ...], ...] = ()  # per layer the names of equal layers, which count with it
    numbers: tuple[int, ...] = ()  # per layer its place among all, from 0, where some may be missing
    tokens: int | None = None  # of a run of a language model, as its file says
    no_plan: str = ""  # why plans were not searched, where they were asked for
    plans_untried: bool = False  # nobody said whether to search plans, which there may be
    plan: NetworkPlan | None = None  # of the network as a graph; its figures are then those of the network

    @property
    def by_name(self) -> Iterator[tuple[str, Result]]:
        """Yield the results of all layers, equal ones by each of their names."""
        for i, (layer, _) in enumerate(self.layers):
            for name in (layer.workload.name, *(self.alike[i] if self.alike else ())):
                yield name, layer

    @property
    def found(self) -> bool:
        """Whether every layer has a mapping."""
        return not self.missing and all(result.found for result, _ in self.layers)

    @property
    @override
    def title(self) -> str:
        """The name of the network, and what transformations made of its layers."""
        return network_title(self.name, self.workloads)

    @property
    @override
    def clock_ns(self) -> float | None:
        return self.layers[0][0].clock_ns

    @property
    @override
    def known_energy_pj(self) -> float | None:
        return self.energy_pj if self.counted else None

    @property
    @override
    def cycles(self) -> int:
        if self.plan is not None:
            return self.plan.costs.cycles
        return sum(result.cycles * count for result, count in self.layers)

    @property
    def fill_drain(self) -> tuple[int, int] | None:
        """Cycles in which the systolic array fills and drains, and all its cycles; None without such an array."""
        spans = [(span, count) for result, count in self.layers if (span := result.fill_drain) is not None]
        return (sum(n * waits for (waits, _), n in spans), sum(n * every for (_, every), n in spans)) if spans else None

    @property
    def starts(self) -> int | None:
        """Cycles in which tiles begin; None on a machine whose tiles begin at once."""
        every = [(starts, count) for result, count in self.layers if (starts := result.starts) is not None]
        return sum(starts * count for starts, count in every) if every else None

    @property
    def dram(self) -> DramUse | None:
        """Bursts and rows of a DRAM; None on a machine without them."""
        return DramUse.total((result.dram, count) for result, count in self.layers)

    @property
    def prediction(self) -> Prediction | None:
        """What the machine's calibration predicts of the layers in turn; None without one, and of a plan."""
        if self.plan is not None:
            return None
        return Prediction.total((result.prediction, count) for result, count in self.layers)

    @property
    def energy_pj(self) -> float:
        if self.plan is not None:
            return self.plan.costs.energy_pj
        return sum(result.energy_pj * count for result, count in self.layers)

    @property
    def edp(self) -> float:
        """Energy-delay product of the network as a whole, in pJ * cycles: (sum of energies) * (sum of cycles)."""
        return self.energy_pj * self.cycles

    @property
    @override
    def macs(self) -> int:
        return sum(result.macs * count for result, count in self.layers)

    @property
    @override
    def ineffectual_macs(self) -> int:
        """MACs on the zeros of padding; `macs` includes them."""
        return sum(result.ineffectual_macs * count for result, count in self.layers)

    @property
    def bound_by(self) -> None:
        """Its layers are bound each by something else."""

    @property
    def utilization(self) -> float:
        """The share of the MAC units that are busy: MACs / (cycles * MAC units)."""
        arch = self.machine
        return self.macs / (self.cycles * arch.instances(len(arch.levels)))

    @property
    def area_um2(self) -> float:
        return self.layers[0][0].area_um2

    @property
    def ideal(self) -> Ideal:
        if self.plan is not None:  # tensors that stay, and layers that are fused, may be below that of layers
            return Ideal(0, 0.0)
        return Ideal(
            sum(result.ideal.cycles * count for result, count in self.layers),
            sum(result.ideal.energy_pj * count for result, count in self.layers),
        )

    @cached_property
    def lower_bound(self) -> float | None:
        """A lower bound of the objective over all plans within the limits, or over all choices of mappings.

        None unless every layer has one, or where the plan is beyond the limits.
        """
        if self.plan is not None:
            return self.plan.lower_bound if self.plan.within else None
        bounds = [(result.lower_bound, count) for result, count in self.layers if result.lower_bound is not None]
        if not self.found or len(bounds) < len(self.layers):
            return None
        if all(first_objective(self.objective).powers):
            return min(self.edp, edp_bound([result.needs(count) for result, count in self.layers]).edp)
        return proof.network_bound(self.objective, bounds)

    @property
    def objective(self) -> str:
        return self.layers[0][0].problem.goal.text

    @property
    def gap(self) -> float | None:
        """The share of the objective by which the best choice of mappings may be lower; None without a proof."""
        if (bound := self.lower_bound) is None:
            return None
        objective = first_objective(self.objective)
        return proof.gap_between(objective.value(self.energy_pj, float(self.cycles)), bound)

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no choice of mappings is better; by several objectives, by each in turn.

        Mappings of the least EDP may differ in energy and delay, and so may make networks of different EDP.
        """
        if self.plan is not None:
            return self.plan.optimal
        first, *later_names = self.objective.split(",")
        alone = sum(count for _, count in self.layers) == 1
        apart = alone or not all(first_objective(first).powers)
        closed = not later_names or (apart and all(result.optimal for result, _ in self.layers))
        return closed and self.gap is not None and self.gap <= ROUNDING

    @property
    def statistics(self) -> Statistics:
        """The sums over the searches of all layers."""
        return _summed([result.statistics for result, _ in self.layers], bool(self.missing))

    @override
    def _title(self) -> str:
        what = f"{self.title} on {self.machine.name}, {len(self.layers)} layers"
        figure = self.found and tables.figure(self, self.counted)
        return f"{what}: {figure or 'not all have a mapping'}"

    @override
    def _parts(self) -> list[str | tables.TextTable]:
        """A line per layer and the totals; the layers' own reports are `layers[i][0]`."""
        mapped = [(result, count) for result, count in self.layers if result.found]
        title = f"{self.title} on {self.machine.name}"
        parts: list[str | tables.TextTable] = [title, *(layer_tables(mapped, self.found) if mapped else [])]
        parts += _notes(self)
        parts += _of_layers(self)
        if self.missing:
            parts.append(f"interrupted: {self.missing} layers were not searched")
        if self.plan is not None:
            parts += plan_parts(self.plan)
        if self.no_plan:
            parts.append(f"plan         none, layer by layer: {self.no_plan}")
        if self.plans_untried:
            parts.append(UNTRIED)
        if self.found:
            parts.append(tables.totals(self, mapped[0][0].valid_costs.options, mapped[0][0].table))
        whole = self.statistics
        counted = "; seconds of the searches alone, without starts and waits" if Ended.BUDGET in whole.ended else ""
        parts.append(tables.search_line(whole) + counted)
        parts += [line] if (line := known_line([(result.workload.name, result.known) for result, _ in mapped])) else []
        parts += [] if self.gap is None or self.plan is not None else [_proof(self, self.gap)]
        return parts


def _of_layers(network: NetworkResult) -> Iterator[str | tables.TextTable]:
    """Yield the fronts of layers, the reports of those without a mapping, and the names of those not searched."""
    for result, _ in network.layers:
        if result.front:
            yield front_table(result.front, result.axes, result.cycles, result.energy_pj, result.workload.name)
    yield from (str(result) for result, _ in network.layers if not (result.found or result.unsearched))
    yield from _unsearched([result for result, _ in network.layers if result.unsearched])


def _unsearched(results: Sequence[Result]) -> list[str]:
    """Name the layers for which a budget had no time."""
    if not results:
        return []
    names, more = [result.workload.name for result in results[:MOST_NAMED]], len(results) - MOST_NAMED
    rest = f" and {more:,} more" if more > 0 else ""
    return [f"not searched, {Ended.NO_TIME}: {len(results):,} of the layers: {', '.join(names)}{rest}"]


def _summed(searches: Sequence[Statistics], interrupted: bool) -> Statistics:
    """Add up the statistics of searches, with the rules that ended them."""
    ends = [reason for search in searches for reason in search.ended] + [Ended.INTERRUPTED] * interrupted
    whole = Statistics(seconds=sum(search.seconds for search in searches), ended=tuple(dict.fromkeys(ends)))
    for search in searches:
        whole.add(search)
    return whole


def _notes(network: NetworkResult) -> Iterator[str]:
    """Yield which layers are searched once for several, and which use little of the array."""
    rows = zip(network.layers, network.alike, strict=False)
    if equal := [f"{result.workload.name} counts for {_listed(names)} too" for (result, _), names in rows if names]:
        yield "\n".join(equal) + ": the same dims and tensors"
    if idle := [result.workload.name for result, _ in network.layers if result.found and result.hint]:
        yield f"hint         few MAC units or axes are used, as the report of a layer says, by {', '.join(idle)}"


def _listed(names: Sequence[str]) -> str:
    """List names, those of a long list as a number: JSON has all.

    >>> _listed(("b", "c", "d")), _listed(("b", "c", "d", "e", "f"))
    ('b, c, d', 'b, c, d and 2 more')
    """
    more = f" and {len(names) - MOST_EQUAL} more" if len(names) > MOST_EQUAL else ""
    return ", ".join(names[:MOST_EQUAL]) + more


def _proof(network: NetworkResult, gap: float) -> str:
    """Say what is proven of a network, and of which layers' mappings it is not known."""
    layers = [
        (*proof.open_stage(layer.workload.name, layer.own_gap, layer.stages), layer.alone is not None)
        for layer, _ in network.layers
    ]
    return proof.network_line(
        network.objective, network.optimal, gap, layers, variant(transformations(network.workloads))
    )
