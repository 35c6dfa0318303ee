"""The tables of a network's layers: what bounds each, gaps, shares; no wider than a page."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from ruby_map.arch import load_arch
from ruby_map.mapper import SearchOptions, explore, result_json
from ruby_map.mapper.model import evaluate
from ruby_map.mapper.model.figures import binding, bound_text
from ruby_map.mapper.problem import Charges, at_most
from ruby_map.mapper.report.layer_tables import layer_tables
from ruby_map.mapper.search.outcome import Evidence
from ruby_map.workloads import Network, shaped

from ..conftest import DEEP
from ..small_problems import constrained_problems

FEW = SearchOptions(strategy="random", samples=200)


def columns(table):
    """The cells of a table by their heads, on one line."""
    heads = [" ".join(head.split()) for head in table.head]
    return dict(zip(heads, zip(*table.rows, strict=True), strict=True))


@pytest.fixture(scope="module")
def network():
    """Two layers of a machine with a clock, one proven."""
    arch = replace(load_arch("gemmini_like"), name="machine")
    layers = ((shaped("matmul", "wide", M=64, N=4, K=64), 3), (shaped("matmul", "deep", M=2, N=3, K=5), 1))
    return explore(arch, Network("net", layers), "ruby-s", replace(FEW, bound=0.0))


def test_each_layer_says_what_bounds_it_and_its_gap(network):
    """The same as in JSON, in fewer words."""
    cells = columns(network._parts()[1])
    for number, (result, count) in enumerate(network.layers):
        told = result_json(result)
        limits = binding(result.arch, result.valid_costs)
        assert told["bound_by"] == bound_text(limits)
        assert cells["bound by"][number] == (", ".join(f"{b.level} {b.bandwidth.words}" for b in limits) or "compute")
        assert cells["gap"][number] == ("optimal" if told["optimal"] else at_most(told["gap"]))
        assert cells["count"][number] == str(count)
    assert len({*cells["bound by"]}) == 2


def test_shares_add_up(network):
    """Of the layers in the network, of the levels in each layer, and of the levels in the whole network."""
    cells = columns(network._parts()[2])
    numbers = {name: [float(cell.rstrip("%")) for cell in own] for name, own in cells.items() if name != "layer"}
    for name in ("cycles", "energy"):
        assert sum(numbers[name][:-1]) == pytest.approx(100, abs=0.2)
    levels = [own for name, own in numbers.items() if name not in ("cycles", "energy")]
    for row in zip(*levels, strict=True):
        assert sum(row) == pytest.approx(100, abs=0.5)
    dram = sum(count * result_json(layer)["levels"]["DRAM"]["energy_pj"] for layer, count in network.layers)
    assert cells["DRAM"][-1] == f"{dram / network.energy_pj:.1%}"


@pytest.mark.parametrize("arch", ["simba_like_bandwidth", "eyeriss_v2_like", "gemmini_like"])
def test_no_table_is_wider_than_a_page(arch):
    """120 columns, with every column that there can be and names as long as the longest of the library's models."""
    layers = ((shaped("matmul", f"layer_of_a_network{i}", M=512 * i, N=64, K=512), 10) for i in (1, 2))
    machine = replace(load_arch(arch), clock_ns=1.0)
    costs = Charges(leakage=True, hop_pj=0.1)
    result = explore(machine, Network("net", tuple(layers)), "pfm", replace(FEW, samples=500), costs=costs)
    assert result.found
    layers = [(replace(layer, evidence=Evidence(1.0)), count) for layer, count in result.layers]
    lines = [line for table in layer_tables(layers) for line in str(table).splitlines()]
    assert max(map(len, lines)) <= 120


@settings(max_examples=20 if DEEP else 10)
@given(constrained_problems())
def test_what_binds_takes_all_the_cycles(problem):
    """Without the bandwidths that are named a mapping needs fewer cycles, without all others as many."""
    space, table, *_ = problem
    batch = space.sample(np.random.default_rng(0), 3).own()
    costs = evaluate(batch, table)
    for number in range(len(batch)):
        limits = {(limit.level, limit.bandwidth.kind) for limit in binding(space.arch, costs, number)}
        without, alone = (machine(space.arch, limits, kept) for kept in (False, True))
        cycles = costs.cycles[number]
        assert bool(limits) == (cycles > costs.counts.cycles[number])
        if limits:
            assert evaluate(replace(batch, arch=without), table).cycles[number] < cycles
        assert evaluate(replace(batch, arch=alone), table).cycles[number] == cycles


def machine(arch, limits, kept):
    """The machine with no other bandwidths than `limits` (kept), or with all but these."""
    levels = []
    for level in arch.levels:
        gone = [limit.key for limit in level.bandwidths if ((level.name, limit.kind) in limits) != kept]
        levels.append(replace(level, **dict.fromkeys(gone)))
    return replace(arch, levels=tuple(levels))
