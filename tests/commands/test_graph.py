"""`ruby-map NETWORK --graph`: what it takes, prints and writes."""

import json

import pytest
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.report.graphs import graph_json, graph_svg, graph_text
from ruby_map.workloads import load_workload
from typer.testing import CliRunner

from ..house import ROOT

NET = str(ROOT / "experiments/groups/mobilenet_v2.yaml")


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments), "--graph"])


def refused(*arguments):
    """The faults of a command that prints nothing else."""
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    return done.stderr.splitlines()


def test_a_network_alone_is_listed():
    """No architecture is asked for; one that stands before it changes nothing."""
    network = load_workload(NET)
    assert run(NET).stdout == graph_text(network) + "\n"
    assert run("eyeriss_like", NET).stdout == graph_text(network) + "\n"
    assert json.loads(run(NET, "--json").stdout) == graph_json(network)


def test_a_picture_is_written_beside_what_is_printed(tmp_path):
    """One file; a folder with other files is left as it is."""
    done = run(NET, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["network"] == "mobilenet_v2_blocks"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["graph.svg"]
    assert (tmp_path / "out/graph.svg").read_text(encoding="utf-8") == graph_svg(load_workload(NET))
    (fault,) = refused(NET, "--out", tmp_path / "out")
    assert "results are never mixed" in fault


def test_a_network_without_edges_says_so():
    done = run("deepbench")
    assert done.exit_code == 0
    assert "nothing is known of what these layers hand each other" in done.stdout


def test_a_folder_is_a_network_of_its_files(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(f"shape: matmul\nsizes: {{M: {len(name)}, N: 4, K: 4}}\n")
    (tmp_path / "two.yaml").write_text("shape: matmul\nsizes: {M: 5, N: 4, K: 4}\n")
    done = run(tmp_path)
    assert "total  2 layers, 0 operations; in all occurrences 128 MACs" in done.stdout
    assert "a network of 2 layers: one, two" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "NETWORK: is missing: a library name (see --list) or a path"),
        (["resnet18/C1"], "graph: is of a network, C1 is one layer"),
        (["eyeriss_like", "matmul_100"], "graph: is of a network, matmul_100 is one layer"),
        (["eyeriss_like"], "eyeriss_like: is an architecture; a network is expected"),
        ([str(ROOT / "examples/mapping.yaml")], "is a mapping; a network is expected"),
        (["resnet18", "eyeriss_like"], "the architecture stands first: write eyeriss_like resnet18"),
        (["net.onnx"], "is an ONNX model: ruby-import net.onnx --out net.yaml makes a network of it"),
        (["resnet81"], "neither a file nor a name of the library"),
        (["eyeriss_lik", NET], 'did you mean "eyeriss_like"'),
    ],
)
def test_what_is_no_network_is_a_fault(arguments, fault):
    (line,) = refused(*arguments)
    assert fault in line


def test_all_clashes_are_told_at_once(tmp_path):
    """Options of searches, and others that end the command, beside what is wrong with the input."""
    (tmp_path / "file").write_text("")
    options = ["--list", "--search", "random", "--jobs", 2, "--group", "a+b", "--with", "x.yaml"]
    faults = refused("resnet81", *options, "--out", tmp_path / "file")
    left_out = [fault.split(":")[0] for fault in faults if fault.endswith(": does not go with --graph: leave it out")]
    assert left_out == ["group", "jobs", "list", "search"]
    assert "with: is read together with ARCH, and none is given: leave it out" in faults
    assert f"out: {tmp_path / 'file'}: must be a folder, but is a file" in faults
    assert len(faults) == 7
