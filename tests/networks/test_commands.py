"""`ruby-map ARCH NETWORK --fuse auto`: what is printed, what JSON says, and where plans are not searched."""

import json

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands.ruby_map import main
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


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--search", "random", "--samples", "50"], "--search random proves nothing of layers"),
        (["--objective", "energy,delay"], "a plan is for one objective"),
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
    assert (done.exit_code, 'fuse: must be one of auto, none; got "all"' in done.stderr) == (2, True)
    with pytest.raises(InputError, match="fuse: must be one of auto, none"):
        explore(*files, fuse="all")


def test_two_processes_find_the_same_plan(files):
    """Prices are searched from nothing each, and learnt in their order."""
    both = [json.loads(run(*files, "--fuse", "auto", "--json", "--jobs", jobs).stdout) for jobs in "12"]
    for said in both:
        said["plan"].pop("seconds")
    assert both[0]["plan"] == both[1]["plan"]
    assert both[0]["edp"] == both[1]["edp"]
    assert both[0]["lower_bound"] == both[1]["lower_bound"]
