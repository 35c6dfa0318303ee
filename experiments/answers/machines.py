"""Proofs on other machines: every loop at every level, and systolic arrays with the bandwidth of their DRAM."""

from collections.abc import Sequence
from itertools import product

from ruby_map.arch import load_arch
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.workloads import Workload, load_workload
from searches import Json
from time_to_quality import LAYERS

from . import proofs
from .known import Answer, Known
from .measurements import Case, Line, Row, Size, Table, proven, shown, spec

MAPSPACE = "ruby-s"
ARRAYS = ("tpu_like.yaml", "gemmini_like.yaml")
VECTOR = "kernels.yaml/gemv"  # its least delay is that of reading the matrix
KERNELS = (
    "kernels.yaml/gemm_4096",
    VECTOR,
    "resnet50/conv5_x_3x3",
    "mobilenet_v2/block8_depthwise",
    "bert_base_128/scores",
)


def cases(size: Size) -> list[Case]:
    """Layers of ResNet-50 on eyeriss_like_free, then kernels on the arrays."""
    if size.quick:
        return [proofs.proof_case(ARRAYS[1], VECTOR, MAPSPACE, 2.0)]
    free = [("eyeriss_like_free", f"resnet50/{layer}") for layer in LAYERS]
    return [proofs.proof_case(*problem, MAPSPACE, size.limit) for problem in [*free, *product(ARRAYS, KERNELS)]]


def measure(case: Case) -> Json:
    """The proof of the least EDP; of the vector's product also the bound of its delay over the compulsory traffic."""
    proof = proofs.measure(case)
    if case["workload"] == VECTOR:
        options = SearchOptions(strategy="optimal", objective="delay", time_limit=case["limit"])
        delay = explore(spec(case["machine"]), spec(case["workload"]), case["mapspace"], options)
        assert isinstance(delay, Result)
        bound = 0.0 if delay.lower_bound is None else delay.lower_bound
        proof["delay_bound_over_traffic"] = bound / traffic_cycles(case["machine"], case["workload"])
    return proof


def traffic_cycles(machine: str, layer: str) -> float:
    """Cycles that DRAM takes at least to read every operand once, and to write every result once."""
    workload = load_workload(spec(layer))
    assert isinstance(workload, Workload)
    dram = load_arch(spec(machine)).levels[0]
    read = sum(workload.tensor_words(tensor) for tensor in workload.tensors if not tensor.output)
    written = sum(workload.tensor_words(tensor) for tensor in workload.tensors if tensor.output)
    return max(limit.of(read, written) / limit.rate for limit in dram.bandwidths)


def rows(lines: Sequence[Line], known: Known) -> list[Row]:
    """A row for each proof."""
    return [line["case"] | line["found"] | {"gap": Answer(**line["found"]["answers"][0]).gap} for line in lines]


def _traffic(row: Row) -> str:
    return f"{row['delay_bound_over_traffic']:.6f}" if "delay_bound_over_traffic" in row else ""


TABLE = Table(
    "machines",
    "Other machines, ruby-s, EDP, `--search optimal`: CPU seconds, and of the product with a vector the bound of the "
    "delay over compulsory words / bandwidth.",
    cases,
    measure,
    rows,
    {
        "machine": lambda row: shown(row["machine"]),
        "layer": lambda row: shown(row["workload"]),
        "proof": lambda row: proven(row["gap"]),
        "CPU seconds": lambda row: f"{row['cpu_seconds']:.1f}",
        "peak memory": lambda row: f"{row['peak_mb'] / 1024:.2f} GB",
        "delay bound over traffic": _traffic,
    },
)
