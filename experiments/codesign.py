"""Claim: of 1,000 designs the best for ResNet-50 under an area budget is proven with a tenth of the proofs of all, and
on designs that were all searched it is the same; the frontier of an LLM's machines is proven within 5 % in minutes.

Eyeriss-like arrays of ten sizes x ten global buffers x ten spads of weights, all 24 layers, three budgets; 40 of them
beside a grid that searches each; the frontier of area and EDP of 200 of them. The second machine has four cores of
64 x 64 to 256 x 256 elements, 4 to 16 MiB, and 400 to 1,600 GB/s, for Llama-3-8B's prefill and decode. Last, designers
beside each other at equal effort: the best design known after so many proofs of layers.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import LINES, MARKERS, Result, arguments, markdown, recorded, save, tell
from ruby_map.mapper import sweep
from ruby_map.mapper.report.pictures import PALETTE
from ruby_map.mapper.sweeps import OptimiseProgress, SweepResult
from searches import jobs_option

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ARRAYS = {"rows": [4, 6, 8, 8, 12, 12, 16, 16, 24, 32], "columns": [8, 8, 8, 14, 14, 16, 16, 24, 24, 32]}
BUFFERS = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512]  # KiB
SPADS = [48, 72, 96, 128, 160, 192, 224, 288, 352, 448]  # words
BUDGETS = (1.5, 3.0, 6.0)  # mm2
LLM = Path(__file__).parent / "llm_machine.yaml"
SIDES = [64, 128, 256]
GAP = 0.05
SEEDS = 5  # of designers that draw


def space(*, quick: bool) -> Result:
    """The designs of the first machine."""
    few = 2 if quick else 10
    return {
        "name": "codesign",
        "architecture": "eyeriss_like",
        "linked": [{name: values[4 : 4 + few] if quick else values for name, values in ARRAYS.items()}],
        "parameters": {"glb_kib": BUFFERS[3 : 3 + few] if quick else BUFFERS,
                       "levels.weights_spad.depth": SPADS[2 : 2 + few] if quick else SPADS},
        "workloads": ["resnet50/conv5_x_1x1b"] if quick else ["resnet50"],
    }  # fmt: skip


def answered(name: str, asked: Result, options: argparse.Namespace) -> Result:
    """What a sweep answers, and how long it took; kept beside the result, so that a study goes on where it stopped."""
    kept = options.out / "codesign_parts" / f"{name}.json"
    if kept.exists() and not options.quick:
        known: Result = json.loads(kept.read_text(encoding="utf-8"))
        return known
    begun = time.perf_counter()
    found = sweep(asked, jobs=options.jobs)
    if found.interrupted:
        raise KeyboardInterrupt
    made = {**found.answer.json(), "seconds": round(time.perf_counter() - begun, 1), "steps": steps_of(found)}
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(made), encoding="utf-8")
    tell(f"{name}: {made['proofs']['made']:,} of {made['proofs']['of']:,} proofs, {made['seconds']} s")
    return made


def lines(result: Result) -> list[Result]:
    """A row for each study of designs: what was asked, and what it took."""
    asked = [(f"least EDP, at most {budget} mm²", own) for budget, own in result["budgets"].items()]
    asked += [("least EDP of 40 designs", result["subset"]["branch-and-bound"])]
    asked += [("the same 40, a grid", result["subset"]["grid"])]
    asked += [("frontier of area and EDP, 200 designs", result["frontier"])]
    asked += [(f"Llama-3-8B, {name}: frontier within {GAP:.0%}", own) for name, own in result["language_model"].items()]
    return [{"asked": text, **own} for text, own in asked]


TABLE: dict[str, Callable[[Result], str]] = {
    "asked": lambda row: row["asked"],
    "designs within the limits": lambda row: f"{row['designs']['within_limits']:,} of {row['designs']['of']:,}",
    "searched by themselves": lambda row: f"{row['designs']['searched']:,}",
    "proofs of layers": lambda row: f"{row['proofs']['made']:,} of {row['proofs']['of']:,}",
    "share": lambda row: f"**{row['proofs']['made'] / row['proofs']['of']:.1%}**",
    "left open": lambda row: f"{row['designs']['open']:,}",
    "answer": lambda row: _answer(row),
    "s, two jobs": lambda row: f"{row['seconds']:,.0f}",
}


def table(result: Result) -> str:
    """These rows as a table of Markdown."""
    return markdown(TABLE, lines(result))


def _answer(row: Result) -> str:
    if row["best"] is None:
        widest = max(point["gap"] for point in row["frontier"])
        return f"{len(row['frontier'])} designs, each " + ("certified" if widest < 1e-9 else f"within {widest:.2%}")
    values = row["best"]["parameters"]
    sizes = (
        f"{values['rows']} x {values['columns']}, {values['glb_kib']} KiB, {values['levels.weights_spad.depth']} words"
    )
    return f"{sizes}: {row['best']['value']:.4e}, " + ("certified" if row["best"]["gap"] < 1e-9 else "open")


def second_certificates(result: Result) -> list[float]:
    """Of designs that both ways searched: the steps of their proofs by what sets tell, over those from nothing."""
    ways = result["subset"]
    told, alone = ways["branch-and-bound"]["steps"], ways["grid"]["steps"]
    return sorted(told[design] / alone[design] for design in told)


def steps_of(found: SweepResult) -> dict[str, int]:
    """By the design's number the steps that its proofs took, of all layers."""
    steps: dict[str, int] = {}
    for number, outcome in found.outcomes.items():
        whole: Any = outcome.result or {}
        own = sum(layer["search"]["steps"] for layer in whole.get("layers", [whole] if whole else []))
        design = str(found.plan.point(number).design)
        steps[design] = steps.get(design, 0) + own
    return steps


def budgets(options: argparse.Namespace) -> Result:
    """The best design under each budget."""
    every: Result = {}
    for budget in BUDGETS[1:2] if options.quick else BUDGETS:
        asked = space(quick=options.quick) | {"minimize": "edp", "subject_to": f"area_mm2 <= {budget}"}
        every[f"{budget:g}"] = answered(f"budget_{budget:g}", asked, options)
    return every


def subset(options: argparse.Namespace) -> Result:
    """The best of a few designs, and their frontier, by bounds and by a grid."""
    asked = space(quick=options.quick) | {"limit": 4 if options.quick else 40, "minimize": "edp"}
    return {name: answered(f"subset_{name}", asked | {"designer": name, "transfer": False}, options)
            for name in ("branch-and-bound", "grid")}  # fmt: skip


def frontier(options: argparse.Namespace) -> Result:
    """The frontier of area and EDP of designs drawn from all."""
    asked = space(quick=options.quick) | {"limit": 4 if options.quick else 200, "designer": "branch-and-bound",
                                          "pareto": ["area_mm2", "edp"]}  # fmt: skip
    return answered("frontier", asked, options)


def language_model(options: argparse.Namespace) -> Result:
    """The frontiers of the second machine, each within GAP."""
    sides = SIDES[:2] if options.quick else SIDES
    parameters = {"sram_mib": [4, 8] if options.quick else [4, 8, 16],
                  "hbm_bytes": [400] if options.quick else [400, 819, 1600]}  # fmt: skip
    works = {"prefill": "llama3_8b_prefill_2048", "decode": "llama3_8b_decode_4096"}
    every: Result = {}
    for name, work in works.items():
        asked = {
            "name": name,
            "architecture": str(LLM),
            "linked": [{"rows": sides, "columns": sides}],
            "parameters": parameters,
            "workloads": [f"{work}/scores" if options.quick else work],
            "designer": "branch-and-bound",
            "pareto": ["area_mm2", "edp"],
            "gap": GAP,
            "search": {"effort": "quick" if options.quick else "thorough"},
        }
        every[name] = answered(name, asked, options)
    return every


def designers(options: argparse.Namespace) -> Result:
    """By designer and seed the best value known after so many proofs: (proofs, value)."""
    layer = "resnet50/conv5_x_1x1b" if options.quick else "resnet50/conv3_x_3x3"
    asked = space(quick=options.quick) | {"workloads": [layer], "minimize": "edp", "subject_to": "area_mm2 <= 3"}
    every: Result = {}
    for name in ("branch-and-bound", "random", "optuna"):
        seeds = range(1 if name == "branch-and-bound" else 2 if options.quick else SEEDS)
        most = 4 if options.quick else 60
        every[name] = [list(_trace(asked | {"designer": name, "seeds": [seed], "proofs": most})) for seed in seeds]
        tell(f"{name}: {[run[-1] for run in every[name]]}")
    return every


def _trace(asked: Result) -> Iterator[tuple[int, float]]:
    steps: list[tuple[int, float]] = []

    def note(step: object) -> None:
        if isinstance(step, OptimiseProgress) and step.best < float("inf"):
            steps.append((step.proofs, step.best))

    sweep(asked, progress=note)
    yield from steps


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    tell(table(result))
    save(__file__, options.out, result, partial(draw, result), (2, 2), (10, 8))


def measured(options: argparse.Namespace) -> Result:
    """Make every study."""
    return {
        "jobs": options.jobs,
        "budgets": budgets(options),
        "subset": subset(options),
        "frontier": frontier(options),
        "language_model": language_model(options),
        "designers": designers(options),
    }


def draw(result: Result, proofs: "Axes", front: "Axes", llm: "Axes", beside: "Axes") -> None:
    """Draw the proofs by budget, the frontier, the frontiers of the second machine, and designers."""
    made = [own["proofs"]["made"] / own["proofs"]["of"] for own in result["budgets"].values()]
    proofs.bar(range(len(made)), [100 * share for share in made], 0.5, color=PALETTE[0])
    for at, own in enumerate(result["budgets"].values()):
        text = f"{own['proofs']['made']:,} of {own['proofs']['of']:,}\n{own['designs']['within_limits']:,} designs"
        proofs.annotate(text, (at, 100 * made[at]), ha="center", va="bottom", fontsize=8)
    proofs.axhline(10, color="0.4", linewidth=0.8, linestyle=":")
    proofs.set_xticks(range(len(made)), [f"{budget} mm²" for budget in result["budgets"]])
    proofs.set_ylim(0, 12)
    proofs.set_ylabel("proofs made, % of those of all designs")
    proofs.set_title("Best design under an area budget, ResNet-50", fontsize=10)
    _front(front, [("frontier", result["frontier"]["frontier"])])
    counts = result["frontier"]
    front.set_title(f"Frontier of {counts['designs']['of']} designs, ResNet-50: {counts['proofs']['made']:,} of "
                    f"{counts['proofs']['of']:,} proofs", fontsize=10)  # fmt: skip
    _front(
        llm, [(f"{name}, {own['seconds']:.0f} s", own["frontier"]) for name, own in result["language_model"].items()]
    )
    llm.set_title("Llama-3-8B on 27 machines", fontsize=10)
    best = min(value for runs in result["designers"].values() for run in runs for _, value in run)
    for number, (name, runs) in enumerate(result["designers"].items()):
        for at, run in enumerate(runs):
            steps, values = zip(*run, strict=True)
            beside.step(steps, [100 * (value / best - 1) for value in values], LINES[number], color=PALETTE[number],
                        where="post", linewidth=1.2, label=name if not at else None)  # fmt: skip
            beside.plot(steps[-1], 100 * (values[-1] / best - 1), MARKERS[number], color=PALETTE[number], markersize=5)
    proven = result["designers"]["branch-and-bound"][0][-1]
    beside.annotate("proven", (proven[0], 0), (proven[0] + 3, 0.35), fontsize=9, va="center")
    beside.set_yscale("symlog", linthresh=1)
    beside.set_ylim(-0.15, 1000)
    beside.set_yticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
    beside.set_xlabel("proofs")
    beside.set_ylabel("best EDP known, % above the best of all")
    beside.set_title("Designers beside each other, one layer, 3 mm²", fontsize=10)
    beside.legend(frameon=False, fontsize=9)


def _front(axes: "Axes", fronts: Sequence[tuple[str, list[Result]]]) -> None:
    for number, (name, points) in enumerate(fronts):
        areas, values = ([point["values"][axis] for point in points] for axis in ("area_mm2", "edp"))
        low = [value - point["lower_bound"] for value, point in zip(values, points, strict=True)]
        axes.errorbar(areas, values, [low, [0] * len(low)], fmt=MARKERS[number], color=PALETTE[number], markersize=5,
                      elinewidth=1, capsize=2, label=name)  # fmt: skip
        axes.step(areas, values, where="post", color=PALETTE[number], linewidth=0.8)
    axes.set_yscale("log")
    axes.set_xlabel("area [mm²]")
    axes.set_ylabel("EDP [pJ cycles]")
    if len(fronts) > 1:
        axes.legend(frameon=False, fontsize=9)


if __name__ == "__main__":
    main()
