"""Cycles in which tiles begin: by the executor and by hand, in bounds, proofs, reports, and where they are refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch, placed, stacked
from ruby_map.arch.timeloop.write import checked
from ruby_map.mapper.bounds import ideal
from ruby_map.mapper.certificate.checker import verify
from ruby_map.mapper.certificate.checker.compulsory import least_cycles
from ruby_map.mapper.exploration import explore
from ruby_map.mapper.exploration.relaxations import changes
from ruby_map.mapper.exploration.uncounted import machine_faults
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model import simulate
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.timeloop_rules import TimeloopNest
from ruby_map.mapper.report import result_json
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import InputError, shaped

from ..conftest import DEEP
from ..searches import optimal
from ..small_problems import FEW, check_best_of_all, problems, slowed, uneven_problems
from ..strategies import machines, mappings
from .test_cost import machine, mapping, matmul, table

STARTING = """
name: starting
clock_ns: 1
compute: {name: MAC, class: intmac}
levels:
  - {name: DRAM, class: DRAM, start_cycles: 100}
  - {name: GLB, class: SRAM, capacity_bits: 1024, start_cycles: 7, fanout: [{name: PE, size: 4}]}
"""
RATES = st.sampled_from([None, 0.7, 2.5])


def test_tiles_begin_at_each_step_of_the_loops_outside():
    """M = 4 in the array, N = 2 above the buffer, K = 3 above, too: six tiles of the buffer, one of DRAM."""
    workload, factors = matmul(4, 2, 3), [[1, 2, 3], [1, 1, 1], [4, 1, 1]]
    arch = machine(start_cycles=7)
    arch = replace(arch, levels=(replace(arch.levels[0], start_cycles=100), arch.levels[1]))
    costs = evaluate(mapping(arch, workload, factors), table(arch))
    assert costs.counts.starts[0] == 100 + 6 * 7
    assert costs.cycles[0] == 6 + 142
    assert costs.utilization[0] == 24 / (148 * 4)
    slow = replace(arch, levels=(replace(arch.levels[0], read_bandwidth=1.0), arch.levels[1]))
    costs = evaluate(mapping(slow, workload, factors), table(slow))
    assert costs.cycles[0] == costs.level_cycles[0, 0] + 142
    assert costs.level_cycles[0, 0] > 6


@settings(max_examples=3000 if DEEP else 60)
@given(mappings(arch=machines(bandwidths=True)), st.data())
def test_they_are_the_executors(batch, data):
    """Beside steps and bandwidths: cycles are those of the machine whose tiles begin at once, and the starts."""
    starts = [data.draw(st.sampled_from([0, 1, 5, 1000])) for _ in batch.arch.levels]
    levels = [replace(level, start_cycles=own) for level, own in zip(batch.arch.levels, starts, strict=True)]
    at_once = [replace(level, start_cycles=0) for level in levels]
    batch, plain = (replace(batch, arch=replace(batch.arch, levels=tuple(every))) for every in (levels, at_once))
    counts, truth = count(batch), simulate(batch)
    assert counts.starts[0] == truth.starts[0]
    assert counts.cycles[0] == truth.cycles[0] == count(plain).cycles[0] + truth.starts[0]
    costs, without = evaluate(batch, table(batch.arch)), evaluate(plain, table(plain.arch))
    assert costs.cycles[0] == without.cycles[0] + truth.starts[0]
    np.testing.assert_array_equal(costs.level_cycles, without.level_cycles)


def test_a_memory_of_uneven_placement_begins_as_one():
    """Loops that stand between its tensors begin nothing anew."""
    arch = placed(load_arch("eyeriss_like"), "uneven")
    levels = [arch.levels[0], replace(arch.levels[1], start_cycles=10), *arch.levels[2:]]
    layer = shaped("conv2d", M=6, C=4, P=5, Q=3, R=3, S=1)
    arch = stacked(replace(arch, levels=tuple(levels)), layer)
    assert arch.starts == ((1, 10),)
    batch = Mapspace(arch, layer, "ruby").sample(np.random.default_rng(3), 30)
    for i in range(len(batch)):
        one = batch.take([i])
        if one.keep.all(axis=2).any() and np.prod([table.size for table in one.tables]) < 10**4:
            assert count(one).starts[0] == simulate(one).starts[0]


@settings(max_examples=500 if DEEP else 10)
@given(st.one_of(problems(), uneven_problems()), st.data())
def test_proofs_find_the_best_of_every_mapping(problem, data):
    """On machines whose every level may begin slowly and be slow, with a certificate that the checker accepts."""
    space, energies, objective, costs = problem
    if not space.keep_choices.stacks:
        starts = [data.draw(st.sampled_from([0, 2, 30])) for _ in space.arch.levels]
        arch = slowed(data.draw, space.arch)
        levels = (replace(level, start_cycles=own) for level, own in zip(arch.levels, starts, strict=True))
        space = Mapspace(replace(arch, levels=tuple(levels)), space.workload, "ruby", distinct=True)
        if space.size.total > FEW:
            return
    found = optimal(space, energies, SearchOptions(strategy="optimal", objective=objective, certify=True), costs)
    check_best_of_all(found, space, energies, objective, costs, certified=True)


def test_few_tiles_are_best_where_each_takes_long():
    """The proof takes other mappings than where tiles begin at once, and says no less than they need."""
    layer = shaped("matmul", M=12, N=18, K=20)
    fast = Architecture(
        "fast",
        (
            Storage("DRAM", "DRAM", read_bandwidth=2.0),
            Storage("GLB", "SRAM", capacity_bits=16 * 120, fanout=(Axis("PE", 5),)),
        ),
        Compute("MAC", "intmac"),
    )
    slow = replace(fast, levels=(fast.levels[0], replace(fast.levels[1], start_cycles=500)))
    best = {}
    for arch in (fast, slow):
        outcome = optimal(Mapspace(arch, layer, "ruby-s"), table(arch), SearchOptions(strategy="optimal", certify=True))
        assert verify(outcome.certificate, arch, layer, table(arch)).optimal
        best[arch.name + str(arch.starts)] = outcome.best
    first, second = best.values()
    moved = evaluate(replace(first, arch=slow), table(slow)), evaluate(second, table(slow))
    assert moved[1].edp[0] < moved[0].edp[0]
    assert moved[1].counts.starts[0] < moved[0].counts.starts[0]


def test_no_mapping_needs_less_than_one_tile_of_each_memory():
    arch, layer = machine(start_cycles=9), matmul(4, 2, 3)
    at_once = machine()
    assert ideal(arch, layer, table(arch)).cycles == ideal(at_once, layer, table(at_once)).cycles + 9
    assert least_cycles(arch, layer, False) == least_cycles(at_once, layer, False) + 9


@pytest.fixture(scope="module")
def starting(tmp_path_factory):
    path = tmp_path_factory.mktemp("starts") / "machine.yaml"
    path.write_text(STARTING)
    return str(path)


def test_a_report_says_how_many_of_the_cycles_they_are(starting):
    result = explore(starting, "matmul_100", "pfm")
    shown, starts = result_json(result), result.starts
    assert shown["start_cycles"] == starts > 100
    assert f"\nstarts       {starts:,} of the {result.cycles:,} cycles: tiles that begin\n" in str(result)
    space = Mapspace(result.arch, result.workload, "pfm")
    assert [own.text for own in changes(space) if "at once" in own.text] == [
        "tiles of DRAM begin at once",
        "tiles of GLB begin at once",
    ]


def test_the_network_adds_them_up(starting):
    result = explore(starting, "alexnet", "pfm", SearchOptions(strategy="random", samples=2000, seed=1))
    assert result.starts == sum(count * own.starts for own, count in result.layers)


def test_what_does_not_count_them_refuses_the_machine(starting):
    arch = load_arch(starting)
    (fault,) = machine_faults(arch)
    assert fault.message.startswith("has start_cycles (DRAM, GLB): when tiles begin is known of layers one by one")
    with pytest.raises(ValueError, match="DRAM: start_cycles; GLB: start_cycles"):
        checked(arch)
    batch = Mapspace(arch, matmul(4, 2, 3), "pfm").sample(np.random.default_rng(0), 1)
    with pytest.raises(ValueError, match="start_cycles have no counterpart in Timeloop"):
        TimeloopNest(batch)


@pytest.mark.parametrize("cycles", ["-1", "2.5", "2000000000"])
def test_they_are_whole_and_within_reason(tmp_path, cycles):
    path = tmp_path / "machine.yaml"
    path.write_text(STARTING.replace("start_cycles: 7", f"start_cycles: {cycles}"))
    with pytest.raises(InputError, match=r"levels\[1\].start_cycles"):
        load_arch(str(path))
