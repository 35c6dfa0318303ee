"""Uneven placement beside even: whole networks, on machines that differ in nothing else."""

from collections.abc import Sequence
from itertools import product
from math import inf
from statistics import median

from . import networks
from .known import Answer, Known
from .measurements import Case, Line, Row, Size, Table, gaps, shown

PAIRS = {  # the machine with uneven placement, and that with even
    "eyeriss_uneven.yaml": "eyeriss_like",
    "simba_uneven.yaml": "simba_like",
    "unified_uneven.yaml": "unified.yaml",
}
NETWORKS = ("resnet50", "bert_base_128")
MAPSPACE = "ruby-s"


def cases(size: Size) -> list[Case]:
    """Each network on both machines of each pair."""
    if size.quick:
        pair = ("unified_uneven.yaml", "unified.yaml")
        return [networks.case(machine, networks.QUICK, MAPSPACE, 0.1, 1) for machine in pair]
    every = product(NETWORKS, PAIRS.items())
    return [
        networks.case(machine, network, MAPSPACE, size.limit) for network, pair in every for machine in reversed(pair)
    ]


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each network on an uneven machine: layers certified, EDP over that of even, what is open."""
    table = []
    for line in lines:
        if line["case"]["machine"] not in PAIRS:
            continue
        even = PAIRS[line["case"]["machine"]]
        answers = [Answer(**figures) for figures in line["found"]["answers"]]
        every = {layer_answer.workload.split("/")[1]: _ratio(layer_answer, known, even) for layer_answer in answers}
        ratios = {layer: ratio for layer, ratio in every.items() if ratio is not None}
        if not ratios:
            continue  # nothing is known of even placement yet
        best = min(ratios, key=ratios.__getitem__)
        still = {
            layer_answer.workload.split("/")[1]: layer_answer.gap
            for layer_answer in answers
            if not layer_answer.optimal
        }
        table.append(
            line["case"]
            | {"layers": len(answers), "certified": len(answers) - len(still), "open": still}
            | {"median": median(ratios.values()), "least": ratios[best], "of": best}
            | {"seconds": line["found"]["seconds"]}
        )
    return table


def _ratio(layer_answer: Answer, known: Known, even: str) -> float | None:
    """Its EDP over the best known of even placement, whose mappings it has: 1 at most, if it is optimal."""
    best = known.best(even, layer_answer.workload, layer_answer.mapspace)
    return None if layer_answer.edp is None or best == inf else layer_answer.edp / best


TABLE = Table(
    "uneven",
    "Uneven placement in the buffer, or in a register file for all tensors: EDP over that of even placement, layers "
    "certified within the limit, and what is open.",
    cases,
    networks.measure,
    rows,
    {
        "network": lambda row: row["network"],
        "machine": lambda row: shown(row["machine"]),
        "mapspace": lambda row: row["mapspace"],
        "certified": lambda row: f"{row['certified']} of {row['layers']}",
        "EDP over even, median": lambda row: f"{row['median']:.4f}",
        "least": lambda row: f"{row['least']:.4f} ({row['of']})",
        "open": lambda row: gaps(row["open"]),
        "seconds": lambda row: f"{row['seconds']:.0f}",
    },
)
