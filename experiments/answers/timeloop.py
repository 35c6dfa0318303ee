"""Timeloop's own mapper on an Eyeriss-like machine, and the default search on the nearest machine that there is.

BEST are recorded figures of a trial that is not part of the project: Timeloop's mapper with energies and constraints of
an Eyeriss-like machine, and mappings of `--search optimal`, all judged by Timeloop's model. The files of that machine
were not kept. `timeloop_eyeriss.yaml` has the constraints of Timeloop's exercises; on it the same layers gain nothing
from remainders, and the layer without windows has the optimum of the record to 0.04 %. With windows or
remainders Timeloop's model counts more (it misses multicast along diagonals, and multiplies full bounds), so that the
figures of the two models compare to some percent.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ruby_map.mapper import Result, SearchOptions, explore
from searches import Json

from .known import Answer, Known, answer
from .measurements import Case, Line, Row, Size, Table, proven, spec

MACHINE = "timeloop_eyeriss.yaml"


class Recorded(NamedTuple):
    """EDP in pJ cycles by Timeloop's model; None was not recorded."""

    mapper: float  # the best that Timeloop's mapper found
    cpu_seconds: float  # that it took
    optimal: float | None  # the mapping of `--search optimal`


BEST = {
    ("conv1", "pfm"): Recorded(9.457e14, 71, 9.457e14),
    ("conv1", "ruby-s"): Recorded(9.457e14, 92, 9.457e14),
    ("conv2_x_1x1a_first", "pfm"): Recorded(1.66e13, 37, 1.478e13),
    ("conv2_x_1x1a_first", "ruby-s"): Recorded(1.27e13, 76, 1.27e13),
    ("conv2_x_3x3", "pfm"): Recorded(4.895e14, 72, 4.68e14),
    ("conv2_x_3x3", "ruby-s"): Recorded(4.812e14, 40, 4.68e14),
    ("conv3_x_3x3", "pfm"): Recorded(4.99e14, 109, None),
    ("conv3_x_3x3", "ruby-s"): Recorded(4.78e14, 110, 4.656e14),
    ("conv4_x_3x3", "pfm"): Recorded(4.89e14, 76, 4.89e14),
    ("conv4_x_3x3", "ruby-s"): Recorded(5.534e14, 110, 4.89e14),
    ("conv5_x_3x3", "pfm"): Recorded(6.451e14, 94, 6.343e14),
    ("conv5_x_3x3", "ruby-s"): Recorded(6.566e14, 110, 6.343e14),
}


def cases(size: Size) -> list[Case]:
    """The default search of each row; `time_limit` None is the default."""
    rows = [("conv2_x_1x1a_first", "pfm")] if size.quick else list(BEST)
    return [
        {"machine": MACHINE, "workload": f"resnet50/{layer}", "mapspace": mapspace, "time_limit": None}
        for layer, mapspace in rows
    ]


def measure(case: Case) -> Json:
    """The default search."""
    machine, workload, mapspace = case["machine"], case["workload"], case["mapspace"]
    options = SearchOptions(time_limit=case["time_limit"])
    result = explore(spec(machine), spec(workload), mapspace, options)
    assert isinstance(result, Result)
    return {"answers": [answer(machine, workload, mapspace, result)], "seconds": result.statistics.seconds}


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each layer and mapspace; `above` says that the default search found nothing as good as Timeloop's."""
    table = []
    for line in lines:
        own = Answer(**line["found"]["answers"][0])
        layer = own.workload.split("/")[1]
        recorded = BEST[layer, own.mapspace]
        table.append({
            "layer": layer, "mapspace": own.mapspace, "timeloop": recorded._asdict(),
            "edp": own.edp, "gap": own.gap, "seconds": line["found"]["seconds"],
            "above": own.edp is None or own.edp > recorded.mapper,
        })  # fmt: skip
    return table


def _recorded(row: Row) -> str:
    optimal = row["timeloop"]["optimal"]
    return "-" if optimal is None else f"{optimal:.4g}"


def _ours(row: Row) -> str:
    return "-" if row["edp"] is None else f"{row['edp']:.4g} ({row['seconds']:.1f} s)"


TABLE = Table(
    "timeloop",
    "Timeloop's mapper on an Eyeriss-like machine, recorded: its best mapping and the optimum of `--search optimal`, "
    "both by Timeloop's model; beside them the default search on the nearest machine that there is, by the model here. "
    "The machine of the record was not kept, and with windows or remainders Timeloop's model counts more, so the two "
    "EDP of an optimum differ by some percent.",
    cases,
    measure,
    rows,
    {
        "layer": lambda row: row["layer"],
        "mapspace": lambda row: row["mapspace"],
        "Timeloop mapper best": lambda row: f"{row['timeloop']['mapper']:.4g} ({row['timeloop']['cpu_seconds']:.0f} s)",
        "recorded optimum, Timeloop's model": _recorded,
        "default": _ours,
        "proof": lambda row: proven(row["gap"]),
        "above Timeloop's": lambda row: "yes" if row["above"] else "no",
    },
)
