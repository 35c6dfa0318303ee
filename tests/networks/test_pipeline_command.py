"""`ruby-map ARCH NETWORK --pipeline AXIS --items N`: what it prints and refuses."""

import json

import pytest
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration.pipelines import explore
from ruby_map.mapper.plan_search.pipelines import PipelineSearch
from typer.testing import CliRunner

from ..schema_files import object_faults

ARCH = """
name: cores
technology: 45nm
levels:
- {name: DRAM, class: DRAM, word_bits: 16, read_bandwidth: 8, write_bandwidth: 8}
- name: L2
  class: SRAM
  capacity_words: 256
  fanout: [{name: core, size: 3, dims: [M]}, {name: one, size: 1}]
- {name: L1, class: SRAM, capacity_words: 64, fanout: [{name: mac, size: 2}]}
compute: {name: MAC, class: intmac}
"""
CHAIN = """
name: net
inputs: {x: [4, 4]}
layers:
- {name: a, shape: matmul, sizes: {M: 2, N: 4, K: 4}, from: {Inputs: x}}
- {name: pool, op: max_pool, from: a, sizes: [4, 2]}
- {name: b, shape: matmul, sizes: {M: 1, N: 4, K: 2}, from: {Inputs: pool}}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "arch.yaml").write_text(ARCH)
    (tmp_path / "net.yaml").write_text(CHAIN)
    return tmp_path


def run(folder, *options, net="net.yaml"):
    return CliRunner().invoke(main, [str(folder / "arch.yaml"), str(folder / net), *map(str, options)])


def test_layers_of_little_parallelism_share_the_cores(files):
    """No layer can use three cores: two and one in a pipeline finish earlier, and the figures add up."""
    done = run(files, "--pipeline", "core", "--items", 10, "--objective", "delay", "--leakage", "--quick", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert object_faults("run_pipeline", said) == []
    stages = said["stages"]
    assert [stage["cores"] for stage in stages] == [2, 1]
    assert [name for stage in stages for part in stage["parts"] for name in part["layers"]] == ["a", "b"]
    cycles = [stage["cycles"] for stage in stages]
    assert said["cycles"] == sum(cycles) + 9 * max(cycles)
    assert (said["fill_cycles"], said["item_cycles"]) == (sum(cycles), max(cycles))
    assert said["energy_pj"] == pytest.approx(10 * sum(own["energy_pj"] for own in stages) + said["leakage_pj"])
    assert said["leakage_pj"] > 0
    assert all(own["cycles"] == sum(part["cycles"] for part in own["parts"]) for own in stages)
    assert said["optimal"]
    assert said["cycles"] == said["lower_bound"]
    assert said["saved"] == pytest.approx(1 - said["cycles"] / said["in_turn"]["cycles"])
    assert said["saved"] > 0.1


def test_all_in_turn_is_what_ruby_map_says_of_the_network(files):
    """Item after item on all cores: so often the figures of the layers one by one, with their operations."""
    options = ["--leakage", "--quick", "--objective", "energy", "--json"]
    every = json.loads(run(files, "--fuse", "resident", *options).stdout)["layer_by_layer"]
    said = json.loads(run(files, "--pipeline", "L2.core", "--items", 5, *options).stdout)
    assert said["in_turn"]["cycles"] == 5 * every["cycles"]
    assert said["in_turn"]["energy_pj"] == pytest.approx(5 * every["energy_pj"])
    assert said["energy_pj"] <= said["in_turn"]["energy_pj"]


def test_the_report_says_what_is_proven(files):
    """The stages, the figures beside those in turn, and the bound."""
    text = run(files, "--pipeline", "core", "--items", 10, "--objective", "delay", "--quick").stdout
    assert "3 of core, 10 items" in text
    assert "no pipeline has a lower delay" in text


TWICE = CHAIN.replace("name: b,", "name: b, count: 2,").replace("name: a,", "name: a, count: 2,")
TWICE = TWICE.replace("name: pool,", "name: pool, count: 2,")
FORK = CHAIN + "- {name: c, shape: matmul, sizes: {M: 1, N: 4, K: 2}, from: {Inputs: pool}}\n"
REFUSED = {
    "no such axis": (CHAIN, ["--pipeline", "column", "--items", 2], 'has no axis "column"; it has L2.core, L2.one'),
    "one element": (CHAIN, ["--pipeline", "one", "--items", 2], "one element"),
    "no items": (CHAIN, ["--pipeline", "core"], "needs --items"),
    "no axis": (CHAIN, ["--items", 2], "goes with --pipeline AXIS"),
    "items": (CHAIN, ["--pipeline", "core", "--items", 0], "items: must be from 1"),
    "not taken": (CHAIN, ["--pipeline", "core", "--items", 2, "--fuse", "auto"], "fuse: does not go with --pipeline"),
    "counts": (TWICE, ["--pipeline", "core", "--items", 2], "a occurs 2 times"),
    "no chain": (FORK, ["--pipeline", "core", "--items", 2], "c reads pool, not what is right before it"),
    "no edges": (
        "layers:\n- {name: a, shape: matmul, sizes: {M: 2, N: 4, K: 4}}\n"
        "- {name: b, shape: matmul, sizes: {M: 2, N: 4, K: 4}}\n",
        ["--pipeline", "core", "--items", 2],
        "does not say what its layers hand each other",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_pipeline_is_refused(files, case):
    """With the reason, before anything is searched."""
    net, options, reason = REFUSED[case]
    (files / "other.yaml").write_text(net)
    done = run(files, *options, net="other.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert reason in done.stderr


def test_all_faults_at_once(files):
    """Of the axis and of the chain."""
    (files / "other.yaml").write_text(FORK)
    said = run(files, "--pipeline", "column", "--items", 0, net="other.yaml").stderr
    assert all(word in said for word in ("no axis", "must be from 1", "no chain"))


def test_a_systolic_axis_is_no_row_of_cores(files):
    """Its elements pass words to each other."""
    (files / "arch.yaml").write_text(ARCH.replace("size: 3,", "size: 3, systolic: true,"))
    done = run(files, "--pipeline", "core", "--items", 2)
    assert done.exit_code == 2
    assert "systolic" in done.stderr


def test_a_time_limit_is_one_of_each_layer_and_of_the_search_of_pipelines(files, monkeypatch):
    """What layers take of it is not taken from the pipelines."""
    limits = []

    class Noted(PipelineSearch):
        def __post_init__(self):
            limits.append(self.options.limits.seconds)
            super().__post_init__()

    monkeypatch.setattr(explore, "PipelineSearch", Noted)
    done = run(files, "--pipeline", "core", "--items", 10, "--quick", "--time-limit", 600, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["search"]["searched"] > 0
    assert limits == [600]
