"""Plans counted against plans executed: words, room over time, and values."""

from collections import Counter
from dataclasses import replace
from math import isclose

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.fusion import Group, Link, Standing
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model.figures import Mapped
from ruby_map.mapper.networks import (
    COPY,
    INSIDE,
    OFF_CHIP,
    Flow,
    Graph,
    Movement,
    Part,
    PartCosts,
    Plan,
    PlanCosts,
    Resident,
    applies,
    execute_plan,
    movements,
    reference,
)
from ruby_map.mapper.problem import Charges, Problem
from ruby_map.mapper.report.groups import compared

from ..conftest import DEEP
from .networks import network_of, networks, plans

LEVELS = (
    Storage("L0", "DRAM", read_bandwidth=2.0),
    Storage("L1", "SRAM", fanout=(Axis("x", 2), Axis("y", 3)), write_bandwidth=1.0, tensor_bits=(("Inputs", 8),)),
    Storage("L2", "regfile"),
)
ARCH = Architecture("m", LEVELS, Compute("MAC", "intmac"))
PJ = tuple(LevelEnergy(level.name, 7.0 - i, 5.0 - i, 6.0 - i, 0.1, 1.0, "given") for i, level in enumerate(LEVELS))
TABLE = EnergyTable("m", PJ, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))


def mapped_layers(plan, charges, seed):
    """Any mapping of each layer that the stages of each part are in steps."""
    mapped = {}
    for number, part in enumerate(plan.parts):
        if part.layers:
            standing = Standing(plan.placed(number).group(ARCH), ARCH)
            mapped[number] = {}
            for layer in standing.layers:
                machine, work = standing.machine(layer), layer.workload(standing.group)
                batch = Mapspace(machine, work, "ruby").sample(np.random.default_rng(seed()), 1)
                mapped[number][layer] = Mapped.of(Problem(batch.arch, work, TABLE, charges), batch)
    return mapped


@settings(max_examples=3_000 if DEEP else 80)
@given(st.data(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_plans_equal_the_executor(data, random, drain_reads, leakage):
    """Words of layers at every level, words of operations and copies, what is inside part by part, and values."""
    graph = Graph.of(data.draw(networks()))
    plan = data.draw(plans(graph))
    assert plan.faults() == []
    charges = Charges(drain_reads=drain_reads, leakage=leakage)
    mapped = mapped_layers(plan, charges, lambda: random.getrandbits(32))
    costs = PlanCosts.of(plan, (ARCH, TABLE, charges), mapped)
    batches = {number: {layer: own.batch for layer, own in layers.items()} for number, layers in mapped.items()}
    found = execute_plan(plan, 0, batches)
    for number, part in enumerate(costs.parts):
        if part.layers is not None:
            comparison = compared(part.layers, found.groups[number], values_equal=True)
            assert not comparison.different, str(comparison)
            check_layers(plan, number, part.layers, found)
        moved = Counter()
        for flow in (flow for own in part.movements for flow in own.flows):
            moved[INSIDE if flow.level else OFF_CHIP, flow.written] += flow.words
        executed = Counter()
        for (place, name, where, written), words in found.moved.items():
            if place == number and (drain_reads or (name, where) != (COPY, INSIDE)):
                executed[where, written] += words
        assert +moved == +executed
        level = LEVELS[1]
        inside = sum(words * graph.bits(level, name) for name, words in found.inside[number].items())
        assert plan.placed(number).room_bits(ARCH) == inside
    made = reference(graph.network)
    assert found.values
    for name, values in found.values.items():
        np.testing.assert_array_equal(values, made[name])

    check_items(costs)


def check_items(costs):
    """Layers and what moves beside them, level by level, add up to what each part costs, and the plan."""
    for part in costs.parts:
        assert sum(own.cycles for own in part.items) == part.cycles
        assert isclose(sum(own.energy_pj for own in part.items), part.energy_pj, rel_tol=1e-12)
        moved = sum(own.energy_pj for own in part.items if own.kind in ("operation", "copy"))
        assert isclose(moved, part.moving_pj, rel_tol=1e-12)
        if part.layers is not None:
            for kind, pj in (("kept tensors", part.layers.transfer_pj), ("operators", part.layers.pass_pj)):
                assert isclose(sum(own.energy_pj for own in part.items if own.kind == kind), pj, rel_tol=1e-12)
    assert isclose(sum(costs.component_pj.values()), costs.energy_pj, rel_tol=1e-12)


def check_layers(plan, number, costs, found):
    """What layers read inside never passes the outermost level, all else does; what is inside takes its room."""
    part, plain = plan.parts[number], Standing(plan.parts[number].group, ARCH)
    for stage, name in enumerate(part.layers):
        layer = plan.graph.nodes[name].layer
        for tensor in layer.tensors:
            words = costs.outer_words.get((stage, tensor.name), 0)
            inside = (name, tensor.name) in found.read_inside or plain.group.intermediate(stage, tensor.name)
            # the output of a part has the name of what ends it
            inside |= tensor.output and name == part.layers[-1] and plan.placed(number).stays
            kept = (stage, tensor.name) in plain.group.depths
            assert kept or (words == 0) == inside, (name, tensor.name)
        bits = costs.standing.standing_bits(stage) - plain.standing_bits(stage)
        lasting = sum(words * plan.graph.bits(LEVELS[1], own) for own, words in found.inside[number].items())
        for read in plan.graph.nodes[name].reads:
            if (name, read.tensor) in found.read_inside:
                tensor = next(own for own in layer.tensors if own.name == read.tensor)
                edge = next(own for own in plan.graph.network.inputs_of(name) if own.tensor == read.tensor)
                view = reference(plan.graph.network)[edge.producer].size  # perhaps a part of what makers make
                makers = sum(plan.graph.nodes[maker].words for maker in read.makers)
                zeros = layer.tensor_words(tensor) - min(view, makers)
                lasting += max(0, zeros) * LEVELS[1].bits(tensor.name, None)
        assert bits == lasting


def test_an_operation_is_applied_to_words_that_pass_once_each():
    """To all words of one tensor that nobody else reads: not to those that are repeated, and not where they turn."""
    entries = [
        {"name": "a", "shape": "matmul", "sizes": {"M": 3, "N": 2, "K": 4}, "from": {"Inputs": "x"}},
        {"name": "b", "shape": "matmul", "sizes": {"M": 3, "N": 1, "K": 4}, "from": {"Inputs": "y"}},
        {"name": "sum", "op": "add", "from": ["a", "b"]},
        {"name": "c", "shape": "matmul", "sizes": {"M": 2, "N": 2, "K": 3}, "from": {"Inputs": "sum"}},
        {"name": "turned", "op": "transpose", "from": "c", "sizes": [2, 2]},
        {"name": "twice", "op": "add", "from": ["c", "turned"]},
    ]
    graph = Graph.of(network_of(entries, {"x": [2, 4], "y": [1, 4]}))
    assert applies(graph, "sum", "a")
    assert not applies(graph, "sum", "b")
    assert not applies(graph, "twice", "c")
    assert not applies(graph, "c", "sum")


RESIDUAL = [
    {"name": "a", "shape": "matmul", "sizes": {"M": 3, "N": 2, "K": 3}, "from": {"Inputs": "x"}},
    {"name": "norm", "op": "rms_norm", "from": "a"},
    {"name": "b", "shape": "matmul", "sizes": {"M": 3, "N": 2, "K": 3}, "from": {"Inputs": "norm"}},
    {"name": "sum", "op": "add", "from": ["b", "a"]},
]


def test_movements_of_a_small_plan_by_hand():
    """A residual block of three parts: 6 words stay for the addition, which is applied as 6 others pass."""
    graph = Graph.of(network_of(RESIDUAL, {"x": [2, 3]}))
    single = [Group((graph.nodes[name].layer,), (), "L1") for name in "ab"]
    parts = Part(("a",), group=single[0]), Part(operations=("norm",)), Part(("b",), (), ("sum",), single[1])
    plan = Plan(graph, "L1", parts, (Resident("a", "sum", copied=True), Resident("norm", "b")))
    assert plan.faults() == []
    moved = [movements(plan.placed(number), ARCH, drain_reads=True) for number in range(3)]
    assert moved == [
        [Movement("a", (Flow(1, False, 6, 16), Flow(0, True, 6, 16)))],
        [Movement("norm", (Flow(1, False, 6, 16), Flow(1, True, 6, 8)))],
        [Movement("sum", (Flow(1, False, 6, 16),))],
    ]
    assert [plan.placed(number).room_bits(ARCH) for number in range(3)] == [6 * 16, 6 * (16 + 8), 6 * (16 + 8)]
    # a word of 16 bits: 6 pJ to read in L1, 4 to write there, 6 to update outermost; L1 takes a word a cycle
    energies = [[own.energy_pj(ARCH, TABLE) for own in every] for every in moved]
    assert energies == [[6 * 6 + 6 * 6], [6 * 6 + 6 * 4 / 2], [6 * 6]]
    assert [[own.cycles(ARCH) for own in every] for every in moved] == [[0], [6], [0]]
    parts = [PartCosts(None, tuple(every), ARCH, TABLE, Charges()) for every in moved]
    levels = [own.energies_pj for part in parts for own in part.items]
    assert levels == [{"L0": 36, "L1": 36}, {"L1": 6 * 6 + 6 * 4 / 2}, {"L1": 36}]


HANDED = (Link(0, 1, "Inputs", (("N", 0), ("M", 0))),)


def test_what_is_wrong_with_a_plan_is_listed():
    """Each fault by itself."""
    graph = Graph.of(network_of([RESIDUAL[0], RESIDUAL[2] | {"from": {"Inputs": "a"}}, RESIDUAL[3]], {"x": [2, 3]}))
    a, b = (Part((name,), group=Group((graph.nodes[name].layer,), (), "L1")) for name in "ab")
    total = Part(operations=("sum",))
    plan = Plan(graph, "L1", (a, b, total))
    assert plan.faults() == []
    both = Part(("a", "b"), group=Group((*a.group.stages, *b.group.stages), HANDED, "L1"))
    wrong = {
        "sum is in no part": (a, b),
        "a is in two parts": (a, a, b, total),
        "b is before a, whose words it reads": (b, a, total),
        "sum reads what a makes, which is not the last of its part": (both, total),
        "a has layers without a group, or a group without layers": (replace(a, group=None), b, total),
        "b is no operation": (a, Part(operations=("b",)), total),
        "c is nothing of net": (a, b, total, Part(operations=("c",))),
    }
    for fault, parts in wrong.items():
        assert fault in replace(plan, parts=parts).faults()
    stays = {
        "x does not read a": Resident("a", "x"),
        "sum reads a, which stays until b and has no copy": Resident("a", "b"),
        "q is no tensor that a part makes: it cannot stay": Resident("q", "b"),
    }
    for fault, resident in stays.items():
        assert replace(plan, residents=(resident,)).faults() == [fault]
    twice = replace(plan, residents=(Resident("a", "sum"), Resident("a", "sum")))
    assert twice.faults() == ["a stays twice"]
