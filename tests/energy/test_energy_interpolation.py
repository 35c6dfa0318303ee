"""experiments/energy_interpolation.py: the interpolation of the CACTI grid against CACTI itself."""

import importlib.util
import statistics
from pathlib import Path

import pytest
from ruby_map.energy.cacti import sram
from ruby_map.energy.grid import FIGURES, grid

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "experiments" / "energy_interpolation.py"


@pytest.fixture(scope="module")
def experiment():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("energy_interpolation", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_points_are_off_the_grid_and_recorded(experiment):
    """29 memories that the grid lacks, each interpolated, none taken from a neighbour, are in the recorded file."""
    asked = [(off, point) for off, points in experiment.POINTS.items() for point in points]
    assert [(off, point) for off, point, _ in experiment.recorded()] == asked
    assert len(set(asked)) == 29
    for _, point in asked:
        assert point not in grid()
        assert sram(point).source.startswith("interpolated in the CACTI grid")
        assert "instead" not in sram(point).source


def test_the_claim(experiment):
    """Interpolated figures are as near to the recorded ones of CACTI as the claim says, and no nearer."""
    rows = experiment.recorded()
    every = {
        figure: sorted(error for off in experiment.POINTS for error in experiment.errors(rows, off, figure))
        for figure in FIGURES
    }
    assert statistics.median(every["read_pj"]) < 0.05
    assert 0.15 < every["read_pj"][-1] < 0.20
    assert 0.25 < every["write_pj"][-1] <= 0.301
    assert every["area_um2"][-1] < 0.10


def test_the_documented_table_is_the_measured_one(experiment):
    """docs/energy.md shows the errors of the recorded points."""
    text = (ROOT / "docs" / "energy.md").read_text()
    for line in experiment.table(experiment.recorded()):
        assert line in text


def test_without_cacti_it_says_so(experiment, monkeypatch, capsys, tmp_path):
    """Where the optional package is missing nothing is written, and the reason is told."""
    monkeypatch.setattr(experiment.importlib.util, "find_spec", lambda name: None)
    experiment.main(tmp_path / "out.csv")
    assert "skipped: no module hwcomponents_cacti" in capsys.readouterr().out
    assert not (tmp_path / "out.csv").exists()


def test_a_run_with_a_stand_in(experiment, monkeypatch, capsys, tmp_path):
    """With a package whose CACTI says what the grid says, the file has all points and every error is 0 %."""
    monkeypatch.setattr(experiment.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(experiment, "cacti_memory", lambda place: sram)
    experiment.main(tmp_path / "out.csv")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| capacity (10) | 0.0, 0.0 | 0.0, 0.0 | 0.0, 0.0 | 0.0, 0.0 |"
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 30
