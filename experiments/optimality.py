"""Claim: random search with the paper's end (3000 valid mappings in a row without improvement) is far from the optimum.

The EDP-optimal mapping of every layer of ResNet-50 on eyeriss_like and simba_like, with proof (`--search optimal`): CPU
seconds to the certificate, the gap where time ends first, peak memory of the process. Beside it random search with
`--victory 3000`, its EDP over the optimum as the median of several seeds. Then a sample of the whole library, for one
question: is any random search below a proven lower bound? It must not be. Times depend on the machine, the rest only
where the time limit ends a proof.
"""

import argparse
import json
import resource
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from common import MARKERS, PALETTE, arguments, recorded, save, tell
from matplotlib.ticker import LogLocator, NullFormatter
from ruby_map.arch import check_fit, library_archs, load_arch
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.workloads import InputError, Workload, library_workloads, load_workload
from searches import STORE, done, edition

NETWORK = "resnet50"
MACHINES = ("eyeriss_like", "simba_like")
LIMIT = {"pfm": 300.0, "ruby-s": 300.0, "ruby-t": 600.0, "ruby": 600.0}  # seconds
SEEDS = 3
LIBRARY_LIMIT = 10.0  # seconds of proof in the library
RANDOM_LIMIT = 30.0  # seconds of a random search; most take one, but where hardly a mapping is valid some do not end
ROUNDING = 1e-9


class Case(NamedTuple):
    """One proof and the random searches beside it."""

    arch: str
    layer: str
    mapspace: str
    limit: float
    seeds: int


def prove(case: Case) -> dict[str, Any]:
    """The optimum as far as it is proven, with what that took."""
    began, cpu = time.monotonic(), time.process_time()
    options = SearchOptions(strategy="optimal", time_limit=case.limit)
    result = explore(case.arch, case.layer, case.mapspace, options)
    assert isinstance(result, Result)
    return {
        "arch": case.arch,
        "layer": case.layer,
        "mapspace": case.mapspace,
        "limit_seconds": case.limit,
        "edp": result.edp if result.found else None,
        "lower_bound": result.lower_bound,
        "optimal": result.optimal,
        "gap": result.gap,
        "cpu_seconds": time.process_time() - cpu,
        "seconds": time.monotonic() - began,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def random_edps(case: Case) -> list[float]:
    """The EDP that the paper's search finds, seed by seed; none where it finds nothing valid."""
    every = [
        explore(
            case.arch, case.layer, case.mapspace, SearchOptions(strategy="random", seed=seed, time_limit=RANDOM_LIMIT)
        )
        for seed in range(case.seeds)
    ]
    return [result.edp for result in every if result.found]


def both(case: Case) -> dict[str, Any]:
    """The proof, then the random searches: what memory the proof took is known before they begin."""
    return prove(case) | {"random": random_edps(case)}


def run(cases: Iterable[Case], store: Path) -> list[dict[str, Any]]:
    """Each case in a process of its own, so that its memory is its own, and told in a line.

    What is done is kept in the file `store`, so that a killed run goes on from there: what is proven, or was not in as
    much time, is not tried again.
    """
    known = {_question(Case(*case)): outcome for case, outcome in done(store)}
    every = []
    for case in cases:
        outcome = known.get(_question(case))
        if outcome is None or not (outcome["optimal"] or outcome["limit_seconds"] >= case.limit):
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                outcome = known[_question(case)] = pool.submit(both, case).result()
            with store.open("a", encoding="utf-8") as file:
                file.write(json.dumps([case, outcome]) + "\n")
        every.append(outcome)
        report(case, outcome)
    return every


def _question(case: Case) -> Case:
    """The case without what its proof may take."""
    return case._replace(limit=0.0)


def report(case: Case, outcome: dict[str, Any]) -> None:
    """A line."""
    proven = f"proven in {outcome['cpu_seconds']:.1f} s" if outcome["optimal"] else f"gap {outcome['gap'] or 1:.1%}"
    over = f"{median(outcome['random']) / outcome['edp']:.2f}" if outcome["random"] and outcome["edp"] else "-"
    tell(f"{case.arch} {case.layer} {case.mapspace}: {proven}, {outcome['peak_mb']:.0f} MB, random / best {over}")


def below(run: dict[str, Any]) -> bool:
    """Whether a random search beat what is proven: then the proof is wrong."""
    return bool(run["random"]) and min(run["random"]) < (run["lower_bound"] or 0.0) * (1 - ROUNDING)


def studied(quick: bool, limit: float) -> Iterator[Case]:
    """The cases of the table, those that take long last; in a quick run one layer in two mapspaces."""
    if quick:
        yield from (Case("eyeriss_like", f"{NETWORK}/fc", mapspace, 2.0, 2) for mapspace in ("pfm", "ruby-s"))
        return
    for mapspace, arch, layer in product(LIMIT, MACHINES, library_workloads()[NETWORK]):
        yield Case(arch, f"{NETWORK}/{layer}", mapspace, min(limit, LIMIT[mapspace]), SEEDS)


def sampled(many: int) -> list[Case]:
    """So many combinations of machine, layer and mapspace of the library, evenly spread, those that go together."""
    every = library_workloads().items()
    names = [f"{name}/{layer}" if layer else name for name, layers in every for layer in layers or ("",)]
    combinations = list(product(sorted(library_archs()), names, LIMIT))
    sample = combinations[:: len(combinations) // many | 1][:many]
    return [Case(*one, LIBRARY_LIMIT, 1) for one in sample if fits(*one[:2])]


def fits(arch: str, name: str) -> bool:
    workload = load_workload(name)
    assert isinstance(workload, Workload)
    try:
        check_fit(load_arch(arch, workload=workload), workload, arch)
    except InputError:
        return False
    return True


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By machine and mapspace: how many are proven, times, memory, the largest gap, and how far random search is."""
    rows = []
    for arch, mapspace in dict.fromkeys((one["arch"], one["mapspace"]) for one in runs):
        group = [one for one in runs if (one["arch"], one["mapspace"]) == (arch, mapspace)]
        over = [median(one["random"]) / one["edp"] for one in group if one["random"] and one["optimal"]]
        rows.append(
            {
                "arch": arch,
                "mapspace": mapspace,
                "layers": len(group),
                "proven": sum(one["optimal"] for one in group),
                "median_cpu_seconds": median(one["cpu_seconds"] for one in group),
                "most_cpu_seconds": max(one["cpu_seconds"] for one in group),
                "most_mb": max(one["peak_mb"] for one in group),
                "largest_gap": max(1.0 if one["gap"] is None else one["gap"] for one in group),
                "random_over_optimum": {"median": median(over), "most": max(over)} if over else None,
            }
        )
    return rows


def _more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--library", type=int, default=80, help="combinations of the library to look at")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each proof, at most")


def main() -> None:
    options = arguments(__doc__, more=_more)
    result = recorded(__file__, options) or measured(options)
    machines = list(dict.fromkeys(row["arch"] for row in result["summary"]))
    save(__file__, options.out, result, partial(draw, result), (1, len(machines)), (4.5 * len(machines), 4))


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Search at random and prove, and look whether anything lies below a proof."""
    store = options.out / STORE / f"optimality-{edition()}.jsonl"
    runs = run(studied(options.quick, options.limit), store)
    library = run(sampled(1 if options.quick else options.library), store)
    rows = summary(runs)
    for row in rows:
        tell(
            ", ".join(
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
        )
    wrong = [one for one in [*runs, *library] if below(one)]
    proven = sum(one["optimal"] for one in library)
    tell(f"library: {len(library)} combinations, {proven} proven; random searches below a proven bound: {len(wrong)}")
    return {"network": NETWORK, "summary": rows, "runs": runs, "library": library, "below": len(wrong)}


def draw(result: dict[str, Any], *panels: Any) -> None:
    """Draw a panel per machine: how far a random search stays behind, against the seconds of the search with proof."""
    machines = list(dict.fromkeys(row["arch"] for row in result["summary"]))
    for axes, machine in zip(panels, machines, strict=True):
        for number, mapspace in enumerate(LIMIT):
            group = [one for one in result["runs"] if (one["arch"], one["mapspace"]) == (machine, mapspace)]
            group = [one for one in group if one["random"] and one["edp"]]
            for proven in (True, False):
                subset = [one for one in group if one["optimal"] is proven]
                axes.plot(
                    [one["cpu_seconds"] for one in subset],
                    [median(one["random"]) / one["edp"] for one in subset],
                    MARKERS[number],
                    color=PALETTE[number],
                    fillstyle="full" if proven else "none",
                    markersize=5,
                    label=mapspace if proven and group else None,
                )
        axes.axhline(1, color="0.7", linewidth=0.8, zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="CPU-seconds (hollow: not proven in time)")
        axes.yaxis.set_major_locator(LogLocator(subs=(0.6, 1, 1.5, 2, 3, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel("EDP: random search / search with proof")
        axes.set_title(machine, fontsize=10, loc="left")
        axes.legend(fontsize=8, frameon=False)


if __name__ == "__main__":
    main()
