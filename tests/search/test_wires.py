"""Energy of wires in bounds and proofs: hops bounded from below, proofs equal to every mapping, certificates checked."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model.bounds import wires
from ruby_map.mapper.model.bounds.dim_groups import DimGroup, grouped
from ruby_map.mapper.model.bounds.products import Products
from ruby_map.mapper.model.cost import validity
from ruby_map.mapper.model.interconnect import hops
from ruby_map.mapper.mapspace import every_chain
from ruby_map.workloads import InputError

from ..conftest import DEEP
from ..strategies import convolutions, matmuls


@st.composite
def arrays(draw):
    """One or two levels with arrays of up to four axes in both directions."""
    levels = []
    for i in range(draw(st.integers(1, 2))):
        axes = tuple(
            Axis(f"a{i}{j}", draw(st.integers(1, 7)), draw(st.sampled_from("XYY")))
            for j in range(draw(st.integers(1, 4 if i == 0 else 2)))
        )
        levels.append(Storage(f"L{i}", "SRAM", fanout=axes))
    return Architecture("arrays", tuple(levels), Compute("MAC", "intmac"))


@st.composite
def spread_chains(draw):
    """An array, chains of all dims, and rows of some combinations that fit: (mapspace, groups, batch)."""
    workload = draw(st.one_of(matmuls(9), convolutions(9)))
    try:
        space = Mapspace(draw(arrays()), workload, draw(st.sampled_from(["pfm", "ruby", "ruby-s"])))
    except InputError:
        assume(False)
    assume(all(chains.total < 3_000 for chains in space.chains))
    batch = space.sample(np.random.default_rng(draw(st.integers(0, 2**32))), 60)
    return space, batch.take(np.flatnonzero(validity(batch) == 0))


def columns_of(space):
    tables = tuple(every_chain(chains) for chains in space.chains)
    dims = grouped(space.workload) or [(0,)]
    assume(all(np.prod([len(tables[d].bounds) for d in each]) < 30_000 for each in dims))
    return Products([DimGroup(space.arch, space.workload, tables, each) for each in dims])


def rows_of(products, batch):
    """The combination of chains of each mapping, per group. # (mapping, group)"""
    found = np.empty((len(batch), len(products.groups)), np.int64)
    for g, group in enumerate(products.groups):
        shape = [len(group.tables[d].bounds) for d in group.dims]
        each = []
        for d in group.dims:
            key = {tuple(row): i for i, row in enumerate(group.tables[d].bounds.tolist())}
            each.append([key[tuple(row)] for row in batch.factors[:, :, d].tolist()])
        found[:, g] = np.ravel_multi_index(each, shape)
    return found


def least_of(products, some):
    """The least of a product over sets of combinations; `some`: per group, per set its rows."""

    def value(ids):
        columns = zip(products.columns, ids, some, strict=True)
        return np.prod([[column[c][rows].min() for rows in sets] for column, c, sets in columns], axis=0)

    return value


def check_hops(space, batch, seed):
    """No word of a mapping makes fewer hops than the bound of its chains, or of a set that they are in."""
    products, rng = columns_of(space), np.random.default_rng(seed)
    rows = rows_of(products, batch)
    alone = [[mine[g : g + 1] for mine in rows] for g in range(len(products.groups))]
    wider = [
        [np.append(mine[g], rng.integers(0, len(group), rng.integers(0, 4))) for mine in rows]
        for g, group in enumerate(products.groups)
    ]
    for level, storage in enumerate(space.arch.levels):
        if storage.instances_below == 1:
            continue
        for tensor in space.workload.tensors:
            exact = hops(batch, level, tensor)
            bound = wires.hops_bound(products, tensor, level)
            shares = list(wires.shares(products, tensor, level))
            for sets in (alone, wider):
                value = least_of(products, sets)
                assert (bound.least(value, len(batch)) <= exact * (1 + 1e-12)).all()
                for _, figure, product in shares:
                    assert (figure * value(product) <= exact * (1 + 1e-12)).all()


@settings(max_examples=3_000 if DEEP else 60)
@given(spread_chains(), st.integers(0, 2**32))
def test_no_word_makes_fewer_hops_than_the_bound(problem, seed):
    """In arrays of several axes, with windows spread along either direction, alone and in sets of chains."""
    space, batch = problem
    assume(len(batch))
    check_hops(space, batch, seed)
