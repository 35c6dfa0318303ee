"""Proofs in the largest mapspaces: machines that decide nothing, and memories whose placement is uneven."""

from itertools import product

from . import proofs
from .machines import rows
from .measurements import Case, Size, Table, proven, shown

MAPSPACE = "ruby-s"
MACHINES = ("four_levels.yaml", "five_levels.yaml", "ordinary_machines/six_levels.yaml", "both_uneven.yaml")
LAYERS = ("kernels.yaml/gemm_256", "kernels.yaml/gemm_512", "kernels.yaml/gemm_1024", "bert_base_128/ffn_up")
CONVOLUTIONS = ("resnet50/conv4_x_1x1b", "kernels.yaml/conv_batch")


def cases(size: Size) -> list[Case]:
    """Matrix products on each machine, and convolutions on those of even placement."""
    if size.quick:
        return [proofs.proof_case("both_uneven.yaml", "kernels.yaml/gemm_256", MAPSPACE, 0.5)]
    every = [*product(MACHINES, LAYERS), *product(MACHINES[:-1], CONVOLUTIONS)]
    return [proofs.proof_case(machine, layer, MAPSPACE, size.limit) for machine, layer in every]


TABLE = Table(
    "spaces",
    "The largest mapspaces, ruby-s, EDP, `--search optimal`: CPU seconds and memory.",
    cases,
    proofs.measure,
    rows,
    {
        "machine": lambda row: shown(row["machine"]),
        "layer": lambda row: shown(row["workload"]),
        "proof": lambda row: proven(row["gap"]),
        "CPU seconds": lambda row: f"{row['cpu_seconds']:.1f}",
        "peak memory": lambda row: f"{row['peak_mb'] / 1024:.2f} GB",
    },
)
