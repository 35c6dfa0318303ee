"""What a search or an evaluation hands to its reader: results that print themselves and turn into JSON."""

from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import zip_longest

import numpy as np

from ...arch import Architecture
from ...energy import EnergyTable, area_um2
from ...workloads import Workload
from ..certificate import Layer
from ..mapping import MappingBatch, write_mapping
from ..model import HELD, REASONS, Costs, first_objective
from ..model.bounds import ROUNDING, Ideal, ideal
from ..search import Coverage, Ended, FrontProof, Statistics
from . import proof_text as proof
from . import tables
from .front import FrontMapping, front_json, front_table
from .loop_nest import loop_nest
from .show import Shown

Json = dict[str, object]


@dataclass(frozen=True, eq=False, repr=False)
class Result(Shown):
    """One workload on one architecture: the mapping with its costs, or why there is none.

    `mapspace`, `objective` and `seed` are None for a mapping that was given and not searched.
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
    hint: str = ""  # where nothing valid was found: what stands in the way
    remainders: tuple[str, ...] = ()  # the slots that may have them in this mapspace
    reason: str = ""  # why these
    lower_bound: float | None = None  # of the objective, over the whole mapspace, where the search proved one
    optimal: bool = False  # whether it is proven that no mapping of the mapspace is better
    attained: bool = False  # whether a mapping with the lower bound is known
    proof: FrontProof | None = None  # of the front, where the search proved something
    coverage: Coverage | None = None  # what became of all combinations of chains, where the search tried to prove
    certificate: Layer | None = None  # of the proof, where one was asked for
    axes: tuple[str, ...] = ()  # of the front
    front: tuple[FrontMapping, ...] = ()  # by its first axis, where one was asked for

    @property
    def found(self) -> bool:
        return self.batch is not None

    @property
    def gap(self) -> float | None:
        """By how much of the objective found the best possible may be below it, where the search proved something."""
        if self.lower_bound is None or self.objective is None or self.batch is None:
            return None
        found = float(getattr(self, first_objective(self.objective).column))
        return max(0.0, 1 - self.lower_bound / found) if found else 0.0

    @property
    def cycles(self) -> int:
        return int(self._costs.cycles[0])

    @property
    def energy_pj(self) -> float:
        return float(self._costs.energy_pj[0])

    @property
    def edp(self) -> float:
        """pJ * cycles."""
        return float(self._costs.edp[0])

    @property
    def utilization(self) -> float:
        """MACs / (cycles * MAC units)."""
        return float(self._costs.utilization[0])

    @property
    def macs(self) -> int:
        return self.workload.macs

    @property
    def ineffectual_macs(self) -> int:
        """Those of `macs` on the zeros of padding."""
        return self.workload.ineffectual_macs

    @cached_property
    def area_um2(self) -> float:
        return area_um2(self.arch, self.table)

    @cached_property
    def ideal(self) -> Ideal:
        return ideal(self.arch, self.workload, self.table)

    @property
    def _costs(self) -> Costs:
        if self.costs is None:
            raise ValueError(f"no valid mapping of {self.workload.name} was found, so it has no costs")
        return self.costs

    def _title(self) -> str:
        what = f"{self.workload.name} on {self.arch.name}"
        return f"{what}: EDP {self.edp:.4g} pJ cycles" if self.found else f"{what}: no valid mapping found"

    def _parts(self) -> list[str | tables.TextTable]:
        """The loop nest, the accesses, the totals, and how the search went."""
        parts: list[str | tables.TextTable] = [tables.heading(self.arch, self.workload)]
        if self.mapspace == "auto":
            parts.append(f"remainders at {self.reason}" if self.remainders else f"no remainders: {self.reason}")
        if self.batch is None:
            parts.append("no valid mapping found" + (f"\n{self.hint}" if self.hint else ""))
        else:
            parts += [loop_nest(self.batch), tables.level_table(self.batch, self._costs), self._totals()]
            parts += [front_table(self.front, self.axes, self.cycles, self.energy_pj)] if self.front else []
        if self.statistics.evaluated:
            parts.append(tables.search_line(self.statistics))
        if self.gap is not None:
            parts.append(proof.proof_line(str(self.objective), self.optimal, self.gap, self.attained))
        if self.proof is not None:
            parts += proof.front_proof_parts(self.front, self.proof)
        return parts

    def _totals(self) -> str:
        zeros = self.ineffectual_macs
        sums = (self.cycles, self.energy_pj, self.utilization, self.macs, zeros, self.area_um2, self.ideal)
        return tables.totals(*sums, self._costs.options) + self._bound_by()

    def _bound_by(self) -> str:
        """The level whose bandwidth binds, where one does."""
        levels, compute = self._costs.level_cycles[0], int(self._costs.counts.cycles[0])
        slowest = int(levels.argmax())
        if levels[slowest] <= compute:
            return ""
        return f"\nbound by     the bandwidth of {self.arch.levels[slowest].name}; compute needs {compute:,} cycles"


@dataclass(frozen=True, eq=False, repr=False)
class NetworkResult(Shown):
    """A result per layer, in turn, with how often each counts. Delay and energy add up, EDP is their product."""

    name: str
    layers: tuple[tuple[Result, int], ...]
    missing: int = 0  # layers that an interruption left out
    alike: tuple[tuple[str, ...], ...] = ()  # of each layer, the others that are the same, counted with it
    numbers: tuple[int, ...] = ()  # of each layer, its place among all, from 0, where some may be missing

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
        """pJ * cycles, of the network as a whole: (sum of energies) * (sum of cycles)."""
        return self.energy_pj * self.cycles

    @property
    def macs(self) -> int:
        return sum(result.macs * count for result, count in self.layers)

    @property
    def ineffectual_macs(self) -> int:
        """Those of `macs` on the zeros of padding."""
        return sum(result.ineffectual_macs * count for result, count in self.layers)

    @property
    def utilization(self) -> float:
        """MACs / (cycles * MAC units)."""
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

    @property
    def lower_bound(self) -> float | None:
        """What no choice of mappings can beat, from the bounds of all layers, where their searches proved some."""
        bounds = [(result.lower_bound, count) for result, count in self.layers if result.lower_bound is not None]
        if not self.found or len(bounds) < len(self.layers):
            return None
        return proof.network_bound(str(self.layers[0][0].objective), bounds)

    @property
    def gap(self) -> float | None:
        """By how much of the objective found the best possible may be below it."""
        if (bound := self.lower_bound) is None:
            return None
        found = float(getattr(self, first_objective(str(self.layers[0][0].objective)).column))
        return max(0.0, 1 - bound / found) if found else 0.0

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no choice of mappings is better."""
        return self.gap is not None and self.gap <= ROUNDING

    @property
    def statistics(self) -> Statistics:
        """The searches of all layers together."""
        every = [result.statistics for result, _ in self.layers]
        ends = [reason for one in every for reason in one.ended] + [Ended.INTERRUPTED] * bool(self.missing)
        return Statistics(
            sum(one.evaluated for one in every),
            sum(one.valid for one in every),
            {reason: sum(one.invalid[reason] for one in every) for reason in REASONS[1:]},
            sum(one.seconds for one in every),
            ended=tuple(dict.fromkeys(ends)),
        )

    def _title(self) -> str:
        what = f"{self.name} on {self.layers[0][0].arch.name}, {len(self.layers)} layers"
        return f"{what}: EDP {self.edp:.4g} pJ cycles" if self.found else f"{what}: not all have a mapping"

    def _parts(self) -> list[str | tables.TextTable]:
        """A line per layer and the totals; the layers' own reports are `layers[i][0]`."""
        have = [(result, count) for result, count in self.layers if result.found]
        parts: list[str | tables.TextTable] = [f"{self.name} on {self.layers[0][0].arch.name}"]
        if have:
            rows = [(r.workload.name, count, r.cycles, r.energy_pj, r.utilization) for r, count in have]
            parts.append(tables.layer_table(rows))
        parts += [
            f"{result.workload.name} counts for {', '.join(names)} too: the same dims and tensors"
            for (result, _), names in zip(self.layers, self.alike, strict=False)
            if names
        ]
        parts += [
            front_table(result.front, result.axes, result.cycles, result.energy_pj, result.workload.name)
            for result, _ in have
            if result.front
        ]
        parts += [str(result) for result, _ in self.layers if not result.found]
        if self.missing:
            parts.append(f"interrupted: {self.missing} layers were not searched")
        if self.found:
            zeros = self.ineffectual_macs
            sums = (self.cycles, self.energy_pj, self.utilization, self.macs, zeros, self.area_um2, self.ideal)
            parts.append(tables.totals(*sums, self.layers[0][0]._costs.options))
        whole = self.statistics
        counted = "; seconds of the searches alone, without starts and waits" if Ended.BUDGET in whole.ended else ""
        parts.append(tables.search_line(whole) + counted)
        if self.gap is not None:
            unproven = [(layer.workload.name, layer.gap or 0.0) for layer, _ in self.layers if not layer.optimal]
            parts.append(proof.network_line(str(self.layers[0][0].objective), self.optimal, self.gap, unproven))
        return parts


def result_json(result: Result | NetworkResult) -> Json:
    """The object that `--json` writes: plain values, whole numbers as integers; costs are null where none was found.

    Counts are totals over all instances; energies pJ, areas um2, edp pJ * cycles.
    """
    if isinstance(result, NetworkResult):
        return _network_json(result)
    found = result.found
    whole: Json = {
        "arch": result.arch.name,
        "workload": result.workload.name,
        "mapspace": result.mapspace,
        "remainders": list(result.remainders),
        "reason": result.reason,
        "objective": result.objective,
        "seed": result.seed,
        **_costs_json(result),
        "compute": {"energy_pj": plain(result._costs.compute_energy_pj)} if found else None,
        "levels": _levels_json(result.batch, result._costs) if result.batch is not None else None,
        "mapping": write_mapping(result.batch) if result.batch is not None else None,
        "search": _search_json(result.statistics),
    }
    if result.axes:
        whole |= {"front": front_json(result.front)}
    if result.gap is not None:
        whole |= _proof_json(result)
    if result.proof is not None:
        whole |= proof.front_proof_json(result.front, result.proof)
    return whole | ({} if found else {"hint": result.hint})


def _proof_json(result: Result | NetworkResult) -> Json:
    known: Json = {"attained": result.attained} if isinstance(result, Result) else {}
    if isinstance(result, Result) and result.coverage is not None:
        known["combinations"] = {"all": result.coverage.total, **asdict(result.coverage)}
    return {"optimal": result.optimal, "lower_bound": result.lower_bound, "gap": result.gap} | known


def plain(value: float) -> int | float:
    """A number as JSON should show it: `420`, not `420.0`; digits that a float does not have are not made up."""
    value = value if isinstance(value, int) else float(value)
    return int(value) if value.is_integer() and abs(value) <= HELD else value


def _costs_json(result: Result | NetworkResult) -> Json:
    names = ("cycles", "energy_pj", "edp", "utilization")
    costs: Json = {name: plain(getattr(result, name)) if result.found else None for name in names}
    work: Json = {"macs": result.macs, "ineffectual_macs": result.ineffectual_macs}
    ideal = {name: plain(getattr(result.ideal, name)) for name in ("cycles", "energy_pj", "edp")}
    more: Json = {"area_um2": plain(result.area_um2), "network": _interconnect_json(result), "ideal": ideal}
    return costs | work | more


def _interconnect_json(result: Result | NetworkResult) -> Json | None:
    """What a hop is charged, and what all hops come to, by the level above each array."""
    if not result.found:
        return None
    layers = ((result, 1),) if isinstance(result, Result) else result.layers
    options, arch = layers[0][0]._costs.options, layers[0][0].arch
    levels = np.sum([count * layer._costs.network_energy_pj[0].sum(axis=1) for layer, count in layers], axis=0)
    return {
        "counted": options.network,
        "wire_pj_per_bit_mm": plain(options.wire_pj_per_bit_mm),
        "tile_mm": plain(options.tile_mm),
        "hop_pj": plain(options.hop_pj),
        "energy_pj": plain(levels.sum()),
        "levels": {level.name: plain(pj) for level, pj in zip(arch.levels, levels, strict=True) if level.fanout},
    }


def _levels_json(batch: MappingBatch, costs: Costs) -> Json:
    return {
        level.name: {
            "instances": plain(costs.counts.instances[0, i]),
            "cycles": plain(costs.level_cycles[0, i]),
            "energy_pj": plain(costs.level_energy_pj[0, i].sum()),
            "tensors": {
                tensor.name: _tensor_json(costs, i, t)
                for t, tensor in enumerate(batch.workload.tensors)
                if batch.keep[0, i, t]
            },
        }
        for i, level in enumerate(batch.arch.levels)
    }


def _tensor_json(costs: Costs, level: int, tensor: int) -> Json:
    counts = costs.counts
    arrays = {
        "tile_words": counts.tile_words,
        "reads": counts.reads,
        "fills": counts.fills,
        "updates": counts.updates,
        "energy_pj": costs.level_energy_pj,
    }
    return {name: plain(array[0, level, tensor]) for name, array in arrays.items()}


def _search_json(statistics: Statistics) -> Json:
    return {
        "evaluated": statistics.evaluated,
        "valid": statistics.valid,
        "invalid": dict(statistics.invalid),
        "seconds": statistics.seconds,
        "ended_by": statistics.stopped_by or None,
    }


def _network_json(result: NetworkResult) -> Json:
    first = result.layers[0][0]
    return {
        "arch": first.arch.name,
        "workload": result.name,
        "mapspace": first.mapspace,
        "objective": first.objective,
        "seed": first.seed,
        **_costs_json(result),
        "search": _search_json(result.statistics),
        **({"missing": result.missing} if result.missing else {}),
        **({} if result.gap is None else _proof_json(result)),
        "layers": [
            {"count": count, **({"alike": list(names)} if names else {}), **result_json(layer)}
            for (layer, count), names in zip_longest(result.layers, result.alike)
        ],
    }
