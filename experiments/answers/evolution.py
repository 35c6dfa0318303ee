"""Evolution alone, `--search evolve`: how near it comes to the optimum in so many CPU-seconds."""

from collections.abc import Sequence
from itertools import product
from math import inf
from statistics import median
from time import process_time

from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.search.recorder import Recorder
from ruby_map.workloads import Workload
from searches import Json

from .known import Answer, Known
from .measurements import Case, Line, Row, Size, Table, spec

MARKS = (0.3, 0.5, 1.0, 3.0, 5.0, 10.0)  # CPU-seconds, the mapspace's tables included
SEEDS = 5
MACHINES = ("eyeriss_like", "simba_like")
SPACES = ("pfm", "ruby-s", "ruby-t", "ruby")
FREE = ("eyeriss_like_free", "ruby")
LAYERS = ("conv1", "conv2_x_3x3", "conv3_x_3x3", "conv4_x_1x1a", "conv4_x_3x3", "conv5_x_3x3")
ROUNDING = 1e-9


def cases(size: Size) -> list[Case]:
    """Each seed of each problem; `seconds` are CPU-seconds."""
    spaces, seeds, layers, seconds = [*product(MACHINES, SPACES), FREE], range(SEEDS), LAYERS, MARKS[-1]
    if size.quick:
        spaces = [("eyeriss_like", "ruby-s"), ("eyeriss_like", "ruby")]
        seeds, layers, seconds = range(1), LAYERS[:1], 0.5
    return [
        {"machine": machine, "workload": f"resnet50/{layer}", "mapspace": mapspace, "seed": seed, "seconds": seconds}
        for (machine, mapspace), layer, seed in product(spaces, layers, seeds)
    ]


def measure(case: Case) -> Json:
    """The trace of one run: CPU-seconds, and the best EDP, each time that it improved.

    CPU time ends the run, as Ctrl-C would, so that what else the machine does changes nothing. Evolution ends before
    where further populations bring nothing; what it has then stands for every later mark.
    """
    began = process_time()
    trace: list[tuple[float, float]] = []

    def watch(_: Workload, recorder: Recorder) -> None:
        used = process_time() - began
        if used <= case["seconds"]:
            if recorder.best < (trace[-1][1] if trace else inf):
                trace.append((round(used, 4), float(recorder.best)))
        elif recorder.where is not None:
            raise KeyboardInterrupt

    machine, workload, mapspace = case["machine"], case["workload"], case["mapspace"]
    options = SearchOptions(strategy="evolve", seed=case["seed"])
    result = explore(spec(machine), spec(workload), mapspace, options, progress=watch)
    assert isinstance(result, Result)
    assert result.found
    own = Answer(machine, workload, mapspace, result.edp, None, False)
    return {"answers": [vars(own)], "trace": trace, "mappings": result.statistics.evaluated}


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each machine and mapspace: over the best known, by mark, the median and the worst layer.

    A layer's figure is the median over seeds, None where that has no mapping yet. `above_ruby_s`: runs of ruby that end
    above the run of ruby-s with the same seed, of how many, and the largest ratio.
    """
    table = []
    runs = {_key(line["case"]): line for line in lines}
    for machine, mapspace in dict.fromkeys(key[:2] for key in runs):
        group = [line for key, line in runs.items() if key[:2] == (machine, mapspace)]
        marks = [mark for mark in MARKS if mark <= group[0]["case"]["seconds"]]
        at = {mark: _layers_at(group, mark, known) for mark in marks}
        pairs = [(line, runs.get((machine, "ruby-s", *_key(line["case"])[2:]))) for line in group if mapspace == "ruby"]
        ratios = [at_end(one) / at_end(other) for one, other in pairs if other is not None]
        table.append({
            "machine": machine, "mapspace": mapspace,
            "layers": len(at[marks[0]]), "runs": len(group),
            "over_best": {str(mark): _finite([median(of), max(of)]) for mark, of in at.items()},
            "above_ruby_s": [sum(ratio > 1 + ROUNDING for ratio in ratios), len(ratios), max(ratios, default=None)],
        })  # fmt: skip
    return table


def at_end(line: Line) -> float:
    """The last EDP of a trace; inf without any."""
    return edp_at(line, inf)


def edp_at(line: Line, mark: float) -> float:
    """The best EDP after `mark` CPU-seconds; inf before the first."""
    return min((edp for used, edp in line["found"]["trace"] if used <= mark), default=inf)


def _layers_at(lines: Sequence[Line], mark: float, known: Known) -> list[float]:
    """By layer, the median over seeds of the EDP at a mark over the best known."""
    by_layer: dict[str, list[float]] = {}
    for line in lines:
        by_layer.setdefault(line["case"]["workload"], []).append(known.over_best(line["case"], edp_at(line, mark)))
    return [median(of) for of in by_layer.values()]


def _key(case: Case) -> tuple[str, str, str, int]:
    return case["machine"], case["mapspace"], case["workload"], case["seed"]


def _finite(values: list[float]) -> list[float | None]:
    return [None if value == inf else value for value in values]


def _cell(row: Row, mark: float) -> str:
    values = row["over_best"].get(str(mark), ())
    return ", ".join("-" if value is None else f"{value:.3f}" for value in values)


def _above(row: Row) -> str:
    above, of, most = row["above_ruby_s"]
    return f"{above} of {of}" + (f", at most {most:.4f}" if above else "") if of else ""


TABLE = Table(
    "evolution",
    "Evolution alone, `--search evolve`: EDP over the certified optimum or the best known after so many CPU-seconds, "
    "the mapspace's tables included; median over layers of medians over seeds, and the worst layer.",
    cases,
    measure,
    rows,
    {
        "machine": lambda row: row["machine"],
        "mapspace": lambda row: row["mapspace"],
        **{f"{mark:g} s": lambda row, mark=mark: _cell(row, mark) for mark in MARKS},  # type: ignore[misc]
        "ends above ruby-s": _above,
    },
)
