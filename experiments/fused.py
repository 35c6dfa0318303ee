"""Claim: handing tiles on chip saves up to 99 % of the EDP of a group of layers, and of some groups none.

Pairs and whole blocks of MobileNetV2, ResNet-50, BERT-base and Llama-3-8B (groups/*.yaml) on three machines: the group
of least EDP that the search finds, what no group of them is below, and the layers one by one at their best. CPU seconds
depend on the machine, the rest does not: effort is counted.
"""

import argparse
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from common import Result, arguments, gap_line, recorded, save, share_axes, tell
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from ruby_map.mapper import SearchOptions
from ruby_map.mapper.exploration import explore_group
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.report.pictures import HATCHES, PALETTE
from ruby_map.workloads import Network, load_workload
from searches import HERE, Json, jobs_option, kept, machine_of

MACHINES = ("eyeriss_like", "simba_like", "tpu_v1_like")
# title: the file in groups/, the layers
GROUPS = {
    "block 2, pair": ("mobilenet_v2", "expand2+depthwise2"),
    "block 2": ("mobilenet_v2", "expand2+depthwise2+project2"),
    "block 8, pair": ("mobilenet_v2", "expand8+depthwise8"),
    "block 8": ("mobilenet_v2", "expand8+depthwise8+project8"),
    "block 15, pair": ("mobilenet_v2", "expand15+depthwise15"),
    "block 15": ("mobilenet_v2", "expand15+depthwise15+project15"),
    "conv2_x, pair": ("resnet50", "conv3x3+expand"),
    "conv2_x": ("resnet50", "reduce+conv3x3+expand"),
    "BERT head": ("bert", "scores+context"),
    "BERT feed-forward": ("bert", "up+down"),
    "Llama prefill": ("llama3_8b", "prefill_scores+prefill_context"),
    "Llama decode": ("llama3_8b", "decode_scores+decode_context"),
}
COLUMNS = (
    "edp",
    "energy_pj",
    "cycles",
    "lower_bound",
    "gap",
    "optimal",
    "verdict",
    "saved",
    "alone",
    "group",
    "search",
)
VERDICTS = {"fuse": "fused is better, proven", "undecided": "undecided", "alone": "alone is better, proven"}


@dataclass(frozen=True)
class Case:
    """One group on one machine."""

    machine: str
    title: str  # in GROUPS
    effort: str


def search(case: Case) -> Json:
    """The best group of the case: COLUMNS, and the CPU seconds that it and the layers alone took."""
    file, names = GROUPS[case.title]
    machine, network = machine_of(case.machine, ()), load_workload(str(HERE / "groups" / f"{file}.yaml"))
    assert isinstance(network, Network)
    began = time.process_time()
    options = SearchOptions("optimal", effort=case.effort)
    outcome = explore_group(network, names.split("+"), (*machine, Charges()), "ruby-s", options).json()
    row = asdict(case) | {"layers": names} | {key: outcome[key] for key in COLUMNS}
    del row["search"]["seconds"]
    return row | {"cpu_seconds": round(time.process_time() - began, 1)}


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), panels=(1, len(MACHINES)), size=(10, 4.2))


def measured(options: argparse.Namespace) -> Result:
    """Search every group on every machine; in a quick run BERT's head on one."""
    cases = [Case(machine, title, "normal") for machine in MACHINES for title in GROUPS]
    cases = [Case("tpu_v1_like", "BERT head", "quick")] if options.quick else cases
    rows = list(kept(search, cases, options.out, "fused", options.jobs).values())
    for row in rows:
        saved = "no group" if row["saved"] is None else f"{-row['saved']:+.1%} EDP, gap {row['gap']:.1%}"
        tell(f"{row['machine']}, {row['title']}: {saved}, {row['verdict']}, {row['cpu_seconds']:.0f} CPU-seconds")
    return {"groups": rows}


def draw(result: Result, *panels: Any) -> None:
    """Draw a panel by machine: EDP of the groups by that of the layers alone; a line from each down to its bound."""
    places = {title: at for at, title in enumerate(GROUPS)}
    for axes, machine in zip(panels, MACHINES, strict=True):
        rows = [row for row in result["groups"] if row["machine"] == machine and row["saved"] is not None]
        for number, verdict in enumerate(VERDICTS):
            chosen = [row for row in rows if row["verdict"] == verdict]
            axes.barh(
                [places[row["title"]] for row in chosen], [1 - row["saved"] for row in chosen], 0.7,
                color=PALETTE[number], hatch=HATCHES[number], edgecolor="white",
            )  # fmt: skip
        for row in rows:
            gap_line(axes, places[row["title"]], 1 - row["saved"], row["gap"])
        share_axes(axes, list(GROUPS), machine, "EDP by that of the layers alone", 1.15, named=axes is panels[0])
    marks = [
        Patch(facecolor=PALETTE[number], hatch=HATCHES[number], edgecolor="white", label=label)
        for number, (verdict, label) in enumerate(VERDICTS.items())
        if any(row["verdict"] == verdict for row in result["groups"])
    ]
    marks.append(Line2D([], [], color="black", linewidth=1.2, label="down to what no group is below"))
    panels[0].figure.legend(handles=marks, fontsize=8, frameon=False, loc="outside lower center", ncols=len(marks))


if __name__ == "__main__":
    main()
