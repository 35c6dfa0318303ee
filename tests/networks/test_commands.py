"""`ruby-map ARCH NETWORK --fuse auto`: what is printed, what JSON says, and where plans are not searched."""

import json

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration import api
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..schema_files import object_faults

NETWORK = """
name: block
inputs: {x: [6, 4]}
layers:
  - {name: a, shape: matmul, sizes: {M: 8, N: 6, K: 4}, from: {Inputs: x}}
  - {name: norm, op: rms_norm, from: a}
  - {name: b, shape: matmul, sizes: {M: 4, N: 6, K: 8}, from: {Inputs: norm}}
  - {name: sum, op: add, from: [b, x]}
  - {name: c, shape: matmul, sizes: {M: 8, N: 6, K: 4}, from: {Inputs: sum}}
"""
MACHINE = """
name: m
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}}
- {name: B0, class: SRAM, capacity_words: 150, word_bits: 16, energy: {read_pj: 1, write_pj: 1, update_pj: 1}}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10}}
"""


@pytest.fixture
def files(tmp_path):
    arch, net = tmp_path / "arch.yaml", tmp_path / "net.yaml"
    arch.write_text(MACHINE)
    net.write_text(NETWORK)
    return [str(arch), str(net)]


def run(*words):
    return CliRunner().invoke(main, list(words))


def test_a_plan_by_hand(files):
    """All tensors between layers stay: DRAM reads x twice and the weights once, takes the output once."""
    done = run(*files, "--fuse", "auto", "--objective", "energy", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert object_faults("run_map", said) == []
    dram = 2 * 24 + 3 * 32 + 48
    macs = 3 * 6 * 4 * 8
    assert said["energy_pj"] >= 100 * dram + 10 * macs
    assert said["energy_pj"] < 100 * dram + 14 * macs + 4 * 48
    assert said["optimal"]
    assert said["layer_by_layer"]["energy_pj"] > said["energy_pj"]
    assert said["saved"] == pytest.approx(1 - said["energy_pj"] / said["layer_by_layer"]["energy_pj"])
    plan = said["plan"]
    assert plan["keeper"] == "B0"
    assert sorted(plan["order"]) == ["a", "b", "c", "norm", "sum"]
    assert sum(own["energy_pj"] * own["count"] for own in plan["groups"]) == pytest.approx(said["energy_pj"])
    assert sum(own["saved"] for own in plan["groups"]) == pytest.approx(said["saved"])
    assert [layer["workload"] for layer in said["layers"]] == ["a", "b"]


def test_the_report_says_what_each_part_saves(files):
    """And what is proven, in the words of plans; the layers stand above."""
    done = run(*files, "--fuse", "auto", "--objective", "energy")
    assert done.exit_code == 0, done.output
    for text in ("plan, part by part", "stays in B0", "one by one ", "saved  ", "no plan has a lower energy"):
        assert text in done.stdout, text


def test_without_fuse_layers_are_searched_one_by_one(files):
    """As before there were operations: these are left out."""
    done = run(*files, "--objective", "energy", "--json")
    said = json.loads(done.stdout)
    assert "plan" not in said
    assert "layer_by_layer" not in said
    plain = explore(*files, "ruby-s", SearchOptions(objective="energy"))
    assert said["energy_pj"] == pytest.approx(plain.energy_pj)


def test_a_proof_of_plans_names_what_it_is_about(files):
    """Groups of all shared dims and tiles are not among the plans, as --group says, too."""
    fused, resident = (run(*files, "--fuse", fuse, "--objective", "energy").stdout for fuse in ("auto", "resident"))
    about = "no plan has a lower energy"
    assert f"{about}; of fused groups some shared dims and tiles are tried, which --group names\n" in fused
    assert f"{about}\n" in resident


def test_ctrl_c_while_layers_are_searched_says_why_there_is_no_plan(files, monkeypatch):
    """Their figures leave operations out."""
    monkeypatch.setattr(api, "search_layers", interrupted_after(api.search_layers))
    done = run(*files, "--fuse", "auto")
    assert "plan         none, layer by layer: interrupted before plans were searched; operations" in done.stdout
    assert done.exit_code == 0, done.output
    done = run(*files, "--fuse", "auto", "--deadline", "1")
    assert "it is not known whether a plan is within the limits" in done.stdout
    assert done.exit_code == 130


def interrupted_after(search):
    """The search of layers, which says that it was interrupted at its end."""

    def searched(layers, runs):
        search(layers, runs)
        for own in layers.results().values():
            own.statistics.stop(Ended.INTERRUPTED)

    return searched


def test_who_says_nothing_of_plans_reads_that_none_was_searched(files):
    """Not where it was refused, nor where none could be searched."""
    untried = "--fuse auto fuses layers"
    assert untried in run(*files).stdout
    assert untried in str(explore(*files))
    assert untried not in run(*files, "--fuse", "none").stdout
    assert untried not in run(*files, "--search", "random", "--samples", "50").stdout


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--search", "random", "--samples", "50"], "--search random proves nothing of layers"),
        (["--objective", "energy,delay"], "a plan is for one objective, and a front of plans of energy and delay"),
    ],
)
def test_where_plans_are_not_searched_it_is_said(files, options, why):
    """The answer is layer by layer, and complete."""
    done = run(*files, "--fuse", "auto", *options)
    assert done.exit_code == 0, done.output
    assert f"layer by layer: {why}" in done.stdout
    assert why in json.loads(run(*files, "--fuse", "auto", "--json", *options).stdout)["no_plan"]


def test_a_network_without_edges_has_no_plan(files, tmp_path):
    """Nothing is known of what its layers hand each other."""
    net = tmp_path / "plain.yaml"
    net.write_text("layers: [{name: a, shape: rank1, sizes: {D: 4}}, {name: b, shape: rank1, sizes: {D: 6}}]")
    done = run(files[0], str(net), "--fuse", "auto")
    assert "layer by layer: plain does not say what its layers hand each other" in done.stdout


def test_a_word_that_is_no_choice_is_a_fault(files):
    """Of the command and of Python."""
    done = run(*files, "--fuse", "all")
    assert (done.exit_code, 'fuse: must be one of auto, resident, none; got "all"' in done.stderr) == (2, True)
    with pytest.raises(InputError, match="fuse: must be one of auto, resident, none"):
        explore(*files, fuse="all")


def test_limits_are_kept_or_said_not_to_be(files):
    """Exit status 0 within them; 1 where no plan is known, and the proof where there is none."""
    free = json.loads(run(*files, "--fuse", "auto", "--json").stdout)
    late, much = str(free["cycles"]), str(free["energy_pj"])
    done = run(*files, "--fuse", "auto", "--deadline", late, "--energy-limit", much)
    assert (done.exit_code, f"limits       at most {int(late):,} cycles and " in done.stdout) == (0, True)
    assert ": kept" in done.stdout
    done = run(*files, "--fuse", "auto", "--deadline", "3", "--json")
    said = json.loads(done.stdout)
    assert object_faults("run_map", said) == []
    assert (done.exit_code, said["plan"]["impossible"], said["plan"]["within"]) == (1, True, False)
    assert said["plan"]["limits"] == {"cycles": 3.0, "energy_pj": None}
    assert "optimal" not in said  # it is not about the plan that is shown
    assert "gap" not in said
    text = run(*files, "--fuse", "auto", "--deadline", "3").stdout
    assert "limits       at most 3 cycles: NOT KEPT" in text
    assert "proof        there is no plan within the limits" in text


def test_limits_need_plans_and_numbers(files):
    """All that is wrong is said at once."""
    done = run(*files, "--deadline", "-1", "--energy-limit", "5")
    assert done.exit_code == 2
    rule = "is of plans of a network, and none is searched: give --fuse auto, or resident"
    for line in ("deadline: must be a positive number", f"deadline: {rule}", f"energy-limit: {rule}"):
        assert line in done.stderr, line
    with pytest.raises(InputError, match="proves nothing of layers"):
        explore(*files, fuse="resident", deadline=10.0, strategy="random", samples=10)


def test_the_front_of_plans(files):
    """Its points are of plans, its bound is below them."""
    done = run(*files, "--fuse", "auto", "--front", "energy,delay", "--json")
    plan = json.loads(done.stdout)["plan"]
    assert done.exit_code == 0
    assert plan["front"]
    cycles, energies = zip(*plan["front"], strict=True)
    assert list(cycles) == sorted(cycles)
    assert list(energies) == sorted(energies, reverse=True)
    assert plan["below"][0][0] <= cycles[0] * (1 + 1e-9)
    assert plan["below"][-1][1] <= energies[-1] * (1 + 1e-9)
    assert "front        " in run(*files, "--fuse", "auto", "--front", "energy,delay").stdout
    assert "a front of plans of" in run(*files, "--fuse", "auto", "--front", "energy,edp").stdout


def test_with_no_effort_left_layers_one_by_one_are_the_answer(files):
    """Effort that ends before the first slope leaves a plan, and a bound."""
    done = run(*files, "--fuse", "auto", "--effort", "mappings=50,steps=1", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert 0 <= said["lower_bound"] <= said["edp"] <= said["layer_by_layer"]["edp"]


def test_two_processes_find_the_same_plan(files):
    """Prices are searched from nothing each, and learnt in their order."""
    both = [json.loads(run(*files, "--fuse", "auto", "--json", "--jobs", jobs).stdout) for jobs in "12"]
    for said in both:
        said["plan"].pop("seconds")
    assert both[0]["plan"] == both[1]["plan"]
    assert both[0]["edp"] == both[1]["edp"]
    assert both[0]["lower_bound"] == both[1]["lower_bound"]


TWICE = """
inputs: {x: [4, 3]}
layers:
  - {name: a, shape: matmul, sizes: {M: 4, N: 4, K: 3}, from: {Inputs: x}}
  - {name: s, shape: matmul, sizes: {M: 4, N: 4, K: 4}, from: {Inputs: a, Weights: a}}
"""
LATER = """
inputs: {x: [8, 8]}
layers:
  - {name: l, shape: matmul, sizes: {M: 8, N: 8, K: 30}}
  - {name: sum, op: add, from: [l, x]}
  - {name: p0, op: max_pool, from: sum, sizes: [1, 1]}
  - {name: p1, op: max_pool, from: sum, sizes: [1, 1]}
  - {name: p2, op: max_pool, from: sum, sizes: [1, 1]}
  - {name: p3, op: max_pool, from: sum, sizes: [1, 1]}
"""


@pytest.mark.parametrize(
    ("network", "words", "names"),
    [
        (TWICE, 24, {"a": "s"}),  # what is read twice stands in the memory once
        (LATER, 67, {"sum": "p3"}),  # the sum takes no room while its layer runs: it is added afterwards
    ],
)
def test_what_stays_where_there_is_little_room(tmp_path, network, words, names):
    """A plan that was missed, and called impossible by the bound."""
    arch, net = tmp_path / "arch.yaml", tmp_path / "net.yaml"
    arch.write_text(MACHINE.replace("150", str(words)))
    net.write_text(network)
    done = run(str(arch), str(net), "--fuse", "auto", "--objective", "energy", "--mapspace", "ruby", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert {own["tensor"]: own["until"] for own in said["plan"]["resident"]} == names
    assert said["saved"] > 0.1


def test_many_readers_are_tried_in_the_order_of_the_file(files, tmp_path):
    """There are too many orders; the claim says which were tried."""
    net = tmp_path / "many.yaml"
    readers = "".join(
        f"  - {{name: r{i}, shape: matmul, sizes: {{M: 2, N: 6, K: 8}}, from: {{Inputs: a}}}}\n" for i in range(16)
    )
    net.write_text(
        "inputs: {x: [6, 4]}\nlayers:\n  - {name: a, shape: matmul, sizes: {M: 8, N: 6, K: 4}, from: {Inputs: x}}\n"
        + readers
    )
    done = run(files[0], str(net), "--fuse", "auto", "--objective", "energy")
    assert done.exit_code == 0, done.output
    assert "in the order of the network" in done.stdout


def test_padded_layers_and_layers_alone_have_no_plan(files, tmp_path):
    """The operations of a network are not padded with its layers."""
    net = tmp_path / "conv.yaml"
    net.write_text(
        """
layers:
  - {name: a, shape: conv2d, sizes: {M: 4, C: 2, P: 4, Q: 4, R: 3, S: 3}}
  - {name: half, op: max_pool, from: a, sizes: [4, 2, 2]}
"""
    )
    assert "without --pad and --im2col" in run("toy_6pe", str(net), "--fuse", "auto", "--im2col").stdout
    done = run(files[0], f"{files[1]}/a", "--fuse", "auto")
    assert (done.exit_code, "fuse: is of a network, a is one layer" in done.stderr) == (2, True)


def test_energies_of_0_are_no_division(files, tmp_path):
    """Nothing is below 0."""
    arch = tmp_path / "free.yaml"
    free = "{read_pj: 0, write_pj: 0, update_pj: 0}"
    text = MACHINE.replace("{read_pj: 100, write_pj: 100, update_pj: 100}", free)
    text = text.replace("{read_pj: 1, write_pj: 1, update_pj: 1}", free).replace("compute_pj: 10", "compute_pj: 0")
    arch.write_text(text)
    done = run(str(arch), files[1], "--fuse", "auto", "--log")
    assert done.exit_code == 0, done.output


def test_a_name_like_that_of_an_operator_between_layers(files, tmp_path):
    """An operation of that name is another."""
    net = tmp_path / "names.yaml"
    net.write_text(
        """
layers:
  - {name: a, shape: matmul, sizes: {M: 4, N: 3, K: 2}}
  - {name: softmax(a), op: rms_norm, from: a}
  - {name: b, shape: matmul, sizes: {M: 2, N: 3, K: 4}, from: {Inputs: a}, through: {Inputs: softmax}}
"""
    )
    done = run(files[0], str(net), "--fuse", "auto", "--json")
    assert done.exit_code == 0, done.output
    assert sorted(json.loads(done.stdout)["plan"]["order"]) == ["a", "b", "softmax(a)", "softmax(a)'"]
