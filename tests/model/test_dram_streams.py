"""Streams of bursts beside cycle simulators: docs/dram.md has the recorded tables, and they hold what it says."""

import importlib
import json
from pathlib import Path

import pytest
from ruby_map.mapper.exploration import explore

ROOT = Path(__file__).parent.parent.parent
RECORDED = json.loads((ROOT / "experiments" / "results" / "dram.json").read_text())["streams"]


@pytest.fixture
def streams(monkeypatch):
    """The module that makes the tables."""
    monkeypatch.syspath_prepend(ROOT / "experiments")
    return importlib.import_module("chips.dram")


def test_the_page_has_the_recorded_tables(streams):
    page = (ROOT / "docs" / "dram.md").read_text()
    for table in streams.TABLES:
        assert table.text(RECORDED) in page, table.name


def test_the_tables_are_those_of_the_model(streams):
    today = streams.rows(quick=False)
    for table in streams.TABLES:
        assert table.text(today) == table.text(RECORDED), table.name


def test_reads_are_within_6_percent_where_the_page_says_so():
    """On DDR3 and LPDDR4, and on DDR4 over its bank groups, unless rows lie in one bank."""
    ratios = [
        row["cycles"][dram]["R"]
        for row in RECORDED
        if "one bank" not in row["stream"]
        for dram in row["cycles"]
        if dram in ("DDR3-1600", "LPDDR4-3200") or (dram == "DDR4-2400" and row["map"] == "bg")
    ]
    assert len(ratios) == 34
    assert all(0.99 <= ratio <= 1.06 for ratio in ratios)
    one_bank = [own["R"] for row in RECORDED if "one bank" in row["stream"] for own in row["cycles"].values()]
    assert max(one_bank) == pytest.approx(12, abs=0.05)


def test_the_page_shows_what_is_printed(tmp_path):
    """The machine and the lines at its beginning."""
    page = (ROOT / "docs" / "dram.md").read_text()
    path = tmp_path / "machine.yaml"
    path.write_text(f"base: eyeriss_like\nname: ddr\n{page.split('```')[1].removeprefix('yaml')}")
    shown = str(explore(str(path), "resnet50/conv3_x_3x3"))
    for begin in ("bursts ", "rows "):
        (line,) = (line for line in shown.splitlines() if line.startswith(begin))
        assert f"\n    {line}\n" in page
