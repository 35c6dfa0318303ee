"""Validity, energy, cycles: formulas worked by hand on small machines."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Slot, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import ideal
from ruby_map.mapper.exploration.diagnose import exceeded_limits
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import REASONS, evaluate, validity
from ruby_map.mapper.model.exactness import rate
from ruby_map.mapper.model.sanity import check_physical
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import Workload

from ..searches import optimal
from ..strategies import mappings, plain


def machine(**buffer):
    axes = buffer.pop("fanout", (Axis("PE", 4),))
    glb = Storage("GLB", "SRAM", fanout=axes, **buffer)
    return Architecture("two", (Storage("DRAM", "DRAM", width_bits=64), glb), Compute("MAC", "intmac"))


def matmul(m, n, k, **bits):
    tensors = [plain("A", "MK"), plain("B", "KN"), plain("Z", "MN", output=True)]
    tensors = tuple(dataclasses.replace(t, word_bits=bits.get(t.name)) for t in tensors)
    return Workload("matmul", ("M", "N", "K"), (m, n, k), tensors)


def mapping(arch, workload, factors):
    shape = (1, len(arch.levels))
    order = np.broadcast_to(np.arange(3, dtype=np.int8), (*shape, 3))
    return MappingBatch.of(arch, workload, np.array([factors]), order, np.ones((*shape, 3), bool))


def table(arch, **leak):
    levels = tuple(
        LevelEnergy(x.name, 10.0 * (i + 1), 100.0 * (i + 1), 1000.0 * (i + 1), leak.get(x.name, 0.0), 1.0, "given")
        for i, x in enumerate(arch.levels)
    )
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", 0.5, leak.get("MAC", 0.0), 1.0, "given"))


def test_energy_by_hand():
    """A 4x2x3 product, M over 4 PEs, all of it in the buffer: every word's fraction of a vector access."""
    arch, workload = machine(width_bits=32), matmul(4, 2, 3)
    batch = mapping(arch, workload, [[1, 1, 1], [1, 2, 3], [4, 1, 1]])
    costs = evaluate(batch, table(arch))
    dram, glb = 16 / 64, 16 / 32  # vector accesses per word
    a, b, z = 12, 6, 8
    np.testing.assert_allclose(costs.level_energy_pj[0, 0], [a * 10 * dram, b * 10 * dram, z * 1000 * dram])
    # A and Z differ from PE to PE; a word of B is read once for all four
    expected = [(24 * 20 + a * 200) * glb, (6 * 20 + b * 200) * glb, (24 * 2000 + 16 * 20) * glb]
    np.testing.assert_allclose(costs.level_energy_pj[0, 1], expected)
    assert costs.compute_energy_pj == 24 * 0.5
    assert costs.energy_pj[0] == pytest.approx(costs.level_energy_pj.sum() + 12)
    assert costs.cycles[0] == 6
    assert costs.utilization[0] == 1.0
    assert costs.edp[0] == costs.energy_pj[0] * 6


@pytest.mark.parametrize(("capacity", "buffering", "reason"), [(26, 1, 0), (25, 1, 1), (51, 2, 1), (52, 2, 0)])
def test_capacity_to_the_word(capacity, buffering, reason):
    """26 words of tiles fit 26 words and no fewer; double buffering offers half."""
    arch = machine(capacity_bits=capacity * 16, multiple_buffering=buffering)
    batch = mapping(arch, matmul(4, 2, 3), [[1, 1, 1], [1, 2, 3], [4, 1, 1]])
    assert validity(batch).tolist() == [reason]
    assert REASONS[1] == "capacity"


def test_word_bits_of_tensor_and_level():
    """A level's own width for a tensor goes before the tensor's, that before the level's word."""
    workload = matmul(4, 2, 3, A=8, Z=32)
    factors = [[1, 1, 1], [1, 2, 3], [4, 1, 1]]
    need = 12 * 8 + 6 * 16 + 8 * 24
    arch = machine(tensor_bits=(("Z", 24),))
    for capacity, reason in ((need, 0), (need - 1, 1)):
        levels = (arch.levels[0], dataclasses.replace(arch.levels[1], capacity_bits=capacity))
        fits = dataclasses.replace(arch, levels=levels)
        assert validity(mapping(fits, workload, factors)).tolist() == [reason]
    costs = evaluate(mapping(arch, workload, factors), table(arch))
    assert costs.level_energy_pj[0, 0, 0] == 12 * 10 * 8 / 64  # DRAM holds A in words of 8 bits
    assert costs.level_energy_pj[0, 0, 2] == 8 * 1000 * 32 / 64


def test_fanout_and_utilization():
    """Bounds on an axis multiply to at most its size, and to at least the share a constraint asks for."""
    workload = matmul(4, 4, 2)
    assert validity(mapping(machine(), workload, [[1, 1, 2], [2, 2, 1], [2, 2, 1]])).tolist() == [0]
    assert validity(mapping(machine(), workload, [[1, 1, 2], [1, 2, 1], [4, 2, 1]])).tolist() == [2]
    half = machine(fanout=(Axis("PE", 4, constraint=LoopConstraint(min_utilization=0.75)),))
    assert validity(mapping(half, workload, [[1, 1, 2], [2, 4, 1], [2, 1, 1]])).tolist() == [3]


@given(st.integers(1, 2000).flatmap(lambda size: st.tuples(st.integers(1, size), st.just(size))), st.booleans())
def test_least_utilization_is_a_whole_number(of, written):
    """A share of k of n instances asks for k of them, whatever floats make of it, also written with 12 digits."""
    k, n = of
    share = float(f"{k / n:.12g}") if written else k / n
    assert Slot(0, Axis("X", n), "X", LoopConstraint(min_utilization=share)).least == k
    assert Slot(0, None, "L0", LoopConstraint()).least == 0


def test_utilization_is_the_same_everywhere():
    """7 of 25 is 28 %: the mapspace, the check of a mapping and the bounds of the optimum agree on it."""
    axis = Axis("X", 25, constraint=LoopConstraint(dims=("M",), min_utilization=0.28))
    arch = Architecture("one", (Storage("L0", "DRAM", fanout=(axis,)),), Compute("MAC", "intmac"))
    space = Mapspace(arch, matmul(7, 2, 2), "ruby")
    batch = space.at(range(space.size.total))
    assert len(batch) == 6
    assert not validity(batch).any()
    assert exceeded_limits(batch.take([0])) == []
    assert optimal(space, table(arch), SearchOptions(strategy="random")).optimal


def test_bandwidth_binds():
    """Cycles are those of the slowest: the buffer's words over its bandwidth, reads and writes apart."""
    workload, factors = matmul(4, 2, 3), [[1, 1, 1], [1, 2, 3], [4, 1, 1]]
    arch = machine(read_bandwidth=5, write_bandwidth=100)
    costs = evaluate(mapping(arch, workload, factors), table(arch))
    assert costs.level_cycles[0].tolist() == [0, np.ceil((24 + 6 + 16) / 5)]
    assert costs.cycles[0] == 10
    assert costs.utilization[0] == 24 / (10 * 4)
    slow = machine(write_bandwidth=2)
    assert evaluate(mapping(slow, workload, factors), table(slow)).cycles[0] == np.ceil((12 + 6 + 24) / 2)


@pytest.mark.parametrize(
    ("bandwidth", "words", "cycles"), [(0.7, 7, 10), (1 / 3, 1, 3), (12.8, 64, 5), (0.29, 29, 100)]
)
def test_a_bandwidth_is_the_fraction_that_was_written(bandwidth, words, cycles):
    """The float nearest to 0.7 is below it: 21 words took 31 cycles."""
    assert rate(bandwidth) == (words, cycles)
    arch = machine(read_bandwidth=bandwidth)
    for k in range(1, 300):
        found = evaluate(mapping(arch, matmul(1, 1, k), [[1, 1, 1], [1, 1, k], [1, 1, 1]]), table(arch))
        assert found.level_cycles[0, 1] == -(-(3 * k - 1) * cycles // words)


def test_a_bandwidth_near_no_small_fraction_stays_what_it_is():
    """0.1 + 0.2 is not the float nearest to 0.3."""
    assert rate(0.1 + 0.2) == (0.1 + 0.2, 1)


@pytest.mark.parametrize("bandwidth", [0.1 + 0.2, 1e-6, 1e-12])
def test_the_ideal_of_such_a_bandwidth(bandwidth):
    """Cycles for all words that have to be read, as for any other bandwidth."""
    arch = machine(read_bandwidth=bandwidth)
    best = optimal(Mapspace(arch, matmul(2, 2, 2), "pfm"), table(arch), SearchOptions(strategy="random")).best
    assert evaluate(best, table(arch)).cycles[0] >= ideal(arch, best.workload, table(arch)).cycles > 0


@given(mappings(), st.floats(0.1, 50), st.floats(1, 10))
def test_more_bandwidth_never_adds_cycles(batch, bandwidth, times):
    """Raising every bandwidth leaves cycles equal or fewer, and never below compute."""

    def cycles(words):
        rates = {"read_bandwidth": words, "write_bandwidth": words, "shared_bandwidth": 1.5 * words}
        levels = tuple(dataclasses.replace(x, **rates) for x in batch.arch.levels)
        arch = dataclasses.replace(batch.arch, levels=levels)
        return evaluate(dataclasses.replace(batch, arch=arch), table(arch)).cycles[0]

    compute = evaluate(batch, table(batch.arch)).cycles[0]
    assert cycles(bandwidth) >= cycles(bandwidth * times) >= compute


def test_leakage_only_when_asked():
    """Every instance leaks in every cycle, used or not: 1 DRAM, 1 buffer, 4 MACs."""
    arch, workload = machine(), matmul(4, 2, 3)
    batch = mapping(arch, workload, [[1, 1, 1], [2, 2, 3], [2, 1, 1]])
    figures = table(arch, DRAM=1.0, GLB=2.0, MAC=0.25)
    without, with_leak = evaluate(batch, figures), evaluate(batch, figures, Charges(leakage=True))
    assert without.leak_energy_pj[0] == 0
    assert with_leak.energy_pj[0] - without.energy_pj[0] == pytest.approx(12 * (1 + 2 + 4 * 0.25))


def test_what_waits_for_a_bandwidth_leaks_meanwhile():
    """10 cycles for the words of the buffer, where the MACs work in 6: all of them leak in all 10."""
    workload, factors = matmul(4, 2, 3), [[1, 1, 1], [1, 2, 3], [4, 1, 1]]
    arch = machine(read_bandwidth=5, write_bandwidth=100)
    batch, figures = mapping(arch, workload, factors), table(arch, DRAM=1.0, GLB=2.0, MAC=0.25)
    without, with_leak = evaluate(batch, figures), evaluate(batch, figures, Charges(leakage=True))
    assert (with_leak.counts.cycles[0], with_leak.cycles[0]) == (6, 10)
    assert with_leak.leak_energy_pj[0] == 10 * (1 + 2 + 4 * 0.25)
    assert with_leak.energy_pj[0] == pytest.approx(without.energy_pj[0] + with_leak.leak_energy_pj[0], rel=1e-12)


@given(mappings())
def test_every_result_keeps_the_physical_bounds(batch):
    """Coverage, cycles and compulsory traffic hold for any mapping."""
    check_physical(batch, evaluate(batch, table(dataclasses.replace(batch.arch))))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("cycles", 1.0, "1 cycles for 24 MACs on 4 units"), ("energy_pj", np.nan, "energy must be finite")],
)
def test_an_impossible_result_is_never_printed(field, value, message):
    """A figure below the physical bound is an internal error that carries the mapping."""
    arch = machine()
    batch = mapping(arch, matmul(4, 2, 3), [[1, 1, 1], [1, 2, 3], [4, 1, 1]])
    costs = dataclasses.replace(evaluate(batch, table(arch)), **{field: np.array([value])})
    with pytest.raises(InternalError, match=message) as error:
        check_physical(batch, costs)
    assert "mapping: bounds {'M': [1, 1, 4]" in str(error.value)


def test_lost_traffic_is_an_internal_error():
    """Fewer words than the tensor has cannot have fed the MACs."""
    arch = machine()
    batch = mapping(arch, matmul(4, 2, 3), [[1, 1, 1], [1, 2, 3], [4, 1, 1]])
    costs = evaluate(batch, table(arch))
    costs.counts.reads[0, 0, 1] = 5
    with pytest.raises(InternalError, match="DRAM moves 5 words of B, which has 6"):
        check_physical(batch, costs)
