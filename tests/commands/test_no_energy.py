"""--no-energy: delay and counts of machines whose energies nobody knows."""

import json
import sys

import pytest
import yaml
from ruby_map.mapper.commands.ruby_check import main as check
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as model
from ruby_map.mapper.exploration import explore
from ruby_map.mapper.search.options import SearchOptions
from typer.testing import CliRunner

MACHINE = {
    "name": "mine",
    "levels": [
        {"name": "Far", "class": "NVM"},
        {"name": "Near", "class": "SRAM", "capacity_bytes": 64, "ports": 3, "fanout": [{"name": "PE", "size": 4}]},
    ],
    "compute": {"name": "MAC", "class": "photonic"},
}
LAYER = {"name": "mm", "shape": "matmul", "sizes": {"M": 6, "N": 4, "K": 5}}


@pytest.fixture
def files(tmp_path):
    """A machine without any known energy, a layer, and a network of it."""
    for name, data in (("arch", MACHINE), ("mm", LAYER), ("net", {"layers": [LAYER, LAYER | {"name": "two"}]})):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return tmp_path


def run(app, *args):
    return CliRunner().invoke(app, list(map(str, args)))


def numbers(value, key=""):
    """Every (key, number) below a value."""
    if isinstance(value, dict):
        return [pair for name, each in value.items() for pair in numbers(each, name)]
    if isinstance(value, list):
        return [pair for each in value for pair in numbers(each, key)]
    return [(key, value)] if isinstance(value, int | float) else []


def test_without_the_option_every_component_is_at_fault_with_its_line(files):
    """Unknown classes and three ports are faults with file, line and all ways out, at once."""
    wrong = run(ruby_map, files / "arch.yaml", files / "mm.yaml")
    assert wrong.exit_code == 2
    lines = (files / "arch.yaml").read_text().splitlines()
    for name, what in (("Far", "for a built-in"), ("Near", "ports must be one of 1, 2; got 3"), ("MAC", "for a")):
        line = next(number for number, text in enumerate(lines, 1) if text.endswith(f"name: {name}"))
        assert f"{files / 'arch.yaml'}:{line}: {name}: {what}" in wrong.stderr
    assert "--ert" in wrong.stderr
    assert "--no-energy" in wrong.stderr


def test_delay_is_searched_and_proven(files):
    """The answer has the least delay, cycles and counts, and nothing of energies; the proof is of delay."""
    found = run(ruby_map, files / "arch.yaml", files / "mm.yaml", "--no-energy")
    assert found.exit_code == 0, found.output
    for absent in ("pJ", "EDP", "mm2", "share", "network"):
        assert absent not in found.stdout
    assert "energy       not known" in found.stdout
    assert "no mapping of ruby-s has a lower number of cycles" in found.stdout


@pytest.mark.parametrize("work", ["mm", "net"])
def test_json_has_nothing_in_place_of_energies(files, work):
    """Energies, EDP and areas are null, not 0, at every place of the object; cycles are those of the text."""
    shown = json.loads(run(ruby_map, files / "arch.yaml", files / f"{work}.yaml", "--no-energy", "--json").stdout)
    assert not [key for key, _ in numbers(shown) if "energy" in key or "_pj" in key or key in ("edp", "area_um2")]
    assert shown["cycles"] > 0
    assert shown["objective"] == "delay"


def test_folders_have_no_picture_of_energies(files):
    """Results are written without energies: pictures of cycles, empty fields."""
    out = files / "out"
    assert run(ruby_map, files / "arch.yaml", files / "net.yaml", "--no-energy", "--out", out).exit_code == 0
    assert {"layers.png", "stats.json", "layers.csv"} <= {path.name for path in out.iterdir()}
    head, first, *_ = (out / "layers.csv").read_text().splitlines()
    assert dict(zip(head.split(","), first.split(","), strict=True))["energy_pj"] == ""
    layer = files / "layer"
    assert run(ruby_map, files / "arch.yaml", files / "mm.yaml", "--no-energy", "--out", layer).exit_code == 0
    assert "energy.png" not in {path.name for path in layer.iterdir()}
    counted = run(model, files / "arch.yaml", files / "mm.yaml", layer / "mapping.yaml", "--no-energy")
    assert counted.exit_code == 0
    assert "energy       not known" in counted.stdout


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("--objective", "edp"), "objective"),
        (("--objective", "delay,energy"), "objective"),
        (("--front", "energy,delay"), "front"),
        (("--leakage",), "leakage"),
        (("--hop-pj", "1"), "hop-pj"),
        (("--ert", "ert.yaml"), "ert"),
    ],
)
def test_what_asks_for_energies_is_a_fault(files, options, name):
    """Objectives of energy, charges and tables do not go with --no-energy: status 2, each by its name."""
    wrong = run(ruby_map, files / "arch.yaml", files / "mm.yaml", "--no-energy", *options)
    assert wrong.exit_code == 2
    assert f"{name}: " in wrong.stderr


def test_the_delay_is_that_of_a_search_with_energies():
    """On a machine with known energies the delay is the same with and without them."""
    known = explore("toy_6pe", "rank1_100", "ruby-s", SearchOptions(objective="delay"))
    shown = json.loads(run(ruby_map, "toy_6pe", "rank1_100", "--no-energy", "--json").stdout)
    assert shown["cycles"] == known.cycles


def test_the_proof_is_verified_without_energies(files):
    """A certificate of such a search is verified with --no-energy, and refused with energies."""
    proof, ask = files / "proof.json", ("toy_6pe", "rank1_100")
    assert run(ruby_map, *ask, "--no-energy", "--certificate", proof).exit_code == 0
    assert run(check, *ask, proof, "--no-energy").exit_code == 0
    assert run(check, *ask, proof).exit_code == 1
    assert run(check, *ask, proof, "--no-energy", "--ert", files / "arch.yaml").exit_code == 2


def test_a_cost_model_needs_no_energies(files):
    """A search by a user's cost model on a machine without energies minimises its answers."""
    script = files / "cost.py"
    script.write_text("import sys\nfor line in sys.stdin:\n    print(len(line), flush=True)\n")
    found = run(ruby_map, files / "arch.yaml", files / "mm.yaml", "--no-energy", "--samples", 20, "--search", "random",
                "--cost-model", f"{sys.executable} {script}")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "cost model" in found.stdout
