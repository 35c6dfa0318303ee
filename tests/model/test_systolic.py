"""Fill and drain of systolic arrays: by hand, against the executor, in every cost, and nothing on other machines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import count, recount, simulate
from ruby_map.workloads import shaped

from ..strategies import convolutions, mappings, matmuls

TENSORS = {"Weights", "Inputs", "Outputs"}


def machine(rows=14, columns=12, *, inside=True, names=("column", "row")):
    """A memory above an array, with a register in each element if `inside`."""
    axes = (Axis(names[0], columns, "X", systolic=True), Axis(names[1], rows, "Y", systolic=True))
    levels = (Storage("DRAM", "DRAM", fanout=axes), Storage("register", "regfile"))
    return Architecture("array", levels if inside else levels[:1], Compute("MAC", "intmac"))


def mapping(arch, workload, bounds, orders, keep):
    """A mapping from bounds by slot and dim, the loops of each level by name, and the tensors that each level keeps."""
    dims, tensors = workload.dims, [tensor.name for tensor in workload.tensors]
    factors = np.array([[[slot.get(dim, 1) for dim in dims] for slot in bounds]])
    order = [[dims.index(d) for d in (*(d for d in dims if d not in loops), *loops)] for loops in orders]
    kept = [[name in names for name in tensors] for names in keep]
    return MappingBatch.of(arch, workload, factors, np.array([order], np.int8), np.array([kept]))


def weight_stationary(m=60, k=576, n=49, *, outer="KM", rows=14, columns=12, inside=True):
    """A product whose weights stay while all N flow through the array."""
    arch = machine(rows, columns, inside=inside)
    used = {"M": min(m, columns), "K": min(k, rows)}
    folds = {"M": -(-m // used["M"]), "K": -(-k // used["K"])}
    bounds = [{**folds, "N": n}, {"M": used["M"]}, {"K": used["K"]}, {}][: 4 if inside else 3]
    keep = [TENSORS, {"Weights"}][: 2 if inside else 1]
    return mapping(arch, shaped("matmul", M=m, K=k, N=n), bounds, [outer + "N", ""][: 2 if inside else 1], keep)


@pytest.mark.parametrize("outer", ["KM", "MK"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_weight_stationary_array(outer, inside):
    """42 x 5 folds of 49 words: 210 x (2 x 14 + 12 + 49 - 2) cycles, of which the steps alone are 210 x 49."""
    counts = count(weight_stationary(outer=outer, inside=inside))
    assert (counts.cycles[0], counts.fill_drain[0]) == (18_270, 7_980)


@st.composite
def arrays(draw):
    """One to three levels with a systolic array below one of them, other axes anywhere, and levels inside."""
    n = draw(st.integers(1, 3))
    at, levels = draw(st.integers(0, n - 1)), []
    for i in range(n):
        axes = [
            Axis(f"a{i}{j}", draw(st.integers(1, 6)), draw(st.sampled_from("XY")), systolic=i == at and not j)
            for j in range(draw(st.integers(int(i == at), 3)))
        ]
        axes = [replace(axis, systolic=axis.systolic or i == at and draw(st.booleans())) for axis in axes]
        levels.append(Storage(f"L{i}", "SRAM", fanout=tuple(axes)))
    return Architecture("random", tuple(levels), Compute("MAC", "intmac"))


@pytest.mark.parametrize("workloads", [matmuls(), convolutions(most=4)], ids=["products", "convolutions"])
def test_fill_and_drain_equal_the_executor(workloads):
    """On any nest: imperfect bounds, windows, groups, bypass, levels inside the array, one axis or several."""
    seen = set()

    @given(mappings(workloads=workloads, arch=arrays(), most_spatial=6))
    def holds(batch):
        got, want = count(batch), simulate(batch)
        assert got.cycles[0] == want.cycles[0]
        assert got.fill_drain[0] == want.fill_drain[0] >= batch.arch.systolic.rows + batch.arch.systolic.skew
        array, steps = batch.arch.systolic, got.cycles[0] - got.fill_drain[0]
        seen.add(bool(got.fill_drain[0] < steps * (array.rows + array.skew)))

    holds()
    assert seen == {True, False}  # some tensor is stationary, or none


@pytest.mark.parametrize("inner", ["even", "uneven"])
def test_memories_inside_and_outside_with_uneven_placement(inner):
    """Tensors below loops of their own: what each level of a stack keeps is told as in a memory of its own."""
    dram, register = machine(3, 2).levels
    buffer = Storage("buffer", "SRAM", fanout=dram.fanout, capacity_bits=16 * 12, placement="uneven")
    inside = replace(register, placement=inner, capacity_bits=16 * 3)
    arch = Architecture("array", (replace(dram, fanout=()), buffer, inside), Compute("MAC", "intmac"))
    rng, seen = np.random.default_rng(0), set()
    for workload in (shaped("matmul", M=5, N=3, K=4), shaped("conv2d", M=3, C=2, P=3, Q=1, R=2, S=1)):
        batch = Mapspace(arch, workload, "ruby").sample(rng, 60)
        counts = count(batch)
        for i in range(len(batch)):
            truth = simulate(batch.take([i]))
            assert (counts.cycles[i], counts.fill_drain[i]) == (truth.cycles[0], truth.fill_drain[0])
            seen.add(counts.fill_drain[i])
    assert len(seen) > 10


def test_output_and_input_stationary():
    """The same cost where the sums stay and leave after each fold, and where the inputs stay."""
    arch, layer = machine(4, 3), shaped("matmul", M=5, N=9, K=7)
    sums, words = [TENSORS, {"Outputs"}], [TENSORS, {"Inputs"}]
    outputs = mapping(arch, layer, [{"M": 2, "N": 3, "K": 7}, {"M": 3}, {"N": 4}, {}], ["MNK", ""], sums)
    inputs = mapping(arch, layer, [{"K": 2, "N": 3, "M": 5}, {"N": 3}, {"K": 4}, {}], ["KNM", ""], words)
    assert count(outputs).cycles[0] == 2 * 3 * (2 * 4 + 3 + 7 - 2)
    assert count(inputs).cycles[0] == 2 * 3 * (2 * 4 + 3 + 5 - 2)


def test_words_that_cannot_flow():
    """M on rows and columns: sums cannot flow in either direction, so each step is charged as if it changed all."""
    arch, layer = machine(4, 3), shaped("matmul", M=6, N=5, K=2)
    batch = mapping(arch, layer, [{"K": 2, "N": 5}, {"M": 3}, {"M": 2}, {}], ["KN", ""], [TENSORS, {"Weights"}])
    assert count(batch).cycles[0] == 10 * (1 + 4 + 4 + 3 - 2)


def test_a_tile_of_several_words():
    """Each element holds the weights of 2 rows of M: r cycles for each, once for all N."""
    arch, layer = machine(4, 3), shaped("matmul", M=6, N=5, K=4)
    batch = mapping(arch, layer, [{"N": 5}, {"M": 3}, {"K": 4}, {"M": 2}], ["N", "M"], [TENSORS, {"Weights"}])
    assert count(batch).fill_drain[0] == 4 * 2 + 4 + 3 - 2


def test_a_single_pixel():
    """Each element needs its own weight in each step, though the inputs may never change: as many folds as steps."""
    assert count(weight_stationary(60, 28, 1)).cycles[0] == 10 * (2 * 14 + 12 + 1 - 2)


@given(mappings(arch=arrays(), workloads=matmuls(4), most_spatial=6))
def test_everything_else_is_as_without(batch):
    """Words, tiles and steps are those of the same machine without systolic axes, whose costs never know them."""
    levels = [replace(x, fanout=tuple(replace(a, systolic=False) for a in x.fanout)) for x in batch.arch.levels]
    plain = replace(batch, arch=replace(batch.arch, levels=tuple(levels)))
    got, want = recount(batch), recount(plain)
    assert (want.fill_drain[0], want.cycles[0]) == (0, got.cycles[0] - got.fill_drain[0])
    for name in ("reads", "fills", "updates", "instances", "tile_words"):
        np.testing.assert_array_equal(getattr(got, name), getattr(want, name))
    assert isinstance(got.fill_drain[0], int)
