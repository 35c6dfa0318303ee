"""Certificates: what a proof writes is verified by code of its own, and what is forged is refused."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, as_written
from ruby_map.mapper.bounds.dim_groups import grouped
from ruby_map.mapper.certificate import LayerProof
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.certificate.checker.bounds import LeastCosts
from ruby_map.mapper.certificate.checker.chains import MOST_CHAINS, tied_dims
from ruby_map.mapper.certificate.checker.chains import every_chain as chains_listed
from ruby_map.mapper.certificate.checker.columns import Columns
from ruby_map.mapper.certificate.checker.problem import MOST_ROWS, Problem
from ruby_map.mapper.certificate.checker.sent import sent
from ruby_map.mapper.certificate.checker.words import RankWords
from ruby_map.mapper.certificate.format import TOLERANCE
from ruby_map.mapper.mapping import keeper_pairs
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.recount import recount
from ruby_map.mapper.model.simulate import simulate
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.proof.certify import certified_mapping
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import MOST_NAMED

from ..conftest import DEEP, interrupt_at
from ..model.test_cost import matmul
from ..searches import a_poor_beginning, few_are_many, optimal
from ..small_problems import best_of_all, constrained_machines, constrained_problems, problems
from ..strategies import convolutions, mappings

OPTIMAL = SearchOptions(strategy="optimal", certify=True)


@pytest.fixture(autouse=True, scope="module")
def hardly_any_first_look():
    """A poor first best, so that there is something to prove."""
    with a_poor_beginning():
        yield


def verified(found, space, table):
    """The certificate of an outcome, through JSON and back, checked for the machine as it is written.

    Coarse columns first, as of very many chains, say the same.
    """
    layer = LayerProof.model_validate_json(found.certificate.model_dump_json())
    arch, own = as_written(space.arch, table)
    seen = verify(layer, arch, space.workload, own)
    with few_are_many():
        assert verify(layer, arch, space.workload, own) == seen
    return seen


def check_the_best_of_every_mapping(problem, seed):
    """The value verified is the least of all mappings, under every kind of constraint."""
    space, table, objective, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objective, seed=seed), costs)
    least = best_of_all(space, table, objective, costs)
    if np.isinf(least):
        assert found.certificate is None
        return
    seen = verified(found, space, table)
    assert seen.optimal
    assert seen.value == pytest.approx(least, rel=1e-8)
    assert seen.combinations == found.coverage.total


@settings(max_examples=5_000 if DEEP else 13)
@given(constrained_problems(), st.integers(0, 99))
def test_of_the_best_of_every_mapping(problem, seed):
    """The value verified is the least of all mappings, under every kind of constraint."""
    check_the_best_of_every_mapping(problem, seed)


def check_a_front(problem):
    """A front is verified as a whole."""
    space, table, objective, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objective, front="energy,delay"), costs)
    if found.best is not None:
        seen = verified(found, space, table)
        assert seen.optimal
        assert seen.points >= len(found.front)


@settings(max_examples=1_000 if DEEP else 6)
@given(constrained_problems())
def test_of_a_front(problem):
    """A front is verified as a whole."""
    check_a_front(problem)


def check_ended_early(problem, step, front):
    """Ended by Ctrl-C after some steps, what is claimed is a lower bound that can be verified."""
    space, table, objective, costs = problem
    stop = interrupt_at(step)
    options = replace(OPTIMAL, objective=objective, front=front)
    found = optimal(space, table, options, costs, lambda recorder: stop(None, recorder))
    if found.certificate is not None:
        seen = verified(found, space, table)
        assert front or seen.lower_bound <= best_of_all(space, table, objective, costs) * (1 + 1e-9)
        assert not seen.optimal or found.optimal


@settings(max_examples=1_000 if DEEP else 6)
@given(constrained_problems(), st.integers(1, 12), st.sampled_from(["", "energy,delay"]))
def test_of_a_proof_that_was_ended_early(problem, step, front):
    """Ended by Ctrl-C after some steps, what is claimed is a lower bound that can be verified."""
    check_ended_early(problem, step, front)


# What the checker works out for itself


@settings(max_examples=2_000 if DEEP else 50)
@given(mappings(workloads=convolutions()))
def test_words_sent_are_the_executors(batch):
    """Whatever is kept, of levels that keep a tensor and of those that its words pass, windows over several of them."""
    crossed, arch = simulate(batch).crossings().words[0], batch.arch
    for v, tensor in enumerate(batch.workload.tensors):
        for parent, child, _ in keeper_pairs(batch.keep[:, :, v]):
            for level in (each for each in range(parent, child) if arch.levels[each].fanout):
                words = sent(batch, 0, batch.order[0].tolist(), tensor, (level, child))
                assert words in (None, crossed[level, v]), (tensor.name, level, child)


@settings(max_examples=1_000 if DEEP else 30)
@given(problems(constrained_machines(), most=10**7))
def test_lists_the_chains_of_the_mapspace(problem):
    """The checker lists the chains that the mapspace counts and samples, and ties the same dims together."""
    space = problem[0]
    assert tied_dims(space.workload) == (grouped(space.workload) or [(0,)])
    for d, chains in enumerate(space.chains):
        own = chains_listed(space.arch, space.workload.sizes[d], space.workload.dims[d], space.remainders).bounds
        bounds = every_chain(chains).bounds
        assert (own == bounds[np.lexsort(bounds.T[::-1])]).all()


@settings(max_examples=1_000 if DEEP else 13)
@given(problems(constrained_machines(), most=10**9), st.integers(0, 2**32))
def test_its_bounds_are_below_every_mapping(problem, seed):
    """Whatever the loop orders, no mapping is below the checker's bound of its chains; valid ones count as possible."""
    space, table, _, costs = problem
    own = Problem(space.arch, space.workload, table, space.remainders, costs)
    batch = space.sample(np.random.default_rng(seed), 8)
    for one in map(batch.take, np.arange(len(batch))[:, None]):
        check_its_bounds(own, one, table)


def check_its_bounds(problem, one, table):
    """No more than the mapping costs, alone and together, whatever its loop orders; a valid one counts as possible."""
    columns, rows = Columns(problem, one.keep[0]), rows_of(problem, one)
    least = LeastCosts(columns, lambda ids: value_of(columns, ids, rows), 1)
    found = evaluate(one, table, problem.costs, recount(one))
    energy_pj, cycles = found.energy_pj[0] * (1 + 1e-9), found.cycles[0] * (1 + 1e-9)
    assert least.cycles[0] <= cycles
    assert least.energy_pj[0] <= energy_pj or validity(one)[0] != 0
    for beyond in (
        lambda pj, took: pj * took > energy_pj * cycles,
        lambda pj, took: (pj > energy_pj) | (took > cycles),
    ):
        assert validity(one)[0] != 0 or not least.settled(beyond)[0]


def rows_of(problem, one):
    """The row of each group that a mapping's chains are."""
    rows = []
    for group in problem.groups:
        places = [int((problem.chains[d].bounds == one.factors[0, :, d]).all(axis=1).argmax()) for d in group.dims]
        rows.append(int(np.ravel_multi_index(places, [len(problem.chains[d]) for d in group.dims])))
    return rows


def value_of(columns, ids, rows):
    """A product of one entry of each column."""
    return np.prod([columns.columns[g][column][rows[g]] for g, column in enumerate(ids)], keepdims=True).reshape(1)


def test_a_wrong_bound_of_its_own_is_noticed(monkeypatch, proven):
    """Were the checker's bounds too low, it would refuse what is right."""
    layer, arch, workload, table = proven
    monkeypatch.setattr(RankWords, "again", lambda self, cuts, real=RankWords.again: 0.9 * real(self, cuts))
    with pytest.raises(Refused):
        verify(layer, arch, workload, table)


# Forged certificates


@pytest.fixture(scope="module")
def proven():
    """A small layer with free choices of what is kept, and its certificate."""
    loops = LoopConstraint(innermost=("K",))
    buffer = Storage("buffer", "SRAM", capacity_bits=16 * 40, temporal=loops, fanout=(Axis("PE", 5),))
    pad = Storage("pad", "SRAM", capacity_bits=16 * 12, keep=frozenset("Z"))
    arch = Architecture("small", (Storage("DRAM", "DRAM"), buffer, pad), Compute("MAC", "intmac"))
    workload = matmul(12, 9, 8)
    figures = [("DRAM", 200.0), ("buffer", 6.0), ("pad", 1.0)]
    table = EnergyTable(
        "small",
        tuple(LevelEnergy(name, pj, pj, pj, 0.0, 1.0, "given") for name, pj in figures),
        ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"),
    )
    found = optimal(Mapspace(arch, workload, "ruby"), table, OPTIMAL)
    assert found.optimal
    return found.certificate, arch, workload, table


def test_what_is_right_is_verified(proven):
    """The certificate that is forged below is right as it is."""
    seen = verify(*proven)
    assert seen.optimal
    assert seen.sets > 1000
    assert seen.evaluated > 1


def test_as_many_chains_are_checked_as_proofs_name():
    """A certificate of a dim with very many chains is not refused for their number."""
    assert min(MOST_ROWS, MOST_CHAINS) >= MOST_NAMED


def grown(said):
    """The choice of what is kept whose sets were divided most."""
    return max(said["choices"], key=lambda choice: len(choice["verdicts"]))


def an_interval_left_out(said):
    tree = grown(said)["trees"][0]
    tree["chains"] = tree["chains"][:-1]


def a_chain_in_place_of_another(said):
    tree = grown(said)["trees"][0]
    tree["chains"] = [*tree["chains"][:-1], tree["chains"][0]]


def a_tree_of_fewer_chains(said):
    for tree in grown(said)["trees"]:
        tree |= {"chains": tree["chains"][:1], "parts": [0]}
    grown(said)["verdicts"] = "C"


def fewer_verdicts(said):
    grown(said)["verdicts"] = grown(said)["verdicts"][:-1]


def more_verdicts(said):
    grown(said)["verdicts"] += "C"


def the_whole_ruled_out(said):
    choice = grown(said)
    choice |= {"verdicts": "C", "trees": []}


def the_whole_weighed(said):
    choice = grown(said)
    choice |= {"verdicts": "W", "trees": []}


def a_part_ruled_out(said):
    """The last set that was evaluated is not: neither columns nor weights rule it out."""
    choice = grown(said)
    place = choice["verdicts"].rindex("E")
    choice["verdicts"] = choice["verdicts"][:place] + "W" + choice["verdicts"][place + 1 :]


def a_set_of_many_evaluated(said):
    grown(said)["verdicts"] = "E"


def a_bound_raised(said):
    said["lower_bound"] *= 1.01


def other_weights(said):
    for weights in grown(said)["weights"]:
        weights |= {name: 1.0 for name in weights if name.startswith("tile")}


def no_weights(said):
    grown(said)["weights"] = []


def a_choice_missing(said):
    said["choices"].remove(grown(said))


def a_choice_twice(said):
    said["choices"].append(grown(said))


def another_choice_in_its_place(said):
    least = min(said["choices"], key=lambda choice: len(choice["verdicts"]))
    grown(said).update(least)


def less_energy(said):
    said["best"][0]["energy_pj"] *= 0.99
    said["lower_bound"] *= 0.99


def a_worse_mapping(said):
    """One that is valid and costs what is said, but is not the best."""
    best = said["best"][0]
    best["bounds"] = {"M": [12, 1, 1, 1], "N": [9, 1, 1, 1], "K": [8, 1, 1, 1]}
    best["keep"] = {"DRAM": ["A", "B", "Z"], "buffer": [], "pad": ["Z"]}
    best |= {"energy_pj": 672840.0, "cycles": 864.0}
    said["lower_bound"] = 672840.0 * 864


def a_mapping_that_does_not_fit(said):
    best = said["best"][0]
    best["bounds"] = {"M": [1, 1, 1, 12], "N": [1, 1, 1, 9], "K": [1, 1, 1, 8]}
    best["keep"]["pad"] = ["A", "B", "Z"]


def a_mapping_of_another_mapspace(said):
    said["best"][0]["bounds"]["M"] = [7, 1, 1, 1]


def an_order_that_is_not_allowed(said):
    said["best"][0]["orders"]["buffer"] = ["K", "M", "N"]


def a_keep_that_is_not_allowed(said):
    said["best"][0]["keep"]["pad"] = []


def other_energies(said):
    said["energies"]["DRAM"][0] *= 2


def other_sizes(said):
    said["sizes"]["M"] = 11


def fewer_remainders(said):
    said["remainders"] = []


def a_worse_mapping_by(said, **weights):
    """A worse mapping is said to be the best, and weighted products to rule all chains out."""
    a_worse_mapping(said)
    for choice in said["choices"]:
        choice |= {"weights": [weights], "trees": [{"chains": [], "parts": []}] * len(choice["trees"] or [0] * 3)}
        choice["verdicts"] = ""


def weights_without_end(said):
    ways = product("ABZ", ("DRAM>pad", "DRAM>buffer", "buffer>pad"), ("always", "0.0"))
    names = [":".join(way) for way in ways]
    a_worse_mapping_by(said, **dict.fromkeys(names, 1.7e308))


def weights_that_vanish(said):
    a_worse_mapping_by(said, **{"compute": 1e-320, "leak": 1e300})


def powers_without_end(said):
    a_worse_mapping_by(said, **{"compute": 1.0, "axis:buffer.PE": 1e308})


def a_chain_beyond_all_integers(said):
    grown(said)["trees"][0]["chains"][0] = 2**70


def parts_beyond_all_integers(said):
    grown(said)["trees"][0]["parts"][0] = 2**70


def parts_that_wrap(said):
    grown(said)["trees"][0]["parts"][:4] = [2**62] * 4


def a_set_divided_into_itself(said):
    tree = grown(said)["trees"][0]
    tree["parts"] = [1] * 500 + tree["parts"]


def no_mapping(said):
    said["best"] = []


def the_mapping_twice(said):
    said["best"] *= 2


def points_below_no_front(said):
    said["corners"] = [[1.0, 1.0]]


def a_bound_below_zero(said):
    said["lower_bound"] = -1.0


def remainders_twice(said):
    said["remainders"] *= 2


def a_dim_that_there_is_not(said):
    said["best"][0]["bounds"]["X"] = [1, 1, 1, 1]


def a_level_that_there_is_not(said):
    said["best"][0]["keep"]["X"] = ["A"]


def hops_beyond_all_floats(said):
    said["hop_pj"] = 1e308
    said["best"][0]["energy_pj"] = 1e308


def a_bound_a_little_above_the_mapping(said):
    """By less than the sets of chains are compared with, so that nothing else is wrong with it."""
    (best,) = said["best"]
    said["lower_bound"] = best["cycles"] * best["energy_pj"] * (1 + TOLERANCE / 2)


FORGERIES = [
    a_bound_a_little_above_the_mapping,
    an_interval_left_out,
    a_chain_in_place_of_another,
    a_tree_of_fewer_chains,
    fewer_verdicts,
    more_verdicts,
    the_whole_ruled_out,
    the_whole_weighed,
    a_part_ruled_out,
    a_set_of_many_evaluated,
    a_bound_raised,
    other_weights,
    no_weights,
    a_choice_missing,
    a_choice_twice,
    another_choice_in_its_place,
    less_energy,
    a_worse_mapping,
    a_mapping_that_does_not_fit,
    a_mapping_of_another_mapspace,
    an_order_that_is_not_allowed,
    a_keep_that_is_not_allowed,
    other_energies,
    other_sizes,
    fewer_remainders,
    weights_without_end,
    weights_that_vanish,
    powers_without_end,
    a_chain_beyond_all_integers,
    parts_beyond_all_integers,
    parts_that_wrap,
    a_set_divided_into_itself,
    no_mapping,
    the_mapping_twice,
    points_below_no_front,
    a_bound_below_zero,
    remainders_twice,
    a_dim_that_there_is_not,
    a_level_that_there_is_not,
    hops_beyond_all_floats,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_what_is_forged_is_refused(proven, forge):
    """Whatever is changed so that more is claimed than is proven is refused, with a reason."""
    layer, arch, workload, table = proven
    said = json.loads(layer.model_dump_json())
    forge(said)
    forged = LayerProof.model_validate(said)
    with pytest.raises(Refused, match=r"\w+ \w+"):
        verify(forged, arch, workload, table)
    with few_are_many(), pytest.raises(Refused, match=r"\w+ \w+"):
        verify(forged, arch, workload, table)


@pytest.fixture(scope="module")
def filled():
    """A proof where all chains fill a capacity to the last word, and a mapping that is far from the best."""
    factors = (FactorRule("K", "=", 3), FactorRule("N", "=", None))
    pe = LoopConstraint(dims=("M",))
    glb = Storage("glb", "SRAM", capacity_bits=16 * 400, fanout=(Axis("PE", 4, constraint=pe),))
    keep, loops = {"keep": frozenset("B"), "bypass": frozenset("AZ")}, LoopConstraint(factors)
    reg = Storage("reg", "SRAM", capacity_bits=16 * 21, temporal=loops, **keep)
    arch = Architecture("exact", (Storage("DRAM", "DRAM"), glb, reg), Compute("MAC", "intmac"))
    figures = [("DRAM", 200.0), ("glb", 6.0), ("reg", 1.0)]
    table = EnergyTable(
        "exact",
        tuple(LevelEnergy(name, pj, pj, pj, 0.0, 1.0, "given") for name, pj in figures),
        ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"),
    )
    space = Mapspace(arch, matmul(12, 7, 12), "pfm")
    found = optimal(space, table, OPTIMAL)
    assert verified(found, space, table).optimal
    batch = space.sample(np.random.default_rng(0), 50)
    worst = max((batch.take([i]) for i in np.flatnonzero(validity(batch) == 0)), key=lambda one: values(one, table))
    assert values(worst, table) > 1.1 * found.lower_bound
    return found.certificate, worst, arch, space.workload, table


@pytest.mark.parametrize("power", [10.0**k for k in range(1, 300, 6)] + [3.1e17])
def test_large_powers_prove_nothing(filled, power):
    """Where all chains fill a capacity to the last word, 0 times a large power is 0, and not what rounding leaves."""
    layer, worst, arch, workload, table = filled
    said = json.loads(layer.model_dump_json())
    said["best"] = [json.loads(certified_mapping(worst, table, Charges()).model_dump_json())]
    said["lower_bound"] = float(values(worst, table))
    for choice in said["choices"]:
        choice |= {"weights": [{"compute": 1.0, "tile:reg:B": power}], "trees": [{"chains": [], "parts": []}] * 3}
        choice["verdicts"] = ""
    with pytest.raises(Refused):
        verify(LayerProof.model_validate(said), arch, workload, table)


def values(one, table):
    return float(evaluate(one, table, counts=recount(one)).edp[0])
