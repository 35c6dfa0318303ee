"""The checker of groups against the executor, its bounds against those of single layers, and certificates forged."""

import copy
import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.certificate import GroupProof
from ruby_map.mapper.certificate.checker import Refused
from ruby_map.mapper.certificate.checker.bounds import LeastCosts
from ruby_map.mapper.certificate.checker.columns import Columns
from ruby_map.mapper.certificate.checker.groups import verify_group
from ruby_map.mapper.certificate.checker.groups.extents import fewest_words
from ruby_map.mapper.certificate.checker.groups.group import GroupSteps
from ruby_map.mapper.certificate.checker.groups.layer_bounds import StageBounds, least_steps
from ruby_map.mapper.certificate.checker.groups.passes import passes_of
from ruby_map.mapper.certificate.checker.groups.stages import Stages
from ruby_map.mapper.certificate.checker.groups.traces import NoGroupError
from ruby_map.mapper.certificate.checker.groups.verify import _Check, _least_above
from ruby_map.mapper.certificate.checker.groups.walks import Walks
from ruby_map.mapper.certificate.checker.memories import expanded
from ruby_map.mapper.certificate.checker.problem import Problem
from ruby_map.mapper.commands.ruby_check import main as ruby_check
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.fusion import Link
from ruby_map.mapper.fusion.executor import NoBoxError, drawn_inputs, execute
from ruby_map.mapper.group_search import Family, GroupSearch
from ruby_map.mapper.problem import OBJECTIVES, Charges
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.workloads import Network, Tensor, Term, Workload
from ruby_map.workloads.networks import Edge
from ruby_map.workloads.operators import Causal
from typer.testing import CliRunner

from ..conftest import DEEP
from ..fusion.groups import groups
from ..fusion.test_search import families
from ..schema_files import object_faults
from ..strategies import plain


def network_of(stages: tuple[Workload, ...], links: tuple[Link, ...]) -> Network:
    """The network of some stages."""
    edges = [
        Edge(
            stages[own.producer].name, stages[own.consumer].name, own.tensor, own.ranks,
            own.through, own.streaming, own.causal,
        )
        for own in links
    ]  # fmt: skip
    return Network("net", tuple((stage, 1) for stage in stages), edges=tuple(edges))


def of_several_steps(group):
    """The group without its shared loops of one step, which a certificate does not have."""
    several = [dim for dim, _ in group.shared if group.trips(dim) > 1]
    kept = tuple((key, len(set(group.loops[:depth]) & set(several))) for key, depth in group.kept)
    shared = tuple((dim, tile) for dim, tile in group.shared if dim in several)
    return replace(group, shared=shared, retained=group.retained & set(several), kept=kept)


@settings(max_examples=5_000 if DEEP else 80)
@given(groups())
def test_steps_rooms_and_moves_equal_the_executor(group):
    """The layers of all steps, words that stand in the keeper, words of kept tensors that move, and of operators."""
    walks = Walks(Stages.of(network_of(group.stages, group.links), [stage.name for stage in group.stages]))
    group = of_several_steps(group)
    kept = tuple((stage, name, outside) for (stage, name), outside in group.kept)
    tiles = dict(group.shared)
    for dim, retains in product(tiles, (False, True)):  # a certificate walks both
        with suppress(NoGroupError):
            walks.trace(dim, tiles[dim], retains=retains)
    try:
        retained = frozenset(d for d in group.retained if walks.trace(d, tiles[d], retains=False).repeats)
        own = GroupSteps(walks, group.shared, retained, kept)
    except NoGroupError as error:
        known = "several ranks", "stands inside", "goes back", "no step", "no stage reads"  # see tests/fusion
        if not any(reason in str(error) for reason in known):
            with pytest.raises(NoBoxError):
                execute(group, drawn_inputs(group))
        return
    found = execute(group, drawn_inputs(group))
    layers = {(layer.stage, layer.sizes, layer.accumulates): number for layer, number in found.layers.items()}
    assert own.kinds == Counter(layers)
    for producer in range(len(group.stages) - 1):
        words, last = own.words_held(producer), max(read.consumer for read in walks.stages.consumers(producer))
        for stage in range(len(group.stages)):
            which = 0 if stage < producer else 2 if stage > last else 1
            assert words[which] == found.between[producer, stage], (producer, stage)
    for stage, name, outside in kept:
        moved = own.moves(stage, name, outside)
        key = stage, name
        assert (moved.most, moved.come, moved.distinct) == (found.most[key], found.moved[key], found.distinct[key]), key
        if all(dim in walks.shared for dim in tiles):
            assert fewest_words(walks, stage, name) <= moved.distinct, key
    assert_passes_equal(own, found)


def assert_passes_equal(own, found):
    """Words that a softmax passes over, rows that stream, words that are rescaled, and the room of statistics."""
    last, made, rows, rescaled = len(own.stages.layers) - 1, Counter(), Counter(), 0
    for (stage, sizes, again), number in own.kinds.items():
        layer = own.stages.layers[stage]
        for passed in passes_of(own.stages, stage, own.cuts, accumulates=again, output_kept=False):
            words = number * np.prod([sizes[layer.dims.index(dim)] for dim in passed.dims], dtype=int)
            if passed.tensor == layer.output and stage < last:
                made[stage] += words
            elif passed.tensor == layer.output:
                rescaled += words
            else:
                assert (passed.reads, passed.writes) == (2 * again, 2)
                rows[again] += words
    assert (+made, +rows, rescaled) == (+found.passed, +found.rows, found.rescaled)
    buffer = Storage("L1", "SRAM", capacity_bits=0)
    assert own.statistics_bits(buffer) == 2 * 16 * found.most_rows


@settings(max_examples=300 if DEEP else 8)
@given(families(), st.data())
def test_bounds_of_many_sizes_are_those_of_single_layers(family, data):
    """At any sizes, with any tensors kept, the bound equals that of the layer alone."""
    stage = data.draw(st.integers(0, 1))
    walks = Walks(Stages.of(network_of(family.stages, family.links), [own.name for own in family.stages]))
    layer = family.stages[stage]
    dims = data.draw(st.lists(st.sampled_from(layer.dims), unique=True, min_size=1, max_size=2))
    tied = {term.dim for tensor in layer.tensors for rank in tensor.ranks if len(rank) > 1 for term in rank}
    assume(len(tied & set(dims)) <= 1)
    variants = [[{dim: size} for size in range(1, layer.size(dim) + 1)] for dim in dims]
    arch = family.arch.with_resident(1, walks.stages.between[stage])
    costs = Charges(drain_reads=family.charges.drain_reads)
    energy, cycles = StageBounds(arch, layer, family.energies, [s.name for s in arch.slots], costs, variants).bounds()
    for at in np.ndindex(*energy.shape):
        sizes = dict(zip(dims, (i + 1 for i in at), strict=True))
        single = replace(
            layer, sizes=tuple(sizes.get(dim, size) for dim, size in zip(layer.dims, layer.sizes, strict=True))
        )
        machine, table = expanded(arch, family.energies, single)
        problem = Problem(machine, single, table, [True] * len(machine.slots), costs)
        bounds = []
        for _, keep in problem.every_keep():
            columns = Columns(problem, keep)

            def least(product, columns=columns):
                return np.array([np.prod([columns.columns[g][c].min() for g, c in enumerate(product)])])

            own = LeastCosts(columns, least, 1)
            bounds.append((own.energy_pj[0], own.cycles[0]))
        steps = least_steps(machine, single, np.array([single.sizes]))[0]
        assert energy[at] == pytest.approx(min(pj for pj, _ in bounds), rel=1e-12)
        possible = [max(took, steps) for pj, took in bounds if np.isfinite(pj)]
        assert cycles[at] == min(possible, default=np.inf)


def proven(family, objective="edp"):
    """The certificate of a search, and what it is about."""
    options = SearchOptions(strategy="optimal", effort="thorough", certify=True)
    outcome = GroupSearch([family], OBJECTIVES[objective], options).run()
    return outcome, network_of(family.stages, family.links)


@settings(max_examples=200 if DEEP else 5)
@given(families(), st.sampled_from(sorted(OBJECTIVES)))
def test_certificates_of_random_groups_are_verified(family, objective):
    """What the search proves the checker proves, by code of its own; JSON on the way loses nothing."""
    assume(np.prod([family.stages[-1].size(loop) for loop in family.loops]) <= 24)
    outcome, network = proven(family, objective)
    assume(outcome.proof is not None)
    proof = GroupProof.model_validate_json(outcome.proof.model_dump_json())
    verified = verify_group(proof, family.arch, network, family.energies)
    assert verified.optimal
    assert verified.lower_bound == outcome.lower_bound


@cache
def proven_example(operator):
    """The certificate of the example with one of OPERATORS, as JSON; its bound, and what it is about."""
    family = example(**OPERATORS[operator])
    outcome, network = proven(family)
    assert outcome.proof is not None, outcome.no_proof
    return outcome.proof.model_dump(mode="json"), outcome.lower_bound, family, network


SIZES = (5, 3, 6, 4, 40) if DEEP else (2, 3, 4, 2, 14)  # of the example: rows, columns, words of its buffer


def example(**operator) -> Family:
    """Two products on a machine whose buffer holds some of what is between them: some groups need proofs of layers."""
    m, k, between, n, words = SIZES
    sizes = ({"M": m, "N": between, "K": k}, {"M": m, "N": n, "K": between})
    stages = tuple(
        Workload(
            f"s{i}", tuple("MNK"), tuple(own.values()),
            (plain("A", "MK"), plain("W", "KN"), plain("Z", "MN", output=True)),
        )
        for i, own in enumerate(sizes)
    )  # fmt: skip
    links = (Link(0, 1, "A", (("M", 0), ("N", 0)), **operator),)
    levels = (
        Storage("L0", "DRAM"),
        Storage("L1", "SRAM", capacity_bits=16 * words, fanout=(Axis("x", 2),)),
        Storage("L2", "regfile", capacity_bits=16 * 4),
    )
    arch = Architecture("m", levels, Compute("MAC", "intmac"))
    figures = tuple(
        LevelEnergy(level.name, pj, pj, pj, 0.5, 1.0, "given")
        for level, pj in zip(levels, (50.0, 5.0, 1.0), strict=True)
    )
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    return Family(stages, links, arch, table, Charges(), "ruby-s", "L1")


OPERATORS = {
    "none": {},
    "softmax": {"through": "softmax"},
    "streaming": {"through": "softmax", "streaming": True},
    "causal": {"through": "softmax", "causal": Causal("M", "K", 3 if DEEP else 2)},
}


@pytest.fixture(scope="module", params=OPERATORS)
def made(request):
    """A certificate as JSON, and what it is about."""
    data, _, family, network = proven_example(request.param)
    assert data["solved"]
    assert data["layers"]
    return data, family, network


def test_the_example_is_verified(made):
    """As it is."""
    data, family, network = made
    verified = verify_group(GroupProof.model_validate(data), family.arch, network, family.energies)
    assert verified.optimal
    assert verified.summed


def _set(*path):
    def forge(data, value):
        for key in path[:-1]:
            data = data[key]
        data[path[-1]] = value(data[path[-1]]) if callable(value) else value

    return forge


FORGED = {
    "a lower value": (_set("energy_pj"), lambda pj: pj * 0.99),
    "fewer cycles": (_set("cycles"), lambda cycles: cycles - 1),
    "a bound above the value": (_set("lower_bound"), lambda bound: bound * 1.01),
    "a bound below 0": (_set("lower_bound"), -1.0),
    "another objective": (_set("objective"), "energy"),
    "no objective": (_set("objective"), "area"),
    "other stages": (_set("stages"), ["s1", "s0"]),
    "a stage twice": (_set("stages"), ["s0", "s0"]),
    "other sizes": (_set("sizes", 0, "M"), 4),
    "no keeper": (_set("keepers"), []),
    "another keeper": (_set("keepers"), ["L0"]),
    "a keeper twice": (_set("keepers"), ["L1", "L1"]),
    "tiles of no dim": (_set("tiles", "M"), [1]),
    "tiles twice": (_set("tiles", "M"), [1, 1, 6]),
    "a dim left out": (_set("tiles"), lambda tiles: dict([*tiles.items()][:-1])),
    "remainders elsewhere": (_set("remainders"), ["L9"]),
    "no remainders": (_set("remainders"), []),
    "other energies": (_set("energies", "L1", 0), 4.0),
    "drained words": (_set("drain_reads"), True),
    "leakage": (_set("leakage"), True),
    "wires": (_set("hop_pj"), -1.0),
    "another best group": (_set("best", "shared"), [["M", 1]]),
    "a tile beyond": (_set("best", "shared"), [["M", 7]]),
    "retained of no loop": (_set("best", "retained"), ["N"]),
    "kept twice": (_set("best", "kept"), [[0, "W", 0], [0, "W", 0]]),
    "kept between stages": (_set("best", "kept"), [[0, "Z", 0]]),
    "kept inside too many loops": (_set("best", "kept"), [[0, "W", 9]]),
    "no mappings": (_set("best_layers"), []),
    "a mapping twice": (_set("best_layers"), lambda own: [*own, own[0]]),
    "a mapping that accumulates": (_set("best_layers", 0, "accumulates"), lambda own: not own),
    "a mapping of other cost": (_set("best_layers", 0, "mapping", "energy_pj"), lambda pj: pj * 0.9),
    "a mapping that does not fit": (
        _set("best_layers", 0, "mapping", "bounds", "M"),
        lambda own: [own[0] + 1, *own[1:]],
    ),
    "no sums": (_set("solved"), []),
    "a group twice": (_set("solved"), lambda own: [*own, own[0]]),
    "sums at another slope": (_set("solved", 0, "sums", 0, "slope"), lambda own: own * 2),
    "sums of fewer layers": (_set("solved", 0, "sums", 0, "layers"), lambda own: own[:1]),
    "sums of more steps": (_set("solved", 0, "sums", 0, "layers", 0, 1), lambda own: own + 1),
    "sums of a layer that is not there": (_set("solved", 0, "sums", 0, "layers", 0, 0), 99),
    "a layer of more room": (_set("layers", 0, "room_bits"), 0),
    "a layer of a room beyond all": (_set("layers", 0, "room_bits"), 10**400),
    "a layer of another keeper": (_set("layers", 0, "keeper"), "L2"),
    "a layer of other residents": (_set("layers", 0, "resident"), []),
    "a layer of other sizes": (_set("layers", 0, "sizes", "K"), 2),
    "a layer with a higher bound": (_set("layers", 0, "proof", "lower_bound"), lambda own: own * 1.5),
    "a layer without choices": (_set("layers", 0, "proof", "choices"), []),
}


@pytest.mark.parametrize("made", OPERATORS if DEEP else ["none", "causal"], indirect=True)
@pytest.mark.parametrize("name", FORGED)
def test_forged_certificates_are_refused(made, name):
    """Each change is noticed, or changes nothing that is claimed."""
    data, family, network = made
    forged, (forge, value) = copy.deepcopy(data), FORGED[name]
    forge(forged, value)
    assert forged != data
    with pytest.raises(Refused):
        verify_group(GroupProof.model_validate(forged), family.arch, network, family.energies)


@pytest.mark.parametrize("other", OPERATORS)
def test_certificates_of_other_operators_are_refused(made, other):
    """What is proven with one operator is not of a network with another, or with none: unless it is true there, too."""
    data, family, _ = made
    _, bound, wanted, network = proven_example(other)
    proof = GroupProof.model_validate(data)
    if wanted.links == family.links:
        assert verify_group(proof, family.arch, network, family.energies).optimal
        return
    try:
        verified = verify_group(proof, family.arch, network, family.energies)
    except Refused:
        return
    assert verified.lower_bound == pytest.approx(bound, rel=1e-9)


def test_sums_that_overflow_are_refused(made, monkeypatch):
    """What is no number rules nothing out."""
    data, family, network = made
    monkeypatch.setattr(_Check, "_layer", lambda *_: 1.7e308)
    with pytest.raises(Refused, match="no number"):
        verify_group(GroupProof.model_validate(data), family.arch, network, family.energies)


@pytest.mark.parametrize("slope", [1e3, 1e12, 1e22, 1e40, 1e120])
def test_a_steep_sum_says_nothing_of_energy(slope):
    """Energy + slope x cycles, however steep, adds at most that there are so many cycles: no rounding is energy."""
    steep = (slope, (100.0 + slope * 50.0) * (1 - 1e-9))
    assert _least_above([(0.0, 100.0), steep], 10.0, OBJECTIVES["energy"]) == 100.0
    assert _least_above([(0.0, 100.0), steep], 10.0, OBJECTIVES["edp"]) <= 100.0 * 50.0


def test_words_between_the_steps_of_a_stride_need_not_move():
    """A reader of every fourth row needs two of five: small tiles of what makes them read no others."""
    made = Workload("s0", tuple("MNK"), (5, 2, 3), (plain("A", "MK"), plain("W", "KN"), plain("Z", "MN", output=True)))
    strided = Tensor("A", ((Term("M", 4),), (Term("K"),)))
    reader = Workload("s1", tuple("MNK"), (2, 3, 2), (strided, plain("W", "KN"), plain("Z", "MN", output=True)))
    links = (Link(0, 1, "A", (("M", 0), ("N", 0))),)
    walks = Walks(Stages.of(network_of((made, reader), links), ["s0", "s1"]))
    assert walks.shared == ["M", "K"]
    assert fewest_words(walks, 0, "A") == 2 * 3
    assert fewest_words(walks, 0, "W") == 3 * 2
    assert fewest_words(walks, 1, "Z") == 2 * 3
    one_row = GroupSteps(walks, (("M", 1),), frozenset(), ((0, "A", 1),))
    assert one_row.moves(0, "A", 1).distinct == 2 * 3


def test_a_certificate_as_a_file_says_what_it_is_about(tmp_path):
    """Written, verified by the command in text and JSON, and refused of another network."""
    net, proof = tmp_path / "net.yaml", str(tmp_path / "proof.json.gz")
    text = (
        "layers:\n"
        "  - {name: a, shape: matmul, sizes: {N: 6, K: 3, M: 4}}\n"
        "  - {name: b, shape: matmul, sizes: {N: 6, K: 4, M: 2}, from: {Inputs: a}, through: {Inputs: softmax}}\n"
    )
    net.write_text(text)
    options = ["--group", "a+b", "--mapspace", "pfm", "--leakage", "--certificate", proof]
    done = CliRunner().invoke(ruby_map, ["eyeriss_like", str(net), *options])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(ruby_check, ["eyeriss_like", str(net), proof])
    assert done.exit_code == 0, done.output
    assert "remainders at no slot, with leakage: no group whose shared loops are over N has a lower EDP" in done.stdout
    done = CliRunner().invoke(ruby_check, ["eyeriss_like", str(net), proof, "--json"])
    said = json.loads(done.stdout)
    assert not object_faults("run_check", said)
    assert said["group"]["remainders"] == []
    assert said["group"]["tiles"] == {"N": [6, 6]}
    net.write_text(text.replace(", through: {Inputs: softmax}", ""))
    done = CliRunner().invoke(ruby_check, ["eyeriss_like", str(net), proof, "--json"])
    assert (done.exit_code, json.loads(done.stdout)["verified"]) == (1, False)


def test_rows_stream_only_where_a_loop_cuts_them():
    """The last stage adds up over keys and over another dim: a loop over that one alone has no statistics to pay."""
    stages = (
        Workload("a", tuple("MKC"), (1, 2, 1), (plain("I", "MC"), plain("W", "CK"), plain("Z", "MK", output=True))),
        Workload("b", tuple("XNC"), (4, 1, 2), (plain("I", "XC"), plain("W", "CN"), plain("Z", "XN", output=True))),
        Workload("c", tuple("MNKX"), (1, 1, 2, 4), (plain("A", "MK"), plain("B", "XN"), plain("Y", "MN", output=True))),
    )
    links = (
        Link(0, 2, "A", (("M", 0), ("K", 0)), through="softmax", streaming=True),
        Link(1, 2, "B", (("X", 0), ("N", 0))),
    )
    levels = Storage("L0", "DRAM"), Storage("L1", "SRAM", capacity_bits=16 * 6, bypass=frozenset({"Y"}))
    figures = (
        LevelEnergy("L0", 3.0, 3.0, 1.0, 0.1, 1.0, "given"),
        LevelEnergy("L1", 1.0, 3.0, 3.0, 0.1, 1.0, "given"),
    )
    arch = Architecture("m", levels, Compute("MAC", "intmac"))
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    outcome, network = proven(Family(stages, links, arch, table, Charges(), "ruby", "L1"), "energy")
    assert outcome.best.energy_pj == 161
    assert verify_group(outcome.proof, arch, network, table).optimal


def test_rows_that_a_strided_reader_leaves_out_are_not_computed_where_words_stay():
    """A window reads rows of a stage that reads every second row: retained, each step needs one more row, and none
    between; computed again, the rows between as well."""
    made = Workload("s0", tuple("MNK"), (9, 3, 1), (plain("A", "MK"), plain("W", "KN"), plain("Z", "MN", output=True)))
    strided = Workload(
        "s1", tuple("MN"), (5, 3), (Tensor("A", ((Term("M", 2),), (Term("N"),))), plain("Z", "MN", output=True))
    )
    window = Tensor("A", ((Term("M"), Term("R")), (Term("N"),)))
    last = Workload("s2", tuple("MNR"), (3, 3, 3), (window, plain("Z", "MN", output=True)))
    links = tuple(Link(i, i + 1, "A", (("M", 0), ("N", 0))) for i in range(2))
    walks = Walks(Stages.of(network_of((made, strided, last), links), ["s0", "s1", "s2"]))
    retained = GroupSteps(walks, (("M", 1),), frozenset({"M"}), ((0, "A", 1),)).moves(0, "A", 1)
    again = GroupSteps(walks, (("M", 1),), frozenset(), ((0, "A", 1),)).moves(0, "A", 1)
    assert fewest_words(walks, 0, "A") == 5
    assert (retained.distinct, again.distinct) == (7, 9)
