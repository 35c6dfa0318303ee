"""Elements with two registers: by hand, against the executor and a clocked array, and never slower than with one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import count, recount, simulate
from ruby_map.workloads import shaped

from ..double_buffered_elements import product_and_cycles
from ..strategies import convolutions, mappings, matmuls
from .test_systolic import TENSORS, arrays, machine, mapping, weight_stationary


def doubled(batch):
    """The same mappings on elements with two registers."""
    return replace(batch, arch=with_two_registers(batch.arch))


def with_two_registers(arch):
    levels = [
        replace(level, fanout=tuple(replace(axis, double_buffered=axis.systolic) for axis in level.fanout))
        for level in arch.levels
    ]
    return replace(arch, levels=tuple(levels))


@pytest.mark.parametrize("outer", ["KM", "MK"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_load_hidden_behind_steps(outer, inside):
    """210 folds of 49 steps hide loads of 14 cycles: one load and one skew are left. Folds of 9 leave 5 of each."""
    assert count(doubled(weight_stationary(outer=outer, inside=inside))).cycles[0] == 210 * 49 + 14 + 14 + 12 - 2
    short = count(doubled(weight_stationary(n=9, outer=outer, inside=inside)))
    assert short.fill_drain[0] == 14 + 14 + 12 - 2 + 209 * (14 - 9)


@pytest.mark.parametrize("workloads", [matmuls(), convolutions(most=4)], ids=["products", "convolutions"])
def test_equal_to_the_executor(workloads):
    """On any nest: folds of many lengths, loops inside the elements, any tensor stationary, or none."""
    seen = set()

    @given(mappings(workloads=workloads, arch=arrays(), most_spatial=6))
    def holds(batch):
        got, want, single = count(doubled(batch)), simulate(doubled(batch)), count(batch)
        assert got.cycles[0] == want.cycles[0]
        array = batch.arch.systolic
        assert array.rows + array.skew <= got.fill_drain[0] == want.fill_drain[0] <= single.fill_drain[0]
        exact = recount(doubled(batch)).fill_drain[0]
        assert (exact, type(exact)) == (want.fill_drain[0], int)
        seen.add((got.fill_drain[0] < single.fill_drain[0], bool(got.fill_drain[0] > array.rows + array.skew)))

    holds()
    assert len(seen) == 4


def test_equal_to_the_executor_in_batches():
    """Mappings of one mapspace together, with registers for several words: each as if alone."""
    dram, register = machine(3, 2).levels
    arch = with_two_registers(replace(machine(), levels=(dram, replace(register, capacity_bits=16 * 6))))
    rng, seen = np.random.default_rng(0), set()
    for workload in (shaped("matmul", M=5, N=7, K=6), shaped("conv2d", M=3, C=2, P=3, Q=2, R=2, S=1)):
        batch = Mapspace(arch, workload, "ruby").sample(rng, 60)
        counts = count(batch)
        for i in range(len(batch)):
            assert counts.fill_drain[i] == simulate(batch.take([i])).fill_drain[0]
            seen.add(counts.fill_drain[i])
    assert len(seen) > 10


@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(1, 4), st.sampled_from("KM")
)
def test_equal_to_elements_clocked(m, k, n, rows, columns, outermost):
    """Loads beside the fold before disturb no sum, and take as many cycles as the model says; the skew stays once."""
    rng = np.random.default_rng(m * 81 + k * 9 + n)
    weights, inputs = rng.integers(-9, 9, (k, m)), rng.integers(-9, 9, (k, n))
    outputs, cycles = product_and_cycles(weights, inputs, rows, columns)
    np.testing.assert_array_equal(outputs, weights.T @ inputs)
    folds = -(-m // columns) * -(-k // rows)
    assert cycles == rows + (folds - 1) * max(n, rows) + n + rows + columns - 2
    if n > 1:  # of one pixel the model may take another tensor for stationary
        batch = doubled(
            weight_stationary(m, k, n, outer="MK" if outermost == "M" else "KM", rows=rows, columns=columns)
        )
        assert count(batch).cycles[0] == cycles


@pytest.mark.parametrize(("tensor", "hidden"), [("Outputs", (4, 3, 3)), ("Weights", (4, 4, 3))])
def test_what_has_nothing_beside_it(tensor, hidden):
    """Four folds of 4, 4, 3 and 3 steps, exchanges of 8 cycles: nothing leaves beside the first fold of outputs, and
    nothing comes in beside the last one of weights."""
    dram, register = machine(8, 3).levels
    arch = with_two_registers(machine(8, 3))
    buffer = replace(arch.levels[0], name="buffer", cls="SRAM")
    arch = replace(arch, levels=(replace(dram, fanout=()), buffer, register))
    along, down = ("K", "N") if tensor == "Outputs" else ("N", "K")
    bounds = [{along: 2}, {"M": 2, along: 4}, {"M": 3}, {down: 5}, {}]
    layer = shaped("matmul", **{"M": 6, along: 7, down: 5})
    batch = mapping(arch, layer, bounds, [along, "M" + along, ""], [TENSORS, TENSORS, {tensor}])
    assert count(batch).fill_drain[0] == simulate(batch).fill_drain[0] == 8 + 8 + 3 - 2 + sum(8 - T for T in hidden)


def test_a_single_fold_is_as_before():
    """Nothing can be hidden: one load, one skew."""
    batch = weight_stationary(12, 14, 49)
    assert count(doubled(batch)).fill_drain[0] == count(batch).fill_drain[0] == 14 + 14 + 12 - 2


def test_one_axis_speaks_for_the_array():
    """An element has two registers, whatever axis says so."""
    dram, register = machine(3, 2).levels
    for i in (0, 1):
        axes = [replace(axis, double_buffered=i == j) for j, axis in enumerate(dram.fanout)]
        assert replace(machine(), levels=(replace(dram, fanout=tuple(axes)), register)).systolic.double_buffered
    assert not machine().systolic.double_buffered


def test_the_model_compiled_is_the_model():
    """JAX computes the same cycles."""
    pytest.importorskip("jax", reason="needs the extra jax")
    from ruby_map.mapper.problem import Charges

    from ..search.test_engine import agree
    from ..search.test_systolic import ordered

    space, table = ordered()
    dram, buffer = with_two_registers(space.arch).levels
    free = replace(space.arch, levels=(dram, replace(buffer, keep=buffer.keep - {"Weights"}, capacity_bits=400)))
    for workload in (shaped("matmul", M=5, N=7, K=3), shaped("conv2d", M=3, C=3, P=4, Q=1, R=2, S=1)):
        assert (agree(Mapspace(free, workload, "ruby"), table, Charges(leakage=True)) == 0).any()
