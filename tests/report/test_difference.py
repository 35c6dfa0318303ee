"""Two mappings beside each other: differences that add up, in the right order, and what the command says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruby_map.energy import ComputeEnergy, EnergyTable, LevelEnergy
from ruby_map.mapper.commands.ruby_model import main as model
from ruby_map.mapper.model.cost import evaluate
from ruby_map.mapper.model.figures import Mapped
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.report.difference import difference_json, difference_text, rows
from ruby_map.mapper.report.result import Result
from typer.testing import CliRunner

from ..conftest import DEEP
from ..strategies import machines, mappings

GOLDEN = Path(__file__).parents[1] / "golden"
APP = model


@st.composite
def two_results(draw):
    """Two mappings of one workload, reads, fills and updates at different prices."""
    arch = machines(bandwidths=draw(st.booleans()))
    batch = draw(mappings(arch=arch, n=2))
    levels = [
        LevelEnergy(level.name, 7.0 + i, 3.0 + i, 2.0 + i, 0.0, 0.0, "test")
        for i, level in enumerate(batch.arch.levels)
    ]
    table = EnergyTable("random", tuple(levels), ComputeEnergy("MAC", 1.0, 0.0, 0.0, "test"))
    one = [batch.take([i]) for i in range(2)]
    return [Result(Problem(batch.arch, batch.workload, table), Mapped(each, evaluate(each, table))) for each in one]


@settings(deadline=None, max_examples=60 if DEEP else 30)
@given(two_results())
def test_the_differences_add_up(results):
    """Reads, fills and updates make each row's difference of energy, and the rows that of the totals."""
    a, b = results
    found = rows(a, b)
    for row in found:
        assert sum(change.energy_pj for change in row.changes) == pytest.approx(row.energy_pj, rel=1e-9, abs=1e-6)
    assert sum(row.energy_pj for row in found) == pytest.approx(b.energy_pj - a.energy_pj, rel=1e-9, abs=1e-6)
    sizes = [abs(row.energy_pj) for row in found]
    assert sizes == sorted(sizes, reverse=True)


@settings(deadline=None, max_examples=30)
@given(two_results())
def test_the_other_way_round_every_difference_changes_its_sign(results):
    """B to A is A to B with the sign turned."""
    a, b = results
    there = {(row.level, row.tensor): row.energy_pj for row in rows(a, b)}
    back = {(row.level, row.tensor): -row.energy_pj for row in rows(b, a)}
    assert there == back


@settings(deadline=None, max_examples=30 if DEEP else 15)
@given(two_results())
def test_a_mapping_differs_from_itself_in_nothing(results):
    """No row, no difference; and the text prints."""
    a, b = results
    assert not any(row.changes for row in rows(a, a))
    count = len(rows(a, a))
    assert f"{count} of {count} pairs of level and tensor have equal" in difference_text(a, a, ("x", "x"))
    assert "EDP [pJ cycles]" in difference_text(a, b, ("x", "y"))
    json.dumps(difference_json(a, b), allow_nan=False)


@given(two_results())
@settings(deadline=None, max_examples=5)
def test_only_mappings_of_one_workload_and_table_are_compared(results):
    """Figures of different machines would say nothing."""
    a, b = results
    dearer = replace(b.table, compute=ComputeEnergy("MAC", 2.0, 0.0, 0.0, "test"))
    other = replace(b, problem=replace(b.problem, energies=dearer))
    with pytest.raises(ValueError, match="one energy table"):
        rows(a, other)
    with pytest.raises(ValueError, match="nothing to compare"):
        rows(a, replace(b, mapped=None))


def run(case, *args):
    folder = GOLDEN / case
    given = [str(folder / f"{name}.yaml") for name in ("arch", "problem", "mapping")]
    return CliRunner().invoke(APP, [*given, *map(str, args), "--ert", str(folder / "ert.yaml")])


def changed(case, tmp_path, change):
    """A copy of the mapping of a golden case with `change` applied to its entries."""
    path = tmp_path / "other.yaml"
    content = yaml.safe_load((GOLDEN / case / "mapping.yaml").read_text())
    change(content["mapping"])
    path.write_text(yaml.safe_dump(content))
    return path


def keep_all(entries):
    for entry in entries:
        if entry["type"] == "bypass":
            entry.update(keep=["A", "B", "Z"], bypass=[])


def test_the_command_shows_what_a_second_mapping_changes(tmp_path):
    """Keeping B in the buffer: only B differs there, and the row says in which mapping it is kept."""
    case = "B10_toy3_imp_bypassGLB_B"
    result = run(case, changed(case, tmp_path, keep_all))
    assert result.exit_code == 0, result.output
    assert "\nA  " in result.stdout
    assert "other.yaml" in result.stdout
    assert "only in B" in result.stdout
    table = result.stdout[result.stdout.index("share of difference") :]
    assert " A  " not in table.split("\n", 1)[1]  # the tensor A is as before


def test_json_has_both_results_and_what_each_difference_costs(tmp_path):
    """--json: the objects of A and B, totals and rows that agree with them."""
    case = "B10_toy3_imp_bypassGLB_B"
    shown = json.loads(run(case, changed(case, tmp_path, keep_all), "--json").stdout)
    assert list(shown) == ["a", "b", "difference"]
    energy = shown["difference"]["energy_pj"]
    assert energy["difference"] == pytest.approx(shown["b"]["energy_pj"] - shown["a"]["energy_pj"])
    found = shown["difference"]["rows"]
    assert sum(row["energy_pj"]["difference"] for row in found) == pytest.approx(energy["difference"])
    only = [row for row in found if row["kept"] == {"a": False, "b": True}]
    assert [row["tensor"] for row in only] == ["B"]
    assert only[0]["fills"]["relative"] is None  # of nothing


def test_a_mapping_that_does_not_fit_is_compared_all_the_same(tmp_path):
    """Status 1, and which of the two it is."""
    case = "D11_eyeriss_imp_tiny"
    arch = tmp_path / "arch.yaml"
    arch.write_text((GOLDEN / case / "arch.yaml").read_text().replace("depth: 12", "depth: 5"))
    files = [str(GOLDEN / case / f"{name}.yaml") for name in ("problem", "mapping", "mapping")]
    result = CliRunner().invoke(APP, [str(arch), *files])
    assert result.exit_code == 1, result.output
    assert "A is not valid:\nifmap_spad: Inputs 6 words overflow" in result.stdout
    assert "B is not valid:" in result.stdout


def test_faults_of_both_mappings_are_told_at_once(tmp_path):
    """One run tells all; and what only one mapping can have is refused."""
    case = "D11_eyeriss_imp_tiny"
    bad = changed(case, tmp_path, lambda entries: entries[0].update(target="DRAMM"))
    folder = GOLDEN / case
    result = CliRunner().invoke(APP, [str(folder / "arch.yaml"), str(folder / "problem.yaml"), str(bad), "none.yaml"])
    assert result.exit_code == 2
    assert "DRAMM" in result.stderr
    assert "none.yaml: no such file" in result.stderr
    refused = run(case, folder / "mapping.yaml", "--simulate")
    assert refused.exit_code == 2
    assert "are for one mapping" in refused.stderr


def test_levels_with_a_bandwidth_have_their_cycles_compared():
    """The cycles that each limited level needs stand below the total."""
    folder = GOLDEN / "B17_toy3_imp_bandwidth"
    result = run(folder.name, folder / "mapping.yaml")
    assert result.exit_code == 0, result.output
    assert "\n  of " in result.stdout
