"""Nothing is lost and nothing ends in a traceback: inputs, disks, pipes and processes that go wrong."""

import os

import pytest
from ruby_map.mapper import command_energy, command_import, command_map, command_model, command_sweep
from typer.testing import CliRunner

TOY = ("toy_6pe_linear", "rank1_100")


def run(app, *arguments):
    """Run a command in this process; an exception that it does not handle is a failure of the test."""
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.mark.parametrize(
    ("mapspace", "status", "words"), [("ruby-s", 0, "D in"), ("auto", 0, "D in"), ("ruby", 2, "tables of more than")]
)
def test_a_dim_of_a_million_millions_is_mapped_or_refused(tmp_path, mapspace, status, words):
    """No array is as long as a dim."""
    (tmp_path / "huge.yaml").write_text("name: h\nshape: rank1\nsizes: {D: 1000000000000}\n")
    done = run(command_map.main, TOY[0], tmp_path / "huge.yaml", "--samples", 500, "--mapspace", mapspace)
    assert done.exit_code == status
    assert words in done.output


LONG = "x" * 300
ODD_NAMES = {
    "an architecture": (command_map.main, [LONG, TOY[1]], "no such file"),
    "a workload": (command_map.main, [TOY[0], LONG], "neither a file nor a name"),
    "a workload's file": (command_map.main, [TOY[0], f"{LONG}.yaml"], "File name too long"),
    "a layer of it": (command_map.main, [TOY[0], f"./{LONG}/{LONG}"], "File name too long"),
    "a folder": (command_map.main, [*TOY, "--out", LONG], "File name too long"),
    "a table": (command_map.main, [*TOY, "--ert", LONG], "File name too long"),
    "a mapping": (command_model.main, [*TOY, LONG], "File name too long"),
    "a model": (command_import.main, [LONG], "File name too long"),
    "a network": (command_import.main, ["MODEL", "--out", LONG], "File name too long"),
    "a table to write": (command_energy.main, [TOY[0], "--write-ert", LONG], "File name too long"),
    "a sweep": (command_sweep.main, [LONG], "File name too long"),
    "a sweep's folder": (command_sweep.main, ["SWEEP", "--out", LONG], "File name too long"),
    "nobody's workload": (command_map.main, [TOY[0], "~nosuchuser/x.yaml"], "no home of ~nosuchuser"),
    "nobody's layer": (command_map.main, [TOY[0], "~nosuchuser"], "no home of ~nosuchuser"),
    "a pipe": (command_map.main, [TOY[0], "./PIPE"], "this is a named pipe"),
    "a machine of a pipe": (command_map.main, ["PIPE", TOY[1]], "this is a named pipe"),
    "a model of a pipe": (command_import.main, ["PIPE"], "this is a named pipe"),
    "an endless model": (command_import.main, ["/dev/zero"], "this is a device"),
    "a table over a device": (command_energy.main, [TOY[0], "--write-ert", "/dev/null"], "it is a device"),
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to stand in, with a sweep, a pipe and a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "SWEEP").write_text("{architecture: toy_6pe_linear, workloads: [rank1_100], search: {victory: 20}}")
    os.mkfifo(tmp_path / "PIPE")
    onnx = pytest.importorskip("onnx")
    product = onnx.helper.make_node("MatMul", ["A", "B"], ["C"])
    tensors = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 2]) for name in "ABC"]
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([product], "g", tensors[:2], tensors[2:])), "MODEL")
    return tmp_path


@pytest.mark.parametrize("what", ODD_NAMES)
def test_odd_names_are_faults(place, what):
    """Names too long, of nobody, of pipes and devices: status 2, a line that says so, and nothing made."""
    app, arguments, words = ODD_NAMES[what]
    before = sorted(place.rglob("*"))
    done = run(app, *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert sorted(place.rglob("*")) == before


WRONG_KINDS = {
    "a shape that is a mapping": (
        "w.yaml",
        "{name: h, shape: {a: 1}, sizes: {D: 10}}",
        'shape: must be text, got {"a": 1}',
    ),
    "a shape that is a list": ("w.yaml", "{name: h, shape: [], sizes: {D: 10}}", "shape: must be text, got []"),
    "a search that is a number": ("s.yaml", "{search: 1000000}", "search: must be a mapping, got 1000000"),
    "tables of nobody": ("s.yaml", "{energy: {ert: ~nosuchuser/e.yaml}}", "energy.ert: ~nosuchuser/e.yaml: no home of"),
    "a sweep's workload of nobody": (
        "s.yaml",
        "{workloads: [~nosuchuser/e.yaml]}",
        "workloads[0]: ~nosuchuser/e.yaml: no home",
    ),
}


@pytest.mark.parametrize("what", WRONG_KINDS)
def test_values_of_another_kind_are_faults(tmp_path, what):
    """Each is told with file, line and path."""
    name, text, words = WRONG_KINDS[what]
    (tmp_path / name).write_text(text)
    app, arguments = (command_map.main, [TOY[0]]) if name == "w.yaml" else (command_sweep.main, [])
    done = run(app, *arguments, tmp_path / name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{name}:1: {words}" in done.stderr
