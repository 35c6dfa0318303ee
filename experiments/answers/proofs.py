"""Proofs of the layers of ResNet-50 in every mapspace: how many are certified, in which time and memory."""

from collections.abc import Sequence
from itertools import product
from statistics import median

from optimality import LIMIT, MACHINES, NETWORK
from optimality import Case as Proof
from optimality import prove as proven
from ruby_map.workloads import library_workloads
from searches import Json

from .known import Answer, Known
from .measurements import Case, Line, Row, Size, Table, gaps, spec


def cases(size: Size) -> list[Case]:
    """The layers, those that take long last."""
    if size.quick:
        return [proof_case("eyeriss_like", f"{NETWORK}/fc", mapspace, 2.0) for mapspace in ("pfm", "ruby-s")]
    every = product(LIMIT, MACHINES, library_workloads()[NETWORK])
    return [proof_case(machine, f"{NETWORK}/{layer}", mapspace, size.limit) for mapspace, machine, layer in every]


def proof_case(machine: str, workload: str, mapspace: str, limit: float) -> Case:
    """A proof of so many seconds at most."""
    return {"machine": machine, "workload": workload, "mapspace": mapspace, "limit": limit}


def measure(case: Case) -> Json:
    """The proof, with CPU seconds and the peak of the process's memory."""
    machine, workload, mapspace = case["machine"], case["workload"], case["mapspace"]
    proof = proven(Proof(spec(machine), spec(workload), mapspace, case["limit"], 0))
    own = Answer(machine, workload, mapspace, proof["edp"], proof["lower_bound"], proof["optimal"])
    return {"answers": [vars(own)], **{name: proof[name] for name in ("cpu_seconds", "seconds", "peak_mb")}}


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each machine and mapspace; times and memory of the proofs that are closed."""
    table = []
    groups: dict[tuple[str, str], list[Json]] = {}
    for line in lines:
        groups.setdefault((line["case"]["machine"], line["case"]["mapspace"]), []).append(line["found"])
    for (machine, mapspace), group in groups.items():
        pairs = [(one, Answer(**one["answers"][0])) for one in group]
        closed = [one for one, own in pairs if own.optimal]
        seconds, memory = ([one[name] for one in closed] for name in ("cpu_seconds", "peak_mb"))
        table.append({
            "machine": machine, "mapspace": mapspace, "layers": len(pairs), "certified": len(closed),
            "median_cpu_seconds": median(seconds) if closed else None,
            "most_cpu_seconds": max(seconds) if closed else None,
            "median_mb": median(memory) if closed else None,
            "most_mb": max(memory) if closed else None,
            "most_mb_of_all": max(one["peak_mb"] for one in group),
            "open": {own.workload.split("/")[1]: own.gap for _, own in pairs if not own.optimal},
        })  # fmt: skip
    return table


def _figures(row: Row, names: tuple[str, ...], text: str, unit: float = 1.0) -> str:
    return ", ".join("-" if row[name] is None else text.format(row[name] / unit) for name in names)


TABLE = Table(
    "proofs",
    "ResNet-50, EDP, `--search optimal`: CPU seconds to the certificate and peak memory of those certified, and the "
    "gaps of the others.",
    cases,
    measure,
    rows,
    {
        "machine": lambda row: row["machine"],
        "mapspace": lambda row: row["mapspace"],
        "certified": lambda row: f"{row['certified']} of {row['layers']}",
        "median": lambda row: _figures(row, ("median_cpu_seconds",), "{:.1f} s"),
        "longest": lambda row: _figures(row, ("most_cpu_seconds",), "{:.1f} s"),
        "memory, median and most": lambda row: _figures(row, ("median_mb", "most_mb"), "{:.2f}", 1024) + " GB",
        "open": lambda row: gaps(row["open"]),
    },
)
