"""The search of rewrites: beside all graphs that rules reach, priced one by one."""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import energy_table
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.rewrite_search import Pricer, RewriteOptions, search_rewrites, steps
from ruby_map.mapper.rewrite_search.networks import network_key, network_of_graph
from ruby_map.mapper.rewrite_search.pricer import NoMappingError
from ruby_map.mapper.rewrite_search.queue import size_of
from ruby_map.mapper.rewrites import Rules, TensorGraph, read_tensor_graph, rules
from ruby_map.mapper.search.options import SearchOptions

from ..conftest import DEEP
from ..rewrites.onnx_models import assert_written, feeds_of, node, run, save

DRAM = Storage("DRAM", "DRAM", read_bandwidth=2.0, write_bandwidth=2.0)
BUFFER = Storage("GLB", "SRAM", capacity_bits=16 * 256, fanout=(Axis("PE", 2),))
MACHINE = Architecture("tiny", (DRAM, BUFFER), Compute("MAC", "intmac"))
RULES = Rules(rules())
EVERY = RewriteOptions(alpha=inf, graphs=10**6, larger=1, single=True)
FEW = RewriteOptions(graphs=6, larger=1)
# which by one operator more reach very many graphs
LARGER = {"three_products": 0} if DEEP else dict.fromkeys(("three_products", "with_itself", "normalised"), 0)


def pricer(arch: Architecture = MACHINE, objective: str = "edp", effort: str = "quick", **changes: object) -> Pricer:
    options = SearchOptions(effort=effort, jobs=1, objective=objective)
    return Pricer(arch, energy_table(arch), Charges(), "ruby-s", options, ["GLB"], **changes)


def two_products(path):
    nodes = [node("MatMul", "xw", "p"), node("MatMul", "xv", "q"), node("Relu", "q", "r")]
    return save(path, nodes, {"x": (2, 3)}, ["p", "r"], {"w": (3, 3), "v": (3, 2)})


def three_products(path):
    nodes = [node("MatMul", "xw", "p"), node("MatMul", "xv", "q"), node("Add", "pq", "s"), node("MatMul", "su", "t")]
    return save(path, nodes, {"x": (2, 3)}, ["t"], {"w": (3, 2), "v": (3, 2), "u": (2, 2)})


def two_kernels(path):
    nodes = [
        node("Conv", "xk", "p", kernel_shape=[1, 1]),
        node("Conv", "xl", "q", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Concat", "pq", "s", axis=1),
    ]
    return save(path, nodes, {"x": (1, 2, 3, 3)}, ["s"], {"k": (2, 2, 1, 1), "l": (2, 2, 3, 3)})


def with_itself(path):
    nodes = [
        node("Conv", "xk", "p", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Add", "px", "s"),
        node("Relu", "s", "t"),
    ]
    return save(path, nodes, {"x": (1, 2, 3, 3)}, ["t"], {"k": (2, 2, 3, 3)})


def normalised(path):
    nodes = [
        node("Conv", "xk", "p", kernel_shape=[1, 1]),
        node("BatchNormalization", "pabcd", "s"),
        node("Relu", "s", "t"),
    ]
    vectors = dict.fromkeys("abc", (3,))
    return save(
        path,
        nodes,
        {"x": (1, 2, 3, 3)},
        ["t"],
        {"k": (3, 2, 1, 1), **vectors, "d": np.array([0.5, 0.25, 1.0], np.float32)},
    )


NETWORKS: list[Callable] = [two_products, three_products, two_kernels, with_itself, normalised]


def reachable(graph: TensorGraph, larger: int) -> dict[tuple, TensorGraph]:
    """All graphs that rules reach, one place after the other, with so many operators more."""
    every, waiting = {tuple(graph.outputs.values()): graph}, [graph]
    limit = size_of(graph) + larger
    while waiting:
        for step in steps(waiting.pop(), RULES, single=True):
            key = tuple(step.graph.outputs.values())
            if key not in every and size_of(step.graph) <= limit:
                every[key] = step.graph
                waiting.append(step.graph)
    return every


@pytest.mark.parametrize("network", NETWORKS, ids=lambda own: own.__name__)
def test_the_answer_is_the_best_of_all_graphs_that_rules_reach(network, tmp_path) -> None:
    graph = read_tensor_graph(network(tmp_path / "a.onnx"))
    larger = LARGER.get(network.__name__, EVERY.larger)
    every, one_by_one, values = reachable(graph, larger), pricer(), {}
    for own in every.values():
        made = network_of_graph(own)
        if (key := network_key(made)) not in values:
            values[key] = one_by_one.price(made).value
    best = min(values.values())
    found = search_rewrites(graph, pricer(), RULES, replace(EVERY, larger=larger))
    assert found.seen.met == len(every)
    assert found.after.value == pytest.approx(best, rel=1e-9)
    near = search_rewrites(graph, pricer(), RULES, FEW)
    first = values[network_key(network_of_graph(graph))]
    assert best * (1 - 1e-9) <= near.after.value <= first == near.before.value
    assert near.after.lower_bound <= near.after.value


@pytest.mark.parametrize("network", NETWORKS, ids=lambda own: own.__name__)
@pytest.mark.parametrize("objective", OBJECTIVES if DEEP else ["edp"])
def test_the_answer_computes_the_same_and_costs_what_is_said(network, objective, tmp_path) -> None:
    path = network(tmp_path / "a.onnx")
    graph = read_tensor_graph(path)
    found = search_rewrites(graph, pricer(objective=objective), RULES, FEW)
    assert_written(found.graph, tmp_path / "b.onnx", run(path, feeds_of(graph)))
    again = pricer(objective=objective).price(network_of_graph(read_tensor_graph(tmp_path / "b.onnx")))
    assert again.value == pytest.approx(found.after.value, rel=1e-9)
    saved = sum(own.saved for own in found.applied)
    assert saved == pytest.approx(found.before.value - found.after.value, rel=1e-9, abs=1e-9)


def test_bounds_change_no_answer(tmp_path) -> None:
    graph = read_tensor_graph(two_kernels(tmp_path / "a.onnx"))
    bounded = search_rewrites(graph, pricer(), RULES, FEW)

    class Unbounded(Pricer):
        def price(self, network, worth=inf):
            return super().price(network)

    options = SearchOptions(effort="quick", jobs=1)
    whole = Unbounded(MACHINE, energy_table(MACHINE), Charges(), "ruby-s", options, ["GLB"])
    unbounded = search_rewrites(graph, whole, RULES, FEW)
    assert bounded.after.value == unbounded.after.value
    assert unbounded.seen.bounded == 0
    assert bounded.seen.priced <= unbounded.seen.priced


def test_the_same_search_twice_gives_the_same(tmp_path) -> None:
    graph = read_tensor_graph(three_products(tmp_path / "a.onnx"))
    one, other = (search_rewrites(graph, pricer(), RULES, FEW) for _ in range(2))
    figures = [(own.after.value, own.applied, own.seen.met, own.seen.priced) for own in (one, other)]
    assert figures[0] == figures[1]


def test_a_search_ends_with_as_many_graphs_as_are_allowed(tmp_path) -> None:
    graph = read_tensor_graph(three_products(tmp_path / "a.onnx"))
    found = search_rewrites(graph, pricer(), RULES, RewriteOptions(graphs=3, larger=1))
    assert found.seen.priced == 3
    assert found.seen.ended == "3 graphs were priced"


def test_ctrl_c_leaves_the_best_so_far(tmp_path) -> None:
    graph = read_tensor_graph(three_products(tmp_path / "a.onnx"))

    class Interrupted(Pricer):
        calls = 0

        def price(self, network, worth=inf):
            self.calls += 1
            if self.calls > 4:
                raise KeyboardInterrupt
            return super().price(network, worth)

    options = SearchOptions(effort="quick", jobs=1)
    own = Interrupted(MACHINE, energy_table(MACHINE), Charges(), "ruby-s", options, ["GLB"])
    found = search_rewrites(graph, own, RULES, FEW)
    assert found.seen.ended == "interrupted"
    assert found.after.value <= found.before.value


def test_places_that_are_alike_are_rewritten_together(tmp_path) -> None:
    """Two blocks of two products each: one step rewrites both."""
    nodes = [node("MatMul", "xw", "p"), node("MatMul", "xv", "q"), node("Add", "pq", "s")]
    nodes += [node("MatMul", "st", "a"), node("MatMul", "su", "b"), node("Add", "ab", "c")]
    path = save(tmp_path / "a.onnx", nodes, {"x": (3, 4)}, ["c"], dict.fromkeys("wvtu", (4, 4)))
    graph = read_tensor_graph(path)
    together = [own for own in steps(graph, RULES) if len(own.places) == 2]
    assert together
    assert all(size_of(own.graph) != size_of(graph) or own.graph.outputs != graph.outputs for own in together)
    merged = next(own for own in together if "ewadd" in own.rule and own.rule.startswith("2 matmul"))
    assert sum(term.op == "matmul" and term not in merged.graph.constants for term in merged.graph.terms) == 2


def test_a_layer_without_mapping_is_said(tmp_path) -> None:
    buffer = Storage("GLB", "SRAM", capacity_bits=16, keep=frozenset(("Inputs", "Outputs")))
    small = Architecture("small", (DRAM, buffer), Compute("MAC", "intmac"))
    graph = read_tensor_graph(two_products(tmp_path / "a.onnx"))
    with pytest.raises(NoMappingError, match="has no mapping on small"):
        search_rewrites(graph, pricer(small), RULES, FEW)


def test_of_several_memories_the_best_keeps_tensors(tmp_path) -> None:
    """Each that may is tried; one whose bound is too high is not, and the bound of all holds for it, too."""
    inner = Storage("L1", "SRAM", capacity_bits=16 * 64)
    arch = Architecture("three", (DRAM, replace(BUFFER, fanout=()), inner), Compute("MAC", "intmac"))
    network = network_of_graph(read_tensor_graph(two_products(tmp_path / "a.onnx")))
    options = SearchOptions(effort="quick", jobs=1)
    prices = {}
    for keepers in (["GLB"], ["L1"], ["GLB", "L1"]):
        own = Pricer(arch, energy_table(arch), Charges(), "ruby-s", options, keepers)
        prices[tuple(keepers)] = own.price(network)
    both, apart = prices[("GLB", "L1")], (prices[("GLB",)], prices[("L1",)])
    assert both.value == pytest.approx(min(own.value for own in apart), rel=1e-9)
    assert both.lower_bound <= min(own.lower_bound for own in apart) * (1 + 1e-9)
    worth = (min(own.lower_bound for own in apart) + both.value) / 2
    near = Pricer(arch, energy_table(arch), Charges(), "ruby-s", options, ["GLB", "L1"]).price(network, worth)
    assert near is None or near.lower_bound <= min(worth, both.value)
