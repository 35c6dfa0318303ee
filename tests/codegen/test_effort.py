"""The terms of a program, counted from its nest, are those of the program that runs."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, one_core
from ruby_map.mapper.codegen import DATA_TYPES, Nest, ProgramCounts
from ruby_map.mapper.codegen.c import Kernel, packed_layouts
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.workloads import shaped

from ..conftest import DEEP
from .test_c import a_mapping, processor, processors, some_layers

FLOAT = DATA_TYPES["float32"]


def walked(kernel):
    """What a program does, step by step: the loops run, the tiles' statements are counted as they are written."""
    plan, nest = kernel.plan, kernel.nest
    sizes, layouts = nest.workload.sizes, packed_layouts(kernel)
    found = dict.fromkeys(("statement", "iteration", "load", "gathered word", "sum", "scattered word"), 0)
    lane_dim = None if plan.lanes is None else nest.loops[plan.lanes].dim

    def extents(start, place):
        return {d: min(nest.tile(d, place), sizes[d] - start[d]) for d in range(len(sizes))}

    def step(v):
        return 0 if lane_dim is None else layouts[v].inside.get(lane_dim, 0)

    def words(v, start, place, apart, together):
        """The distinct words or vectors of a tensor in a tile."""
        inside = extents(start, place)
        places = set()
        for at, lanes in plan.points({d: inside[d] for d in {loop.dim for loop in nest.loops[plan.tile :]}}):
            offset = tuple(offset for d, offset in at.items() if d in nest.relevant[v])
            places.add((offset, lanes if lane_dim in nest.relevant[v] else None))
        number = sum(lanes.width if lanes and step(v) > 1 else 1 for _, lanes in places)
        found[apart if step(v) > 1 else together] += number

    def run(place, start):
        if place == plan.sums:
            words(nest.output, start, plan.tile, "scattered word", "sum")
        if place == plan.tile:
            inside = extents(start, place)
            dims = {loop.dim for loop in nest.loops[plan.tile :]}
            found["statement"] += sum(1 for _ in plan.points({d: inside[d] for d in dims}))
            for v in range(len(nest.relevant)):
                if v != nest.output:
                    words(v, start, place, "gathered word", "load")
            return
        loop = nest.loops[place]
        for index in range(loop.bound):
            if start[loop.dim] + index * loop.stride < sizes[loop.dim]:
                found["iteration"] += 1
                run(place + 1, [s + index * loop.stride * (d == loop.dim) for d, s in enumerate(start)])

    run(0, [0] * len(sizes))
    return found


@settings(deadline=None, max_examples=5000 if DEEP else 50)
@given(st.data())
def test_the_terms_are_those_of_a_walk(data):
    """Of any mapping: statements, iterations, loads, sums, words gathered and scattered."""
    batch = a_mapping(data.draw, data.draw(processors()), data.draw(some_layers()))
    if batch is None:
        return
    nest = Nest.of(batch)
    terms = ProgramCounts(nest, FLOAT).terms
    if nest.workload.macs < 20_000:
        truth = walked(Kernel(nest, FLOAT))
        assert {name: terms[name] for name in truth} == truth


def test_copied_words_are_those_of_the_tiles():
    """Weights once, inputs once for each tile of M above them."""
    arch = processor(4, "buffer")
    layer = shaped("matmul", M=20, N=6, K=9)
    batch = Mapspace(arch, layer, "ruby").sample(np.random.default_rng(2), 200)
    for i in range(len(batch)):
        nest = Nest.of(batch.take([i]))
        kernel = Kernel(nest, FLOAT)
        words = 0
        for copy in kernel.plan.copies:
            tensor, place = nest.relevant[copy.tensor], copy.place
            times = prod(-(-layer.sizes[d] // nest.tile(d, place)) for d in range(3) if d not in tensor)
            words += prod(layer.sizes[d] for d in tensor) * times * (2 if copy.tensor == nest.output else 1)
        terms = ProgramCounts(nest, FLOAT).terms
        assert terms["copied word"] + terms["transposed word"] == words


def cached(ways, sets, k):
    """A product of one row by a large matrix, whose columns of 512 words are read again for each of two rows."""
    attributes = (("sets", sets), ("ways", ways))
    l1 = Storage("L1", "SRAM", capacity_bits=8 * 64 * ways * sets, width_bits=512, attributes=attributes)
    arch = Architecture("m", (Storage("DRAM", "DRAM"), l1), Compute("MAC", "intmac"))
    batch = Mapspace(arch, shaped("matmul", M=k, N=2, K=512), "pfm").sample(np.random.default_rng(0), 400)
    nests = [Nest.of(batch.take([i])) for i in range(len(batch))]
    return [ProgramCounts(nest, FLOAT).terms["L1 line"] for nest in nests]


def test_lines_are_fetched_once_where_all_fits_and_more_often_where_sets_are_crowded():
    everything = (16 * 512 + 2 * 512 + 2 * 16) * 4 / 64
    large = cached(1024, 64, 16)
    assert max(large) <= everything + 40  # and some lines at the ends of rows
    crowded, free = cached(12, 64, 64), cached(12 * 64, 1, 64)  # as many lines, in sets and in one
    assert all(a >= b for a, b in zip(crowded, free, strict=True))
    assert sum(crowded) > 1.02 * sum(free)


def test_one_core_has_no_threads():
    axis = Axis("core", 4, code="threads")
    arch = Architecture("m", (Storage("DRAM", "DRAM", fanout=(axis,)),), Compute("MAC", "intmac"))
    assert one_core(arch).levels[0].fanout[0].size == 1
    nests = [
        Nest.of(Mapspace(machine, shaped("matmul", M=8, N=8, K=8), "pfm").sample(np.random.default_rng(i), 1))
        for machine in (arch, one_core(arch))
        for i in range(8)
    ]
    threads = [ProgramCounts(nest, FLOAT).threads for nest in nests]
    assert max(threads[:8]) == pytest.approx(4)
    assert set(threads[8:]) == {1}
