"""The energies of components side by side: docs/energy.md has the recorded tables, and their causes explain them."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RECORDED = json.loads((ROOT / "experiments" / "results" / "energies.json").read_text())
HALF_PERCENT = 0.005


@pytest.fixture
def components(monkeypatch):
    """The module that makes the tables."""
    monkeypatch.syspath_prepend(ROOT / "experiments")
    return importlib.import_module("chips.components")


def test_the_page_has_the_recorded_tables(components):
    page = (ROOT / "docs" / "energy.md").read_text()
    for table in components.TABLES:
        assert table.text(RECORDED[table.name]) in page, table.name


def test_the_tables_are_those_of_the_estimates(components):
    """The built-in figures, and those of what was asked for, are what is recorded."""
    for table in components.TABLES:
        assert table.text(table.rows(quick=False)) == table.text(RECORDED[table.name]), table.name


def test_causes_explain_the_figures():
    """What was asked for gives the figure, but where the cause says that a factor is left; six are unexplained."""
    figures = [(row["cause"], figure) for row in RECORDED["causes"] for figure in row["figures"]]
    for cause, figure in figures:
        if figure["left"] is not None and not any(part in cause for part in ("what is left", "The rest")):
            assert figure["left"] == pytest.approx(1, abs=HALF_PERCENT), figure
        assert figure["left"] is not None or cause.startswith(("unexplained", "**ours**"))
    assert sum(cause.startswith("unexplained") for cause, _ in figures) == 6


def test_published_tables_of_2022_are_the_estimates():
    """Of what both have and the grid knows, to the digits of the tables."""
    rows = {row["component"]: row["ratios"].get("ERT 2022") for row in RECORDED["components"]}
    for name in ("DRAM LPDDR4", "shared buffer", "weights' scratchpad", "MAC of 8 bits", "MAC of 16 bits"):
        assert rows[name] == pytest.approx(1, abs=1e-4), name


@pytest.mark.parametrize(("terms", "total"), [("1", 1), ("2 x 3 + 0.5", 6.5)])
def test_terms(components, terms, total):
    assert components.added(terms) == total


def test_causes_are_of_components(components):
    """Each line of the files is of a component, and no cause is left from a figure that is gone."""
    lines = {
        file: components.lines_of(file) for file in (components.COMPONENTS, components.ENERGIES, components.CAUSES)
    }
    names = {line["name"] for line in lines[components.COMPONENTS]}
    figures = {(line["component"], line["source"]) for line in lines[components.ENERGIES]}
    assert {component for component, _ in figures} <= names
    assert {source for _, source in figures} <= set(components.SOURCES)
    assert {(line["component"], line["source"]) for line in lines[components.CAUSES]} <= figures
