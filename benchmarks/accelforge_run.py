"""One run of AccelForge: `python benchmarks/accelforge_run.py SPEC.yaml` prints what it finds as JSON.

A specification with a mapping is evaluated, any other is mapped. CPU-seconds are those of the mapper in one process:
without imports, and without what it compiles on first use (a product of 2 x 2 x 2 is mapped before).
"""

import argparse
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from signal import ITIMER_PROF, setitimer
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import accelforge as af
from accelforge.frontend.mapping import Spatial, Storage, Temporal
from accelforge.mapper.FFM.main import map_workload_to_arch
from accelforge.model.main import evaluate_mapping
from accelforge_forms import specification
from mapping_nodes import Node
from ruby_map.arch import Architecture, Compute
from ruby_map.arch import Storage as Memory
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.workloads import shaped

METRICS = {"energy": af.mapper.Metrics.ENERGY, "edp": af.mapper.Metrics.ENERGY_DELAY_PRODUCT}
MINIMIZED = {"energy": "Total<SEP>energy", "edp": "Total<SEP>energy_delay_product"}  # the mapper's own figures


def mapped(path: Path, objective: str, imperfect: bool) -> dict[str, Any]:
    """What the mapper minimized, and of its best energy in pJ, cycles and nodes from the outside in; CPU-seconds."""
    spec = af.Spec.from_yaml(path)
    spec.mapper.metrics = METRICS[objective]
    spec.mapper.explore_imperfect_temporal_loops = imperfect
    spec.mapper.explore_imperfect_spatial_loops = imperfect
    start = process_time()
    # no picture, which takes graphviz
    mappings = map_workload_to_arch(spec, print_progress=False, eval_in_detail=False)
    seconds = process_time() - start
    best = mappings.data["Total<SEP>mapping"].iloc[0]
    nodes = [plain for node in best().nodes if (plain := as_plain(node))]
    spec.model.metrics, spec.mapping = spec.mapper.info_metrics, best(_for_model=True)
    again = evaluate_mapping(spec, flattened_arches=mappings.flattened_arches, evaluated_specs=mappings.evaluated_specs)
    minimized = float(mappings.data[MINIMIZED[objective]].iloc[0])
    return {**figures(again), "minimized": minimized, "seconds": seconds, "nodes": nodes}


def as_plain(node: Any) -> Node | None:
    """A node of a mapping as JSON has it, None if it decides nothing. Raises ValueError for a loop of several tiles."""
    if isinstance(node, Storage):
        return {"memory": node.component, "tensors": list(node.tensors)}
    if not isinstance(node, Spatial | Temporal):
        return None
    if node.initial_tile_shape not in (None, node.tile_shape):
        raise ValueError(f"first and other tiles differ: {node}")
    loop: Node = {"dim": str(node.rank_variable).upper(), "tile": int(node.tile_shape)}
    return loop | {"axis": node.name} if isinstance(node, Spatial) else loop


def evaluated(path: Path) -> dict[str, Any]:
    """What the model says of the mapping in the specification."""
    return figures(af.Spec.from_yaml(path).evaluate_mapping())


def figures(result: Any) -> dict[str, Any]:
    """Energy in pJ and cycles."""
    return {"energy_pj": float(result.energy()), "cycles": float(result.latency())}


def compile_everything(imperfect: bool) -> None:
    """Map a product of 2 x 2 x 2 on a memory and a MAC unit."""
    memory, mac = LevelEnergy("DRAM", 1, 1, 1, 0, 0, ""), ComputeEnergy("MAC", 1, 0, 0, "")
    arch = Architecture("one", (Memory("DRAM", "DRAM"),), Compute("MAC", "intmac"))
    with TemporaryDirectory() as folder:
        path = Path(folder, "spec.yaml")
        path.write_text(specification(arch, EnergyTable("one", (memory,), mac), shaped("matmul", M=2, N=2, K=2)))
        mapped(path, "energy", imperfect)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("spec", type=Path)
    parser.add_argument("--objective", choices=METRICS, default="energy")
    parser.add_argument("--imperfect", action="store_true", help="bounds need not divide")
    parser.add_argument("--limit", type=int, default=100, help="CPU-seconds, then SIGPROF ends it")
    parser.add_argument("--evaluate", action="store_true", help="the specification has a mapping")
    args = parser.parse_args()
    af.set_n_parallel_jobs(1)
    with redirect_stdout(sys.stderr):
        if args.evaluate:
            result = evaluated(args.spec)
        else:
            compile_everything(args.imperfect)
            setitimer(ITIMER_PROF, args.limit)  # AccelForge lifts limits that the system has for a process
            result = mapped(args.spec, args.objective, args.imperfect)
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
