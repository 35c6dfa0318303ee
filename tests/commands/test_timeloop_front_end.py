"""The options of commands that read Timeloop's files: values of templates, the dense part of sparse designs."""

import json
from functools import partial

import pytest
from ruby_map.mapper.commands import ruby_energy as command_energy
from ruby_map.mapper.commands import ruby_map as command_map
from ruby_map.mapper.commands import ruby_model as command_model
from typer.testing import CliRunner

ARCH = """
globals: {environment_variables: {A: 1}}
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM}
  - !Component {name: RF, class: regfile, attributes: {depth: {{depth}}, width: 16, datawidth: 16}}
  - !Component {name: MAC, class: Imac}
mapper: {timeout: 0, victory_condition: 0, search_size: null, log_oaves: false, algorithm: exhaustive}
"""
PROBLEM = """
problem:
  shape:
    dimensions: [P, R]
    data_spaces:
    - {name: W, projection: [R]}
    - {name: I, projection: [[[P], [R]]]}
    - {name: O, projection: [P], read_write: true}
  instance: {P: 4, R: 3, H: 9, G: 1, densities: {W: 0.5}}
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.yaml").write_text(ARCH)
    (tmp_path / "p.yaml").write_text(PROBLEM)
    return [str(tmp_path / "a.yaml"), str(tmp_path / "p.yaml")]


def run(command, *arguments):
    return CliRunner().invoke(command.main, [*arguments], catch_exceptions=False)


def test_a_search(files):
    """Warnings name what has no effect, once each; the answer is that of the plain file."""
    done = run(command_map, *files, "--template", "depth=8", "--ignore-sparsity", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["cycles"] == 12
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == len(set(warnings))
    assert any("a.yaml: without effect on counts: globals" in line for line in warnings)
    assert any("p.yaml: without effect on counts: problem.instance.G" in line for line in warnings)
    assert any("as if these were not there: problem.instance.densities.W" in line for line in warnings)
    assert any("MAC: class Imac is estimated as intmac" in line for line in warnings)


def test_values_of_templates_are_what_they_say(files):
    """False is no text, which would be true; a name that no template has is told, and what it may have been."""
    with open(files[0], "a") as arch:
        arch.write("{% if small %}# a small one: {{ 1 / 0 }}\n{% endif %}")
    run_ = partial(run, command_energy, files[0], "--template", "depth=8", "--template")
    for value in ("False", "false"):
        done = run_(f"small={value}")
        assert (done.exit_code, "has no effect" in done.stderr) == (0, False)
    assert "the template fails: division by zero" in run_("small=True").stderr
    done = run_("small=False", "--template", "dept=9")
    assert done.exit_code == 0
    assert 'template: dept has no effect: no template that was read has this name; did you mean "depth"?' in done.stderr


def test_what_is_missing(files):
    done = run(command_map, *files)
    assert done.exit_code == 2
    assert "a.yaml:7: 'depth' is undefined: give it a value with --template NAME=VALUE" in done.stderr
    assert "--ignore-sparsity counts the dense part" in done.stderr
    done = run(command_model, *files, files[0], "--template", "depth", "--template", "a b=1")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "template: reads NAME=VALUE, got 'depth'",
        "template: reads NAME=VALUE, got 'a b=1'",
    ]
