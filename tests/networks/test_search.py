"""The search of plans against every plan: all partitions, orders, tensors that stay, groups and mappings."""

from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Compute, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.bounds import ideal
from ruby_map.mapper.bounds.sums import Envelope, LeastSum, Limits
from ruby_map.mapper.exploration import plans as exploration_plans
from ruby_map.mapper.fusion import Standing
from ruby_map.mapper.group_search import Family, solver
from ruby_map.mapper.mapspace import Mapspace, MapspaceTooLargeError
from ruby_map.mapper.networks import Graph, Part, PlacedPart, Resident, applies, movements, overfull_bits
from ruby_map.mapper.plan_search import Machine, PlanSearch, plan_one_by_one
from ruby_map.mapper.plan_search.goal import PlanGoal
from ruby_map.mapper.plan_search.part_gaps import part_gaps
from ruby_map.mapper.plan_search.prices import Floor
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import Fault, InputError

from ..conftest import DEEP
from ..fusion.test_search import computes, every_group, front_of, has_room, machines, points_of_group
from .networks import fused, fused_one, network_of, networks


def small():
    """Two levels with little room in the inner one, and figures of any proportions."""
    return machines([1, 2], st.integers(4, 30), [None, None, 1.0])


class EveryPlan:
    """All plans of a network, one after the other; nothing is shared with the search but the counting of parts."""

    def __init__(self, graph, machine, fused=True):
        self.graph, self.machine, self.fused = graph, machine, fused
        self.fronts, self.known, self.rest = {}, {}, {}
        self.bases = list(self.parts())

    def parts(self):
        """Every part before operations are applied: each node, and each group of layers."""
        for name, node in self.graph.nodes.items():
            if node.layer is None:
                yield Part(operations=(name,))
            else:
                yield Part((name,), group=fused_one(self.graph, name))
        layers = [name for name, node in self.graph.nodes.items() if node.layer is not None and self.fused]
        for names in chain.from_iterable(combinations(layers, n) for n in (2, 3, 4)):
            if (own := fused(self.graph, list(names))) is not None:
                yield Part(tuple(names), own[1], (), own[0])

    def front(self, done=frozenset(), held=()):
        """The energies and cycles of all ways on from here that no other beats."""
        if len(done) == len(self.graph.nodes):
            return [(0.0, 0.0)]
        key = done, held
        if key not in self.rest:
            points = set()
            for placed, after, still in self.moves(done, dict(held)):
                for pj, took in self.of_part(placed):
                    points |= {(pj + e, took + c) for e, c in self.front(after, still)}
            self.rest[key] = front_of(points)
        return self.rest[key]

    def moves(self, done, held):
        """Every part that may come next, with every choice of what stays."""
        for base in self.bases:
            part = base
            while True:
                makers = {m for name in part.names for read in self.graph.nodes[name].reads for m in read.makers}
                if done & set(part.names) or not makers <= done | set(part.names):
                    break
                if not self.lacks(part, held):
                    yield from self.with_choices(part, done | set(part.names), held)
                more = [name for name in self.graph.readers[part.last] if applies(self.graph, name, part.last)]
                if not more:
                    break
                part = replace(part, operations=(*part.operations, more[0]))

    def lacks(self, part, held):
        """Whether words are read off chip that are only in the memory: joined with others that are not there."""
        reads = [read for name in part.names for read in self.graph.nodes[name].reads]
        off_chip = [read for read in reads if read.outside or not set(read.makers) <= held.keys()]
        return any(not held.get(maker, True) for read in off_chip for maker in read.makers)

    def with_choices(self, part, done, held):
        readers = self.graph.readers
        later = {name for name in (*held, part.last) if set(readers[name]) - done}
        choices = []
        for name, copied in held.items():
            here = set(part.names) & set(readers[name])
            if name not in later:
                choices.append([None])
            else:
                choices.append([(name, copied), None] if copied and here else [(name, copied)])
        ends = [(False, False)] + ([(True, False), (True, True)] if part.last in later else [])
        for stays, copied in ends:
            inside = frozenset({*held, part.last} if stays else held)
            placed = PlacedPart(self.graph, "L1", part, inside, copied)
            if not overfull_bits(placed, self.machine[0]):
                for chosen in product(*choices, [(part.last, copied) if stays else None]):
                    yield placed, frozenset(done), tuple(sorted(own for own in chosen if own))

    def of_part(self, placed):
        """The energies and cycles of a part that no other beats."""
        key = placed.part.names, placed.held, placed.copied
        if key not in self.fronts:
            arch, table, charges = self.machine
            moved = movements(placed, arch, drain_reads=charges.drain_reads)
            cycles = sum(own.cycles(arch) for own in moved)
            energy = sum(own.energy_pj(arch, table) for own in moved) + charges.leak_pj_per_cycle(arch, table) * cycles
            points = self.of_layers(placed) if placed.part.group is not None else [(0.0, 0.0)]
            self.fronts[key] = front_of({(pj + energy, took + cycles) for pj, took in points})
        return self.fronts[key]

    def of_layers(self, placed):
        arch, table, charges = self.machine
        own, points = placed.group(arch), set()
        family = Family(
            own.stages, own.links, arch, table, charges, "ruby", "L1", lasting=own.lasting, reserved=own.reserved
        )
        fits = {}
        for group in every_group(family):
            group = replace(group, lasting=own.lasting, reserved=own.reserved)
            plain = replace(group, kept=())
            if plain not in fits:
                fits[plain] = computes(replace(plain, lasting=frozenset())) and has_room(Standing(plain, arch))
            if fits[plain] and has_room(Standing(group, arch)):
                known = self.known.setdefault(group.stages, {})
                points |= set(points_of_group(family, Standing(group, arch), known))
        return front_of(points)


MOST_MACS = 12 if DEEP else 8  # to visit every mapping of larger layers takes most of the time


@settings(max_examples=200 if DEEP else 8)
@given(
    networks(most=4),
    small(),
    st.sampled_from(sorted(OBJECTIVES)),
    st.sampled_from(["auto", "auto", "resident"]),
)
def test_the_search_finds_the_best_of_every_plan(network, machine, name, fuse):
    """Without a limit its value is that of the best plan, or by EDP its bound is below it and no more than it says."""
    arch, table, charges = machine
    assume(max(layer.macs for layer, _ in network.layers) <= MOST_MACS)
    try:
        options = SearchOptions(strategy="optimal", effort="thorough", objective=name)
        result = explore(arch, network, "ruby", options, table=table, costs=charges, fuse=fuse)
    except InputError:
        assume(False)
    assume(result.found)
    objective = OBJECTIVES[name]
    everything = EveryPlan(Graph.of(network), machine, fuse == "auto")
    every = everything.front()
    least = min(objective.value(energy, cycles) for energy, cycles in every)
    plan = result.plan
    value = objective.value(plan.costs.energy_pj, float(plan.costs.cycles))
    assert plan.lower_bound <= least * (1 + 1e-9)
    assert value >= least * (1 - 1e-9)
    if plan.optimal or name != "edp":
        assert value == pytest.approx(least, rel=1e-6)
    alone = objective.value(plan.alone.energy_pj, float(plan.alone.cycles))
    assert value <= alone * (1 + 1e-9)
    assert np.isfinite(plan.saved)
    check_gaps(plan, everything)


@settings(max_examples=200 if DEEP else 2)
@given(
    networks(most=4),
    small(),
    st.sampled_from(sorted(OBJECTIVES)),
    *(st.sampled_from([None, -0.1, 0.0, 0.3, 0.6, 1.0]) for _ in range(2)),
)
def test_limits_and_fronts_hold_of_every_plan(network, machine, name, late, much):
    """A limit lies between the ends of the front of every plan, or beyond; what is proven is true of every plan."""
    arch, table, charges = machine
    assume(max(layer.macs for layer, _ in network.layers) <= 12)
    everything = EveryPlan(Graph.of(network), machine)
    every = everything.front()
    assume(every)
    energies, cycles = zip(*every, strict=True)
    limits = {"deadline": between(cycles, late), "energy_limit": between(energies, much)}
    options = SearchOptions(strategy="optimal", effort="thorough", objective=name, front="energy,delay")
    try:
        result = explore(arch, network, "ruby", options, table=table, costs=charges, fuse="auto", **limits)
    except InputError:
        assume(False)
    plan, objective = result.plan, OBJECTIVES[name]
    kept = [own for own in every if plan.limits.kept(own[1], own[0])]
    least = min((objective.value(*own) for own in kept), default=np.inf)
    assert plan.lower_bound <= least * (1 + 1e-9)
    assert not (plan.impossible and kept)
    assert not (plan.within and not kept)
    if plan.within:
        assert plan.value >= least * (1 - 1e-9)
    if plan.optimal:
        assert plan.value == pytest.approx(least, rel=1e-6)
    if late is None and much is None:
        assert plan.within
    if kept and (late is None) != (much is None):  # the plan of the fewest cycles, or of the least energy, is found
        assert plan.within
    check_gaps(plan, everything)
    for took, pj in plan.front:
        assert any(own[0] <= pj * (1 + 1e-9) and own[1] <= took * (1 + 1e-9) for own in every)
    for pj, took in every:
        assert plan.envelope.factor(took or 1e-9, pj or 1e-9) <= 1 + 1e-6
        below = [
            max(c * (1 - plan.front_gap) / (took or 1e-9), e * (1 - plan.front_gap) / (pj or 1e-9))
            for c, e in plan.front
        ]
        assert min(below) <= 1 + 1e-6


def between(values, share):
    """A limit so far from the least of some values to the most; None: there is none."""
    if share is None:
        return None
    limit = min(values) + share * (max(values) - min(values)) if share >= 0 else 0.7 * min(values)
    assume(limit > 0)
    return float(limit)


def check_gaps(plan, everything):
    """With another choice for one part the plan costs no less, within the limits, than the gap of the part says."""
    energy, cycles = plan.costs.energy_pj, plan.costs.cycles
    if not (plan.value and plan.within):
        return
    for own in plan.decisions:
        others = energy - own.count * own.costs.energy_pj, cycles - own.count * own.costs.cycles
        plans = [(others[0] + own.count * e, others[1] + own.count * c) for e, c in everything.of_part(own.placed)]
        kept = (plan.objective.value(e, c) for e, c in plans if plan.limits.kept(c, e))
        least = min(kept, default=plan.value)
        assert own.gap is not None
        assert 1 - least / plan.value - 1e-9 <= own.gap <= plan.gap + 1e-9


def test_what_is_open_of_parts_by_hand():
    """Of a search that has not begun: from what each layer costs to what it needs in any case."""
    levels = Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=640)
    arch = Architecture("m", levels, Compute("MAC", "intmac"))
    figures = tuple(LevelEnergy(own.name, *(9.0 - i,) * 3, 0.0, 1.0, "given") for i, own in enumerate(levels))
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    sizes = {"M": 8, "N": 6, "K": 4}
    entries = [{"name": "a", "shape": "matmul", "sizes": sizes, "from": {"Inputs": "x"}, "count": 3}]
    entries.append({"name": "sum", "op": "add", "from": ["a", "y"], "count": 3})
    network = network_of(entries, {"x": [6, 4], "y": [6, 8]})
    options = SearchOptions(objective="energy")
    found = explore(arch, network, "ruby", options, table=table, fuse="auto").plan.alone
    search = PlanSearch(found.plan.graph, Machine(arch, table, Charges(), "L1"), "ruby", {}, options=options)
    ((layer, _),) = network.layers
    (part,) = found.parts
    least = ideal(arch, layer, table, Charges()).energy_pj
    gap = 3 * (part.layers.energy_pj - least) / found.energy_pj
    assert part_gaps(search, found, PlanGoal(OBJECTIVES["energy"]), []) == (pytest.approx(gap),)
    assert part_gaps(search, found, PlanGoal(OBJECTIVES["energy"], Limits(cycles=1)), []) == (None,)
    assert gap > 0.05
    price = search.prices.every[search.machine.alone(layer)]
    price.floor = Floor(sums=((2.0, part.layers.energy_pj + 2 * part.layers.cycles),))
    spare = PlanGoal(OBJECTIVES["energy"], Limits(cycles=found.cycles + 30))  # each of these saves 2 pJ at most
    assert part_gaps(search, found, spare, [2.0]) == (pytest.approx(60 / found.energy_pj),)


def test_layers_whose_loop_orders_are_too_many_to_count_have_mappings(monkeypatch):
    """Where distinct loop orders cannot be counted all orders are searched: the plan is the same, and its bound."""
    levels = Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=640)
    arch = Architecture("m", levels, Compute("MAC", "intmac"))
    figures = tuple(LevelEnergy(own.name, *(9.0 - 4 * i,) * 3, 0.0, 1.0, "given") for i, own in enumerate(levels))
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    sizes = {"M": 2, "N": 3, "K": 2}
    chain_of_two = [
        {"name": name, "shape": "matmul", "sizes": sizes, "from": {"Inputs": source}} for name, source in ("ax", "ba")
    ]
    network = network_of(chain_of_two, {"x": [3, 2]})
    options = SearchOptions(strategy="optimal", effort="thorough", objective="energy")

    def plan():
        return explore(arch, network, "ruby", options, table=table, fuse="resident").plan

    counted = plan()

    def too_large(*inputs, distinct=False, **more):
        if distinct:
            raise MapspaceTooLargeError([Fault("layer", None, "", "counting distinct loop orders here needs too much")])
        return Mapspace(*inputs, **more)

    monkeypatch.setattr(solver, "Mapspace", too_large)
    found = plan()
    assert found.saved > 0
    assert (found.value, found.lower_bound, found.optimal) == (counted.value, counted.lower_bound, True)

    def all_too_large(arch, workload, *more, **options):
        if arch.levels[1].resident:
            raise MapspaceTooLargeError([Fault("layer", None, "", "counting mappings here needs too much")])
        return Mapspace(arch, workload, *more, **options)

    monkeypatch.setattr(solver, "Mapspace", all_too_large)
    beyond = plan()
    assert beyond.lower_bound <= counted.value
    assert not beyond.optimal


SEVERAL = """
name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}, read_bandwidth: 1, write_bandwidth: 1}
- {name: B0, class: SRAM, capacity_words: 60, bypass: [Weights], word_bits: 16, energy: {read_pj: 40, write_pj: 40, update_pj: 40}}
- {name: B1, class: SRAM, capacity_words: 24, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1}, read_bandwidth: 0.25, write_bandwidth: 0.25, bypass: [Weights]}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 1}}
"""  # noqa: E501
PAIR = [
    {"name": "a", "shape": "matmul", "sizes": {"M": 3, "N": 4, "K": 2}, "from": {"Inputs": "x"}},
    {"name": "b", "shape": "matmul", "sizes": {"M": 2, "N": 4, "K": 3}, "from": {"Inputs": "a"}},
]


@pytest.fixture
def several(tmp_path):
    """A machine with two memories in which tensors may stay, the one fast, the other of little energy."""
    (tmp_path / "arch.yaml").write_text(SEVERAL)
    return str(tmp_path / "arch.yaml"), network_of(PAIR, {"x": [4, 2]})


def test_a_front_has_the_plans_in_each_memory(several):
    """And what is proven of it holds for plans in each."""
    options = SearchOptions(strategy="optimal", effort="thorough", objective="energy", front="energy,delay")
    plan = explore(*several, "ruby-s", options, fuse="resident").plan
    for name in ("edp", "energy", "delay"):
        best = explore(*several, "ruby-s", SearchOptions(strategy="optimal", objective=name), fuse="resident").plan
        point = float(best.costs.cycles), best.costs.energy_pj
        assert plan.envelope.factor(*point) <= 1 + 1e-9
        assert any(cycles <= point[0] and pj <= point[1] for cycles, pj in plan.front)
    assert plan.costs.plan.keeper == "B1"
    assert plan.front[0] == (56, 11728)
    assert plan.front[-1] == (304, 6580)


OTHERS = [(56, 11728), (120, 10480), (128, 10168), (168, 9556), (192, 8920), (256, 7828), (304, 6580)]


@pytest.mark.parametrize(("cycles", "pj"), [(240, 7996), *(OTHERS if DEEP else [])])
def test_a_point_of_the_front_is_found_with_its_cycles_as_deadline(several, cycles, pj):
    """At corners of the front and between them; no part is further open than the plan, at what a cycle is worth."""
    options = SearchOptions(strategy="optimal", effort="thorough", objective="energy")
    plan = explore(*several, "ruby-s", options, fuse="resident", deadline=cycles).plan
    assert (plan.costs.cycles, plan.costs.energy_pj) == (cycles, pj)
    assert max(plan.part_gaps) <= plan.gap + 1e-9


def test_what_is_proven_in_several_memories_names_the_limits_of_each(several, monkeypatch):
    """In one of them so many tensors stay at most; reasons, numbers and seconds are of all."""
    plans = []
    real = exploration_plans._plan

    def limited(alone, goal, outcome):
        held = 4 if not plans else None
        plans.append(real(alone, goal, replace(outcome, most_held=held, in_turn=held is None)))
        return plans[-1]

    monkeypatch.setattr(exploration_plans, "_plan", limited)
    options = SearchOptions(strategy="optimal", objective="energy")
    plan = explore(*several, "ruby-s", options, fuse="resident").plan
    assert len(plans) == 2
    assert (plan.most_held, plan.in_turn) == (4, True)
    assert plan.searched == sum(own.searched for own in plans)
    assert plan.lower_bound == min(own.lower_bound for own in plans)
    reasons = {reason for own in plans for reason in own.statistics.ended}
    assert plan.optimal or {*plan.statistics.ended} == (reasons - {Ended.SEEN_ALL} or reasons)


def test_ctrl_c_leaves_a_bound_of_plans_in_every_memory(several, monkeypatch):
    """Also of those in memories that were not searched yet."""
    options = SearchOptions(strategy="optimal", objective="energy")
    least = explore(*several, "ruby-s", options, fuse="resident").plan.value
    monkeypatch.setattr(PlanSearch, "at", interrupt)
    found = explore(*several, "ruby-s", options, fuse="resident").plan
    assert found.statistics.interrupted
    assert found.lower_bound <= least < found.value


def interrupt(*_arguments, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize("limit", [{"deadline": 10}, {"energy_limit": 1000}])
@pytest.mark.parametrize("name", ["delay", "energy"])
def test_that_no_plan_is_within_a_limit_is_said_by_any_objective(several, limit, name):
    """The least cycles are 56, and the least energy 6,580 pJ."""
    options = SearchOptions(strategy="optimal", objective=name, effort="quick")
    assert explore(*several, "ruby-s", options, fuse="resident", **limit).plan.impossible


def test_uneven_placement_begins_with_no_mapping_of_other_levels(several):
    """A tensor that stays may be a level less of a memory with uneven placement."""
    arch = load_arch(several[0])
    inner = (replace(own, placement="uneven") for own in arch.levels[1:])
    uneven = replace(arch, levels=(arch.levels[0], *inner))
    found = explore(uneven, several[1], "ruby-s", SearchOptions(strategy="optimal", effort="quick"), fuse="resident")
    assert found.plan.value <= found.plan.objective.value(found.plan.alone.energy_pj, found.plan.alone.cycles)


PADDED = {"pad": {"P": 2}}


def test_zeros_around_a_part_of_a_tensor_take_room():
    """A slice of 3 of 6 words that stay, read with 2 zeros on each side: 10 words."""
    entries = [
        {"name": "a", "shape": "matmul", "sizes": {"M": 3, "N": 2, "K": 2}, "from": {"Inputs": "x"}},
        {"name": "s", "op": "slice", "from": "a", "sizes": [1, 3]},
        {"name": "c", "shape": "conv1d", "sizes": {"M": 1, "C": 1, "P": 5, "R": 3}, "from": {"Inputs": "s"}} | PADDED,
    ]
    graph = Graph.of(network_of(entries, {"x": [2, 2]}))
    (read,) = graph.nodes["c"].reads
    assert (read.makers, read.words, read.zeros) == (("a",), 7, 4)
    levels = Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=640)
    arch = Architecture("m", levels, Compute("MAC", "intmac"))
    plan = replace(plan_one_by_one(graph, "L1"), residents=(Resident("a", "c"),))
    assert plan.placed(1).room_bits(arch, "c") == 10 * 16


CLOSE = """name: m
levels:
- {name: D, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 1, update_pj: 100, leak_pj_per_cycle: 0}, read_bandwidth: 1, tensor_bits: {Outputs: 24}}
- {name: L1, class: SRAM, word_bits: 16, capacity_bits: 576, energy: {read_pj: 100, write_pj: 0, update_pj: 3, leak_pj_per_cycle: 0.5}, keep: [Weights]}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10, leak_pj_per_cycle: 0}}
"""  # noqa: E501
FIVE = [
    {"name": "a0", "shape": "matmul", "sizes": {"M": 2, "N": 2, "K": 3}, "from": {"Inputs": "ax"}},
    {"name": "a1", "op": "relu", "from": "ax"},
    {"name": "a2", "shape": "matmul", "sizes": {"M": 3, "N": 2, "K": 3}, "from": {"Inputs": "a1"}},
    {"name": "b0", "op": "reduce", "sizes": [1, 1], "from": "bx", "count": 5},
    {"name": "b1", "shape": "matmul", "sizes": {"M": 2, "N": 1, "K": 1}, "from": {"Inputs": "b0"}, "count": 5},
]


@pytest.mark.parametrize(("limit", "cycles"), [(17490.0, 70), (18690.0, 55)])
def test_a_limit_decides_between_plans_that_are_close_at_a_slope(tmp_path, limit, cycles):
    """Where no limit is given a search may end with so much between bound and value."""
    (tmp_path / "arch.yaml").write_text(CLOSE)
    network = network_of(FIVE, {"ax": [2, 3], "bx": [1, 3]})
    options = SearchOptions(strategy="optimal", objective="delay")
    plan = explore(str(tmp_path / "arch.yaml"), network, "pfm", options, fuse="auto", energy_limit=limit).plan
    assert (plan.costs.cycles, plan.costs.energy_pj, plan.gap < 1e-3) == (cycles, limit, True)


TIES = """name: m
levels:
- {name: D, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 3, update_pj: 10, leak_pj_per_cycle: 0}, read_bandwidth: 1, write_bandwidth: 0.5}
- {name: G, class: SRAM, word_bits: 16, capacity_bits: 736, energy: {read_pj: 10, write_pj: 0, update_pj: 3, leak_pj_per_cycle: 0.5}, bypass: [Inputs]}
- {name: L1, class: SRAM, word_bits: 16, capacity_bits: 64, energy: {read_pj: 0, write_pj: 3, update_pj: 1, leak_pj_per_cycle: 0}, fanout: [{name: x, size: 3}]}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 0, leak_pj_per_cycle: 0}}
"""  # noqa: E501


@pytest.mark.parametrize(("name", "figure"), [("delay", "cycles"), ("energy", "energy_pj")])
def test_of_equal_plans_in_several_memories_the_better_other_figure_is_shown(tmp_path, name, figure):
    """No plan of the front is as good and better otherwise."""
    (tmp_path / "arch.yaml").write_text(TIES)
    layers = [
        {"name": "a0", "shape": "matmul", "sizes": {"M": 1, "N": 1, "K": 2}, "from": {"Inputs": "ax"}, "count": 5},
        {"name": "a1", "op": "reduce", "sizes": [1, 1], "from": "a0", "count": 5},
    ]
    options = SearchOptions(strategy="optimal", objective=name, front="energy,delay")
    plan = explore(str(tmp_path / "arch.yaml"), network_of(layers, {"ax": [1, 2]}), "ruby-s", options, fuse="auto").plan
    best = getattr(plan.costs, figure)
    front = [{"cycles": cycles, "energy_pj": pj} for cycles, pj in plan.front]
    (other,) = {"cycles", "energy_pj"} - {figure}
    assert [own for own in front if own[figure] <= best and own[other] < getattr(plan.costs, other)] == []


def test_corners_that_differ_by_rounding_alone_are_shown_once():
    """Three bounds of one plan, one of them rounded otherwise: a corner in all."""
    sums = (LeastSum(70.0, 41256.0 + 70.0 * 576.0), LeastSum(71.0, (41256.0 + 71.0 * 576.0) * (1 + 1e-15)))
    envelope = Envelope(41256.0, 576.0, sums)
    assert len(set(envelope.corners)) > 1
    assert list(envelope.distinct_corners()) == [pytest.approx((576.0, 41256.0), rel=1e-9)]
    apart = Envelope(100.0, 10.0, (LeastSum(1.0, 120.0),))
    assert list(apart.distinct_corners()) == list(reversed(apart.corners)) == [(10.0, 110.0), (20.0, 100.0)]


def test_a_deadline_is_kept_to_the_cycle():
    """Energies are sums that round; cycles are whole numbers, however many."""
    limits = Limits(cycles=10**12, energy_pj=5.0)
    assert limits.kept(10**12, 5.0 * (1 + 1e-12))
    assert not limits.kept(10**12 + 1, 5.0)
    assert limits.beyond(10**12 + 1, 5.0) > limits.beyond(10**12, 5.0) == 1
    assert not limits.kept(10**12, 5.0 * (1 + 1e-8))
