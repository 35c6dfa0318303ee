"""Claim: every ordinary machine maps: the default search answers with a proof or a gap, in time and memory of a laptop.

Ten machines of three to six levels with up to three axes of up to 65,536 places and without constraints
(ordinary_machines/), ten layers of language and vision models up to 152,064 wide, each pair by the default search with
default effort in a process of its own: what is proven, CPU seconds, peak of memory. What is refused is recorded as
that. Seconds and memory depend on the machine, the rest does not.
"""

import argparse
import re
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import Any

from answers.measurements import Case, Store, alone
from common import arguments, recorded, save, tell
from matplotlib.colors import LogNorm
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.workloads import InputError, load_workload, shaped
from searches import HERE, STORE, Json, jobs_option

MACHINES = tuple(sorted(path.stem for path in (HERE / "ordinary_machines").glob("*.yaml")))
VOCABULARY = "qwen2_7b vocabulary"  # of 152,064 words, hidden size 3,584 (its model card), one token
LAYERS = (
    "resnet50/conv1", "resnet50/conv3_x_3x3", "mobilenet_v2/block8_depthwise", "mobilenet_v2/fc",
    "bert_base_256/ffn_up", "bert_base_256/scores", "llama3_8b_prefill_2048/gate_and_up",
    "llama3_8b_prefill_2048/context", "llama3_8b_decode_4096/lm_head", VOCABULARY,
)  # fmt: skip
TABLE = "ordinary_machines"
CERTIFIED = 1e-4  # drawn as the least gap


def measure(case: Case) -> Json:
    """The default search of a layer on a machine: what is found, proven and used."""
    layer = case["layer"]
    workload = shaped("matmul", "vocabulary", M=152_064, K=3_584, N=1) if layer == VOCABULARY else load_workload(layer)
    options, cpu, began = SearchOptions(effort=case["effort"]), time.process_time(), time.monotonic()
    try:
        result = explore(str(HERE / f"ordinary_machines/{case['machine']}.yaml"), workload, "ruby-s", options)
    except InputError as refused:
        return {"answers": [], "refused": str(refused)}
    assert isinstance(result, Result)
    return {
        "answers": [],
        "edp": result.edp if result.found else None,
        "gap": result.own_gap if result.found else None,
        "utilization": result.utilization if result.found else None,
        "cpu_seconds": time.process_time() - cpu,
        "seconds": time.monotonic() - began,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Search every pair that no line of the store has, several at a time."""
    store = Store(options.out / STORE / f"{TABLE}.jsonl")
    machines, layers, effort = MACHINES, LAYERS, "normal"
    if options.quick:
        machines, layers, effort = ("three_wide_axes",), (VOCABULARY,), "mappings=2000,steps=20000"
    cases: list[Case] = [
        {"machine": machine, "layer": layer, "effort": effort} for machine, layer in product(machines, layers)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(partial(_run, store), [case for case in cases if store.line_of(TABLE, case) is None]))
    lines = [store.line_of(TABLE, case) for case in cases]
    rows = [line["case"] | line["found"] for line in lines if line is not None]
    for row in rows:
        del row["answers"]
    return {"effort": effort, "rows": rows}


def _run(store: Store, case: Case) -> None:
    outcome = alone(measure, case)
    store.append(TABLE, case, outcome)
    tell(f"{case['machine']}, {case['layer']}: {_cell(outcome)}")


def _cell(row: Json) -> str:
    """A pair in few letters: what is proven, and the seconds."""
    if "refused" in row:
        return "refused"
    if row["gap"] is None:
        return "no valid mapping"
    proof = "certified" if row["gap"] <= CERTIFIED else f"{100 * row['gap']:.2g} % open"
    return f"{proof}\n{row['cpu_seconds']:.0f} s, {row['peak_mb'] / 1024:.1f} GB"


def draw(result: dict[str, Any], axes: Any) -> None:
    """A table of machines by layers: gap, CPU seconds and peak of memory, darker where more is open."""
    rows = {(row["machine"], row["layer"]): row for row in result["rows"]}
    machines, layers = (list(dict.fromkeys(pair[at] for pair in rows)) for at in (0, 1))
    gaps = [[rows[machine, layer].get("gap") for layer in layers] for machine in machines]
    shown = [[max(gap or 0.0, CERTIFIED) for gap in line] for line in gaps]
    axes.imshow(shown, cmap="Blues", norm=LogNorm(CERTIFIED, 10), aspect="auto", zorder=3)  # above the grid
    for (at, machine), (across, layer) in product(enumerate(machines), enumerate(layers)):
        colour = "white" if shown[at][across] > 0.1 else "black"
        axes.text(
            across, at, _cell(rows[machine, layer]), ha="center", va="center", fontsize=6.5, color=colour, zorder=4
        )
    axes.set_xticks(
        range(len(layers)), [re.sub("[/ ]|_(?=prefill|decode)", "\n", layer) for layer in layers], fontsize=7
    )
    axes.set_yticks(range(len(machines)), machines, fontsize=8)
    axes.set_title(
        f"What the default search proves (effort {result['effort']}), CPU seconds and peak of memory",
        fontsize=10, loc="left",
    )  # fmt: skip


def main() -> None:
    options = arguments(__doc__, more=jobs_option)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result), size=(12, 6.2))


if __name__ == "__main__":
    main()
