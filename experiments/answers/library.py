"""The library's machines and networks by the default search: the share of layers certified, and the widest gap."""

from collections.abc import Sequence
from itertools import product

from machines import MACHINES

from . import networks
from .known import Answer, Known
from .measurements import Case, Line, Row, Size, Table, percent

MAPSPACE = "ruby-s"


def cases(size: Size) -> list[Case]:
    """Each network on each machine."""
    if size.quick:
        return [networks.case("shidiannao_like", networks.QUICK, MAPSPACE, 0.1, 1)]
    return [
        networks.case(machine, network, MAPSPACE, None) for network, machine in product(networks.NETWORKS, MACHINES)
    ]


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each machine, and one for all."""
    answers = [Answer(**figures) for line in lines for figures in line["found"]["answers"]]
    machines = list(dict.fromkeys(one.machine for one in answers))
    by_machine = {machine: [one for one in answers if one.machine == machine] for machine in machines}
    if len(machines) > 1:
        by_machine["all"] = answers
    return [_row(machine, of_machine) for machine, of_machine in by_machine.items()]


def _row(machine: str, answers: Sequence[Answer]) -> Row:
    worst = max(answers, key=lambda one: one.gap)
    certified = sum(one.optimal for one in answers)
    within = sum(one.gap <= 0.1 for one in answers)
    return {"machine": machine, "layers": len(answers), "certified": certified, "within_10_percent": within,
            "worst": worst.gap, "of": worst.workload if worst.gap else ""}  # fmt: skip


TABLE = Table(
    "library",
    "The library's machines, the default search on five networks: layers certified, those proven within 10 %, the "
    "widest gap.",
    cases,
    networks.measure,
    rows,
    {
        "machine": lambda row: row["machine"],
        "certified": lambda row: f"{row['certified']} of {row['layers']} ({percent(row['certified'] / row['layers'])})",
        "within 10 %": lambda row: str(row["within_10_percent"]),
        "widest gap": lambda row: percent(row["worst"]),
        "of": lambda row: row["of"],
    },
)
