"""Pipelines against brute force: every cut, every number of cores, every mapping."""

from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper import SearchOptions
from ruby_map.mapper.exploration.pipelines import PipelineRequest, explore_pipeline
from ruby_map.mapper.fusion import Standing
from ruby_map.mapper.networks import Cores, Graph, movements
from ruby_map.mapper.plan_search import plan_one_by_one
from ruby_map.mapper.plan_search.pipelines.stage_sums import KnownStages, StageBounds, Weights
from ruby_map.mapper.plan_search.states import nameless
from ruby_map.mapper.problem import OBJECTIVES, Charges

from ..conftest import DEEP
from ..fusion.test_search import front_of, points_of
from ..small_problems import slow
from .networks import network_of


def every_division(parts, cores):
    """Every division of so many parts into stages, with every number of cores of each: (first, after, cores)."""
    for number in range(1, min(parts, cores) + 1):
        for cuts in combinations(range(1, parts), number - 1):
            ends = [0, *cuts, parts]
            for taken in product(range(1, cores + 1), repeat=number):
                if sum(taken) <= cores:
                    yield list(zip(ends[:-1], ends[1:], taken, strict=True))


def every_pipeline(points, items, leak_pj):
    """The energies and cycles of all pipelines; points: by part and number of cores, (energy, cycles)."""
    parts, cores = len(points), len(points[0])
    found = set()
    for division in every_division(parts, cores):
        stages = []
        for first, after, taken in division:
            sums = [(0.0, 0.0)]
            for part in range(first, after):
                own = points[part][taken - 1]
                sums = front_of({(e + pj, c + took) for e, c in sums for pj, took in own})
            stages.append(sums)
        for chosen in product(*stages):
            cycles = sum(c for _, c in chosen) + (items - 1) * max(c for _, c in chosen)
            found.add((items * sum(e for e, _ in chosen) + leak_pj * cycles, cycles))
    return front_of(found)


def test_some_cores_have_their_share_of_memories_outside():
    """Capacity and bandwidths outside the axis in proportion, all inside and all energies as they are."""
    inner = Storage("L2", "regfile", capacity_bits=160, read_bandwidth=2.0)
    outer = Storage("L1", "SRAM", capacity_bits=1000, read_bandwidth=6.0, fanout=(Axis("one", 2), Axis("core", 3)))
    arch = Architecture("m", (Storage("L0", "DRAM", write_bandwidth=9.0), outer, inner), Compute("MAC", "intmac"))
    cores = Cores.of(arch, "core")
    assert cores.part(3) is arch
    part = cores.part(2)
    assert [own.capacity_bits for own in part.levels] == [None, 666, 160]
    assert [own.read_bandwidth for own in part.levels] == [None, 4.0, 2.0]
    assert [own.write_bandwidth for own in part.levels] == [6.0, None, None]
    assert [(axis.name, axis.size) for axis in part.levels[1].fanout] == [("one", 2), ("core", 2)]
    for bandwidth, share in ((0.3, 0.1), (np.pi, np.pi / 3)):  # 0.3 * 1 / 3 is less than 0.1
        slow = replace(arch, levels=(replace(arch.levels[0], read_bandwidth=bandwidth), *arch.levels[1:]))
        assert Cores.of(slow, "core").part(1).levels[0].read_bandwidth == share


costs_of_parts = st.tuples(st.integers(0, 30).map(float), st.integers(0, 30).map(float))


@st.composite
def tables(draw):
    """Costs of a few parts on a few cores, one mapping each; some have none."""
    parts, cores = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    own = st.one_of(st.just((np.inf, np.inf)), *[costs_of_parts] * 6)
    rows = st.lists(st.lists(own, min_size=parts, max_size=parts), min_size=cores, max_size=cores)
    return np.array(draw(rows))


@settings(max_examples=300 if DEEP else 40)
@given(tables(), st.integers(1, 9), st.sampled_from([None, 0.0, 0.5, 3.0]))
def test_one_mapping_of_each_part(table, items, cycle_pj):
    """With one mapping of each part bound and value are the least sum of all divisions."""
    weights = Weights(items, cycle_pj)
    energies, cycles = np.moveaxis(table, -1, 0)
    sums = []
    for extra in weights.extra:
        slope = weights.slope(extra)
        finite = np.where(np.isfinite(cycles), cycles, 0.0)
        sums.append(
            cycles if slope is None else items * np.where(np.isfinite(cycles), energies + slope * finite, np.inf)
        )
    known = KnownStages(weights, np.array([energies] * len(sums)), np.array([cycles] * len(sums))).best()
    points = [
        [[tuple(own)] if np.isfinite(own).all() else [] for own in table[:, part]] for part in range(table.shape[1])
    ]
    every = every_pipeline(points, items, 0.0)
    wanted = min((c if cycle_pj is None else e + cycle_pj * c for e, c in every), default=np.inf)
    assert known.total == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    enough = known.total if np.isfinite(known.total) else 1e6
    least = StageBounds(weights, np.array(sums), cycles).least_of_all(enough, 0.0).total
    assert least == pytest.approx(min(wanted, enough), rel=1e-6, abs=1e-6) or least == wanted == np.inf


@st.composite
def machines(draw):
    """Cores below a shared memory, each with a memory of its own and MACs, and figures of any proportions."""
    pj, rate = st.sampled_from([0.0, 1.0, 3.0, 10.0, 100.0]), st.sampled_from([None, 1.0, 2.0])
    only = st.sampled_from([LoopConstraint(dims=("M",)), LoopConstraint(dims=("N",)), LoopConstraint()])
    cores = Axis("core", draw(st.sampled_from([2, 3])), constraint=draw(only))
    levels = (
        slow(draw, Storage("L0", "DRAM"), rate),
        slow(draw, Storage("L1", "SRAM", capacity_bits=16 * draw(st.integers(12, 60)), fanout=(cores,)), rate),
        Storage("L2", "regfile", capacity_bits=16 * draw(st.integers(3, 8)), fanout=(Axis("mac", 1),)),
    )
    if draw(st.booleans()):
        levels = (levels[0], replace(levels[1], capacity_bits=16 * draw(st.integers(6, 30))))
    figures = tuple(LevelEnergy(level.name, draw(pj), draw(pj), draw(pj), 0.1, 1.0, "given") for level in levels)
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    charges = Charges(leakage=draw(st.booleans()), drain_reads=draw(st.booleans()))
    return Architecture("m", levels, Compute("MAC", "intmac")), table, charges


@st.composite
def chains(draw):
    """Two or three products one after the other, with an operation between them now and then."""
    rows, before = draw(st.sampled_from([1, 2, 3])), draw(st.sampled_from([1, 2]))
    entries, source, inputs = [], "x", {"x": [rows, before]}
    for number in range(draw(st.sampled_from([2, 2, 3]))):
        made = draw(st.sampled_from([1, 2]))
        sizes = {"M": made, "N": rows, "K": before}
        entries.append({"name": f"n{number}", "shape": "matmul", "sizes": sizes, "from": {"Inputs": source}})
        source, before = f"n{number}", made
        if op := draw(st.sampled_from(["", "", "relu", "softmax"])):
            entries.append({"name": f"{op}{number}", "op": op, "from": source})
            source = f"{op}{number}"
    return network_of(entries, inputs)


def points_of_parts(network, machine):
    """By part and number of cores the energies and cycles of every mapping, without leakage, that no other beats."""
    arch, table, charges = machine
    cores, dry = Cores.of(arch, "core"), replace(charges, leakage=False)
    plan = plan_one_by_one(Graph.of(network), "L0")
    family, points = SimpleNamespace(energies=table, charges=dry, preset="ruby"), []
    known = [{} for _ in range(cores.axis.size)]
    for number, part in enumerate(plan.parts):
        own = []
        for taken in range(1, cores.axis.size + 1):
            less = cores.part(taken)
            moved = movements(plan.placed(number), less, drain_reads=charges.drain_reads)
            beside = sum(m.energy_pj(less, table) for m in moved), sum(m.cycles(less) for m in moved)
            every = [(0.0, 0.0)]
            if part.group is not None:
                standing = Standing(nameless(part.group), less)
                (layer,) = standing.layers
                every = points_of(family, standing, layer, known[taken - 1])
            own.append([(pj + beside[0], took + beside[1]) for pj, took in every])
        points.append(own)
    return points


@settings(max_examples=200 if DEEP else 4, deadline=None)
@given(chains(), machines(), st.sampled_from(sorted(OBJECTIVES)), st.sampled_from([1, 2, 5, 40]))
def test_the_search_finds_the_best_of_every_pipeline(network, machine, name, items):
    """Its value is that of the best pipeline where only energy or cycles count, else its bound is below that."""
    arch, table, charges = machine
    points = points_of_parts(network, machine)
    every = every_pipeline(points, items, charges.leak_pj_per_cycle(arch, table))
    options = SearchOptions(strategy="optimal", effort="thorough", objective=name)
    result = explore_pipeline(network, machine, "ruby", options, PipelineRequest("core", items))
    assume(result.best is not None)
    objective, best = OBJECTIVES[name], result.best
    least = min(objective.value(*own) for own in every)
    value = objective.value(best.energy_pj, float(best.cycles))
    assert result.least <= least * (1 + 1e-9)
    assert value >= least * (1 - 1e-9)
    if result.optimal or name == "delay" or (name == "energy" and not charges.leakage):
        assert value == pytest.approx(least, rel=1e-6)
    alone = objective.value(result.alone.energy_pj, float(result.alone.cycles))
    assert value <= alone * (1 + 1e-9)
