"""How the changes of `--why` are told: a gain that the gap of the result would explain is no row of its own."""

import re

import pytest
from ruby_map.mapper.report.why import Neighbour, Why

FIVE = (
    Neighbour("wider bus", 60.0, 60.0),
    Neighbour("larger buffer", 92.0, 80.0),
    Neighbour("any order", 100.0, 85.0),
    Neighbour("more places", 100.0, 100.0),
    Neighbour("far too long", reason="no time was left"),
)


def rows(why):
    """The table's changes, and the lines below it."""
    table, *lines = why._parts()
    return [row[0] for row in table.rows], lines


def test_changes_within_the_gap_are_one_line():
    """Values between the result's lower bound and its value: as good a mapping may exist without the change."""
    own, lines = rows(Why.of("layer", "edp", (100.0, 0.1), FIVE))
    assert own == ["wider bus", "far too long"]
    assert lines[0] == "2 changes within the gap of 10.00%: larger buffer; any order"
    assert lines[-1] == "no gain, proven: more places"


def test_a_single_change_within_the_gap():
    """The row of a gain beyond the gap stays."""
    own, lines = rows(Why.of("layer", "edp", (100.0, 0.05), FIVE))
    assert own == ["wider bus", "larger buffer", "far too long"]
    assert lines[0] == "1 change within the gap of 5.00%: any order"


@pytest.mark.parametrize("gap", [None, 0.0])
def test_without_an_open_gap_each_has_its_row(gap):
    """Where nothing is proven there is no gap to name; where the result is optimal every gain is the change's."""
    own, lines = rows(Why.of("layer", "edp", (100.0, gap), FIVE))
    assert own == ["wider bus", "larger buffer", "any order", "far too long"]
    assert not any("within the gap" in line for line in lines)


def test_the_gap_itself_is_within():
    """A value at the result's lower bound, rounded as it may be."""
    neighbours = (Neighbour("at the bound", 100 * (1 - 0.1) * (1 - 1e-12), 1.0), Neighbour("below", 89.9, 1.0))
    own, lines = rows(Why.of("layer", "edp", (100.0, 0.1), neighbours))
    assert own == ["below"]
    assert re.match("1 change within the gap of 10.00%: at the bound$", lines[0])
