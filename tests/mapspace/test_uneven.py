"""Uneven placement: a memory as a stack of levels, each mapping once, numbered as brute force lists them."""

from dataclasses import replace
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, settings
from ruby_map.arch import load_arch, of_stacks, unstacked
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.mapspace.violations import violations
from ruby_map.workloads import InputError, shaped

from ..conftest import DEEP
from ..small_problems import uneven_spaces


def physical(space, batch):
    """What the one mapping of `batch` does, in a form that equal mappings share: for each memory the loops over 1 and
    what is kept, tensors between the same loops sorted."""
    form, factors = [], batch.factors[0]
    for levels in space.arch.stacks:
        events = []
        for level in levels:
            slot = space.orders.temporal[level]
            events.append(frozenset(np.flatnonzero(batch.keep[0, level]).tolist()))
            events += [(d, factors[slot, d]) for d in batch.order[0, level].tolist() if factors[slot, d] > 1]
        joined = []
        for event in events:
            if joined and isinstance(event, frozenset) and isinstance(joined[-1], frozenset):
                joined[-1] |= event
            else:
                joined.append(event)
        form.append(tuple(joined))
    axes = tuple(tuple(factors[s].tolist()) for s, slot in enumerate(space.arch.slots) if slot.spatial)
    return (*form, axes)


def every_mapping(space):
    """Every combination of chains, orders of loops over 1 and sequences of tensors, by trying all."""
    arch, workload = space.arch, space.workload
    dims, keeps = range(len(workload.dims)), every_keep(space)
    for rows in product(*(every_chain(each).bounds for each in space.chains)):
        factors = np.array(rows).T
        over = [[d for d in dims if factors[slot, d] > 1] for slot in space.orders.temporal]
        units = [[d for d in dims if d not in some] for some in over]
        for loops in product(*map(permutations, over)):
            order = np.array([[*unit, *some] for unit, some in zip(units, loops, strict=True)])
            for keep in keeps:
                yield MappingBatch.of(arch, workload, factors[None], order[None], keep[None])


def every_keep(space):
    """Whatever levels may keep: of a stack, each at most one tensor, and each tensor at most one of them."""
    tensors, kept = range(len(space.workload.tensors)), []
    for levels in space.arch.stacks:
        rows = list(product([False, True], repeat=len(tensors)))
        if len(levels) > 1:
            rows = [tuple(v == one for v in tensors) for one in [*tensors, None]]
        every = [np.array(some) for some in product(rows, repeat=len(levels))]
        kept.append([some for some in every if len(levels) == 1 or some.sum(axis=0).max() <= 1])
    keeps = (np.concatenate(some) for some in product(*kept))
    return [keep for keep in keeps if keep[0].all()]


def allowed(space, batch):
    """Whether a mapping meets the constraints, and no loop stands in a stack outside all that it keeps."""
    for levels in space.arch.stacks:
        if len(levels) > 1:
            empty = [not batch.keep[0, level].any() for level in levels]
            if sorted(empty, reverse=True) != empty:  # empty levels come first
                return False
            for level, none in zip(levels[:-1], empty[:-1], strict=True):
                if none and (batch.factors[0, space.orders.temporal[level]] > 1).any():
                    return False
    shared = [
        (np.prod(batch.factors[0, s]) <= slot.axis.size and np.prod(batch.factors[0, s]) >= slot.least)
        for s, slot in enumerate(space.arch.slots)
        if slot.axis is not None
    ]
    return all(shared) and not violations(batch)


@settings(max_examples=1_000 if DEEP else 4)
@given(uneven_spaces())
def test_every_mapping_once(space):
    """The numbers give mappings that all differ, and come back; by trying everything there are no others."""
    every = [space[i] for i in range(space.size.total)]
    forms = {physical(space, batch) for batch in every}
    assert len(forms) == len(every)
    assert [space.index(batch)[0] for batch in every] == list(range(len(every)))
    assert all(allowed(space, batch) for batch in every)
    assume(prod(each.total for each in space.chains) * len(every_keep(space)) < 50_000)
    assert {physical(space, batch) for batch in every_mapping(space) if allowed(space, batch)} == forms


@settings(max_examples=1_000 if DEEP else 6)
@given(uneven_spaces())
def test_the_even_part_is_the_mapspace_of_even_placement(space):
    """As many mappings as the machine with even placement has, all of them in the uneven mapspace."""
    written = unstacked(space.arch)
    machine = replace(written, levels=tuple(replace(level, placement="even") for level in written.levels))
    flags = of_stacks(space.remainders, space.arch, written)
    try:
        plain = Mapspace(machine, space.workload, flags, distinct=True)
    except InputError:
        return
    part = Mapspace(space.arch, space.workload, space.remainders, distinct=True, even=True)
    assert part.size.total == plain.size.total
    assert len(set(space.index(part.at(range(part.size.total))))) == part.size.total


@pytest.mark.parametrize("tensors", [1, 3])
def test_the_outermost_level_is_even(tensors):
    """It holds whole tensors, so there is nothing to place; a fault says so, for a stack in the name of the memory."""
    arch, workload = load_arch("linear_8"), shaped("matmul", M=2, N=2, K=2)
    workload = replace(workload, tensors=workload.tensors[-tensors:])
    levels = (replace(arch.levels[0], placement="uneven"), *arch.levels[1:])
    name = arch.levels[0].name
    with pytest.raises(InputError, match=f"{name} is the outermost level and holds whole tensors: its placement is"):
        Mapspace(replace(arch, levels=levels), workload, "pfm")
