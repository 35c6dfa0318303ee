"""`ruby-map --why`: the table, the list in `--json`, the folder, and what it does not go with."""

import json

import pytest
from ruby_map.mapper.commands.ruby_map import main
from typer.testing import CliRunner

TOY = ("toy_6pe", "rank1_100", "--mapspace", "pfm")
CHANGES = {
    "capacity of GLB x2",
    "GLB.PE_column has 4 places, not 3",
    "GLB.PE has 3 places, not 2",
    "mapspace ruby",
    "mapspace ruby-s",
    "mapspace ruby-t",
    "uneven placement at GLB",
}


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_the_table_follows_the_report():
    """With what gains, sorted, and what does not."""
    found = run(*TOY, "--why")
    assert found.exit_code == 0, found.output
    told = found.stdout.split("what holds the EDP back: ")[1]
    assert told.startswith("each change alone; energies per access, and leakage, stay those of the machine as it is\n")
    assert told.index("mapspace ruby-s") < told.index("no gain, proven: ")
    assert all(change in told for change in CHANGES)


def test_the_list_in_json(tmp_path):
    """A dictionary per change, the lowest value first; the same in the folder."""
    found = run(*TOY, "--why", "--json", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert {each["change"] for each in told["why"]} == CHANGES
    values = [each["value"] for each in told["why"]]
    assert values == sorted(values)
    assert values[0] < told["edp"] == values[-1]
    for each in told["why"]:
        assert each["ratio"] == pytest.approx(each["value"] / told["edp"])
        assert (each["optimal"], each["gap"]) == (True, 0.0)
    assert json.loads((tmp_path / "out" / "stats.json").read_text())["why"] == told["why"]


def test_what_it_does_not_go_with_is_told_at_once():
    """No proof, several objectives, a size, a network."""
    found = run(
        "toy_6pe", "alexnet", "--why", "--size", "--search", "random", "--objective", "delay,energy", "--jobs", 0
    )
    assert (found.exit_code, found.stdout) == (2, "")
    for words in (
        "why: needs a proof: give --search optimal, or --bound; got random",
        "why: is about the best by one objective; got delay,energy",
        "why: needs a search; leave out --size",
        "why: is about one layer: name it, as NETWORK/LAYER",
        "jobs: must be at least 1, got 0",
    ):
        assert words in found.stderr


def test_progress_is_logged():
    """A line for each change that is done."""
    found = run(*TOY, "--why", "--log")
    assert found.exit_code == 0
    for number in range(1, 8):
        assert f" {number} of 7 changes; " in found.stderr
