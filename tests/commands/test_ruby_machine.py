"""`ruby-machine` prints an architecture; with layers it fits times, and other commands predict by them."""

import json

import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper.codegen import described, machine_yaml
from ruby_map.mapper.commands.ruby_code import main as code
from ruby_map.mapper.commands.ruby_machine import main as machine
from ruby_map.mapper.commands.ruby_model import main as model
from typer.testing import CliRunner

from ..conftest import needs_compiler

LAYER = "{name: tiny, shape: matmul, sizes: {M: 16, N: 6, K: 3}}"


pytestmark = needs_compiler


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A layer and a machine with a comment, without rates."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CFLAGS", "-O1 -std=gnu11 -DSECONDS=0")
    (tmp_path / "tiny.yaml").write_text(LAYER)
    known = "calibration: {measured_on: x,\n  dtype: float32, cycles: {steps: 2}}\n"
    (tmp_path / "cpu.yaml").write_text("# mine\n" + machine_yaml(described(), "cpu") + known)
    return tmp_path


def run(app, *arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def test_fitted_times_are_printed_with_the_file_and_predict(folder):
    done = run(machine, "cpu.yaml", "tiny.yaml", "--samples", 10)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("# mine\n")
    assert done.stdout.count("calibration:") == 1
    (folder / "fitted.yaml").write_text(done.stdout)
    known = load_arch("fitted.yaml").calibration
    assert known.measured_on == "x"
    assert known.fitted_on[0] == "tiny: 10 mappings"
    assert known.cycles == (("steps", 2.0),)  # of mappings, by ruby-model --fit
    assert known.seconds
    written = run(code, "fitted.yaml", "tiny.yaml", "--out", "p", "--run", "--json")
    assert written.exit_code == 0, written.output
    said = json.loads(written.stdout)
    assert said["predicted"]["seconds"] > 0
    quickest = run(code, "fitted.yaml", "tiny.yaml", "--out", "q", "--fastest", "--json")
    assert quickest.exit_code == 0, quickest.output
    assert json.loads(quickest.stdout)["predicted"]["seconds"] <= said["predicted"]["seconds"]
    unknown = run(code, "cpu.yaml", "tiny.yaml", "--out", "r", "--fastest")
    assert unknown.exit_code == 2
    assert "no times fitted for float32" in unknown.stderr
    modelled = run(model, "fitted.yaml", "tiny.yaml", "p/mapping.yaml", "--json")
    assert json.loads(modelled.stdout)["predicted_seconds"] == pytest.approx(said["predicted"]["seconds"])
    assert "predicted for one in C (float32, x)" in run(model, "fitted.yaml", "tiny.yaml", "p/mapping.yaml").stdout
    without = json.loads(run(model, "cpu.yaml", "tiny.yaml", "p/mapping.yaml", "--json").stdout)
    assert "predicted_seconds" not in without


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--name", "5x"], "a name has letters"),
        (["cpu.yaml"], "goes with layers"),
        (["--vector-bytes", "24"], "must be 16, 32 or 64"),
        (["--samples", "20"], "goes with ARCH and layers"),
        (["eyeriss_like", "tiny.yaml"], "is no file"),
        (["cpu.yaml", "tiny.yaml", "--dtype", "half"], "must be one of float32"),
        (["cpu.yaml", "alexnet"], "NETWORK/LAYER"),
        (["cpu.yaml", "tiny.yaml", "--name", "other"], "cpu.yaml says it"),
    ],
)
def test_bad_input(folder, arguments, said):
    done = run(machine, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not done.stdout


def test_no_compiler(folder, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    done = run(machine)
    assert done.exit_code == 1
    assert "no C compiler" in done.stderr


@pytest.mark.parametrize(
    "known",
    [
        "calibration: {\n  measured_on: x, dtype: float32\n}\n",
        '"calibration": {measured_on: x, dtype: float32}\n',
        "calibration :\n  measured_on: x\n  dtype: float32\n",
    ],
)
def test_any_form_of_the_section_is_replaced(folder, known):
    """And the comment of the next key stays."""
    text = machine_yaml(described(), "cpu").replace("name: cpu\n", "")
    after = "# of what follows\nname: cpu\n"
    (folder / "odd.yaml").write_text(text.rstrip() + "\n" + known + after)
    done = run(machine, "odd.yaml", "tiny.yaml", "--samples", 10)
    assert done.exit_code == 0, done.output
    assert after in done.stdout
    (folder / "again.yaml").write_text(done.stdout)
    assert load_arch("again.yaml").calibration.seconds


def test_a_file_that_nothing_can_be_added_to(folder):
    """It is said before programs run."""
    (folder / "odd.yaml").write_text(machine_yaml(described(), "cpu") + "...\n")
    done = run(machine, "odd.yaml", "tiny.yaml", "--samples", 10)
    assert done.exit_code == 2
    assert "a calibration cannot be written at the end of this file" in done.stderr
