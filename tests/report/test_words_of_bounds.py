"""One word for compulsory figures, one for what is proven; where energies come from; why nothing is proven."""

import json
import re

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import default_table
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands import ruby_energy, ruby_map, ruby_model
from ruby_map.mapper.problem import at_most
from ruby_map.mapper.report.tables import energy_sources
from typer.testing import CliRunner

SMALL = ("toy_6pe_linear", "rank1_100")
COLUMNS = {"cycles": "delay", "energy": "energy", "EDP": "edp"}


def run(command, *arguments):
    return CliRunner().invoke(command.main, list(map(str, arguments)))


def totals(text):
    """What stands beside cycles, energy and EDP: after the last figure of each line."""
    return {name: re.search(rf"^{name} .*?, ((?:[\d.,]+ x|at|its) .*)$", text, re.MULTILINE)[1] for name in COLUMNS}


@pytest.mark.parametrize("line", COLUMNS)
def test_the_proven_bound_stands_beside_the_objective(line):
    """And the ideal beside the others, whatever is minimised; no other line speaks of a lower bound."""
    result = explore(*SMALL, "ruby-s", SearchOptions(strategy="optimal", objective=COLUMNS[line]))
    beside = totals(str(result))
    assert result.optimal
    assert beside.pop(line) == "at its lower bound"
    assert all(text.endswith(" x the ideal") for text in beside.values())


def test_an_open_proof_has_one_gap():
    """The EDP's line and the line of the proof say the same."""
    options = SearchOptions(strategy="random", samples=20, bound=0.0)
    result = explore("linear_16", "resnet50/conv5_x_3x3", "ruby-s", options)
    assert result.gap > 0.01
    assert totals(str(result))["EDP"] == f"its lower bound {at_most(result.gap)} below"
    assert f"is at most {at_most(result.gap)} below this one" in str(result)


def test_without_a_proof_the_ideal_is_named():
    """No word of a lower bound where none was proven."""
    result = explore(*SMALL, "ruby-s", SearchOptions(strategy="random", samples=20))
    assert "lower bound" not in str(result)
    assert str(result).count(" x the ideal") == 3


def test_a_network_says_the_same(tmp_path):
    """Its lower bound beside its EDP."""
    (tmp_path / "n.yaml").write_text(
        "name: n\nlayers: [{name: mm, shape: matmul, sizes: {M: 4, N: 3, K: 4}, count: 2}]\n"
    )
    result = explore("linear_8", str(tmp_path / "n.yaml"), "pfm", SearchOptions(strategy="optimal"))
    assert totals(str(result))["EDP"] == "at its lower bound"


def test_where_energies_come_from(tmp_path):
    """Built-in estimates are named with the options that give others; an ERT by its file; several by component."""
    told = "energies     built-in estimates; --ert FILE or --energy accelergy gives others\n"
    assert told in run(ruby_map, *SMALL, "--search", "random", "--samples", 20).stdout
    machine = load_arch("toy_6pe_linear")
    assert energy_sources(default_table(machine)) in told
    (tmp_path / "a.yaml").write_text(
        "name: a\nlevels: [{name: DRAM, class: DRAM, energy: {read_pj: 9, write_pj: 9}}]\n"
        "compute: {name: MAC, class: intmac}\n"
    )
    found = run(ruby_map, tmp_path / "a.yaml", SMALL[1], "--search", "random", "--samples", 20)
    several = "energies     given in the architecture: DRAM; built-in estimates: MAC; --ert FILE or --energy accelergy"
    assert several in found.stdout
    unknown = run(ruby_map, *SMALL, "--energy", "accelergi")
    assert (unknown.exit_code, "did you mean" in unknown.output) == (2, True)
    assert "energies" not in run(ruby_map, *SMALL, "--no-energy", "--search", "random", "--samples", 20).stdout


def test_figures_of_a_file(tmp_path):
    """With `--ert` the line names the file, of ruby-model too."""
    ert = tmp_path / "ert.yaml"
    assert run(ruby_energy, SMALL[0], "--write-ert", ert).exit_code == 0
    found = run(ruby_map, *SMALL, "--ert", ert, "--search", "random", "--samples", 20, "--out", tmp_path / "o")
    assert f"energies     ERT file {ert}\n" in found.stdout
    again = run(ruby_model, *SMALL, tmp_path / "o" / "mapping.yaml", "--ert", ert)
    assert f"energies     ERT file {ert}" in again.stdout


@pytest.mark.parametrize(
    ("mapper", "told"),
    [
        ("{algorithm: random}", "mapper.yaml:1: mapper.algorithm asks for random draws"),
        ("{algorithm: random-pruned}", "mapper.yaml:1: mapper.algorithm asks for random draws"),
        ("{victory_condition: 50}", "mapper.yaml:1: mapper.victory_condition is a rule of random draws"),
        ("{algorithm: exhaustive}", ""),
        ("{optimization_metric: delay}", ""),
    ],
)
def test_a_mapper_file_that_turns_the_proof_off_is_named(tmp_path, mapper, told):
    """In the report and in JSON; not where an option says how to search, or asks for a bound."""
    (tmp_path / "mapper.yaml").write_text(f"mapper: {mapper}\n")
    small = (*SMALL, "--with", tmp_path / "mapper.yaml", "--mapspace", "pfm")
    text, said = run(ruby_map, *small).stdout, json.loads(run(ruby_map, *small, "--json").stdout)
    why = f"{tmp_path}/{told}, which prove nothing; --search auto proves"
    assert (f"proof        none: {why}\n" in text) == bool(told)
    assert said.get("without_proof") == (why if told else None)
    for more in (("--search", "optimal"), ("--bound",), ("--quick",)):
        if not (told.count("victory") and "optimal" in more):
            assert "proof        none" not in run(ruby_map, *small, *more).stdout
