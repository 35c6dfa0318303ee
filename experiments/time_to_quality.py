"""Claim: one CPU-second of random search comes within 5 % of the certified optimum on an Eyeriss-like machine, within
13 % on a Simba-like one, ten within 3 % and sixty within 2 % (medians of seven layers). PFM, the smaller mapspace, gets
nearer than Ruby-S.

Seven layers of ResNet-50 on two machines, PFM and Ruby-S, several seeds: the best EDP after 1, 10 and 60 CPU-seconds of
one process (CPU time, so that what else the machine does changes nothing), relative to the best known: the certified
optimum (`--search optimal`) where one is found, else the least EDP of any search, and the gap to what is proven.
CPU-seconds count from the beginning, the mapspace's tables included. A search that has reached the certified optimum
ends: nothing better can come, so its EDP stands for every later mark. Each run adds a line to OUT/time_to_quality.jsonl
as it ends, and what stands there is not run again, so the full size (`--seeds 10 --seconds 60`, three CPU-hours) can be
run in pieces, also by several processes (`--part 1/2` and `--part 2/2`). The JSON says what was run.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from importlib.metadata import version
from itertools import count, product
from pathlib import Path
from statistics import median, quantiles
from time import process_time
from typing import Any

from common import LINES, Result, arguments, recorded, save, tell
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import Result as Found
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.report.pictures import PALETTE
from ruby_map.mapper.runtime.checkpoint import FORMAT
from ruby_map.mapper.runtime.parallel import in_order
from ruby_map.mapper.search import RandomDraws, Task
from ruby_map.mapper.search.recorder import Recorder, Stop
from ruby_map.mapper.search.score import ScoringTask, score_exactly
from ruby_map.workloads import Workload, load_workload

MACHINES = ("eyeriss_like", "simba_like")
LAYERS = {
    "conv1": "7x7, 3 to 64",
    "conv2_x_1x1a_first": "1x1, 64 to 64",
    "conv2_x_3x3": "3x3, 64 to 64",
    "conv3_x_3x3": "3x3, 128 to 128",
    "conv4_x_3x3": "3x3, 256 to 256",
    "conv5_x_3x3": "3x3, 512 to 512",
    "conv4_x_1x1a": "1x1, 1024 to 256",
}
PRESETS = ("pfm", "ruby-s")
MARKS = (0.1, 1.0, 10.0, 60.0)  # CPU-seconds
PROGRAM = f"{version('ruby-map')}, format {FORMAT}"  # a seed means the same mappings only within one

Line = dict[str, Any]  # of the file: a search, or the proof of an optimum


def main() -> None:
    options = arguments(__doc__, more=_more)
    result = redrawn(options) if options.draw else measured(options)
    save(__file__, options.out, result, lambda *axes: _draw(axes, result), (1, len(MACHINES)), (9, 4))


def redrawn(options: argparse.Namespace) -> Result:
    """The recorded result, its curves made of the recorded runs."""
    result = recorded(__file__, options) or {}
    lines = [
        line for line in _every_line(options.out / "time_to_quality.jsonl") if line["program"] == result["program"]
    ]
    return result | {"curves": _curves(lines, result["table"])}


def measured(options: argparse.Namespace) -> Result:
    """Run what has not been run, and sum up."""
    layers = list(LAYERS)[-1:] if options.quick else list(LAYERS)
    seeds, seconds = (1, 0.2) if options.quick else (options.seeds, options.seconds)
    path = options.out / "time_to_quality.jsonl"
    problems = list(product(MACHINES, layers, PRESETS))
    proof_seconds = 1.0 if options.quick else options.proof_seconds
    todo = [("proof", *problem, 0, proof_seconds) for problem in problems]
    todo += [("search", *problem, seed, seconds) for seed in range(seeds) for problem in problems]
    part, parts = map(int, options.part.split("/"))
    for kind, machine, layer, preset, seed, limit in todo[part - 1 :: parts]:
        lines = list(_lines(path))
        least = _optimum(lines, machine, layer, preset)
        if not any(_covers(line, kind, machine, layer, preset, seed, limit, least) for line in lines):
            outcome = (
                proof(machine, layer, preset, seed, limit)
                if kind == "proof"
                else search(machine, layer, preset, seed, limit, least)
            )
            _append(path, outcome | {"kind": kind, "machine": machine, "layer": layer, "preset": preset, "seed": seed})
    result = summary(list(_lines(path)), problems)
    for row in result["table"]:
        said = ", ".join(f"{mark:g} s: x{at['median']:.3f} ({at['least']:.3f} to {at['most']:.3f})"
                         for mark, at in row["over_best_known"])  # fmt: skip
        tell(f"{row['machine']} {row['layer']} {row['preset']}, {row['searches']} seeds: {said}")
    for machine, preset in product(MACHINES, PRESETS):
        said = ", ".join(f"{mark:g} s: x{value:.3f}" for mark, value in result["medians"][machine][preset])
        tell(f"{machine} {preset}, median over layers: {said}")
    return result


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=3, help="searches of each problem")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU-seconds of each search")
    parser.add_argument("--proof-seconds", type=float, default=60.0, help="of time for each certified optimum")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th run from the I-th on")


def search(machine: str, layer: str, preset: str, seed: int, seconds: float, least: float) -> Line:
    """One search for that many CPU-seconds, or until it has the `least` EDP there can be.

    The best EDP when it improved, and how many mappings were looked at.
    """
    began = process_time()
    arch, work = load_arch(machine), load_workload(f"resnet50/{layer}")
    assert isinstance(work, Workload)
    task = Task.of(Mapspace(arch, work, preset), energy_table(arch), SearchOptions(seed=seed))  # type: ignore[arg-type]
    problem = ScoringTask(task, RandomDraws())
    recorder, trace, used = Recorder(Stop(None, give_up=None)), [], 0.0
    with closing(in_order(score_exactly, problem, count(), learnt=recorder.known)) as results:
        for scores in results:
            before, used = recorder.best, process_time() - began
            if used > seconds:  # what comes too late does not count
                break
            recorder.record(scores, used)
            if recorder.best < before:
                trace.append((round(used, 4), recorder.best))
                if _reached(recorder.best, least):
                    break
    return {"seconds": seconds, "trace": trace, "mappings": recorder.statistics.evaluated}


def proof(machine: str, layer: str, preset: str, seed: int, seconds: float) -> Line:
    """The best mapping with a proof, or the best found and its gap when time is up."""
    options = SearchOptions(strategy="optimal", time_limit=seconds, seed=seed)
    result = explore(machine, f"resnet50/{layer}", preset, options)
    assert isinstance(result, Found)
    return {"seconds": seconds, "edp": result.edp, "optimal": result.optimal, "gap": result.gap}


def summary(lines: list[Line], problems: list[tuple[str, str, str]]) -> Result:
    """What was run, and per problem the EDP at each mark, of the searches that reached it, over its reference."""
    table = []
    for machine, layer, preset in problems:
        problem_lines = [
            line for line in lines if (line["machine"], line["layer"], line["preset"]) == (machine, layer, preset)
        ]
        searches = [line for line in problem_lines if line["kind"] == "search" and line["trace"]]
        least = _optimum(problem_lines, machine, layer, preset)
        proofs = [line for line in problem_lines if line["kind"] == "proof"]
        if not searches:
            continue
        seen = [line["edp"] for line in proofs] + [line["trace"][-1][1] for line in searches]
        # one line per seed, the longest
        longest = {line["seed"]: line for line in sorted(searches, key=lambda line: line["seconds"])}
        at = {mark: values for mark in MARKS if (values := _at_mark(longest.values(), mark, least))}
        table.append({
            "machine": machine, "layer": layer, "preset": preset, "searches": len(longest),
            "reached_optimum": sum(_reached(line["trace"][-1][1], least) for line in longest.values()),
            "best_known": min(seen), "optimum": least or None,
            "gap": min((line["gap"] for line in proofs), default=None),
            "edp": [(mark, _spread(values)) for mark, values in at.items()],
            "over_best_known": [
                (mark, _spread([value / min(seen) for value in values])) for mark, values in at.items()
            ],
        })  # fmt: skip
    medians = {machine: {preset: _over_layers(table, machine, preset) for preset in PRESETS} for machine in MACHINES}
    return {"program": PROGRAM, "medians": medians, "table": table, "curves": _curves(lines, table)}


def _over_layers(table: list[Line], machine: str, preset: str) -> list[tuple[float, float]]:
    """The marks that every layer has, with the median over the layers of the median EDP over the best known."""
    rows = [dict(row["over_best_known"]) for row in table if (row["machine"], row["preset"]) == (machine, preset)]
    return [
        (mark, median(row[mark]["median"] for row in rows))
        for mark in MARKS
        if rows and all(mark in row for row in rows)
    ]


def _curves(lines: list[Line], table: list[Line]) -> dict[str, dict[str, list[tuple[float, ...]]]]:
    """Per machine and mapspace: CPU-seconds, and the quartiles over layers and seeds of the EDP over its reference.

    Of the searches that were the longest alone, or had the optimum, so that those that end do not bend the curve.
    """
    curves: dict[str, dict[str, list[tuple[float, ...]]]] = {machine: {} for machine in MACHINES}
    reference = {(row["machine"], row["layer"], row["preset"]): row["best_known"] for row in table}
    for machine, preset in product(MACHINES, PRESETS):
        runs = [line for line in lines if line["kind"] == "search" and line["trace"]]
        runs = [line for line in runs if (line["machine"], line["preset"]) == (machine, preset)]
        if not runs:
            continue
        last = max(line["seconds"] for line in runs)
        runs = [line for line in runs if _lasts(line, last, _optimum(lines, machine, line["layer"], preset))]
        first = max(line["trace"][0][0] for line in runs)
        times = [time for i in range(81) if first <= (time := last / 1000 ** (i / 80))]
        over = [
            (time, [_at(run, time) / reference[machine, run["layer"], preset] for run in runs])
            for time in reversed(times)
        ]
        curves[machine][preset] = [(round(time, 4), *_quartiles(ratios)) for time, ratios in over]
    return curves


def _quartiles(values: list[float]) -> list[float]:
    """Lower quartile, median and upper quartile."""
    return quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def _draw(axes, result: Result) -> None:  # type: ignore[no-untyped-def]
    """Draw a panel per machine: the median of each mapspace, the middle half of the runs as a band."""
    for panel, (machine, curves) in zip(axes, result["curves"].items(), strict=True):
        for number, (preset, points) in enumerate(curves.items()):
            times, low, middle, high = zip(*points, strict=True)
            panel.plot(times, middle, LINES[number], color=PALETTE[number], label=f"{preset}: median, middle half")
            panel.fill_between(times, low, high, color=PALETTE[number], alpha=0.15, linewidth=0)
        panel.set(xscale="log", xlabel="CPU-seconds", ylabel="EDP / best known")
        panel.set_title(machine, fontsize=10, loc="left")
        panel.legend(fontsize=8, frameon=False)


def _at(line: Line, mark: float) -> float:
    """The best EDP of a search after `mark` CPU-seconds."""
    return [edp for used, edp in line["trace"] if used <= mark][-1]


def _at_mark(searches: Iterable[Line], mark: float, least: float) -> list[float]:
    """The best EDPs after `mark` CPU-seconds of the searches that went on for so long; none if one had none yet."""
    lasting = [line for line in searches if _lasts(line, mark, least)]
    return [_at(line, mark) for line in lasting] if all(line["trace"][0][0] <= mark for line in lasting) else []


def _lasts(line: Line, mark: float, least: float) -> bool:
    """Whether a search says what it had after `mark` CPU-seconds: it went on for so long, or could not get better."""
    return bool(line["seconds"] >= mark or (line["trace"] and _reached(line["trace"][-1][1], least)))


def _reached(edp: float, least: float) -> bool:
    """Whether `edp` is the certified optimum, but for the rounding of another order of sums."""
    return edp <= least * (1 + 1e-9)


def _optimum(lines: Iterable[Line], machine: str, layer: str, preset: str) -> float:
    """The certified optimum of a problem; 0.0, which no EDP reaches, when there is none."""
    same = [line for line in lines if (line["machine"], line["layer"], line["preset"]) == (machine, layer, preset)]
    return next((float(line["edp"]) for line in same if line["kind"] == "proof" and line["optimal"]), 0.0)


def _spread(values: list[float]) -> dict[str, float]:
    return {"median": median(values), "least": min(values), "most": max(values), "searches": len(values)}


def _covers(
    line: Line, kind: str, machine: str, layer: str, preset: str, seed: int, seconds: float, least: float
) -> bool:
    """Whether `line` stands for this run: the same, for at least as long or to its end."""
    same = (line["kind"], line["machine"], line["layer"], line["preset"], line["seed"])
    if same != (kind, machine, layer, preset, seed):
        return False
    return _lasts(line, seconds, least) if kind == "search" else bool(line["seconds"] >= seconds or line["optimal"])


def _lines(path: Path) -> Iterator[Line]:
    """The runs of this program that have ended."""
    return (line for line in _every_line(path) if line["program"] == PROGRAM)


def _every_line(path: Path) -> Iterator[Line]:
    """The runs of any program."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return (json.loads(line) for line in text.splitlines())


def _append(path: Path, line: Line) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:  # one write, so that several processes may
        file.write(json.dumps(line | {"program": PROGRAM}) + "\n")


if __name__ == "__main__":
    main()
