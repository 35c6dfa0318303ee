"""Certificates of machines with uneven placement: proofs are verified, and what is forged is refused."""

import json
from dataclasses import replace
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, FactorRule, LoopConstraint, Storage, stacked
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, as_written, stacked_table
from ruby_map.mapper.certificate import LayerProof
from ruby_map.mapper.certificate.checker import Refused, verify
from ruby_map.mapper.certificate.checker.chains import every_chain as chains_listed
from ruby_map.mapper.certificate.checker.memories import expanded
from ruby_map.mapper.certificate.checker.problem import Problem
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.mapspace import Mapspace, every_chain
from ruby_map.mapper.model.cost import validity
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.proof.certify import certified_mapping
from ruby_map.mapper.search.options import SearchOptions

from ..conftest import DEEP
from ..model.test_cost import matmul
from ..searches import a_poor_beginning, optimal
from ..small_problems import uneven_problems, uneven_spaces, values_of
from .test_certificate import check_a_front, check_ended_early, check_its_bounds, check_the_best_of_every_mapping

OPTIMAL = SearchOptions(strategy="optimal", certify=True)


@pytest.fixture(autouse=True, scope="module")
def hardly_any_first_look():
    """A poor first best, so that there is something to prove."""
    with a_poor_beginning():
        yield


def said_of(found):
    """The certificate of an outcome as JSON has it."""
    return json.loads(found.certificate.model_dump_json())


def verified(said, space, table):
    """What a certificate says, checked for the machine as it is written."""
    arch, own = as_written(space.arch, table)
    return verify(LayerProof.model_validate(said), arch, space.workload, own)


@settings(max_examples=3_000 if DEEP else 6)
@given(uneven_problems(), st.integers(0, 99))
def test_of_the_best_of_every_mapping(problem, seed):
    """The value verified is the least of all mappings, under every kind of constraint."""
    check_the_best_of_every_mapping(problem, seed)


@settings(max_examples=1_000 if DEEP else 3)
@given(uneven_problems(), st.sampled_from(["delay,energy", "energy,delay,edp"]))
def test_of_several_objectives(problem, objectives):
    """Each stage is verified within the limits of those before."""
    space, table, _, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objectives), costs)
    if found.best is not None:
        seen = verified(said_of(found), space, table)
        assert seen.optimal
        assert len(seen.stages) == len(objectives.split(","))


@settings(max_examples=1_000 if DEEP else 3)
@given(uneven_problems())
def test_of_a_front(problem):
    """A front is verified as a whole."""
    check_a_front(problem)


@settings(max_examples=500 if DEEP else 5)
@given(uneven_problems(), st.integers(1, 12), st.sampled_from(["", "energy,delay"]))
def test_of_a_proof_that_was_ended_early(problem, step, front):
    """Ended by Ctrl-C after some steps, what is claimed is a lower bound that can be verified."""
    check_ended_early(problem, step, front)


# What the checker works out for itself


def problem_of(space, table, costs=None):
    """The problem as the checker sees it, and the machine that it expands."""
    arch, own = as_written(space.arch, table)
    arch, own = expanded(arch, own, space.workload)
    return Problem(arch, space.workload, own, space.remainders, costs or Charges())


@settings(max_examples=1_000 if DEEP else 8)
@given(uneven_problems())
def test_expands_the_same_machine(problem):
    """Its levels and energies are those that a search has, from the machine as it is written."""
    space, table, *_ = problem
    seen = problem_of(space, table)
    assert seen.arch == space.arch
    assert seen.table == table


def chains_agree(space):
    """The checker lists the chains of a mapspace, and no others."""
    for d, chains in enumerate(space.chains):
        own = chains_listed(space.arch, space.workload.sizes[d], space.workload.dims[d], space.remainders).bounds
        bounds = every_chain(chains).bounds
        assert (own == bounds[np.lexsort(bounds.T[::-1])]).all()


@settings(max_examples=1_000 if DEEP else 10)
@given(uneven_spaces())
def test_lists_the_chains_and_the_choices_of_the_mapspace(space):
    """It lists the chains of the mapspace, and each sequence of tensors once."""
    chains_agree(space)
    seen = Problem(space.arch, space.workload, table_of(space.arch), space.remainders, Charges())
    kept = list(seen.every_keep())
    assert len({names for names, _ in kept}) == len(kept) == seen.keeps
    every = {keep.tobytes() for keep in space.keep_choices.every()}
    assert {keep.tobytes() for _, keep in kept} == every
    assert len(kept) == len(every)


@pytest.mark.parametrize("preset", ["pfm", "ruby"])
@pytest.mark.parametrize("rule", [("<=", 4), (">=", 4), ("=", 4), ("=", None), ("=", 1)], ids=str)
def test_rules_on_factors_are_about_all_loops_of_a_memory(rule, preset):
    """4 may be 4 in one place, or 2 in each of two."""
    space = Mapspace(machine(factors=(FactorRule("M", *rule),)), matmul(12, 2, 2), preset)
    chains_agree(space)
    products = every_chain(space.chains[0]).bounds[:, 3:].prod(axis=1)
    assert rule[0] != "=" or set(products.tolist()) == {rule[1] or 12}


@settings(max_examples=1_000 if DEEP else 6)
@given(uneven_problems(), st.integers(0, 2**32))
def test_its_bounds_are_below_every_mapping(problem, seed):
    """Whatever the loop orders, no mapping is below the checker's bound of its chains; valid ones count as possible."""
    space, table, _, costs = problem
    own = problem_of(space, table, costs)
    batch = space.sample(np.random.default_rng(seed), 8)
    for one in map(batch.take, np.arange(len(batch))[:, None]):
        check_its_bounds(own, one, table)


# Forged certificates


@settings(max_examples=1_000 if DEEP else 3)
@given(uneven_problems(), st.data())
def test_a_bound_that_is_too_high_is_refused(problem, data):
    """5 % above the least of all mappings, below that of a mapping that is said to be the best."""
    space, table, objective, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    assume(found.best is not None and found.lower_bound > 0)
    every = space.sample(np.random.default_rng(data.draw(st.integers(0, 99))), 100)
    worse = np.flatnonzero((values := values_of(every, table, objective, costs)) < np.inf)
    worse = worse[values[worse] >= found.lower_bound * 1.05]
    assume(len(worse))
    said = said_of(found)
    said["best"] = [json.loads(certified_mapping(every.take(worse[:1]), table, costs).model_dump_json())]
    verified(said, space, table)  # a mapping that is not the best, and a bound below it: so it may be
    said["lower_bound"] = found.lower_bound * 1.05
    with pytest.raises(
        Refused, match="leave room for something better|left out, which no weighted product|are compulsory"
    ):
        verified(said, space, table)


@settings(max_examples=1_000 if DEEP else 4)
@given(uneven_problems(), st.data())
def test_a_choice_that_is_dropped_or_doubled_is_refused(problem, data):
    """Every sequence of tensors has to be there, and once."""
    space, table, objective, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    assume(found.best is not None)
    said = said_of(found)
    assume(said["choices"])  # not where the compulsory cycles are the proof
    place = data.draw(st.integers(0, len(said["choices"]) - 1))
    dropped = said["choices"].pop(place)
    with pytest.raises(Refused, match="nothing is said of the choice"):
        verified(said, space, table)
    said["choices"] += [dropped, dropped]
    with pytest.raises(Refused, match="is there twice"):
        verified(said, space, table)
    turned = {name: kept[::-1] for name, kept in dropped["keep"].items()}
    single = {level.name: level.placement == "even" for level in as_written(space.arch, table)[0].levels}
    assume(any(not single[name] and len(kept) > 1 for name, kept in turned.items()))
    said["choices"][-1] = dropped | {"keep": turned}  # another sequence, that is there already
    with pytest.raises(Refused, match="is there twice"):
        verified(said, space, table)


@settings(max_examples=1_000 if DEEP else 4)
@given(uneven_problems(), st.integers(0, 99))
def test_a_mapping_that_does_not_fit_is_refused(problem, seed):
    """However low it is said to cost, and so it does: each mapping is valid or refused."""
    space, table, objective, costs = problem
    found = optimal(space, table, replace(OPTIMAL, objective=objective), costs)
    assume(found.best is not None)
    batch, said = space.sample(np.random.default_rng(seed), 4), said_of(found)
    said["lower_bound"] = 0.0
    for one in map(batch.take, np.arange(len(batch))[:, None]):
        said["best"] = [json.loads(certified_mapping(one, table, costs).model_dump_json())]
        valid = validity(one)[0] == 0
        event("valid" if valid else "not valid")
        if valid:
            verified(said, space, table)
        else:
            with pytest.raises(Refused, match="its mapping is not valid"):
                verified(said, space, table)


def table_of(arch):
    """Energies that fall from level to level."""
    figures = zip(arch.levels, [200.0, 6.0, 1.0] + [0.5] * 9, strict=False)
    levels = tuple(LevelEnergy(level.name, pj, pj, pj, 0.01, 1.0, "given") for level, pj in figures)
    return EnergyTable(arch.name, levels, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))


def machine(words=9, *, keep="ABZ", placement="uneven", **loops):
    """A buffer with an axis, and a pad of so many words in which each tensor may lie below other loops."""
    buffer = Storage("buffer", "SRAM", keep=frozenset("ABZ"), fanout=(Axis("PE", 3),))
    pad = Storage(
        "pad", "SRAM", capacity_bits=16 * words, keep=frozenset(keep), placement=placement,
        temporal=LoopConstraint(**loops),
    )  # fmt: skip
    return Architecture("small", (Storage("DRAM", "DRAM"), buffer, pad), Compute("MAC", "intmac"))


def proof_of(arch):
    """A small layer, and its certificate as JSON has it."""
    workload, table = matmul(6, 4, 6), table_of(arch)
    space = Mapspace(arch, workload, "pfm")
    with a_poor_beginning():
        found = optimal(space, stacked_table(table, space.arch), OPTIMAL)
    assert found.optimal
    return found.certificate.model_dump_json(), workload, table


@pytest.fixture(scope="module")
def proven():
    """The proof for a pad of 9 words; the best fills it, with tiles of 6, 2 and 1 words."""
    return proof_of(machine())


def check(said, workload, table, arch=None):
    return verify(LayerProof.model_validate(said), arch or machine(), workload, table)


def test_what_is_right_is_verified(proven):
    """The certificate names the machine as it is written; a choice for the pad is a sequence of tensors."""
    said, workload, table = json.loads(proven[0]), *proven[1:]
    assert check(said, workload, table).optimal
    assert list(said["energies"]) == ["DRAM", "buffer", "pad", "MAC"]
    assert said["energies"]["pad"] == [1.0, 1.0, 1.0, 0.01]
    sequences = {tuple(choice["keep"]["pad"]) for choice in said["choices"]}
    assert sequences == set(permutations("ABZ"))
    best = said["best"][0]
    assert best["keep"] == {"DRAM": ["A", "B", "Z"], "buffer": ["A", "B", "Z"], "pad": ["A", "B", "Z"]}
    assert list(best["orders"]) == ["DRAM", "buffer", "pad/1", "pad/2", "pad/3"]
    assert {dim: (len(bounds), prod(bounds)) for dim, bounds in best["bounds"].items()} == {
        "M": (6, 6), "N": (6, 4), "K": (6, 6),
    }  # fmt: skip


OTHER_MACHINES = {
    "a word less": (machine(8), "pad would hold 144 bits"),
    "one loop": (machine(max_loops=1), "pad has 2 loops"),
    "fewer steps": (machine(factors=(FactorRule("M", "<=", 2),)), r"bounds .* of M are not of the mapspace"),
    "more steps": (machine(factors=(FactorRule("K", ">=", 3),)), r"bounds .* of K are not of the mapspace"),
    "an order": (machine(innermost=("M",)), "loop order .* at pad/. is not of the mapspace"),
    "even": (machine(placement="even"), "other dims or levels"),
    "free": (machine(keep=""), "nothing is said of the choice"),
    "outermost": (replace(machine(), levels=(Storage("DRAM", "DRAM", placement="uneven"), *machine().levels[1:])),
                  "its placement is even"),
}  # fmt: skip


@pytest.mark.parametrize(("arch", "why"), OTHER_MACHINES.values(), ids=OTHER_MACHINES)
def test_a_certificate_of_another_machine_is_refused(proven, arch, why):
    """Limits are those of the memory: of the tiles, loops and bounds of all its levels together."""
    said, workload, table = json.loads(proven[0]), *proven[1:]
    with pytest.raises(Refused, match=why):
        check(said, workload, table, arch)


def test_a_certificate_of_even_placement_is_refused():
    """It has a set of tensors for the pad, and fewer bounds."""
    said, workload, table = proof_of(machine(placement="even"))
    assert check(json.loads(said), workload, table, machine(placement="even")).optimal
    with pytest.raises(Refused, match="other dims or levels"):
        check(json.loads(said), workload, table)


def claim(said, workload, table, bounds, pad):
    """Say that a mapping is the best, at its own cost, and that nothing is known below it."""
    arch, kept = stacked(machine(keep=""), workload), said["best"][0]["keep"] | {"pad": list(pad)}
    keep = np.ones((5, 3), bool)
    keep[2:] = False
    keep[range(5 - len(pad), 5), ["ABZ".index(name) for name in pad]] = True
    order = np.array([[[workload.dims.index(dim) for dim in dims] for dims in said["best"][0]["orders"].values()]])
    factors = np.array([[bounds[dim] for dim in workload.dims]]).transpose(0, 2, 1)
    one = MappingBatch.of(arch, workload, factors, order.astype(np.int8), keep[None])
    mapping = certified_mapping(one, stacked_table(table, arch), Charges())
    assert mapping.keep == kept
    return said | {"best": [json.loads(mapping.model_dump_json())], "lower_bound": 0.0}


def test_a_tile_that_exceeds_the_pool_by_a_word_is_refused(proven):
    """Tiles of 6, 3 and 1 words fit one by one, and not together."""
    said, workload, table = json.loads(proven[0]), *proven[1:]
    bounds = {"M": [1, 3, 1, 1, 2, 1], "N": [1, 4, 1, 1, 1, 1], "K": [1, 2, 1, 1, 1, 3]}
    forged = claim(said, workload, table, bounds, "ABZ")
    with pytest.raises(Refused, match="pad would hold 160 bits"):
        check(forged, workload, table)
    bounds |= {"M": [1, 6, 1, 1, 1, 1]}
    assert check(claim(said, workload, table, bounds, "ABZ"), workload, table).value  # of 3, 3 and 1 words


FREE = machine(keep="")


@pytest.fixture(scope="module")
def free():
    """The proof where the pad may keep any tensors."""
    return proof_of(FREE)


def test_every_sequence_of_every_set_is_there(free):
    """One of none, three of one tensor, six of two, six of three."""
    said, workload, table = json.loads(free[0]), *free[1:]
    assert len(said["choices"]) == 16
    assert check(said, workload, table, FREE).optimal


def test_loops_outside_all_tensors_of_a_memory_are_no_way_out():
    """They would be better here, as the pad holds one word and the buffer has no loops; there are none."""
    dram, buffer, pad = machine(1, keep="").levels
    arch = replace(FREE, levels=(dram, replace(buffer, temporal=LoopConstraint(dims=())), pad))
    said, workload, table = proof_of(arch)
    assert check(json.loads(said), workload, table, arch).optimal


@pytest.mark.parametrize(
    ("bounds", "pad", "why"),
    [
        ([1, 2, 1, 1, 1, 3], "BA", "no loop divides, and not in order"),
        ([1, 2, 1, 3, 1, 1], "AB", "loops in pad outside all tensors"),
        ([1, 2, 1, 1, 3, 1], "A", "loops in pad outside all tensors"),
        ([1, 2, 1, 1, 3, 1], "", "loops in pad outside all tensors"),
    ],
)
def test_a_mapping_that_is_written_otherwise_is_refused(free, bounds, pad, why):
    """Mappings that do the same, or what the mapspace does not have: loops outside all that a memory keeps."""
    said, workload, table = json.loads(free[0]), *free[1:]
    forged = claim(said, workload, table, {"M": bounds, "N": [4, 1, 1, 1, 1, 1], "K": [6, 1, 1, 1, 1, 1]}, pad)
    with pytest.raises(Refused, match=why):
        check(forged, workload, table, FREE)


def a_sequence_turned(said):
    said["best"][0]["keep"]["pad"] = ["A", "Z", "B"]


def a_sequence_in_place_of_another(said):
    said["choices"][0] |= {"keep": said["choices"][0]["keep"] | {"pad": ["A", "A", "B"]}}


def a_shorter_sequence(said):
    said["choices"][0] |= {"keep": said["choices"][0]["keep"] | {"pad": ["A", "B"]}}


def a_sequence_too_many(said):
    said["choices"].append(said["choices"][0] | {"keep": said["choices"][0]["keep"] | {"pad": ["A"]}})


def choices_by_level(said):
    for choice in said["choices"]:
        for place, name in enumerate(choice["keep"].pop("pad"), 1):
            choice["keep"][f"pad/{place}"] = [name]


def one_order_for_the_pad(said):
    best = said["best"][0]
    best["orders"] = {"DRAM": ["M", "N", "K"], "buffer": ["M", "N", "K"], "pad": ["M", "N", "K"]}


def one_bound_for_the_pad(said):
    said["best"][0]["bounds"] = {"M": [1, 2, 1, 3], "N": [1, 4, 1, 1], "K": [1, 1, 3, 2]}


def energies_by_level(said):
    said["energies"]["pad/1"] = said["energies"]["pad"]


def leakage_of_each_level(said):
    said["energies"]["pad"][3] *= 3


def remainders_of_the_memory(said):
    said["remainders"] = ["pad"]


FORGERIES = [
    a_sequence_turned,
    a_sequence_in_place_of_another,
    a_shorter_sequence,
    a_sequence_too_many,
    choices_by_level,
    one_order_for_the_pad,
    one_bound_for_the_pad,
    energies_by_level,
    leakage_of_each_level,
    remainders_of_the_memory,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_what_is_forged_is_refused(proven, forge):
    """Whatever names something else than the machine has is refused, with a reason."""
    said, workload, table = json.loads(proven[0]), *proven[1:]
    forge(said)
    with pytest.raises(Refused, match=r"\w+ \w+"):
        check(said, workload, table)
