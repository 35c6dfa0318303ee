"""Bandwidths in bounds and proofs: what compulsory traffic takes is no gap, and a bound that is too high is noticed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import charge_bounds, ideal
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, validity
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import shaped

from ..conftest import DEEP
from ..searches import a_poor_beginning, optimal
from ..small_problems import (
    check_best_of_all,
    constrained_machines,
    figures,
    problems,
    slowed,
)

KEPT = frozenset({"Weights", "Inputs", "Outputs"})


def array(side=16, dram=4.0):
    """A square array below a scratchpad, as Gemmini's, with a slow DRAM; and its energies."""
    axes = (
        Axis("rows", side, constraint=LoopConstraint(dims=("M",))),
        Axis("columns", side, constraint=LoopConstraint(dims=("C", "K"))),
    )
    levels = (
        Storage("DRAM", "DRAM", word_bits=16, read_bandwidth=dram, write_bandwidth=dram),
        Storage("pad", "SRAM", fanout=axes, keep=KEPT, capacity_bits=2**19 * 16, word_bits=16, read_bandwidth=16.0),
    )
    energies = [
        LevelEnergy(level.name, pj, pj, pj, 0.0, 1.0, "given") for level, pj in zip(levels, (64, 3.5), strict=True)
    ]
    return Architecture("array", levels, Compute("MAC", "intmac")), EnergyTable(
        "array", tuple(energies), ComputeEnergy("MAC", 0.3, 0.0, 1.0, "given")
    )


def proven(workload, machine=None, **options):
    """The outcome of a proof, with its certificate, and what it is about."""
    arch, table = machine or array()
    space = Mapspace(arch, workload, "ruby-s")
    return optimal(space, table, SearchOptions(strategy="optimal", certify=True, **options)), space, table


@pytest.mark.parametrize(
    ("workload", "options"),
    [
        (shaped("conv2d", M=512, C=512, P=7, Q=7, R=3, S=3), {}),
        (shaped("matmul", M=11008, N=1, K=4096), {}),
        (shaped("matmul", M=512, N=512, K=64), {"objective": "delay"}),
    ],
    ids=["conv", "vector", "attention"],
)
def test_layers_that_bandwidth_limits_are_proven(workload, options):
    """Within seconds, with a certificate; the vector at its compulsory traffic over the bandwidth."""
    found, space, table = proven(workload, time_limit=60, **options)
    assert found.optimal
    cycles = int(evaluate(found.best, table).cycles[0])
    assert cycles > count(found.best).cycles[0]
    least = ideal(space.arch, workload, table).cycles
    assert least <= cycles
    if workload.size("N") == 1 and "K" in workload.dims:
        assert cycles == least == -(-(11008 * 4096 + 4096) // 4)
    assert verify(found.certificate, space.arch, workload, table).optimal


def test_a_certificate_does_not_hold_for_a_faster_memory():
    """There another mapping may be better."""
    workload = shaped("matmul", M=50, N=1, K=60)
    found, space, table = proven(workload, objective="delay")
    faster, _ = array(dram=32.0)
    assert verify(found.certificate, space.arch, workload, table).optimal
    with pytest.raises(Refused):
        verify(found.certificate, faster, workload, table)


@st.composite
def slow_problems(draw):
    """Problems whose every level may be slow."""
    space, table, objective, costs = draw(problems(constrained_machines(), 400))
    space = Mapspace(slowed(draw, space.arch), space.workload, space.remainders, distinct=True)
    return space, draw(st.sampled_from([table, draw(figures(space.arch))])), objective, costs


def _check(space, table, objective, costs):
    """The least value of all mappings, which a proof that begins poorly finds, and its certificate certifies."""
    with a_poor_beginning():
        found = optimal(space, table, SearchOptions(strategy="optimal", objective=objective, certify=True), costs)
    return check_best_of_all(found, space, table, objective, costs, certified=True)


@settings(max_examples=3_000 if DEEP else 12)
@given(slow_problems())
def test_equals_the_best_of_every_mapping(problem):
    """Whatever limits the mappings; every certificate is verified."""
    _check(*problem)


@settings(max_examples=1_000 if DEEP else 12)
@given(slow_problems())
def test_no_mapping_is_faster_than_the_ideal(problem):
    """Compulsory traffic is moved by every mapping."""
    space, table, _, options = problem
    least = ideal(space.arch, space.workload, table, options).cycles
    for batch in space.batches():
        costs = evaluate(batch, table, options)
        assert (costs.cycles[validity(batch) == 0] >= least).all()


@pytest.mark.parametrize("factor", [1.05, 2.0])
def test_a_wrong_bound_is_noticed(monkeypatch, factor):
    """Cycles of a flow that are too high rule the optimum out, or a mapping is below the bound of its chains."""
    workload, real = shaped("matmul", M=96, N=40, K=60), charge_bounds._share
    right, _, _ = proven(workload)
    monkeypatch.setattr(
        charge_bounds, "_share", lambda charge, group: real(charge, group) / (factor if charge.mean else 1)
    )
    try:
        with a_poor_beginning():
            wrong, space, table = proven(workload)
    except InternalError:
        return
    if wrong.lower_bound > right.lower_bound * (1 + 1e-9):
        return
    with pytest.raises(Refused):
        verify(wrong.certificate, space.arch, workload, table)


@st.composite
def diagonal_problems(draw):
    """Windows spread over two axes of a slow level, whose last instance has less to do than the others."""
    sizes = [draw(st.integers(1, 3)) for _ in range(3)]
    dims = (("P",), ("P",), ("R",))
    x, p, r = (
        Axis(name, size, constraint=LoopConstraint(dims=of)) for name, size, of in zip("xpr", sizes, dims, strict=True)
    )
    keep, bypass = frozenset({"Inputs"}), frozenset({"Weights", "Outputs"})
    rate = draw(st.sampled_from([0.25, 0.5, 1.0]))
    fixed, free = LoopConstraint(dims=()), LoopConstraint(dims=("P", "R"))
    levels = (
        Storage("L0", "DRAM", fanout=(x,)),
        Storage("L1", "SRAM", fanout=(p, r), keep=keep, bypass=bypass, temporal=fixed, read_bandwidth=rate),
        Storage(
            "L2", "SRAM", keep=keep, bypass=bypass, temporal=free, write_bandwidth=draw(st.sampled_from([None, 0.5]))
        ),
    )
    arch = Architecture("diagonal", levels, Compute("MAC", "intmac"))
    window = {"stride": draw(st.sampled_from([1, 1, 2])), "dilation": draw(st.sampled_from([1, 1, 2, 3]))}
    layer = shaped("conv2d", M=1, C=1, P=draw(st.integers(2, 12)), Q=1, R=draw(st.integers(2, 6)), S=1, **window)
    return Mapspace(arch, layer, "ruby", distinct=True), draw(figures(arch))


@settings(max_examples=500 if DEEP else 6)
@given(diagonal_problems(), st.sampled_from(["delay", "edp"]))
def test_children_that_coincide_at_the_origin_alone(problem, objective):
    """There the mean over the instances of a level may be above its origin: the bound is not."""
    space, table = problem
    _check(space, table, objective, Charges())


def two_instances():
    """A window spread over two instances, the last of which has less to do: the mapspace and energies."""
    x, p, r = (Axis(name, 2, constraint=LoopConstraint(dims=(dim,))) for name, dim in zip("xpr", "PPR", strict=True))
    keep, bypass = frozenset({"Inputs"}), frozenset({"Weights", "Outputs"})
    fixed, free = LoopConstraint(dims=()), LoopConstraint(dims=("P", "R"))
    levels = (
        Storage("L0", "DRAM", fanout=(x,)),
        Storage("L1", "SRAM", fanout=(p, r), keep=keep, bypass=bypass, temporal=fixed, read_bandwidth=0.5),
        Storage("L2", "SRAM", keep=keep, bypass=bypass, temporal=free),
    )
    arch = Architecture("diagonal", levels, Compute("MAC", "intmac"))
    energies = tuple(LevelEnergy(level.name, 1.0, 1.0, 1.0, 0.0, 1.0, "given") for level in levels)
    table = EnergyTable("diagonal", energies, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    return Mapspace(arch, shaped("conv2d", M=1, C=1, P=11, Q=1, R=6, S=1), "ruby", distinct=True), table


def test_a_mean_above_the_origin_proves_nothing():
    """The smallest problem known: 30 cycles, where a mean over two instances says 32."""
    space, table = two_instances()
    assert _check(space, table, "delay", Charges()) == 30
