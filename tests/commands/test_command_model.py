"""ruby-model: one mapping's counts and costs, beside the executor's, explained; and what it says of bad files."""

import json
import re
from pathlib import Path

import pytest
import yaml
from ruby_map.mapper.commands.ruby_model import main as model
from typer.testing import CliRunner

GOLDEN = Path(__file__).parents[1] / "golden"
APP = model


def files(case):
    return [str(GOLDEN / case / f"{name}.yaml") for name in ("arch", "problem", "mapping")]


def run(*args):
    return CliRunner().invoke(APP, list(map(str, args)))


def test_simulated_beside_the_model():
    """--simulate executes the nest and finds every figure of the model equal."""
    result = run(*files("D11_eyeriss_imp_tiny"), "--ert", GOLDEN / "D11_eyeriss_imp_tiny/ert.yaml", "--simulate")
    assert result.exit_code == 0, result.output
    assert "all 33 figures are equal" in result.stdout
    assert "parFor Q in 0:5, last round 4" in result.stdout


def test_json_is_one_object_and_nothing_else():
    """--json: the object of a result, with what the executor counted and the explanation."""
    result = run(*files("B05_toy3_imp_spXY"), "--json", "--simulate", "--explain", "--ert",
                 GOLDEN / "B05_toy3_imp_spXY/ert.yaml")  # fmt: skip
    shown = json.loads(result.stdout)
    assert shown["macs"] == 420
    assert shown["cycles"] == shown["simulated"]["cycles"] == 36
    assert shown["simulated"]["equal"] is True
    assert shown["levels"]["RF"]["tensors"]["Z"]["updates"] == 420
    assert any(line.startswith("Z: updates of RF = 420") for line in shown["explanation"])


STATISTICS = """Buffer and Arithmetic Levels
----------------------------
=== MACC ===

    STATS
    -----
    Energy (total)       : 420.00 pJ

Summary Stats
-------------
Cycles: 36
Energy: 0.05 uJ
Computes = 396
"""


def test_timeloops_statistics_beside_the_model(tmp_path):
    """--beside shows Timeloop's figures next to ours, with the rule of each difference, as text and in the JSON."""
    case, path = "B05_toy3_imp_spXY", tmp_path / "timeloop-model.stats.txt"
    path.write_text(STATISTICS)
    args = (*files(case), "--ert", GOLDEN / case / "ert.yaml", "--beside", path)
    text = run(*args)
    assert text.exit_code == 0, text.output
    assert re.search(r"MACs +420 +396 +-24 +a\n", text.stdout)
    assert "  a  Timeloop cuts averages" in text.stdout
    shown = json.loads(run(*args, "--json").stdout)["timeloop"]
    assert shown["figures"][0] == {
        "level": "", "tensor": "", "figure": "MACs", "ours": 420, "timeloop": 396.0, "rules": ["truncated"]
    }  # fmt: skip


def test_what_beside_is_not_for(tmp_path):
    """Two mappings, a file that is no statistics, and no file: status 2, and the file's name."""
    case, path = "B05_toy3_imp_spXY", tmp_path / "none.txt"
    assert "--beside: is for one mapping" in run(*files(case), files(case)[2], "--beside", path).stderr
    missing = run(*files(case), "--beside", path)
    assert (missing.exit_code, "none.txt: no such file" in missing.stderr) == (2, True)
    path.write_text("nothing")
    other = run(*files(case), "--beside", path)
    assert (other.exit_code, other.stderr.count("none.txt: the section")) == (2, 2)


def test_an_executor_too_slow_for_the_nest_says_so():
    """--simulate on a whole ResNet layer is refused with the size of the nest."""
    case = "D01_eyeriss_perf_r50_3x3_64"
    result = run(*files(case), "--simulate", "--ert", GOLDEN / case / "ert.yaml")
    assert result.exit_code == 2
    assert "the executor takes at most" in result.stderr


def bad_mapping(tmp_path, change):
    """A copy of a golden mapping with `change` applied to its list of entries."""
    path = tmp_path / "mapping.yaml"
    content = yaml.safe_load((GOLDEN / "D11_eyeriss_imp_tiny/mapping.yaml").read_text())
    change(content["mapping"])
    path.write_text(yaml.safe_dump(content))
    return path


def replace(target, kind, **fields):
    def change(entries):
        for entry in entries:
            if entry["target"] == target and entry["type"] == kind:
                entry.update(fields)

    return change


CASES = {
    "factors that do not multiply": (
        replace("DRAM", "temporal", factors="C=3 M=2 R=1 S=1 N=1 P=1 Q=1"),
        "C",
    ),
    "a residual over its bound": (
        replace("psum_spad", "temporal", factors="C=1 M=2,3 R=1 S=1 N=1 P=1 Q=1"),
        "M=2,3",
    ),
    "an unknown target": (lambda entries: entries[0].update(target="DRAMM"), "DRAM"),
    "a repeated dim": (replace("DRAM", "temporal", permutation="CCRSNPQ"), "C"),
    "bounds over the mesh": (
        replace("shared_glb", "spatial", factors="C=1 M=2 R=1 S=3 N=1 P=5 Q=5,4", split=2),
        "has 12 instances on mesh Y, the loops need 15",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_mappings(name, tmp_path):
    """A bad mapping file ends with status 2 and a message that names file, line and what is wrong."""
    change, word = CASES[name]
    case = "D11_eyeriss_imp_tiny"
    path = bad_mapping(tmp_path, change)
    result = run(*files(case)[:2], path, "--ert", GOLDEN / case / "ert.yaml")
    assert result.exit_code == 2, result.output
    assert "mapping.yaml:" in result.stderr
    assert word in result.stderr


def test_a_missing_level_leaves_factors_short(tmp_path):
    """Without the entry of a level its factors are 1, and the dims they were of fall short by name."""
    case = "D11_eyeriss_imp_tiny"
    path = bad_mapping(tmp_path, lambda entries: entries.pop(0))
    result = run(*files(case)[:2], path, "--ert", GOLDEN / case / "ert.yaml")
    assert result.exit_code == 2
    assert "C" in result.stderr
    assert "M" in result.stderr


def test_a_tile_over_capacity_names_tensor_and_words(tmp_path):
    """A mapping that does not fit is costed all the same, status 1, and told which tensor and by how many words."""
    case = "D11_eyeriss_imp_tiny"
    arch = tmp_path / "arch.yaml"
    arch.write_text((GOLDEN / case / "arch.yaml").read_text().replace("depth: 12", "depth: 5"))
    result = run(arch, *files(case)[1:], "--ert", GOLDEN / case / "ert.yaml")
    assert result.exit_code == 1, result.output
    assert "ifmap_spad: Inputs 6 words overflow its 5 words by 1 word\n" in result.stdout
