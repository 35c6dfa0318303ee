"""Bounds of mappings with some innermost loops: never above a mapping that has them, in any set, by any weights."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.bounds import (
    DimGroup,
    Geometric,
    InnermostLoops,
    ObjectiveLimit,
    Relaxation,
    SetAscent,
    WeightedTerms,
    grouped,
)
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.proof.chain_groups import rows_of
from ruby_map.mapper.proof.half_sets import Divisions, HalfSet
from ruby_map.mapper.proof.incumbents import BestIncumbent
from ruby_map.mapper.proof.joins import Tables
from ruby_map.mapper.proof.loop_choices import LoopChoices
from ruby_map.workloads import Workload

from ..conftest import DEEP
from ..small_problems import constrained_problems, problems, slow_layers, values_of
from ..strategies import plain

ANY, NONE = InnermostLoops.ANY, InnermostLoops.NONE


@st.composite
def mappings(draw):
    """Valid mappings of small mapspaces: (relaxation, incumbents, mapping, value)."""
    space, table, costs, groups = draw(slow_layers((0.0, 0.0, 2.0)))
    objective = draw(st.sampled_from(sorted(OBJECTIVES)))
    batch = space.sample(np.random.default_rng(draw(st.integers(0, 2**32))), 200)
    values = values_of(batch, table, objective, costs)
    valid = np.flatnonzero(np.isfinite(values))
    assume(len(valid))
    # the best most of the time: bounds are nearest to it
    i = int(values.argmin()) if draw(st.integers(0, 3)) else int(valid[draw(st.integers(0, len(valid) - 1))])
    one = batch.take(np.array([i]))
    relaxed = Relaxation(groups, table, one.keep[0], costs)
    return relaxed, BestIncumbent((OBJECTIVES[objective],), draw(limits(one, table, costs))), one, float(values[i])


@st.composite
def limits(draw, mapping, table, costs):
    """None, or those of a stage before, which a mapping keeps."""
    if draw(st.booleans()):
        return ()
    objective = draw(st.sampled_from(sorted(OBJECTIVES)))
    return (ObjectiveLimit.equal_to(OBJECTIVES[objective], float(values_of(mapping, table, objective, costs)[0])),)


def innermost(mapping):
    """The innermost loop of each level of a mapping."""
    slots = [s for s, slot in enumerate(mapping.arch.slots) if not slot.spatial]
    found = []
    for level, s in enumerate(slots):
        loops = [d for d in mapping.order[0, level].tolist() if mapping.factors[0, s, d] > 1]
        found.append(loops[-1] if loops else NONE)
    return found


@settings(max_examples=2_000 if DEEP else 30)
@given(mappings(), st.data())
def test_no_bound_is_above_a_mapping(case, data):
    """With the innermost loops of a mapping at some levels and any at others, of sets that its chains are in."""
    relaxed, incumbents, mapping, value = case
    rows = rows_of(relaxed.groups, mapping)
    own = innermost(mapping)
    loops = [d if data.draw(st.booleans()) else ANY for d in own]
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    among = [np.union1d(rng.choice(len(group), rng.integers(0, min(len(group), 30) + 1), replace=False), [row])
             for group, row in zip(relaxed.groups, rows, strict=True)]  # fmt: skip
    tables = Tables.of(relaxed, among, incumbents)
    whole = [np.arange(len(of_group)) for of_group in among]
    place = [np.searchsorted(of_group, row) for of_group, row in zip(among, rows, strict=True)]
    most = value * (1 + 1e-9)
    assert tables.whole(whole, loops) <= most
    alone = [np.array([i]) for i in place]
    assert tables.whole(alone, loops) <= tables.whole(alone, own) * (1 + 1e-9)
    assert tables.whole(alone, own) <= most
    assert tables.bounds(np.array([place]))[0] <= most
    # by weights, of the rows that allow these loops
    allowing = InnermostLoops(relaxed)
    left = whole
    for level, d in enumerate(loops):
        if d != ANY:
            masks = allowing.allowing([of[r] for of, r in zip(among, left, strict=True)], level, d)
            left = [of_group[mask] for of_group, mask in zip(left, masks, strict=True)]
    assert all(i in of_group for i, of_group in zip(place, left, strict=True))
    terms = WeightedTerms(Geometric(relaxed, incumbents.weighed[0], incumbents.limits), among)
    begin = [rng.normal(-3.0, 2.0, len(terms.names)), np.zeros(len(terms.names))]
    with np.errstate(divide="ignore"):
        for found in SetAscent(terms, [left, alone], np.array([loops, loops]), begin, np.inf).run():
            assert found.bound <= np.log(value) + 1e-9


@settings(max_examples=500 if DEEP else 30)
@given(mappings(), st.data())
def test_promising_combinations_are_kept(case, data):
    """One whose mapping is below a value is promising below it, among others, with its loops or with any."""
    relaxed, incumbents, mapping, value = case
    assume(value > 0)
    rows, own = rows_of(relaxed.groups, mapping), innermost(mapping)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    others = np.stack([rng.integers(0, len(group), 20) for group in relaxed.groups], axis=1)
    loops = [d if data.draw(st.booleans()) else ANY for d in own]
    steps = []
    for given_loops in (None, loops, own):
        found = LoopChoices(relaxed, incumbents).promising(
            np.concatenate([others, [rows]]), given_loops, value * (1 + 1e-9), steps.append
        )
        assert found[-1]
    assert sum(steps) > 0


@settings(max_examples=200 if DEEP else 20)
@given(st.one_of(problems(), constrained_problems()), st.data())
def test_dividing_covers_a_set(problem, data):
    """Each mapping of a set is in a part: its chains, and its innermost loops; rows are only left out where none is."""
    space, table, _, costs = problem
    batch = space.sample(np.random.default_rng(data.draw(st.integers(0, 2**32))), 8)
    tables = tuple(every_chain(chains) for chains in space.chains)
    groups = [DimGroup(space.arch, space.workload, tables, dims) for dims in grouped(space.workload) or [(0,)]]
    relaxed = Relaxation(groups, table, batch.keep[0], costs)
    every = [np.arange(len(group)) for group in groups]
    divisions = Divisions(InnermostLoops(relaxed), every)
    own = divisions.whole
    for i in range(len(batch)):
        mapping = batch.take(np.array([i]))
        rows, loops = rows_of(groups, mapping), innermost(mapping)
        for level in range(divisions.loops.levels):
            parts = divisions.by_loop(own, level)
            (part,) = [part for part in parts if part.loops[level] == loops[level]]
            assert all(row in of_group for row, of_group in zip(rows, part.rows, strict=True))
            pairs = sum(divisions.pairs(HalfSet(part.rows, part.loops, 0.0)) for part in parts)
            assert pairs <= divisions.pairs(own)


def test_where_no_term_bounds_the_energy_weights_say_nothing():
    """Only reads of an output cost energy, less than 1 pJ in all, and each word is read at most once: no term is used.

    A power of the energy without a term would stand for an energy of 1 pJ, and a limit on it would have any power.
    """
    tensors = (plain("A", "MK"), plain("B", "KN"), plain("Z", "MN", output=True))
    workload = Workload("outer", tuple("MNKXY"), (8, 4, 16, 48, 36), tensors)
    only_z = {"keep": frozenset("Z"), "bypass": frozenset("AB")}
    loops = LoopConstraint
    axes = Axis("k", 4, constraint=loops(dims=("K",))), Axis("x", 50, constraint=loops(dims=("X", "Y")))
    arch = Architecture(
        "small",
        (
            Storage("L0", "SRAM", temporal=loops(max_loops=1)),
            Storage("L1", "SRAM", **only_z, capacity_bits=64, temporal=loops(dims=("K",)), word_bits=16),
            Storage("L2", "SRAM", bypass=frozenset("ABZ"), temporal=loops(dims=("N",))),
            Storage(
                "L3", "SRAM", **only_z, capacity_bits=16, temporal=loops(max_loops=2, dims=("X", "Y")), fanout=axes
            ),
        ),
        Compute("MAC", "intmac"),
    )
    levels = (LevelEnergy(own.name, 1e-7 * (own.name == "L1"), 0, 0, 0, 1.0, "given") for own in arch.levels)
    table = EnergyTable("small", tuple(levels), ComputeEnergy("MAC", 0.0, 0.0, 1.0, "given"))
    space = Mapspace(arch, workload, "pfm", distinct=True)
    tables = tuple(every_chain(chains) for chains in space.chains)
    groups = [DimGroup(arch, workload, tables, dims) for dims in grouped(workload)]
    batches = list(space.batches())
    energies, delays = (
        np.concatenate([values_of(batch, table, name, Charges()) for batch in batches]) for name in ("energy", "delay")
    )
    least = energies.min()
    limit = ObjectiveLimit.equal_to(OBJECTIVES["energy"], float(least))
    assert 0 < least < 1
    relaxed = Relaxation(groups, table, batches[0].keep[0])
    rows = [np.arange(len(group)) for group in groups]
    terms = WeightedTerms(Geometric(relaxed, (0, 1), (limit,)), rows)
    ascent = SetAscent(terms, [rows], np.full((1, len(arch.levels)), ANY), [np.zeros(len(terms.names))], np.inf)
    assert terms.parts[0].stop > 0
    assert not ascent.used[:, ascent.terms.parts[0]].any()
    assert ascent.run()[0].bound <= np.log(delays[energies <= least * (1 + 1e-9)].min())
