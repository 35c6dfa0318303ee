"""Uneven placement: counts equal the executor's, and even placement is a part of it with equal costs."""

from dataclasses import replace

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, load_arch, stacked
from ruby_map.energy import stacked_table
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.model.simulate import TooLarge, simulate
from ruby_map.mapper.problem import Charges
from ruby_map.workloads import InputError, load_workload

from ..conftest import DEEP
from ..small_problems import PRESETS, figures, uneven_machines
from ..strategies import convolutions, matmuls


@st.composite
def uneven_batches(draw, n=8):
    """An architecture as written with its table, a mapspace of a small workload with its preset, mappings of it."""
    arch = draw(uneven_machines())
    workload = draw(st.one_of(matmuls(5), convolutions(4)))
    try:
        preset = draw(st.sampled_from(PRESETS))
        space = Mapspace(arch, workload, preset)
        space.prepare()
    except InputError:
        assume(False)
    assume(len(space.arch.levels) > len(arch.levels))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return arch, draw(figures(arch)), space, preset, space.sample(rng, n)


@settings(max_examples=2_500 if DEEP else 8)
@given(uneven_batches())
def test_counts_equal_the_executor(problem):
    """Reads, fills, updates, words at the busiest instance, cycles, tiles: all as executing the nest counts them."""
    *_, batch = problem
    found = count(batch)
    for i in range(len(batch)):
        one = batch.take([i])
        try:
            truth = simulate(one, 200_000)
        except TooLarge:
            continue
        exact = found.exact[i]
        own = count(one) if exact else recount(one)
        for name in ("cycles", "reads", "fills", "updates", "tile_words"):
            assert (getattr(own, name) == getattr(truth, name)).all(), name
        for level, storage in enumerate(batch.arch.levels):
            if storage.bandwidths:
                assert own.origin_reads[0, level] == truth.origin_reads[0, level]
                assert own.origin_writes[0, level] == truth.origin_writes[0, level]


@settings(max_examples=1_000 if DEEP else 6)
@given(uneven_batches(), st.booleans(), st.sampled_from([0.0, 2.0]))
def test_even_placement_is_a_part_with_equal_costs(problem, leakage, hop_pj):
    """Every mapping of the even machine is one of the uneven mapspace: as valid, with equal energy and cycles."""
    arch, table, space, preset, _ = problem
    even = replace(arch, levels=tuple(replace(level, placement="even") for level in arch.levels))
    inside = Mapspace(even, space.workload, preset)
    batch = inside.sample(np.random.default_rng(0), 16)
    same = in_stacks(batch, space.arch)
    assert all(0 <= number < space.size.total for number in space.index(same))
    assert (validity(same) == validity(batch)).all()
    costs = Charges(leakage=leakage, hop_pj=hop_pj)
    one, other = evaluate(batch, table, costs), evaluate(same, stacked_table(table, space.arch), costs)
    assert (one.cycles == other.cycles).all()
    exact = one.counts.exact & other.counts.exact
    assert np.allclose(one.energy_pj[exact], other.energy_pj[exact], rtol=1e-12)
    assert np.allclose(
        one.interconnect_energy_pj.sum(axis=(1, 2)), other.interconnect_energy_pj.sum(axis=(1, 2)), rtol=1e-12
    )


def in_stacks(batch, arch: Architecture):
    """The same mappings on the machine with stacks: all loops of a memory in its last level, tensors in order."""
    order, keep, slots = [], [], []
    temporal = [s for s, slot in enumerate(batch.arch.slots) if not slot.spatial]
    for level, stack in enumerate(arch.stacks):
        order += [batch.order[:, level]] * len(stack)
        own = np.zeros((len(batch), len(stack), len(batch.workload.tensors)), bool)
        own[:, 0] = batch.keep[:, level]
        if len(stack) > 1:
            own[:, 0] = False
            for row, kept in zip(own, batch.keep[:, level], strict=True):
                places = np.flatnonzero(kept)
                row[range(len(stack) - len(places), len(stack)), places] = True
        keep.append(own)
        end = temporal[level + 1] if level + 1 < len(temporal) else len(batch.arch.slots)
        slots += [None] * (len(stack) - 1) + list(range(temporal[level], end))
    ones = np.ones((len(batch), len(batch.workload.dims)), np.int64)
    factors = np.stack([ones if slot is None else batch.factors[:, slot] for slot in slots], axis=1)
    return MappingBatch.of(arch, batch.workload, factors, np.stack(order, axis=1), np.concatenate(keep, axis=1))


def test_machines_with_stacks_are_as_written():
    """A second expansion changes nothing; a memory for a single tensor is no stack."""
    arch, workload = load_arch("eyeriss_like"), load_workload("resnet50/conv1")
    uneven = replace(arch, levels=tuple(replace(level, placement="uneven") for level in arch.levels[1:]))
    once = stacked(uneven, workload)
    assert stacked(once, workload) == once
    assert stacked(arch, workload) is arch
