"""The JSON objects of results: plain values, as `--json` writes them."""

from functools import singledispatch
from itertools import zip_longest

import numpy as np

from ..bounds import engine
from ..mapping import write_mapping
from ..model.figures import level_figures, plain
from ..search.outcome import Statistics
from . import proof_text as proof
from .answer import answer_json
from .dram import dram_json
from .front import front_json
from .layered import Layered
from .network_result import NetworkResult
from .plans import plan_json
from .predictions import prediction_json
from .rates import rates_json
from .result import Result
from .transformed import transformations
from .uncounted import without_energies
from .why import Why

Json = dict[str, object]


def result_json(result: Result | NetworkResult) -> Json:
    """Write a result as the object of `--json`: whole numbers are integers; costs are null where there is no mapping,
    energies and areas also where the table has none.

    Counts are totals over all instances; energies are in pJ, areas in um2, EDP in pJ * cycles.
    """
    whole = _json(result)
    return whole if result.counted else dict(without_energies(whole))


@singledispatch
def _json(result: object) -> Json:
    """The object of a kind of result, with all energies."""
    raise TypeError(f"no result: {type(result).__name__}")


@_json.register
def _layer_json(result: Result) -> Json:
    changed = _transformations_json(result)
    sizes = {"sizes": dict(zip(result.workload.dims, result.workload.sizes, strict=True))} if changed else {}
    whole: Json = {
        "arch": result.arch.name,
        "workload": result.workload.name,
        **changed,
        **sizes,
        "mapspace": result.mapspace,
        "remainders": list(result.remainders),
        "reason": result.reason,
        "objective": result.objective,
        "seed": result.seed,
        **_costs_json(result),
        "compute": {"energy_pj": plain(result.valid_costs.compute_energy_pj)} if result.found else None,
        "levels": level_figures(result.batch, result.valid_costs)[0] if result.batch is not None else None,
        "mapping": write_mapping(result.batch) if result.batch is not None else None,
        "search": _search_json(result.statistics, result.strategy),
    }
    if result.warnings:
        whole |= {"warnings": result.warnings}
    if result.known is not None:
        whole |= result.known.json() if result.found else result.known.json() | {"origin": None}
    if result.answer is not None:
        whole |= {"cost_model": answer_json(result.answer)}
    if result.axes:
        whole |= {"front": front_json(result.front)}
    if result.gap is not None:
        whole |= _proof_json(result) | _layer_proof_json(result)
    if result.proof is not None:
        whole |= proof.front_proof_json(result.front, result.proof)
    whole |= _asked_json(result)
    return whole | ({} if result.found and not result.hint else {"hint": result.hint})


def _asked_json(result: Result) -> Json:
    """What was searched beside the mapping, where it was asked for: layouts, and what holds it back."""
    layouts: Json = {} if result.layouts is None else {"layouts": result.layouts.json()}
    return layouts | ({} if result.why is None else {"why": why_json(result.why)})


def why_json(why: Why) -> list[Json]:
    """List the changes as objects, the one with the lowest value first; those not tried come last."""
    rows: list[Json] = [
        {
            "change": neighbour.change,
            "value": None if neighbour.value is None else plain(neighbour.value),
            "ratio": why.ratio(neighbour),
            "optimal": neighbour.optimal,
            "lower_bound": neighbour.lower_bound,
            "gap": neighbour.gap,
            **({"reason": neighbour.reason} if neighbour.reason else {}),
        }
        for neighbour in why.neighbours
    ]
    nothing = dict.fromkeys(("value", "ratio", "optimal", "lower_bound", "gap")) | {"reason": "interrupted"}
    return rows + [{"change": text, **nothing, "optimal": False} for text in why.left]


def _proof_json(result: Result | NetworkResult) -> Json:
    """What is proven of the best mapping, or of the best choice of mappings."""
    return {"optimal": result.optimal, "lower_bound": result.lower_bound, "gap": result.gap}


def _layer_proof_json(result: Result) -> Json:
    """What else is proven of a layer: what became of all combinations of chains, and each of several objectives."""
    proven: Json = {"attained": result.optimal}
    searched = {} if result.before is None else {result.before[0]: plain(result.before[1])}
    if (first := str(result.objective).split(",")[0]) in searched:
        proven["searched"] = searched[first]
    if result.alone is not None:
        proven["alone"] = plain(result.alone)
    if result.coverage is not None:
        proven["combinations"] = proof.combinations_json(result.coverage)
    if result.stages:
        proven["stages"] = proof.stages_json(result.stages, searched)
    return proven


def _costs_json(result: Result | NetworkResult) -> Json:
    names = ("cycles", "energy_pj", "edp", "utilization")
    costs: Json = {name: plain(getattr(result, name)) if result.found else None for name in names}
    work: Json = {"macs": result.macs, "ineffectual_macs": result.ineffectual_macs}
    ideal = {name: plain(getattr(result.ideal, name)) for name in ("cycles", "energy_pj", "edp")}
    more: Json = {"area_um2": plain(result.area_um2), "network": _interconnect_json(result), "ideal": ideal}
    drained = result.found and result.layers[0][0].problem.charges.drain_reads
    waits = result.fill_drain if result.found else None
    more |= {} if waits is None else {"fill_drain_cycles": waits[0]}
    starts = result.starts if result.found else None
    more |= {} if starts is None else {"start_cycles": starts}
    more |= dram_json(result.dram) if result.found else {}
    more |= {} if result.bound_by is None else {"bound_by": result.bound_by}
    more |= rates_json(result) | prediction_json(result) if result.found else {}
    return costs | work | more | ({"drain_reads": True} if drained else {})


def _transformations_json(result: Layered[Result]) -> Json:
    """What was made of the layers as they were written; nothing where they stayed as they were."""
    names = transformations(result.workloads)
    return {"transformations": names} if names else {}


def _interconnect_json(result: Result | NetworkResult) -> Json | None:
    """The charge of a hop, and the energy of all hops by the level above each array; None without a mapping."""
    if not result.found:
        return None
    options, arch = result.layers[0][0].problem.charges, result.machine
    levels = np.sum(
        [count * layer.valid_costs.interconnect_energy_pj[0].sum(axis=1) for layer, count in result.layers], axis=0
    )
    return {
        "counted": options.has_interconnect,
        "wire_pj_per_bit_mm": plain(options.wire_pj_per_bit_mm),
        "tile_mm": plain(options.tile_mm),
        "hop_pj": plain(options.hop_pj),
        "energy_pj": plain(levels.sum()),
        "levels": {level.name: plain(pj) for level, pj in zip(arch.levels, levels, strict=True) if level.fanout},
    }


def _search_json(statistics: Statistics, strategy: str | None) -> Json:
    return {
        "strategy": strategy,
        "evaluated": statistics.evaluated,
        "valid": statistics.valid,
        "invalid": dict(statistics.invalid),
        "steps": statistics.steps,
        "seconds": statistics.seconds,
        "bounds": engine(),
        "ended_by": statistics.stopped_by or None,
    }


@_json.register
def _network_json(result: NetworkResult) -> Json:
    first = result.layers[0][0]
    return {
        "arch": first.arch.name,
        "workload": result.name,
        **_transformations_json(result),
        "mapspace": first.mapspace,
        "objective": first.objective,
        "seed": first.seed,
        **_costs_json(result),
        "search": _search_json(result.statistics, first.strategy),
        **({"missing": result.missing} if result.missing else {}),
        **({} if result.gap is None else _proof_json(result)),
        **({} if result.plan is None else plan_json(result.plan)),
        **({"no_plan": result.no_plan} if result.no_plan else {}),
        "layers": [
            {"count": count, **({"alike": list(names)} if names else {}), **result_json(layer)}
            for (layer, count), names in zip_longest(result.layers, result.alike)
        ],
    }
