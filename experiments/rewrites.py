"""Claim: SqueezeNet and ResNet-50 are searched for rewrites on three machines in minutes, and no answer is worse than
the network itself; SqueezeNet stays as it is, ResNet-50 gains up to 0.2 % where two convolutions read one tensor.

ONNX models of random weights (onnx_networks/), with quick searches: by how much the best known EDP falls, and what is
proven of the network before. CPU seconds depend on the machine, the rest does not: effort is counted.
"""

import argparse
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
import onnx_networks
from common import Result, arguments, gap_line, markdown, recorded, save, share_axes, tell
from matplotlib.lines import Line2D
from ruby_map.mapper.commands.rewrite_result import RewriteResult
from ruby_map.mapper.exploration.memories import plan_keepers
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.report.pictures import PALETTE
from ruby_map.mapper.rewrite_search import Pricer, RewriteOptions, search_rewrites
from ruby_map.mapper.rewrites import Rules, read_tensor_graph, rules
from ruby_map.mapper.search.options import SearchOptions
from searches import Json, jobs_option, kept, machine_of

MACHINES = ("eyeriss_like", "simba_like", "tensor_core_like")
# title: the builder, its arguments
NETWORKS: dict[str, tuple[str, Json]] = {
    "SqueezeNet": ("squeezenet", {}),
    "ResNet-50": ("resnet50", {}),
}
SMALL = ("bert_encoder", {"options": onnx_networks.Options(divisor=16), "tokens": 8, "layers": 1})  # in a quick run
COUNTS = ("before", "after", "rewrites", "tried", "regions", "met", "priced", "bounded", "ended")


@dataclass(frozen=True)
class Case:
    """One network on one machine."""

    machine: str
    title: str  # in NETWORKS; else the small one
    graphs: int  # of a region that are priced, at most


def search(case: Case) -> Json:
    """The best network of a case: what `ruby-rewrite --json` says, and the CPU seconds that it took."""
    builder, more = NETWORKS.get(case.title, SMALL)
    begun = time.process_time()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        onnx.save(getattr(onnx_networks, builder)(**more), path)
        graph = read_tensor_graph(path)
    arch, table = machine_of(case.machine, ())
    options = SearchOptions(effort="quick", jobs=1, objective="edp")
    pricer = Pricer(arch, table, Charges(), "ruby-s", options, plan_keepers(arch))
    outcome = search_rewrites(graph, pricer, Rules(rules()), RewriteOptions(graphs=case.graphs))
    found = RewriteResult(case.machine, "ruby-s", OBJECTIVES["edp"], outcome).json()
    return asdict(case) | {key: found[key] for key in COUNTS} | {"cpu_seconds": round(time.process_time() - begun, 1)}


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    tell(table(result))
    save(__file__, options.out, result, partial(draw, result), panels=(1, len(MACHINES)), size=(10, 3.6))


def measured(options: argparse.Namespace) -> Result:
    """Rewrite every network for every machine; in a quick run a small one for one."""
    cases = [Case(machine, title, 60) for title in NETWORKS for machine in MACHINES]
    cases = [Case("eyeriss_like", "small", 2)] if options.quick else cases
    return {"networks": list(kept(search, cases, options.out, "rewrites", options.jobs).values())}


def share(row: Json) -> float:
    """The EDP after by that before."""
    return float(row["after"]["edp"] / row["before"]["edp"])


def gap(price: Json) -> float:
    """By how much the best possible may be below the best known, as a share of it."""
    return 1 - float(price["lower_bound"] / price["edp"])


def kinds(row: Json) -> str:
    """The substitutions that were used, each with the number of its places."""
    places = Counter[str]()
    for own in row["rewrites"]:
        places[own["name"].partition(" #")[0]] += len(own["nodes"])
    return "; ".join(f"{name} ({number})" for name, number in places.items()) or "none"


def table(result: Result) -> str:
    """A row for each network on each machine."""
    columns = {
        "network": lambda row: row["title"],
        "machine": lambda row: f"`{row['machine']}`",
        "EDP before [pJ cycles]": lambda row: f"{row['before']['edp']:.4g}",
        "gap": lambda row: f"{gap(row['before']):.1%}",
        "after": lambda row: f"{row['after']['edp']:.4g}",
        "gap ": lambda row: f"{gap(row['after']):.1%}",
        "change": lambda row: f"{share(row) - 1:+.2%}",
        "substitutions (places)": kinds,
        "regions": lambda row: str(row["regions"]),
        "met": lambda row: f"{row['met']:,}",
        "priced": lambda row: f"{row['priced']:,}",
        "by bound": lambda row: f"{row['bounded']:,}",
        "CPU s": lambda row: f"{row['cpu_seconds']:,.0f}",
    }
    return markdown(columns, result["networks"])


def draw(result: Result, *panels: Any) -> None:
    """Draw a panel by machine: EDP after by that before; a line from 1 down to what no plan before is below."""
    titles = list(NETWORKS)
    for axes, machine in zip(panels, MACHINES, strict=True):
        rows = [row for row in result["networks"] if row["machine"] == machine and row["title"] in NETWORKS]
        axes.barh([titles.index(row["title"]) for row in rows], [share(row) for row in rows], 0.6, color=PALETTE[0])
        for row in rows:
            gap_line(axes, titles.index(row["title"]) + 0.4, 1, gap(row["before"]))
        share_axes(axes, titles, machine, "EDP after by that before", 1.05, named=axes is panels[0])
    mark = Line2D([], [], color="black", linewidth=1.2, label="down to what no plan of the network before is below")
    panels[0].figure.legend(handles=[mark], fontsize=8, frameon=False, loc="outside lower center")


if __name__ == "__main__":
    main()
