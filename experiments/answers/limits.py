"""Time limits on problems that take long: how far the search overruns, and the peak of the command's memory."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from searches import Json

from .known import Answer, Known
from .measurements import Case, Line, Row, Size, Table, proven, shown, spec

SECONDS = (1.0, 5.0, 20.0)
LARGE = ("conv1", "conv2_x_3x3", "conv3_x_3x3", "conv4_x_1x1a", "conv5_x_1x1b", "fc")
HARD = (
    *(("simba_like", f"resnet50/{layer}", "ruby") for layer in LARGE),
    ("simba_like", "resnet50/fc", "ruby-t"),
    ("eyeriss_like_free", "resnet50/conv4_x_3x3", "ruby"),
    ("simba_like_bandwidth", "resnet50/conv3_x_3x3", "ruby-s"),
    ("tpu_like.yaml", "kernels.yaml/gemm_4096", "ruby"),
    ("gemmini_like.yaml", "resnet50/conv5_x_3x3", "ruby"),
    ("simba_like", "kernels.yaml/gemm_million", "ruby"),
)
PROGRAM = "from ruby_map.mapper.commands.entry import ruby_map; ruby_map()"


def cases(size: Size) -> list[Case]:
    """Each problem with each limit."""
    problems, limits = ([("eyeriss_like", "resnet50/fc", "ruby-s")], SECONDS[:1]) if size.quick else (HARD, SECONDS)
    names = ("machine", "workload", "mapspace")
    return [dict(zip(names, problem, strict=True)) | {"time_limit": limit} for problem in problems for limit in limits]


def measure(case: Case) -> Json:
    """The command as a process: seconds of its search by its own account, of the clock, and the peak of its memory."""
    machine, workload, mapspace = case["machine"], case["workload"], case["mapspace"]
    words = [spec(machine), spec(workload), "--mapspace", mapspace, "--time-limit", str(case["time_limit"]), "--json"]
    with tempfile.TemporaryFile() as out:
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, *words], stdout=out)
        _, status, used = os.wait4(process.pid, 0)  # the one call that tells the memory of this process alone
        seconds = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"ruby-map {' '.join(words)} ended with status {process.returncode}")
        out.seek(0)
        report = json.loads(out.read())
    own = Answer(machine, workload, mapspace, report["edp"], report.get("lower_bound"), report.get("optimal", False))
    searched = report["search"]["seconds"]
    return {
        "answers": [vars(own)],
        "search_seconds": searched,
        "overrun": max(0.0, searched - case["time_limit"]),
        "command_seconds": seconds,
        "peak_mb": used.ru_maxrss / 1024,
    }


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each problem, with the figures of each limit."""
    names = ("machine", "workload", "mapspace")
    by_problem: dict[tuple[str, ...], dict[str, Row]] = {}
    for line in lines:
        own = line["found"] | {"gap": Answer(**line["found"]["answers"][0]).gap}
        problem = tuple(line["case"][name] for name in names)
        by_problem.setdefault(problem, {})[str(line["case"]["time_limit"])] = own
    return [dict(zip(names, problem, strict=True)) | {"limits": limits} for problem, limits in by_problem.items()]


def _cell(row: Row, limit: float) -> str:
    if (one := row["limits"].get(str(limit))) is None:
        return ""
    return f"+{one['overrun']:.2f} s, {one['peak_mb'] / 1024:.2f} GB, {proven(one['gap'])}"


TABLE = Table(
    "limits",
    "Time limits, `--time-limit` of the default search: seconds that the search overruns, the peak of the command's "
    "memory, and what is proven.",
    cases,
    measure,
    rows,
    {
        "machine": lambda row: shown(row["machine"]),
        "layer": lambda row: shown(row["workload"]),
        "mapspace": lambda row: row["mapspace"],
        **{f"{limit:g} s": lambda row, limit=limit: _cell(row, limit) for limit in SECONDS},  # type: ignore[misc]
    },
)
