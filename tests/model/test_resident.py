"""Tensors that stay in a memory, and outputs that begin with sums: the model against the executor."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, stacked, unstacked
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import ideal
from ruby_map.mapper.model import check_physical, count, evaluate, recount, simulate
from ruby_map.mapper.model.cost import overfull
from ruby_map.mapper.model.explain import explain
from ruby_map.mapper.model.nests import NestAnalysis
from ruby_map.mapper.problem import Charges

from ..strategies import convolutions, machines, mappings, matmuls
from .test_cost import machine, mapping, matmul
from .test_counts import assert_equals_executor


def accumulating(workload):
    """The layer whose output holds sums before it."""
    tensors = tuple(replace(tensor, accumulates=tensor.output) for tensor in workload.tensors)
    return replace(workload, tensors=tensors)


@st.composite
def residents(draw):
    """A mapping on a machine some of whose tensors stay in a level with one instance; now and then its output adds."""
    batch = draw(mappings(st.one_of(matmuls(), convolutions()), machines(bandwidths=True)))
    arch, work, keep = batch.arch, batch.workload, batch.keep.copy()
    single = [level for level in range(len(arch.levels)) if arch.instances(level) == 1]
    for v, tensor in enumerate(work.tensors):
        level = draw(st.sampled_from(single))
        if level:
            arch = arch.with_resident(level, [tensor.name])
            keep[:, :level, v], keep[:, level, v] = False, True
    return replace(batch, arch=arch, workload=accumulating(work) if draw(st.booleans()) else work, keep=keep)


@given(residents())
def test_every_count_equals_the_executor(batch):
    """Counts, tiles and the words of the busiest instance, whatever is resident where."""
    assert_equals_executor(batch)
    explain(batch)  # its sums are compared with the model's


@given(residents(), st.booleans())
def test_reported_costs_are_possible_and_above_the_ideal(batch, drain_reads):
    """Ideal energy and cycles are no more than those of any mapping."""
    figures = tuple(LevelEnergy(level.name, 1.0, 2.0, 4.0, 0.0, 1.0, "given") for level in batch.arch.levels)
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    options = Charges(drain_reads=drain_reads)
    costs = evaluate(batch, table, options, recount(batch))
    check_physical(batch, costs)
    least = ideal(batch.arch, batch.workload, table, options)
    assert least.energy_pj <= costs.energy_pj[0] * (1 + 1e-12)
    assert least.cycles <= costs.cycles[0]


@given(residents())
def test_levels_outside_move_nothing_of_it(batch):
    """A resident tensor is read and updated where it stays and inside, and filled inside alone."""
    counts = count(batch)
    for v, tensor in enumerate(batch.workload.tensors):
        home = batch.arch.home(tensor.name)
        for name in ("reads", "fills", "updates", "tile_words"):
            assert not getattr(counts, name)[:, :home, v].any()
        assert not counts.fills[:, home, v].any()
        assert counts.tile_words[0, home, v] == batch.workload.tensor_words(tensor)


def test_an_output_that_adds_reads_each_word_once_more():
    """M x K = 2 x 3 with one update a word after another: 2 words more are read, at each level that has it."""
    arch = machine(fanout=(), keep=frozenset("ABZ"))
    plain = mapping(arch, matmul(2, 1, 3), [[2, 1, 3], [1, 1, 1]])
    adding = replace(plain, workload=accumulating(plain.workload))
    z = 2
    assert (count(adding).reads - count(plain).reads)[0, :, z].tolist() == [2, 2]
    assert (count(adding).fills - count(plain).fills)[0, :, z].tolist() == [0, 2]
    assert (count(adding).updates == count(plain).updates).all()


def test_a_resident_tensor_takes_its_whole_room():
    """Eight words of A stay in a buffer of ten: two are left for the tiles of the others."""
    levels = (Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=160))
    arch = Architecture("m", levels, Compute("MAC", "intmac")).with_resident(1, ["A"])
    keep = np.array([[[False, True, True], [True, True, True]]])
    for factors, over in (
        ([[4, 1, 2], [1, 1, 1]], False),
        ([[2, 1, 2], [2, 1, 1]], True),
    ):  # 8 + 1 + 1 and 8 + 1 + 2 words
        batch = replace(mapping(arch, matmul(4, 1, 2), factors), keep=keep)
        assert overfull(NestAnalysis(batch))[0] == over


def test_a_stack_has_it_in_its_last_level():
    """Even and uneven placement agree on where it is: unstacked it is as written."""
    levels = (Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=160, placement="uneven"))
    arch = Architecture("m", levels, Compute("MAC", "intmac")).with_resident(1, ["A"])
    stack = stacked(arch, matmul(2, 2, 2))
    assert [level.resident for level in stack.levels[1:]] == [frozenset(), frozenset("A")]
    assert unstacked(stack) == arch


def test_only_a_memory_with_one_instance_holds_a_whole_tensor():
    """Nor one that bypasses it, nor one inside another that keeps it."""
    levels = (Storage("L0", "DRAM"), Storage("L1", "SRAM", keep=frozenset("B"), bypass=frozenset("Z")))
    arch = Architecture("m", (*levels, Storage("L2", "SRAM")), Compute("MAC", "intmac"))
    with pytest.raises(ValueError, match="L1 bypasses Z"):
        arch.with_resident(1, ["Z"])
    with pytest.raises(ValueError, match="L1 keeps B, which stays in L2"):
        arch.with_resident(2, ["B"])
    spread = replace(arch, levels=(replace(levels[0], fanout=(Axis("x", 2),)), *arch.levels[1:]))
    with pytest.raises(ValueError, match="L1 has 2 instances"):
        spread.with_resident(1, ["A"])


def test_two_parts_of_a_reduction_are_the_whole():
    """K = 4 in two layers of K = 2, the second adding: the words of a nest that splits K outside all."""
    arch = machine(fanout=(), keep=frozenset("ABZ"))
    order = np.array([[[2, 0, 1], [0, 1, 2]]], np.int8)
    whole = replace(mapping(arch, matmul(2, 3, 4), [[2, 3, 2], [1, 1, 2]]), order=order)
    part = replace(mapping(arch, matmul(2, 3, 2), [[2, 3, 1], [1, 1, 2]]), order=order)
    first, then = simulate(part), simulate(replace(part, workload=accumulating(part.workload)))
    for name in ("reads", "fills", "updates", "cycles"):
        np.testing.assert_array_equal(getattr(first, name) + getattr(then, name), getattr(simulate(whole), name), name)
