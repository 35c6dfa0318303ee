"""Whole layers that Timeloop evaluated: its EDP of the recorded mapping, and what the default search finds there.

The mappings are those of `tests/golden/`: machine, energies and layer are files that Timeloop read, and the recorded
figures are its own. They were written by hand, so that this says that both count alike and that the default search is
not above them, not how good Timeloop's mapper is.
"""

import json
from collections.abc import Sequence

from ruby_map.arch.timeloop import read_timeloop_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import Result, SearchOptions, evaluate, explore
from ruby_map.workloads import read_yaml
from ruby_map.workloads.timeloop import read_timeloop_problem
from searches import HERE, Json

from .known import Answer, Known, answer
from .measurements import Case, Line, Row, Size, Table, proven

GOLDEN = HERE.parent / "tests" / "golden"
LAYERS = (  # perfect nests, which Timeloop and the model count alike
    "D01_eyeriss_perf_r50_3x3_64",
    "D02_eyeriss_perf_r50_3x3_64_ord2",
    "D03_eyeriss_perf_r50_1x1_256_64",
    "D04_eyeriss_perf_r50_conv1_s2",
    "D06_eyeriss_perf_r50_7x7_512",
    "E01_simba_perf_r50_3x3_64",
    "E02_simba_perf_r50_1x1",
    "E04_simba_perf_s2",
)
SPACES = ("pfm", "ruby-s")


def cases(size: Size) -> list[Case]:
    """The default search of each layer; `time_limit` None is the default."""
    layers, limit = (LAYERS[-1:], 0.3) if size.quick else (LAYERS, None)
    return [{"layer": layer, "mapspace": mapspace, "time_limit": limit} for layer in layers for mapspace in SPACES]


def measure(case: Case) -> Json:
    """The default search, with the EDP of the recorded mapping by Timeloop and by the model."""
    folder = GOLDEN / case["layer"]
    arch = read_timeloop_arch(read_yaml(folder / "arch.yaml"))
    workload = read_timeloop_problem(read_yaml(folder / "problem.yaml"))
    table = energy_table(arch, ert=folder / "ert.yaml")
    theirs = json.loads((folder / "expected.json").read_text())["timeloop"]
    result = explore(arch, workload, case["mapspace"], SearchOptions(time_limit=case["time_limit"]), table=table)
    assert isinstance(result, Result)
    return {
        "answers": [answer(case["layer"].split("_")[1], case["layer"], case["mapspace"], result)],
        "timeloop_edp": theirs["energy_pj"] * theirs["cycles"],
        "same_mapping_edp": evaluate(arch, workload, folder / "mapping.yaml", table=table).edp,
        "seconds": result.statistics.seconds,
    }


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each layer, with what was found in each mapspace."""
    by_layer: dict[str, Row] = {}
    for line in lines:
        outcome = line["found"]
        row = by_layer.setdefault(line["case"]["layer"], {"layer": line["case"]["layer"]})
        row |= {name: outcome[name] for name in ("timeloop_edp", "same_mapping_edp")}
        own = Answer(**outcome["answers"][0])
        row[own.mapspace] = {"edp": own.edp, "gap": own.gap, "above": (own.edp or 0.0) > row["timeloop_edp"]}
    return list(by_layer.values())


def _cell(row: Row, mapspace: str) -> str:
    if (one := row.get(mapspace)) is None:
        return ""
    return f"{one['edp']:.4g} ({one['edp'] / row['timeloop_edp']:.2f}, {proven(one['gap'])})"


TABLE = Table(
    "golden",
    "Layers that Timeloop evaluated: EDP of a mapping made by hand, by Timeloop and by the model, and of the default "
    "search on the same machine with the same energies (over Timeloop's, what is proven).",
    cases,
    measure,
    rows,
    {
        "case": lambda row: row["layer"],
        "Timeloop, recorded mapping": lambda row: f"{row['timeloop_edp']:.4g}",
        "the model, same mapping": lambda row: f"{row['same_mapping_edp']:.4g}",
        **{f"default, {space}": lambda row, space=space: _cell(row, space) for space in SPACES},  # type: ignore[misc]
    },
)
