"""Layers with block-scaled tensors: counts equal the executor's, tiles may cut a block, bits, constraints."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.arch.block_scales import with_scales
from ruby_map.energy.spec import BitForm
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.exploration import load
from ruby_map.mapper.exploration.transforms import transformed
from ruby_map.mapper.mapping.batch import MappingBatch
from ruby_map.mapper.model.cost import validity
from ruby_map.mapper.model.counts import count
from ruby_map.workloads import InputError, shaped
from ruby_map.workloads.block_scales import BlockScaled, block_scaled

from ..model.test_counts import assert_equals_executor
from ..strategies import machines, mappings


def scaled(layer, **formats):
    work, faults = block_scaled(layer, {tensor: BlockScaled(format=name) for tensor, name in formats.items()})
    assert work is not None, faults
    return work


MATMUL = scaled(shaped("matmul", M=6, N=2, K=64), Weights="mxfp4")


@st.composite
def layers(draw):
    formats = draw(st.sampled_from([{"Weights": "mxfp4"}, {"Weights": "mxfp8", "Inputs": "mxfp4"}]))
    if draw(st.booleans()):
        return scaled(shaped("matmul", M=draw(st.integers(1, 3)), N=2, K=32 * draw(st.integers(1, 2))), **formats)
    return scaled(shaped("conv1d", M=draw(st.integers(1, 2)), C=32, P=2, R=2), **formats)


@settings(max_examples=60)
@given(mappings(workloads=layers(), arch=machines(most_levels=3, bandwidths=True)))
def test_every_count_equals_the_executor(batch):
    assert_equals_executor(batch)


def mapped(arch, layer, tile):
    """The mapping whose inner level has a tile of these bounds, by dim."""
    factors = np.ones((1, len(arch.slots), len(layer.dims)), np.int64)
    for d, dim in enumerate(layer.dims):
        factors[0, -1, d] = tile.get(dim, 1)
        factors[0, 0, d] = -(-layer.size(dim) // tile.get(dim, 1))
    order = np.tile(np.arange(len(layer.dims), dtype=np.int8), (1, 2, 1))
    return MappingBatch.of(arch, layer, factors, order, np.array([[[True] * 4, [True, True, False, False]]]))


def two_levels(bits):
    return Architecture(
        "two", (Storage("DRAM", "DRAM"), Storage("buf", "SRAM", capacity_bits=bits)), Compute("MAC", "intmac")
    )


@pytest.mark.parametrize(
    ("tile", "bits"),
    [
        ({"K": 32}, 32 * 4 + 8),  # a block: 4.25 bits an element
        ({"K": 16}, 16 * 4 + 8),  # half a block needs its scale: 72 bits, and not 68
        ({"K": 20}, 20 * 4 + 8),
        ({"K": 16, "K_blocks": 2}, 32 * 4 + 16),  # halves of two blocks: two scales
        ({"K": 32, "M": 6, "K_blocks": 2}, 6 * 64 * 4 + 6 * 2 * 8),
    ],
)
def test_a_tile_has_room_for_its_elements_and_the_scales_of_the_blocks_that_it_cuts(tile, bits):
    for room, valid in ((bits, True), (bits - 1, False)):
        reasons = validity(mapped(two_levels(room), MATMUL, tile))
        assert (reasons[0] == 0) == valid


def test_whole_blocks_take_17_bits_for_4_weights():
    """By hand: 384 weights of 4 bits and 12 scales of 8 bits are 1,632 bits, 4.25 a weight."""
    counts = count(mapped(two_levels(10_000), MATMUL, {"K": 32, "K_blocks": 2, "M": 6}))
    words = counts.reads[0, 0, :2]
    np.testing.assert_array_equal(words, [384, 12])
    bits = sum(int(n) * own.word_bits for n, own in zip(words, MATMUL.tensors[:2], strict=True))
    assert bits == 1632 == 4.25 * 384


def test_a_mac_costs_the_width_of_elements_and_nothing_for_scales():
    form = BitForm(16, 0.5, 0.25)
    plain = shaped("matmul", M=6, N=2, K=64, word_bits={"Weights": 4})
    narrow = scaled(shaped("matmul", M=6, N=2, K=64, word_bits={"Inputs": 2}), Weights="mxfp4")
    assert form.pj(MATMUL) == form.pj(plain) == 0.5 * 16 + 0.25 * 4 * 16
    assert form.pj(narrow) == 0.5 * 16 + 0.25 * 4 * 2  # the scales have 8 bits, the factors 4 and 2


@pytest.mark.parametrize(("dims", "sizes"), [(("K",), (32, 13)), (("K", "K_blocks"), (32, 14))])
def test_padding_leaves_blocks_as_they_are(dims, sizes):
    axis = Axis("X", 7, constraint=LoopConstraint(dims=dims))
    arch = Architecture("odd", (Storage("DRAM", "DRAM", fanout=(axis,)),), Compute("MAC", "intmac"))
    layer = scaled(shaped("matmul", M=1, N=1, K=32 * 13), Weights="mxfp4")
    padded = transformed(arch, layer, ["pad"])
    assert (padded.size("K"), padded.size("K_blocks")) == sizes


def machine(*rules, dims=("M", "K"), **names):
    loops = LoopConstraint(tuple(rules), dims, innermost=("K",))
    return replace(two_levels(None), levels=(
        Storage("DRAM", "DRAM"),
        Storage("buf", "SRAM", temporal=loops, **{key: frozenset(own) for key, own in names.items()}),
    ))  # fmt: skip


def test_scales_follow_their_tensor_and_blocks_their_dim():
    made = with_scales(machine(keep=["Inputs"], bypass=["Weights"]), [shaped("rank1", D=2), MATMUL])
    assert made.levels[1].keep == {"Inputs"}
    assert made.levels[1].bypass == {"Weights", "WeightsScales"}
    assert made.levels[1].temporal.dims == ("M", "K_blocks", "K")
    assert made.levels[1].temporal.innermost == ("K_blocks", "K")
    assert with_scales(made, [MATMUL]) == made
    plain = machine(keep=["Weights"])
    assert with_scales(plain, [shaped("rank1", D=2)]) == plain
    free = with_scales(plain, [MATMUL]).levels[1]  # a register for a weight has no room for a scale
    assert (free.keep, free.bypass) == ({"Weights"}, frozenset())
    named = with_scales(machine(keep=["WeightsScales"], bypass=["Weights"]), [MATMUL])
    assert named.levels[1].bypass == {"Weights"}
    free = machine(dims=("K_blocks", "K"))
    assert with_scales(free, [MATMUL]).levels[1].temporal == free.levels[1].temporal


@pytest.mark.parametrize(
    ("op", "value"),
    [
        *(("=", 4), ("<=", 8), (">=", 4), ("=", 1), ("<=", 1), ("=", None), (">=", None), ("<=", None)),
        *(("=", 64), ("=", 48), ("=", 34), ("<=", 64), ("<=", 63), (">=", 64), (">=", 33)),
    ],
)
def test_a_rule_on_a_dim_holds_for_blocks_and_elements_together(op, value):
    rules = with_scales(machine(FactorRule("K", op, value)), [MATMUL]).levels[1].temporal.factors
    holds = {"=": int.__eq__, "<=": int.__le__, ">=": int.__ge__}
    sizes, allowed = {"K_blocks": 2, "K": 32}, 0
    for bounds in product(range(1, 3), range(1, 33)):
        own = dict(zip(sizes, bounds, strict=True))
        if all(holds[one.op](own[one.dim], one.value or sizes[one.dim]) for one in rules):
            allowed += 1
            assert holds[op](own["K_blocks"] * own["K"], value or 64)
    assert (allowed > 0) == ((op, value) not in (("=", 34), ("=", 48)))  # as 17 blocks, as 3: there are two


def test_where_a_layer_has_the_dim_whole_a_rule_on_it_stays():
    rule = FactorRule("K", "=", 64)
    rules = with_scales(machine(rule), [MATMUL, shaped("matmul", M=2, N=2, K=64)]).levels[1].temporal.factors
    assert rules == (rule, FactorRule("K_blocks", "=", 1))


def test_a_search_names_the_scales_and_costs_fewer_bits():
    options = SearchOptions(effort="quick", objective="energy")
    best = explore("eyeriss_like", scaled(shaped("matmul", M=64, N=2, K=64), Weights="mxfp4"), "pfm", options)
    assert "WeightsScales" in str(best)
    assert "MAC          4 x 16 bits" in str(best)
    wide = explore("eyeriss_like", shaped("matmul", M=64, N=2, K=64), "pfm", options)
    assert best.energy_pj < wide.energy_pj


def test_names_of_blocks_are_known_and_others_are_faults():
    load(machine(keep=["WeightsScales"], dims=("K_blocks",)), MATMUL)
    with pytest.raises(InputError, match='unknown tensor "WeightScales"'):
        load(machine(keep=["WeightScales"]), MATMUL)
    with pytest.raises(InputError, match='unknown dim "Kblocks"'):
        load(machine(dims=("Kblocks",)), MATMUL)


@pytest.mark.parametrize("name", ["eyeriss_like", "simba_like", "gemmini_like", "nvdla_full_like", "tpu_edge_like"])
def test_the_library_maps_a_block_scaled_layer(name):
    """Where a register has room for one weight alone, its scale stands further out."""
    layer = scaled(shaped("matmul", M=64, N=32, K=64), Weights="mxfp4")
    assert explore(name, layer, "pfm", SearchOptions(effort="quick", objective="energy")).found
