"""Claim: the evolution is nearest to the optimum on every machine and mapspace after a second; searches that learn a
model of the cost are worth their time only where an evaluation is slow.

Every search of the table, but those that prove or visit every mapping, on four mapspaces and four machines, six layers
and five seeds: EDP over the certified optimum, or the best that any search found, at 0.3, 1, 3 and 10 CPU-seconds of
one process (the mapspace's tables included), and by the number of mappings looked at. Each run is a process of its own
and a line of OUT/searchers.jsonl as it ends; what stands there is not run again, so the full size, many CPU-hours, can
be run in pieces (`--part 1/2`, `--machines`, `--spaces`, `--searchers`, `--seeds`, `--layers`).
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf
from statistics import quantiles
from time import process_time

from answers.known import Answer, Known, answer
from answers.measurements import Case, Line, Store, alone, shown, spec, stands
from common import Result, arguments, recorded, save, tell
from matplotlib.ticker import LogLocator, NullFormatter
from ruby_map.mapper import Result as Found
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.report.pictures import LINES, PALETTE
from ruby_map.mapper.search.recorder import Recorder
from ruby_map.mapper.searchers import STRATEGIES
from ruby_map.workloads import Workload
from searches import Json

MACHINES = ("eyeriss_like", "simba_like", "eyeriss_like_free", "five_levels.yaml")
SPACES = ("pfm", "ruby-s", "ruby-t", "ruby")
LAYERS = (
    "resnet50/conv1", "resnet50/conv3_x_3x3", "resnet50/conv4_x_1x1a", "resnet50/conv5_x_3x3",
    "bert_base_128/scores", "mobilenet_v2/block3_depthwise",
)  # fmt: skip
MARKS = (0.3, 1.0, 3.0, 10.0)  # CPU-seconds
MAPPINGS = (100, 1_000, 10_000, 100_000, 1_000_000)
OTHERS = ("auto", "optimal", "exhaustive")  # prove, or visit every mapping
PROOF_SECONDS = 60.0


def main() -> None:
    options = arguments(__doc__, more=_more)
    if (result := recorded(__file__, options)) is None:
        result = measured(options)
    save(__file__, options.out, result, lambda *axes: _draw(axes, result), (2, 2), (11, 8))
    for wrong in result["contradictions"]:
        tell(f"contradiction: {wrong}")
    sys.exit(bool(result["contradictions"]))


def measured(options: argparse.Namespace) -> Result:
    """Run what has not been run, and sum up."""
    store, names = Store(options.out / "searchers.jsonl", options.any_edition), _searchers(options.searchers)
    todo = list(_cases(options, names))
    part, parts = map(int, options.part.split("/"))
    for case in [] if options.print_only else todo[part - 1 :: parts]:
        if not stands(store.line_of(case["kind"], case), case):
            tell(", ".join(str(value) for value in case.values()))
            measure = MEASURES[case["kind"]]
            together = options.quick and case["kind"] == "run"  # one process for all runs
            store.append(case["kind"], case, measure(case) if together else alone(measure, case))
    lines = [line for case in todo if (line := store.line_of(case["kind"], case))]
    result = summary([line for line in lines if line["table"] == "run"], store.known())
    (options.out / "searchers.md").write_text(markdown(result), encoding="utf-8")
    tell(markdown(result))
    return result


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machines", default=",".join(MACHINES), help="some of them")
    parser.add_argument("--spaces", default=",".join(SPACES), help="some of the mapspaces")
    parser.add_argument("--searchers", default="", help="some of the searches")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each search")
    parser.add_argument("--layers", type=int, default=len(LAYERS), help="how many layers")
    parser.add_argument("--seconds", type=float, default=MARKS[-1], help="CPU-seconds of each run")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th run from the I-th on")
    parser.add_argument("--any-edition", action="store_true", help="take lines that other sources measured, too")
    parser.add_argument("--print-only", action="store_true", help="the tables of what has been measured")


def _searchers(names: str) -> list[str]:
    """The searches by name, all of the table but `OTHERS` unless some are given."""
    return names.split(",") if names else [name for name in STRATEGIES if name not in OTHERS]


def _cases(options: argparse.Namespace, names: Sequence[str]) -> Iterator[Case]:
    """The proofs, then the runs, seed by seed."""
    machines, spaces, layers = options.machines.split(","), options.spaces.split(","), LAYERS[: options.layers]
    seeds, seconds, limit = range(options.seeds), options.seconds, PROOF_SECONDS
    if options.quick:
        machines, spaces, layers, seeds, seconds, limit = ["eyeriss_like"], ["ruby-s"], LAYERS[2:3], range(1), 0.1, 1.0
    every = [
        {"machine": machine, "workload": layer, "mapspace": space}
        for machine, space, layer in product(machines, spaces, layers)
    ]
    yield from ({"kind": "proof", **problem, "limit": limit} for problem in every)
    for seed, problem, name in product(seeds, every, names):
        yield {"kind": "run", **problem, "search": name, "seed": seed, "seconds": seconds}


def prove(case: Case) -> Json:
    """The certified optimum, or the best found and the bound when time is up."""
    machine, workload, mapspace = case["machine"], case["workload"], case["mapspace"]
    result = explore(spec(machine), workload, mapspace, SearchOptions(strategy="optimal", time_limit=case["limit"]))
    assert isinstance(result, Found)
    return {"answers": [answer(machine, workload, mapspace, result)]}


def run(case: Case) -> Json:
    """The trace of one run: CPU-seconds, mappings and the best EDP, each time that it improved.

    CPU time ends the run, as Ctrl-C would, so that what else the machine does changes nothing. A search that ended
    before has what it has at every later mark.
    """
    began, trace = process_time(), list[tuple[float, int, float]]()

    def watch(_: Workload, recorder: Recorder) -> None:
        used = process_time() - began
        if used <= case["seconds"] and recorder.best < (trace[-1][2] if trace else inf):
            trace.append((round(used, 4), recorder.statistics.evaluated, float(recorder.best)))
        elif used > case["seconds"]:
            raise KeyboardInterrupt

    machine, workload, mapspace = case["machine"], case["workload"], case["mapspace"]
    options = SearchOptions(strategy=case["search"], seed=case["seed"], victory=None, time_limit=60 * case["seconds"])
    result = explore(spec(machine), workload, mapspace, options, progress=watch)
    assert isinstance(result, Found)
    best = trace[-1][2] if trace else None
    statistics = result.statistics
    return {
        "answers": [vars(Answer(machine, workload, mapspace, best, None, False))],
        "trace": trace, "mappings": statistics.evaluated, "valid": statistics.valid, "ended": statistics.stopped_by,
    }  # fmt: skip


MEASURES = {"proof": prove, "run": run}


def summary(lines: Sequence[Line], known: Known) -> Result:
    """By machine, mapspace and search: EDP over the best known at each mark, 25 %, median and 75 % of all runs."""
    table = []
    for key in dict.fromkeys((line["case"]["machine"], line["case"]["mapspace"]) for line in lines):
        group = [line for line in lines if (line["case"]["machine"], line["case"]["mapspace"]) == key]
        problems = {line["case"]["workload"] for line in group}
        certified = sum(any(known_answer.optimal for known_answer in known.answers[key[0], work]
                            if known_answer.mapspace == key[1]) for work in problems)  # fmt: skip
        row = {"machine": key[0], "mapspace": key[1], "layers": len(problems), "certified": certified, "searches": []}
        for name in dict.fromkeys(line["case"]["search"] for line in group):
            runs = [line for line in group if line["case"]["search"] == name]
            row["searches"].append({
                "search": name, "runs": len(runs),
                "seconds": {str(mark): _spread(runs, known, 0, mark) for mark in MARKS},
                "mappings": {str(mark): _spread(runs, known, 1, mark) for mark in MAPPINGS},
            })  # fmt: skip
        table.append(row)
    names = list(dict.fromkeys(line["case"]["search"] for line in lines))
    curves = {
        machine: {name: _curve(lines, known, machine, name) for name in names}
        for machine in dict.fromkeys(line["case"]["machine"] for line in lines)
    }
    return {"table": table, "curves": curves, "contradictions": known.contradictions()}


def _at(line: Line, known: Known, column: int, mark: float) -> float:
    """The best EDP of a run at a mark (CPU-seconds or mappings) over the best known; inf before the first."""
    best = min((point[2] for point in line["found"]["trace"] if point[column] <= mark), default=None)
    return known.over_best(line["case"], best)


def _spread(lines: Sequence[Line], known: Known, column: int, mark: float) -> list[float | None]:
    """25 %, median and 75 % of the runs at a mark; None where there is no mapping yet."""
    values = sorted(_at(line, known, column, mark) for line in lines)
    if len(values) == 1:
        values *= 2
    low, middle, high = (
        _quantile(values, share) if values[-1] == inf else float(cut)
        for share, cut in zip((0.25, 0.5, 0.75), _cuts(values), strict=True)
    )
    return [None if quantile == inf else quantile for quantile in (low, middle, high)]


def _cuts(values: Sequence[float]) -> list[float]:
    return quantiles(values, n=4, method="inclusive") if values[-1] < inf else [inf] * 3


def _quantile(values: Sequence[float], share: float) -> float:
    """Of ascending values with infinite ones, between which there is nothing: the one above."""
    return values[min(len(values) - 1, int(share * len(values)))]


def _curve(lines: Sequence[Line], known: Known, machine: str, name: str) -> list[tuple[float, list[float | None]]]:
    """CPU-seconds, and the spread of all runs of a search on a machine."""
    runs = [line for line in lines if (line["case"]["machine"], line["case"]["search"]) == (machine, name)]
    if not runs:
        return []
    times = [round(0.1 * 100 ** (i / 40), 4) for i in range(41)]
    last = max(line["case"]["seconds"] for line in runs)
    return [(time, _spread(runs, known, 0, time)) for time in times if time <= last]


def markdown(result: Result) -> str:
    """The tables by CPU-seconds and by mappings: medians."""
    parts = []
    for unit, marks, head in (("seconds", MARKS, "{:g} s"), ("mappings", MAPPINGS, "{:,} mappings")):
        rows = [["machine", "mapspace", "certified", "search", *(head.format(mark) for mark in marks)]]
        rows.append(["---"] * len(rows[0]))
        rows += [
            [shown(row["machine"]), row["mapspace"], f"{row['certified']} of {row['layers']}", search["search"],
             *(_cell(search[unit][str(mark)]) for mark in marks)]
            for row in result["table"] for search in row["searches"]
        ]  # fmt: skip
        parts.append("\n".join(f"| {' | '.join(cells)} |" for cells in rows) + "\n")
    return "\n".join(parts)


def _cell(spread: Sequence[float | None]) -> str:
    middle = spread[1]
    return "-" if middle is None else f"{middle:.3f}" if middle < 100 else f"{middle:.3g}"


def _draw(axes, result: Result) -> None:  # type: ignore[no-untyped-def]
    """A panel for each machine: the median over all runs, with the middle half of them as a band."""
    for panel, (machine, curves) in zip(axes, result["curves"].items(), strict=False):
        for number, (name, points) in enumerate(curves.items()):
            known = [(time, *spread) for time, spread in points if None not in spread]
            if not known:
                continue
            times, low, middle, high = zip(*known, strict=True)
            colour, line = PALETTE[number % len(PALETTE)], LINES[(number + number // len(PALETTE)) % len(LINES)]
            panel.plot(times, middle, line, color=colour, linewidth=2.6 if name == "evolve" else 1.4, label=name)
            panel.fill_between(times, low, high, color=colour, alpha=0.12, linewidth=0)
        panel.set(xscale="log", yscale="log", xlabel="CPU-seconds", ylabel="EDP / best known")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter("{x:g}")
            axis.set_minor_formatter(NullFormatter())
        panel.set_title(shown(machine), fontsize=10, loc="left")
        panel.legend(fontsize=7, frameon=False, ncols=2)
    for panel in axes[len(result["curves"]) :]:
        panel.set_visible(False)


if __name__ == "__main__":
    main()
