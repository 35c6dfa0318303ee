"""Fill and drain of systolic arrays: the model's folds are those of the executor, whatever the mapping."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch, parse_arch
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.model import count
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.model.simulate import simulate
from ruby_map.workloads import InputError, parse_yaml, shaped

from ..strategies import machines, mappings


@st.composite
def systolic_machines(draw):
    """Any machine, some axes below one of its levels systolic, of any size."""
    arch = draw(machines(most_levels=4))
    able = [index for index, level in enumerate(arch.levels) if level.fanout]
    if not able:
        return arch
    at = draw(st.sampled_from(able))
    axes = tuple(
        replace(axis, size=draw(st.integers(1, 16)), systolic=draw(st.booleans()), mesh=draw(st.sampled_from("XY")))
        for axis in arch.levels[at].fanout
    )
    levels = (*arch.levels[:at], replace(arch.levels[at], fanout=axes), *arch.levels[at + 1 :])
    return replace(arch, levels=levels)


@given(st.data())
def test_cycles_are_those_of_the_executor(data):
    """With windows, remainders, bypassed levels; whatever is kept inside the array, nothing too."""
    arch = data.draw(systolic_machines())
    batch = data.draw(mappings(arch=st.just(arch)))
    truth = simulate(batch)
    assert count(batch).cycles.tolist() == truth.cycles.tolist()
    assert int(recount(batch).cycles[0]) == int(truth.cycles[0])


def weight_stationary(rows=14, columns=12):
    """One word of Weights in each place, inputs and sums pass by."""
    axes = (Axis("row", rows, "Y", systolic=True), Axis("column", columns, "X", systolic=True))
    register = Storage("Register", "regfile", keep=frozenset({"Weights"}), bypass=frozenset({"Inputs", "Outputs"}))
    return Architecture(
        "array", (Storage("DRAM", "DRAM"), Storage("Buffer", "SRAM", fanout=axes), register), Compute("MAC", "intmac")
    )


def folded(arch, layer, order=(0, 2, 1)):
    """The mapping of a product that runs all pixels for one tile of weights."""
    rows, columns = (axis.size for axis in arch.levels[1].fanout)
    m, n, k = layer.sizes
    factors = np.ones((1, 5, 3), np.int64)
    factors[0, 1:4] = [[-(-m // columns), n, -(-k // rows)], [1, 1, min(rows, k)], [min(columns, m), 1, 1]]
    keep = np.array([[[True] * 3, [True] * 3, [tensor.name == "Weights" for tensor in layer.tensors]]])
    return MappingBatch.of(arch, layer, factors, np.array([[(0, 1, 2), order, (0, 1, 2)]], np.int8), keep)


def test_a_convolution_on_14_by_12_places():
    """C 64, M 60, 7 x 7 pixels, 3 x 3 weights: 210 folds of 2 r + c + T - 2 cycles; without filling, 10,290."""
    layer = shaped("matmul", M=60, N=49, K=64 * 9)
    assert count(folded(weight_stationary(), layer)).cycles.tolist() == [210 * (28 + 12 + 49 - 2)] == [18_270]
    assert count(folded(plain(weight_stationary()), layer)).cycles.tolist() == [10_290]
    # with the pixels outside each cycle brings another tile
    assert count(folded(weight_stationary(), layer, (1, 0, 2))).cycles.tolist() == [10_290 * (1 + 28 + 12 - 2)]


def plain(arch):
    """The same machine without systolic axes."""
    level = arch.levels[1]
    axes = tuple(replace(axis, systolic=False) for axis in level.fanout)
    return replace(arch, levels=(arch.levels[0], replace(level, fanout=axes), *arch.levels[2:]))


def test_files_say_systolic():
    text = """
name: array
levels:
  - {name: DRAM, class: DRAM, fanout: [{name: a, size: 4, systolic: true}]}
  - {name: B, class: regfile, depth: 4, fanout: [{name: r, size: 3, mesh: Y, systolic: SECOND}]}
compute: {name: MAC, class: intmac}
"""
    assert parse_arch(parse_yaml(text.replace("SECOND", "false"), "a")).systolic == (0, 4)
    with pytest.raises(InputError) as caught:
        parse_arch(parse_yaml(text.replace("SECOND", "true"), "a"))
    assert "one systolic array at most; there is one below" in str(caught.value.faults[0])
    assert load_arch("eyeriss_like").systolic is None
