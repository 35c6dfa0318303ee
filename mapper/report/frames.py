"""The rows of data frames of results: plain values by column, as in the JSON."""

from collections.abc import Iterator, Mapping

from ...workloads import Fault, InputError
from ..model.figures import binding, bound_text, plain
from .network_result import NetworkResult
from .rates import rates_json
from .result import Result
from .roofline import roofline_point
from .show import Rows
from .uncounted import without_energies

Row = dict[str, object]


def level_rows(result: Result) -> Rows:
    """Make a row per level and kept tensor, then the MAC units, and leakage and network where they are counted.

    Counts are words over all instances, energies pJ; the energies add up to that of the result.
    """
    batch, costs = result.batch, result.costs
    if batch is None or costs is None:
        rule = f"no valid mapping of {result.workload.name} was found, so there are no figures"
        raise InputError(Fault("to_pandas", None, "", rule))
    rows = list[Row]()
    for i, level in enumerate(result.arch.levels):
        for t, tensor in enumerate(result.workload.tensors):
            if batch.kept[0, i, t]:
                names = ("tile_words", "reads", "fills", "updates")
                words = {name: plain(getattr(costs.counts, name)[0, i, t]) for name in names}
                energy = float(costs.level_energy_pj[0, i, t])
                rows.append(_row(level.name, tensor.name, int(costs.counts.instances[0, i]), words, energy))
    units = int(costs.counts.instances[0, -1])
    rows.append(_row(result.arch.compute.name, None, units, {}, float(costs.compute_energy_pj)))
    if leak := float(costs.leak_energy_pj[0]):
        rows.append(_row("leakage", None, None, {}, leak))
    if costs.options.has_interconnect:
        rows.append(_row("network", None, None, {}, float(costs.interconnect_energy_pj[0].sum())))
    return rows if result.table.counted else [dict(without_energies(row)) for row in rows]


def _row(level: str, tensor: str | None, instances: int | None, words: Mapping[str, object], energy_pj: float) -> Row:
    return {"level": level, "tensor": tensor, "instances": instances, **words, "energy_pj": energy_pj}


def layer_rows(network: NetworkResult) -> Rows:
    """Make a row per layer with figures of one occurrence; without costs where there is no mapping."""
    rows = list(_layers(network))
    return rows if network.layers[0][0].table.counted else [dict(without_energies(row)) for row in rows]


def _layers(network: NetworkResult) -> Iterator[Row]:
    for result, count in network.layers:
        row: Row = {"layer": result.workload.name, "count": count, "macs": result.macs}
        if result.found:
            roof = roofline_point(result)
            row |= {"cycles": result.cycles, "energy_pj": result.energy_pj, "edp": result.edp}
            row |= {
                "utilization": result.utilization,
                "macs_per_word": roof.intensity,
                "bound_by": bound_text(binding(result.arch, result.valid_costs)),
            }
            row |= {"gap": result.gap} | rates_json(result)
        yield row | {"evaluated": result.statistics.evaluated, "valid": result.statistics.valid}
