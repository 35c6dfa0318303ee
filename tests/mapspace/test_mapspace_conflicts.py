"""Constraints that leave no mapping are found when the mapspace is made, and named."""

import pytest
from ruby_map.arch import Architecture, Axis, LoopConstraint, Storage
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.workloads import InputError, Tensor, Term, Workload

from ..small_spaces import MAC, machine, matmul, rule


def axis(**constraint):
    return Axis("X", 4, constraint=LoopConstraint(**constraint))


CONFLICTS = {
    "factors that do not divide": (
        machine(axis(factors=(rule("M", "=", 4),)), inner=LoopConstraint((rule("M", "=", 2),))),
        matmul(12, 2, 2),
        "pfm",
        "M=12 cannot meet M=4 at DRAM.X and M=2 at pad; with remainders it could (mapspace ruby)",
    ),
    "one factor that does not divide": (
        machine(axis(factors=(rule("M", "=", 4),), remainders=False), inner=LoopConstraint((rule("M", "<=", 1),))),
        matmul(7, 2, 2),
        "ruby-s",
        "M=7 cannot meet M=4 at DRAM.X",
    ),
    "factors that overshoot": (
        machine(axis(factors=(rule("M", "=", 4),)), inner=LoopConstraint((rule("M", ">=", 9),))),
        matmul(20, 2, 2),
        "ruby",
        "M=20 cannot meet M=4 at DRAM.X and M>=9 at pad",
    ),
    "factor against axis": (
        machine(axis(factors=(rule("K", "=", 6),)), inner=LoopConstraint((rule("M", "=", 2),))),
        matmul(2, 2, 6),
        "ruby",
        "K=6 cannot meet K=6 at DRAM.X and the size 4 of DRAM.X",
    ),
    "nowhere to go": (
        machine(axis(), outer=LoopConstraint(dims=("N",)), inner=LoopConstraint((rule("M", "<=", 2),))),
        matmul(9, 2, 2),
        "ruby",
        "M=9 cannot meet the dims allowed at DRAM (N) and the size 4 of DRAM.X and M<=2 at pad",
    ),
    "utilization out of reach": (
        machine(axis(min_utilization=0.9, dims=("M",), factors=(rule("N", "<=", 1),))),
        matmul(3, 2, 2),
        "ruby",
        "no mapping meets the dims allowed at DRAM.X (M) and a utilization of at least 0.9 of DRAM.X together, "
        "within the 4 places of DRAM.X",
    ),
    "two dims on one axis": (
        machine(axis(factors=(rule("M", "=", 2), rule("K", "=", 3), rule("N", "<=", 2)))),
        matmul(4, 2, 6),
        "ruby",
        "no mapping meets M=2 at DRAM.X and K=3 at DRAM.X together, within the 4 places of DRAM.X",
    ),
    "too few loops": (
        machine(inner=LoopConstraint((rule("M", "=", 2), rule("K", "=", 2)), max_loops=1)),
        matmul(4, 2, 6),
        "pfm",
        "no mapping meets M=2 at pad and K=2 at pad and at most 1 loops at pad together",
    ),
    "keep and bypass": (machine(keep="A", bypass="A"), matmul(2, 2, 2), "pfm", "pad must both keep and bypass A"),
    "order names twice": (
        machine(inner=LoopConstraint(outermost=("M",), innermost=("M",))),
        matmul(2, 2, 2),
        "pfm",
        "the loop order of pad places M more than once",
    ),
}


@pytest.mark.parametrize("case", CONFLICTS)
def test_contradictions_are_named(case):
    """Constraints that leave nothing are an InputError that names the ones in conflict and no others."""
    arch, work, preset, message = CONFLICTS[case]
    with pytest.raises(InputError) as caught:
        Mapspace(arch, work, preset)
    assert [fault.message for fault in caught.value.faults] == [message]


def test_all_dims_in_conflict_are_told_at_once():
    """Every dim without a chain has a fault of its own."""
    arch = machine(inner=LoopConstraint((rule("M", "=", 7), rule("K", "=", 9))))
    with pytest.raises(InputError) as caught:
        Mapspace(arch, matmul(4, 4, 4), "ruby")
    assert [fault.message.split()[0] for fault in caught.value.faults] == ["M=4", "K=4"]


def test_a_conflict_is_named_where_some_of_its_limits_alone_are_too_many_to_count():
    """Without the limit on loops this mapspace is too large to count: the limit is named, and nothing crashes."""
    nothing_over = LoopConstraint((rule("M", "=", None),), max_loops=0)
    glb = Storage("glb", "SRAM", fanout=tuple(Axis(name, 64) for name in "XYZW"), temporal=nothing_over)
    arch = Architecture("m", (Storage("DRAM", "DRAM"), glb), MAC)
    with pytest.raises(InputError) as caught:
        Mapspace(arch, matmul(30, 40, 30), "ruby-s", distinct=True)
    (fault,) = caught.value.faults
    assert fault.message == "no mapping meets M=full at glb and at most 0 loops at glb together"


def test_machines_and_layers_beyond_the_limits_are_refused_before_any_work():
    """128 dims and 41 levels are faults, told together; the most that is allowed of each is none."""
    dims = tuple(f"D{i}" for i in range(128))
    layer = Workload("long", dims, (1,) * 128, (Tensor("Z", tuple((Term(dim),) for dim in dims), output=True),))
    tall = Architecture("tall", tuple(Storage(f"L{i}", "SRAM") for i in range(41)), MAC)
    with pytest.raises(InputError) as told:
        Mapspace(tall, layer, "pfm")
    assert "a layer has at most 127 dims; this one has 128" in str(told.value)
    assert "a machine has at most 32 levels" in str(told.value)
    short = Workload("short", dims[:127], (1,) * 127, (Tensor("Z", ((Term("D0"),),), output=True),))
    fits = Architecture("fits", tall.levels[:32], MAC)
    assert Mapspace(fits, short, "pfm").size.factorization == 1
