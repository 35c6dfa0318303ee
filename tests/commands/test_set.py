"""ruby-model --set changes one decision of a mapping and shows the figures anew; --transforms prints the decisions."""

import json

import pytest
import yaml
from ruby_map.mapper import evaluate, load
from ruby_map.mapper.commands.ruby_model import main as model
from typer.testing import CliRunner

ARCH, LAYER = "eyeriss_like", "resnet50/conv4_x_1x1a"
MAPPING = """transforms:
- {transform: tile, level: shared_glb, dim: P, bound: 14}
- {transform: spread, level: shared_glb, axis: PE_column, dim: Q, bound: 7}
- {transform: spread, level: shared_glb, axis: PE, dim: C, bound: 8}
- {transform: tile, level: weights_spad, dim: C, bound: 8}
- {transform: tile, level: psum_spad, dim: M, bound: 16}
- {transform: reorder, level: shared_glb, dims: [C, M, P]}
"""


@pytest.fixture
def path(tmp_path):
    """A mapping of a layer, as a file of transforms."""
    found = tmp_path / "mapping.yaml"
    found.write_text(MAPPING)
    return found


def run(path, *args):
    return CliRunner().invoke(model, [ARCH, LAYER, *map(str, (path, *args))])


def outermost(figures):
    """The factors of DRAM in a result of --json."""
    return dict(pair.split("=") for pair in figures["mapping"][0]["factors"].split())


def test_a_bound_is_set_and_the_outermost_level_takes_the_rest(path):
    """The other mapping is that of a file with the bound changed."""
    result = run(path, "--set", "PE_column: Q=14", "--set", "weights_spad: C=4", "--json")
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert shown["with_it"] == ["DRAM: C=16 becomes C=32", "DRAM: Q=2 becomes Q=1"]
    assert (outermost(shown["a"])["C"], outermost(shown["b"])["C"]) == ("16", "32")
    path.write_text(
        MAPPING.replace("dim: Q, bound: 7", "dim: Q, bound: 14").replace(
            "spad, dim: C, bound: 8", "spad, dim: C, bound: 4"
        )
    )
    assert shown["b"]["edp"] == evaluate(*load(ARCH, LAYER), path).edp
    assert "DRAM: C=32 becomes C=64" in run(path, "--set", "weights_spad: C=2").stdout


def test_an_order_and_what_is_kept_are_set(path):
    """Loops that are not named stay outside as they were; what violates a constraint is counted, too, with status 1."""
    result = run(path, "--set", "shared_glb: order=P,M keep=Inputs", "--json")
    assert result.exit_code == 1
    shown = json.loads(result.stdout)
    glb = next(each for each in shown["b"]["mapping"] if each["target"] == "shared_glb" and each["type"] == "temporal")
    assert glb["permutation"].startswith("MPC")  # innermost first
    assert shown["with_it"] == []
    assert shown["invalid"]["b"] == [
        "violates the architecture's constraints: shared_glb must keep Outputs, and the mapping bypasses it there"
    ]


def test_every_fault_of_the_changes_is_told(path):
    """Each with the text that it is about; names first."""
    result = run(path, "--set", "PE_colum: Q=7", "--set", "psum_spad: M=0 C", "--set", "PE: order=C",
                 "--set", "PE: C=2", "--set", "shared_glb.PE: C=3", "--set", "PE: =2")  # fmt: skip
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        'set "PE_colum: Q=7": unknown level or axis "PE_colum"; did you mean "PE_column"?',
        'set "psum_spad: M=0 C": must be LEVEL: DIM=BOUND, or AXIS: DIM=BOUND; also order=DIMS, keep=TENSORS',
        'set "PE: order=C": an axis has no order: name a level',
        'set "shared_glb.PE: C=3": a second change of what "PE: C=2" sets; keep one of them',
        'set "PE: =2": must say of which dim; got "=2"',
    ]
    result = run(path, "--set", "shared_glb: Z=8 keep=Inptus", "--set", "PE: C=16", "--set", "psum_spad: M=300")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "set \"shared_glb: Z=8 keep=Inptus\": unknown dimension 'Z'; known: N, M, C, P, Q, R, S",
        'set "shared_glb: Z=8 keep=Inptus": unknown tensor \'Inptus\'; did you mean "Inputs"?',
        'set "psum_spad: M=300": the bounds of M from psum_spad inwards are 300, more than its size 256: '
        "at most 256 is left there",
        'set "PE: C=16": shared_glb.PE has 12 instances, the loops spread over it need 16',
    ]


def test_a_bound_that_leaves_too_little_for_another_is_told(path):
    """It is about the mapping as it would be."""
    result = run(path, "--set", "psum_spad: P=2")
    assert result.exit_code == 2
    assert result.stderr == (
        "set: then the bounds of P from shared_glb inwards are 14 * 2, more than its size 14: at most 7 is left there\n"
    )


def test_transforms_are_printed_and_read_again(path, tmp_path):
    """As YAML and nothing else."""
    result = run(path, "--transforms")
    assert result.exit_code == 0
    again = tmp_path / "again.yaml"
    again.write_text(result.stdout)
    assert {"transform": "tile", "level": "psum_spad", "dim": "M", "bound": 16} in yaml.safe_load(result.stdout)[
        "transforms"
    ]
    assert run(again, "--json").stdout == run(path, "--json").stdout


def test_options_that_do_not_go_together_are_told_at_once(path):
    """--set compares two mappings, of which it makes one."""
    result = run(path, path, "--set", "PE: C=2", "--explain", "--transforms")
    assert result.exit_code == 2
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == [
        "--simulate, --explain",
        "--set",
        "--transforms",
    ]
