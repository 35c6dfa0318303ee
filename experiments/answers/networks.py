"""Whole networks by the default search: `ruby-map MACHINE NETWORK --jobs 2`."""

import time
from collections.abc import Sequence
from itertools import product
from math import isfinite
from statistics import median

from ruby_map.mapper import NetworkResult, SearchOptions, explore
from searches import Json

from .known import Answer, Known, answer
from .measurements import Case, Line, Row, Size, Table, gaps, percent, spec

MACHINES = ("eyeriss_like", "simba_like")
SPACES = {"resnet50": ("pfm", "ruby-s")}  # ruby-s alone in the others
NETWORKS = ("resnet50", "bert_base_128", "mobilenet_v2", "vgg16", "deepbench")
JOBS = 2
QUICK = "bert_base_128"


def cases(size: Size) -> list[Case]:
    """The networks; `time_limit` in seconds a layer, None for the default."""
    if size.quick:
        return [case("eyeriss_like", QUICK, "ruby-s", 0.1, 1)]
    every = product(NETWORKS, MACHINES)
    return [
        case(machine, network, space, None) for network, machine in every for space in SPACES.get(network, ("ruby-s",))
    ]


def case(machine: str, network: str, mapspace: str, time_limit: float | None, jobs: int = JOBS) -> Case:
    """A network; `time_limit` in seconds a layer, None for the default."""
    return {"machine": machine, "network": network, "mapspace": mapspace, "time_limit": time_limit, "jobs": jobs}


def measure(case: Case) -> Json:
    """One exploration of the network; `seconds` are those of the clock, reading the files included."""
    machine, network, mapspace = case["machine"], case["network"], case["mapspace"]
    options, began = SearchOptions(time_limit=case["time_limit"], jobs=case["jobs"]), time.monotonic()
    result = explore(spec(machine), spec(network), mapspace, options)
    seconds = time.monotonic() - began
    assert isinstance(result, NetworkResult)
    answers = [answer(machine, f"{network}/{layer.workload.name}", mapspace, layer) for layer, _ in result.layers]
    proven = {"edp": result.edp if result.found else None, "lower_bound": result.lower_bound, "gap": result.gap}
    return {"answers": answers, "seconds": seconds, "network": proven | {"optimal": result.optimal}}


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each network: layers certified, their distance to the best known, and what stays open."""
    table = []
    for line in lines:
        answers = [Answer(**figures) for figures in line["found"]["answers"]]
        over = [known.over_best(vars(layer_answer), layer_answer.edp) for layer_answer in answers]
        still = {
            layer_answer.workload.split("/")[1]: layer_answer.gap
            for layer_answer in answers
            if not layer_answer.optimal
        }
        table.append(
            line["case"]
            | line["found"]["network"]
            | {"layers": len(answers), "certified": len(answers) - len(still), "open": still}
            | {"median_over_best": _finite(median(over)), "worst_over_best": _finite(max(over))}
            | {"seconds": line["found"]["seconds"]}
        )
    return table


def _finite(ratio: float) -> float | None:
    """A ratio; None where a layer has no mapping."""
    return ratio if isfinite(ratio) else None


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.4f}"


TABLE = Table(
    "default",
    "The default search on whole networks: `ruby-map MACHINE NETWORK --jobs 2`, EDP; layers certified, their EDP over "
    "the optimum or the best known, what is open, and seconds of the clock.",
    cases,
    measure,
    rows,
    {
        "network": lambda row: row["network"],
        "machine": lambda row: row["machine"],
        "mapspace": lambda row: row["mapspace"],
        "certified": lambda row: f"{row['certified']} of {row['layers']}",
        "EDP over best known, median": lambda row: _ratio(row["median_over_best"]),
        "worst": lambda row: _ratio(row["worst_over_best"]),
        "open": lambda row: gaps(row["open"]),
        "gap of the network": lambda row: "-" if row["gap"] is None else percent(row["gap"]),
        "seconds": lambda row: f"{row['seconds']:.0f}",
    },
)
