"""The search of groups against every group: all tiles, orders, retained loops, kept tensors and mappings."""

import json
import re
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import Architecture, Axis, Compute, Storage, load_arch
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy, energy_table, stacked_table
from ruby_map.mapper.exploration import group as exploration
from ruby_map.mapper.fusion import Group, GroupCosts, Link, Standing, boxes, layer_passes, pass_costs, stages_of
from ruby_map.mapper.fusion.executor import NoBoxError, drawn_inputs, execute
from ruby_map.mapper.group_search import Family, GroupSearch, Known, stage_tables
from ruby_map.mapper.group_search.stage_bounds import StageProblem
from ruby_map.mapper.group_search.tiles import tiles_of
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, recount, validity
from ruby_map.mapper.problem import OBJECTIVES, Charges, Goal
from ruby_map.mapper.report.groups import Alone, GroupResult
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended, Statistics
from ruby_map.workloads import Fault, InputError, Workload, load_workload

from ..conftest import DEEP
from ..strategies import plain
from .groups import convolutions, products


@st.composite
def machines(draw, sizes, words, rates):
    """Two levels with an array of some size, an inner one of so many words, and figures of any proportions."""
    pj, bandwidth = st.sampled_from([0.0, 1.0, 3.0, 10.0, 100.0]), st.sampled_from(rates)
    axes = (Axis("x", draw(st.sampled_from(sizes))),)
    inner = Storage("L1", "SRAM", capacity_bits=16 * draw(words), fanout=axes)
    levels = (
        Storage("L0", "DRAM", read_bandwidth=draw(bandwidth), shared_bandwidth=draw(bandwidth)),
        replace(inner, write_bandwidth=draw(bandwidth), shared_bandwidth=draw(bandwidth)),
    )
    figures = tuple(LevelEnergy(level.name, draw(pj), draw(pj), draw(pj), 0.1, 1.0, "given") for level in levels)
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    charges = Charges(leakage=draw(st.booleans()), drain_reads=draw(st.booleans()))
    return Architecture("m", levels, Compute("MAC", "intmac")), table, charges


@st.composite
def families(draw):
    """A group of few and small stages on a machine with a buffer of little room, and figures of any proportions."""
    stages, links = draw(st.one_of(products(most=2), convolutions(most=2)))
    assume(max(stage.macs for stage in stages) <= 60 and len(stages) == 2)
    arch, table, charges = draw(machines([1, 2, 3], st.integers(4, 60), [None, None, None, 1.0]))
    return Family(stages, links, arch, table, charges, "ruby", "L1")


def every_group(family):
    """Every group of a family: tiles, orders, retained loops and kept tensors; those that compute no boxes left out.

    The largest tiles come first: their mapspaces are the largest, and one that is too large ends an example at once.
    """
    last = family.stages[-1]
    for tiles in product(*(range(last.size(loop), 0, -1) for loop in family.loops)):
        sizes = dict(zip(family.loops, tiles, strict=True))
        for order in permutations(loop for loop in family.loops if sizes[loop] < last.size(loop)):
            shared = tuple((loop, sizes[loop]) for loop in order)
            for bits in product((False, True), repeat=len(order)):
                retained = frozenset(loop for loop, bit in zip(order, bits, strict=True) if bit)
                for depths in product((None, *range(len(order) + 1)), repeat=len(family.keepable())):
                    pairs = zip(family.keepable(), depths, strict=True)
                    kept = tuple((key, depth) for key, depth in pairs if depth is not None)
                    yield Group(family.stages, family.links, "L1", shared, retained, kept)


def points_of(family, standing, layer, known):
    """The energies and cycles of all valid mappings of a layer, those that no other beats."""
    key = layer, standing.group.resident(layer.stage), standing.free_bits(layer.stage)
    if key not in known:
        machine, work = standing.machine(layer), layer.workload(standing.group)
        try:
            space = Mapspace(machine, work, family.preset, distinct=True)
        except InputError:
            known[key] = []
            return []
        assume(space.size.total <= 1_000)
        points = set()
        for batch in space.batches():
            valid = batch.take(np.flatnonzero(validity(batch) == 0))
            if len(valid):
                table = stacked_table(family.energies, valid.arch)
                costs = evaluate(valid, table, family.charges)
                for i in np.flatnonzero(~costs.exact).tolist():
                    one = valid.take([i])
                    exact = evaluate(one, table, family.charges, recount(one))
                    points.add((float(exact.energy_pj[0]), float(exact.cycles[0])))
                keep = costs.exact
                points |= set(zip(costs.energy_pj[keep].tolist(), costs.cycles[keep].tolist(), strict=True))
        known[key] = front_of(points)
    return known[key]


def front_of(points):
    front = []
    for energy, cycles in sorted(points):
        if not front or cycles < front[-1][1]:
            front.append((energy, cycles))
    return front


def computes(group):
    """Whether the executor and the model have a group; it may be one that the search has not, too."""
    try:
        execute(group, drawn_inputs(group))
        boxes(group)
    except NoBoxError:
        return False
    except ValueError as error:  # the search has not all groups that there are under a mask
        reasons = "several ranks", "goes back", "stands inside", "no step needs", "no stage reads"
        if not any(reason in str(error) for reason in reasons):
            raise
        return False
    return True


def has_room(standing):
    """Whether what stands in the keeper leaves no stage less than nothing."""
    return all(standing.free_bits(stage) >= 0 for stage in range(len(standing.group.stages)))


def points_of_group(family, standing, known):
    """The energies and cycles of a group with all valid mappings of its layers, those that no other beats."""
    group = standing.group
    moved = GroupCosts(standing, family.energies, family.charges, {}, {})
    sums = [(moved.transfer_pj, float(moved.transfer_cycles))]
    for layer, number in standing.layers.items():
        points = points_of(family, standing, layer, known)
        sizes = dict(zip(group.stages[layer.stage].dims, layer.sizes, strict=True))
        listed = layer_passes(group, standing.level, layer)
        pj, took = pass_costs(listed, family.arch, family.energies, family.charges, sizes)
        points = [(pe + pj, pc + took) for pe, pc in points]
        sums = front_of({(e + number * pe, c + number * pc) for e, c in sums for pe, pc in points})
    return sums


def best_of_all(family, objective):
    """The least objective of all groups with all mappings; inf where none fits."""
    least, known, fits = np.inf, {}, {}
    for group in every_group(family):
        plain = replace(group, kept=())
        if plain not in fits:
            fits[plain] = computes(plain) and has_room(Standing(plain, family.arch))
        if not fits[plain]:
            continue
        standing = Standing(group, family.arch)
        if not has_room(standing):
            continue
        sums = points_of_group(family, standing, known)
        least = min([least, *(objective.value(energy, cycles) for energy, cycles in sums)])
    return least


MOST_TILES = 12 if DEEP else 8  # to list every group of more takes most of the time


@settings(max_examples=300 if DEEP else 5)
@given(families(), st.sampled_from(sorted(OBJECTIVES)))
def test_the_search_finds_the_best_of_every_group(family, name):
    """Without a limit it ends with the least of all, and says that it is proven."""
    tiles = np.prod([family.stages[-1].size(loop) for loop in family.loops])
    assume(tiles <= MOST_TILES and len(family.loops) <= 2)
    objective = OBJECTIVES[name]
    least = best_of_all(family, objective)
    options = SearchOptions(strategy="optimal", effort="thorough")
    outcomes = [GroupSearch([family], objective, options).run()]
    with pytest.MonkeyPatch.context() as patch:  # coarse bounds hold, too
        patch.setattr(stage_tables, "StageProblem", lambda *own: StageProblem(*own[:-1], fine_rows=-1))
        outcomes.append(GroupSearch([replace(family, known=Known())], objective, options).run())
    for outcome in outcomes:
        if np.isinf(least):
            assert outcome.best is None
            continue
        value = objective.value(outcome.best.energy_pj, float(outcome.best.cycles))
        assert value == pytest.approx(least, rel=1e-9)
        assert outcome.lower_bound == pytest.approx(least, rel=1e-6)


def test_a_softmax_is_paid_for_in_every_step():
    """Row by row it passes over as many words as over all rows at once."""
    first = Workload("a", tuple("MNK"), (4, 3, 2), (plain("A", "MK"), plain("W", "KN"), plain("Z", "MN", output=True)))
    stages = first, replace(first, name="b", sizes=(4, 2, 3))
    links = (Link(0, 1, "A", (("M", 0), ("N", 0)), through="softmax"),)
    arch = Architecture("m", (Storage("L0", "DRAM"), Storage("L1", "SRAM")), Compute("MAC", "intmac"))
    figures = tuple(LevelEnergy(level.name, 3.0, 5.0, 7.0, 0.0, 1.0, "given") for level in arch.levels)
    table = EnergyTable("m", figures, ComputeEnergy("MAC", 1.0, 0.0, 1.0, "given"))
    whole, by_row, by_two = (
        GroupCosts(standing, table, Charges(), standing.layers, {})
        for standing in (
            Standing(Group(stages, links, "L1", shared), arch) for shared in ((), (("M", 1),), (("M", 2),))
        )
    )
    assert whole.pass_pj == by_row.pass_pj == by_two.pass_pj > 0
    assert whole.pass_cycles == by_row.pass_cycles == by_two.pass_cycles


def searched_products(tmp_path, *options):
    """What the command says of two products on a machine of the library."""
    from ruby_map.mapper.commands.ruby_map import main
    from typer.testing import CliRunner

    net = tmp_path / "net.yaml"
    net.write_text(
        "layers:\n"
        "  - {name: a, shape: matmul, sizes: {N: 6, K: 3, M: 4}}\n"
        "  - {name: b, shape: matmul, sizes: {N: 6, K: 4, M: 2}, from: {Inputs: a}}\n"
    )
    return CliRunner().invoke(main, ["eyeriss_like", str(net), "--group", "a+b", *options])


def test_costs_are_those_of_mapped_layers_and_json_says_so(tmp_path):
    """The sum over layers, times their steps, and what kept tensors move, is what the command prints."""
    done = searched_products(tmp_path, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    layers = [layer for stage in said["stages"] for layer in stage["layers"]]
    energy = sum(layer["steps"] * layer["energy_pj"] for layer in layers) + said["transfers"]["energy_pj"]
    cycles = sum(layer["steps"] * layer["cycles"] for layer in layers) + said["transfers"]["cycles"]
    assert (said["energy_pj"], said["cycles"]) == (pytest.approx(energy), cycles)
    assert said["edp"] == pytest.approx(energy * cycles)
    assert said["optimal"] == (said["gap"] <= 1e-9)
    assert said["lower_bound"] <= said["edp"] * (1 + 1e-9)
    assert said["alone"]["edp"] > said["edp"]
    assert set(said["group"]) == {"stages", "shared", "keeper", "halo", "life", "held_words"}


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ("a+c", ['no layer "c" in net']),
        ("a", ["a group has 2 to 8 layers, as A+B; got 1"]),
        ("", ['no layer "" in net']),
        ("a+a", ["a is named twice"]),
    ],
)
def test_names_that_are_no_group_are_faults(tmp_path, names, wanted):
    """Status 2, and each fault once."""
    from ruby_map.mapper.commands.ruby_map import main
    from typer.testing import CliRunner

    net = tmp_path / "net.yaml"
    net.write_text("layers: [{name: a, shape: rank1, sizes: {D: 4}}, {name: b, shape: rank1, sizes: {D: 4}}]")
    done = CliRunner().invoke(main, ["eyeriss_like", str(net), "--group", names])
    assert done.exit_code == 2
    assert all(text in done.stderr for text in wanted)


MACHINE = """name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}}
- {name: B0, class: SRAM, capacity_words: WORDS, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1}}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10}}
"""
RESIDUAL = """layers:
- {name: a, shape: conv1d, sizes: {M: 1, C: 4, P: 12, R: 1}}
- {name: b, shape: conv1d, sizes: {M: 1, C: 1, P: 12, R: 3}, from: {Inputs: a}, pad: {P: 1}}
- {name: c, shape: conv1d, sizes: {M: 1, C: 1, P: 12, R: 3}, from: {Inputs: b}, pad: {P: 1}}
- {name: d, dims: {P: 12}, from: {Inputs: c, Weights: a}, tensors: {Inputs: {projection: [P]},
   Weights: {projection: [P]}, Outputs: {projection: [P], output: true}}}
"""
ONE_WINDOW = """layers:
- {name: a, shape: conv1d, sizes: {M: 2, C: 2, P: 7, R: 1}}
- {name: b, dims: {M: 2, P: 4, Q: 4}, from: {Inputs: a},
   tensors: {Inputs: {projection: [M, P + Q]}, Outputs: {projection: [M, P, Q], output: true}}}
"""


@pytest.mark.parametrize(
    ("layers", "names", "words", "edp", "shared"),
    [
        (RESIDUAL, "a+b+c+d", 24, 1_155_000, [["P", 2]]),  # tiles of 1 cannot retain: a's words would go back
        (ONE_WINDOW, "a+b", 40, 344_880, []),  # P and Q move one window: the first alone is shared
    ],
)
def test_groups_of_some_tiles_alone(tmp_path, layers, names, words, edp, shared):
    """What one tile or one loop cannot have keeps no other from it, in the search and in the checker."""
    from ruby_map.mapper.commands.ruby_check import main as check
    from ruby_map.mapper.commands.ruby_map import main
    from typer.testing import CliRunner

    arch, net, proof = (tmp_path / name for name in ("arch.yaml", "net.yaml", "proof.json"))
    arch.write_text(MACHINE.replace("WORDS", str(words)))
    net.write_text(layers)
    done = CliRunner().invoke(main, [str(arch), str(net), "--group", names, "--json", "--certificate", str(proof)])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert (said["edp"], said["optimal"]) == (edp, True)
    assert said["group"]["shared"] == shared or not shared
    assert CliRunner().invoke(check, [str(arch), str(net), str(proof)]).exit_code == 0


@pytest.mark.parametrize(
    ("first", "reader", "wanted"),
    [
        (
            "{name: a, shape: matmul, sizes: {N: 4, M: 4, K: 2}}",
            "{name: b, dims: {N: 4, M: 3, K: 4}, from: {A: a, B: a}, through: {A: softmax}, tensors: {A: {projection: "
            "[N, K]}, B: {projection: [N, K]}, O: {projection: [N, M], output: true}}}",
            "what a makes is read as it is and through softmax",
        ),
        (
            "{name: a, shape: conv1d, sizes: {M: 2, C: 2, P: 1, R: 3}}",
            "{name: b, shape: conv1d, sizes: {M: 1, C: 2, P: 1, R: 1}, stride: 3, from: {Inputs: a}, pad: {P: [2, 0]}}",
            "no step needs what a makes",
        ),
    ],
)
def test_layers_that_cannot_meet_are_a_fault(tmp_path, first, reader, wanted):
    """Status 2: a tensor that is read in two ways, and one of which zeros of padding alone are read."""
    from ruby_map.mapper.commands.ruby_map import main
    from typer.testing import CliRunner

    arch, net = tmp_path / "arch.yaml", tmp_path / "net.yaml"
    arch.write_text(MACHINE.replace("WORDS", "100"))
    net.write_text(f"layers:\n- {first}\n- {reader}\n")
    done = CliRunner().invoke(main, [str(arch), str(net), "--group", "a+b"])
    assert (done.exit_code, wanted in done.stderr) == (2, True), done.stderr


def test_a_time_limit_before_the_first_group_is_one(tmp_path):
    """Nothing is claimed: no figures, no bound, and no verdict; the layers alone are searched as ever."""
    from ruby_map.mapper.commands.ruby_map import main
    from typer.testing import CliRunner

    net = tmp_path / "net.yaml"
    net.write_text(
        "layers:\n"
        "  - {name: a, shape: conv2d, sizes: {M: 4, C: 2, P: 300, Q: 1, R: 3, S: 1}}\n"
        "  - {name: b, shape: conv2d, sizes: {M: 3, C: 4, P: 298, Q: 1, R: 3, S: 1}, from: {Inputs: a}}\n"
    )
    command = ["toy_6pe", str(net), "--group", "a+b", "--time-limit", "1e-9"]
    done = CliRunner().invoke(main, [*command, "--json"])
    assert done.exit_code == 1, done.output
    said = json.loads(done.stdout)
    assert (said["edp"], said["lower_bound"], said["optimal"], said["verdict"]) == (None, None, False, "undecided")
    assert said["search"]["stopped_by"] == "time limit"
    done = CliRunner().invoke(main, command)
    assert "no group was solved; stopped by: time limit" in done.stdout


@pytest.mark.parametrize(
    ("alone", "unmapped", "verdict"),
    [
        (None, True, "fuse"),  # a layer has no mapping
        (None, False, "undecided"),  # the layers were not searched to an end
        (Alone(1e9, 10**6, None, False, {}), False, "undecided"),  # better ones may be there
        (Alone(1e9, 10**6, 1.0, False, {}), False, "undecided"),
        (Alone(1e9, 10**6, 1e14, False, {}), False, "fuse"),
        (Alone(1e9, 10**6, 1e15, True, {}), False, "fuse"),
        (Alone(1.0, 1, None, False, {}), False, "alone"),  # better than what no group is below
    ],
)
def test_a_verdict_is_what_is_proven(tmp_path, monkeypatch, alone, unmapped, verdict):
    """Of the layers alone as of the groups: layers that were merely found are no reason to fuse."""
    monkeypatch.setattr(exploration, "_alone", lambda *given: (alone, unmapped))
    done = searched_products(tmp_path, "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["verdict"] == verdict
    assert (said["alone"] is None) == (alone is None)


@pytest.mark.parametrize(("tiles", "verdict"), [(300, "alone"), (12, "undecided")])
def test_where_no_group_fits_the_layers_alone_are_better_only_if_every_tile_was_tried(tiles, verdict):
    """Tiles that were not tried are named, and may hold a group."""
    went = Statistics(ended=(Ended.SEEN_ALL,))
    alone = Alone(1.0, 1, 1.0, True, {})
    tried = (("N", 300, tiles),)
    made = GroupResult(("a", "b"), "m", Goal(), "ruby-s", 0, None, inf, alone, False, went, 0, tiles, tried)
    assert made.verdict == made.json()["verdict"] == verdict
    assert "no group whose shared loops are over N fits" in str(made)
    assert ("12 of 300 tiles of N" in str(made)) == (tiles < 300)


def test_ctrl_c_before_the_groups_is_one(tmp_path, monkeypatch):
    """While the layers alone are searched there is nothing to print: status 130."""
    study = exploration.explored

    def interrupted(*given):
        result = study(*given)
        result.layers[-1][0].statistics.stop(Ended.INTERRUPTED)
        return result

    monkeypatch.setattr(exploration, "explored", interrupted)
    done = searched_products(tmp_path, "--json")
    assert (done.exit_code, done.stdout) == (130, "")


def test_combinations_of_tiles_are_few(tmp_path):
    """However many dims are shared: fewer tiles of the dims that have most."""
    net, sizes = tmp_path / "net.yaml", "{N: 1000, M: 2, C: 2, P: 20000, Q: 20000, R: 1, S: 1}"
    net.write_text(
        f"layers:\n- {{name: a, shape: conv2d, sizes: {sizes}}}\n"
        f"- {{name: b, shape: conv2d, sizes: {sizes}, from: {{Inputs: a}}}}\n"
    )
    stages, links = stages_of(load_workload(str(net)), ["a", "b"], lambda message: Fault("net.yaml", None, "", message))
    arch = load_arch("eyeriss_like")
    family = Family(stages, links, arch, energy_table(arch), Charges(), "pfm", "shared_glb")
    assert len(family.loops) >= 3
    assert np.prod([len(tiles) for tiles in family.tiles]) <= 2**18 * 1.3
    assert min(len(tiles) for tiles in family.tiles if tiles[-1] > 12) >= 12


def test_tiles_of_large_dims_are_few():
    """Every one of a small dim; of a large one those that divide it, few others, and none of very many steps."""
    assert tiles_of(200, 1_000).tolist() == list(range(1, 201))
    assert {1, 64, 80, 1_000, 2_000} <= set(tiles_of(2_000, 1_000).tolist())
    large = tiles_of(100_000_008, 1_000)
    assert large[0] >= 100_000_008 / 2**16
    assert large[-1] == 100_000_008
    assert len(large) < 1_200
    assert len(tiles_of(2_000, 20)) <= 22
    assert tiles_of(389, 4).tolist() == [1, 7, 53, 389], "a prime"


@given(st.integers(1, 20_000), st.integers(1, 40), st.integers(1, 3_000))
def test_tiles_of_few_steps_are_chosen_before_they_are_thinned(size, most, multiple):
    """Of a causal mask's multiples as many are tried as of other tiles: no few are all but lost by thinning."""
    tiles = tiles_of(size, most, min(multiple, size))
    assert set((tiles[:-1] % min(multiple, size)).tolist()) <= {0}
    assert tiles[-1] == size
    assert len(tiles) >= min(most, size // min(multiple, size), 4) // 2 + 1


def test_fewer_tiles_of_dims_with_very_many_chains(tmp_path):
    """Each tile of such a dim has hundreds of thousands of chains to bound, whose figures take gigabytes."""
    net = tmp_path / "net.yaml"
    net.write_text(
        "layers:\n- {name: a, shape: conv2d, sizes: {M: 64, C: 1, P: 390, Q: 7, R: 3, S: 3}}\n"
        "- {name: b, shape: conv2d, sizes: {M: 4, C: 64, P: 388, Q: 5, R: 3, S: 3}, from: {Inputs: a}}\n"
    )
    stages, links = stages_of(load_workload(str(net)), ["a", "b"], lambda message: Fault("net.yaml", None, "", message))
    arch = load_arch(str(Path(__file__).parents[2] / "experiments" / "ordinary_machines" / "llm_4_cores.yaml"))
    family = Family(stages, links, arch, energy_table(arch), Charges(), "ruby-s", "L2", most_rows=8_000)
    tiles = dict(zip(family.loops, map(len, family.tiles), strict=True))
    assert tiles["P"] == 4 < tiles["C"]
    fault = partial(Fault, "", None, "")
    stages, links = stages_of(load_workload("llama3_8b_prefill_4096"), ["scores", "context"], fault)
    attention = Family(stages, links, arch, energy_table(arch), Charges(), "ruby-s", "L2", most_rows=8_000)
    assert min(attention.tiles[attention.loops.index("N")]) == 4096 // 8, "a causal mask makes all steps different"


def test_a_log_says_how_far_the_search_is(tmp_path):
    """A line after the first group: what is solved, the best, and how far below the best possible may be."""
    done = searched_products(tmp_path, "--log")
    assert done.exit_code == 0, done.output
    line = r"\d+ groups looked at, best \S+, the best possible at most [\d.]+% below, \d+% of the effort"
    assert re.search(line, done.stderr), done.stderr
