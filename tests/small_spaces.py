"""Small workloads and machines that the tests of the mapspace share."""

from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.workloads import Tensor, Term, Workload

MAC = Compute("MAC", "intmac")
KEEP = frozenset({"A", "B", "Z"})


def matmul(m, n, k):
    def tensor(name, dims, output=False):
        return Tensor(name, tuple((Term(dim),) for dim in dims), output=output)

    tensors = (tensor("A", "MK"), tensor("B", "KN"), tensor("Z", "MN", output=True))
    return Workload("matmul", ("M", "N", "K"), (m, n, k), tensors)


def machine(*axes, outer=None, inner=None, keep=KEEP, bypass=frozenset()):
    """DRAM, fanout axes, a scratchpad that keeps everything unless told otherwise."""
    dram = Storage("DRAM", "DRAM", fanout=axes, temporal=outer or LoopConstraint())
    pad = Storage("pad", "SRAM", keep=frozenset(keep), bypass=frozenset(bypass), temporal=inner or LoopConstraint())
    return Architecture("toy", (dram, pad), MAC)


def rule(dim, op, value):
    return FactorRule(dim, op, value)


TWO_AXES = (Axis("X", 4), Axis("Y", 3, "Y"))
CASES = {
    "one axis": (machine(Axis("X", 5)), matmul(6, 1, 7)),
    "two axes": (machine(*TWO_AXES), matmul(5, 1, 6)),
    "free bypass": (machine(Axis("X", 2), keep=(), bypass="B"), matmul(2, 3, 1)),
    "factors": (
        machine(
            Axis("X", 6, constraint=LoopConstraint((rule("M", "=", 3), rule("Q", "=", 2), rule("K", "<=", 2)))),
            inner=LoopConstraint((rule("K", ">=", 2), rule("N", "=", None))),
        ),
        matmul(9, 4, 6),
    ),
    "dims and use": (
        machine(
            Axis("X", 4, constraint=LoopConstraint(dims=("M", "K"), min_utilization=0.75)),
            outer=LoopConstraint(dims=("M", "N")),
        ),
        matmul(6, 3, 5),
    ),
    "few loops": (
        machine(Axis("X", 3), outer=LoopConstraint(max_loops=1), inner=LoopConstraint(max_loops=2)),
        matmul(4, 3, 4),
    ),
    "orders": (
        machine(
            Axis("X", 2),
            outer=LoopConstraint(outermost=("K",), innermost=("Q", "M")),
            inner=LoopConstraint(innermost=("N",)),
        ),
        matmul(3, 3, 4),
    ),
    "remainders by slot": (
        machine(Axis("X", 3, constraint=LoopConstraint(remainders=False)), inner=LoopConstraint(remainders=True)),
        matmul(7, 1, 5),
    ),
}


def convolution():
    dims = ("N", "M", "C", "P", "Q", "R", "S")
    tensors = tuple(
        Tensor(name, tuple((Term(d),) for d in of), output=name == "Z")
        for name, of in (("A", "NCPQ"), ("B", "MCRS"), ("Z", "NMPQ"))
    )
    return Workload("conv", dims, (1, 6144, 384, 27, 27, 5, 5), tensors)


def deep_machine():
    """Nine slots: five levels, four axes."""
    fanouts = ((), (Axis("PE", 15),), (Axis("vector", 4),), (Axis("half", 2),), (Axis("lane", 4),))
    levels = tuple(Storage(f"L{i}", "SRAM", fanout=fanout) for i, fanout in enumerate(fanouts))
    return Architecture("deep", levels, MAC)
