"""Claim: what stays on chip saves up to 74 % of a network's EDP, with fused layers up to 88 %; at times nothing.

Seven networks on four machines: the layers one by one at their best for the network, the best plan found in which
tensors stay on chip, and the best in which layers are fused, too; each with what no plan is below. CPU seconds depend
on the machine, the rest does not: effort is counted.
"""

import argparse
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from common import Result, arguments, gap_line, recorded, save, share_axes, tell
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.report import NetworkResult
from ruby_map.mapper.report.pictures import HATCHES, PALETTE
from ruby_map.workloads import load_workload
from searches import Json, jobs_option, kept, machine_of

MACHINES = ("eyeriss_like", "simba_like", "tpu_v1_like", "ordinary_machines/llm_4_cores.yaml")
NETWORKS = (
    "mobilenet_v2",
    "bert_base_128",
    "llama3_8b_decode_4096",
    "unet_572",
    "llama3_8b_prefill_4096",
    "mixtral_8x7b_decode_4096",
    "resnet50",
)
FUSE = {"resident": "tensors stay", "auto": "and layers are fused"}


@dataclass(frozen=True)
class Case:
    """The plans of one network on one machine."""

    network: str
    machine: str
    fuse: str
    effort: str


def search(case: Case) -> Json:
    """The best plan of the case beside the layers one by one; `why` says why there is none."""
    arch, table = machine_of(case.machine, ())
    options, began = SearchOptions("optimal", effort=case.effort), time.process_time()
    result = explore(arch, load_workload(case.network), "ruby-s", options, table=table, fuse=case.fuse)
    assert isinstance(result, NetworkResult)
    row = asdict(case) | {"cpu_seconds": round(time.process_time() - began, 1), "why": result.no_plan}
    if (plan := result.plan) is None:
        return row
    parts = plan.costs.plan.parts
    return row | {
        "alone": {"edp": plan.alone.edp, "energy_pj": plan.alone.energy_pj, "cycles": plan.alone.cycles},
        "plan": {"edp": plan.costs.edp, "energy_pj": plan.costs.energy_pj, "cycles": plan.costs.cycles},
        "saved": plan.saved,
        "lower_bound": plan.lower_bound,
        "gap": plan.gap,
        "fused": sum(len(part.layers) > 1 for part in parts),
        "resident": len(plan.costs.plan.residents),
        "ended_by": plan.statistics.stopped_by,
    }


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), panels=(1, len(MACHINES)), size=(11, 3.6))


def measured(options: argparse.Namespace) -> Result:
    """Search plans of every network on every machine; in a quick run one."""
    cases = [Case(network, machine, fuse, "quick") for machine in MACHINES for network in NETWORKS for fuse in FUSE]
    cases = [Case("bert_base_128", "tpu_v1_like", "resident", "quick")] if options.quick else cases
    rows = list(kept(search, cases, options.out, "plans", options.jobs).values())
    for row in rows:
        found = row["why"] or f"{-row['saved']:+.1%} EDP, gap {row['gap']:.1%}"
        tell(f"{row['network']}, {title(row['machine'])}, {row['fuse']}: {found}, {row['cpu_seconds']:.0f} CPU-seconds")
    return {"plans": rows}


def title(machine: str) -> str:
    """The name of a machine, without its folder."""
    return machine.rpartition("/")[2].removesuffix(".yaml")


def draw(result: Result, *panels: Any) -> None:
    """Draw a panel by machine: EDP of plans by that one by one; a line from each down to its bound."""
    for axes, machine in zip(panels, MACHINES, strict=True):
        for number, (fuse, label) in enumerate(FUSE.items()):
            rows = {row["network"]: row for row in result["plans"] if row["machine"] == machine and row["fuse"] == fuse}
            rows = {network: row for network, row in rows.items() if not row["why"]}
            at = [NETWORKS.index(network) + 0.4 * number - 0.2 for network in rows]
            shares = [1 - row["saved"] for row in rows.values()]
            axes.barh(
                at, shares, 0.38, color=PALETTE[number], hatch=HATCHES[number], edgecolor="white",
                label=label if axes is panels[0] else None,
            )  # fmt: skip
            for place, share, row in zip(at, shares, rows.values(), strict=True):
                gap_line(axes, place, share, row["gap"])
        share_axes(axes, NETWORKS, title(machine), "EDP / EDP layer by layer", 1.08, named=axes is panels[0])
    panels[0].plot([], [], color="black", linewidth=1.2, label="down to what no plan is below")
    panels[0].figure.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=3)


if __name__ == "__main__":
    main()
