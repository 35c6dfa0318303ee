"""Fill and drain of systolic arrays: by hand, against the executor, in every cost, and nothing on other machines."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.model import count, simulate
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
