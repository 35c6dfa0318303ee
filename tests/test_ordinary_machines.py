"""The machines of `experiments/ordinary_machines.py` are what it says, and it records a pair at a small size."""

import json
from pathlib import Path

from ruby_map.arch import load_arch

from .test_experiments import run_here

FOLDER = Path(__file__).parent.parent / "experiments"
MACHINES = sorted((FOLDER / "ordinary_machines").glob("*.yaml"))


def test_the_machines_are_ordinary():
    """Ten, of three to six levels, with up to three axes of up to 65,536 places, and no constraints."""
    assert len(MACHINES) == 10
    for path in MACHINES:
        arch = load_arch(path)
        axes = [axis for level in arch.levels for axis in level.fanout]
        assert 3 <= len(arch.levels) <= 6
        assert arch.max_loops is None
        assert max(axis.size for axis in axes) <= 65_536
        assert all(level.temporal == type(level.temporal)() for level in arch.levels)
        assert all(axis.constraint == type(axis.constraint)() for axis in axes)
        assert all(not level.keep and not level.bypass for level in arch.levels[1:])


def test_every_pair_of_the_recorded_table_has_an_answer():
    """Ten machines times ten layers: a mapping with a proven gap each, none refused."""
    rows = json.loads((FOLDER / "results" / "ordinary_machines.json").read_text())["rows"]
    assert {row["machine"] for row in rows} == {path.stem for path in MACHINES}
    assert len({(row["machine"], row["layer"]) for row in rows}) == len(rows) == 100
    assert not [row for row in rows if "refused" in row]
    assert all(row["edp"] > 0 and 0 <= row["gap"] < 1 for row in rows)


def test_a_pair_is_recorded_and_not_measured_twice(tmp_path, monkeypatch, capsys):
    """A small effort on the widest machine; run again it takes what is recorded, and draws that."""
    told = []
    for _ in range(2):
        run_here("ordinary_machines", ["--quick", "--out", str(tmp_path)], monkeypatch)
        told.append(capsys.readouterr().out)
    assert ["three_wide_axes" in text for text in told] == [True, False]
    (row,) = json.loads((tmp_path / "ordinary_machines.json").read_text())["rows"]
    assert row["machine"] == "three_wide_axes"
    assert 0 <= row["gap"] < 10
    assert (tmp_path / "ordinary_machines.png").read_bytes().startswith(b"\x89PNG")
