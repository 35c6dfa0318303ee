"""Timeloop's rules: its figures on the reference cases, and the executed counts without what is known to differ."""

import pytest
from hypothesis import given
from ruby_map.mapper.model.counts import count
from ruby_map.mapper.model.timeloop_rules import Rules, TimeloopNest, timeloop_counts

from ..strategies import convolutions, mappings, matmuls
from .test_golden import CASES, WORDS, expected, mapped, timeloop_words

EXACT = Rules(links=False, jumps=False, samples=False, truncated=False)


def differences(batch, rules):
    """(level, tensor, figure, by the rules, executed) where the two differ, over all instances."""
    ours, theirs = count(batch), timeloop_counts(TimeloopNest(batch, "one"), rules)
    for (level, v), tile in theirs.tiles.items():
        for name in WORDS:
            total, executed = getattr(tile, name) * tile.instances, int(getattr(ours, name)[0, level, v])
            if total != pytest.approx(executed, rel=1e-9):
                yield level, v, name, total, executed


@pytest.mark.parametrize("name", CASES)
def test_the_rules_are_timeloops(name):
    """Every count, tile, instance, MAC and cycle of all sixty cases is what Timeloop reported, imperfect or not."""
    theirs, counts = expected(name)["timeloop"], timeloop_counts(TimeloopNest(mapped(name)), Rules())
    assert (counts.cycles, counts.computes) == (theirs["cycles"], theirs["computes"])
    for level, v, figures in timeloop_words(name):
        tile = counts.tiles[level, v]
        assert {key: getattr(tile, key) for key in WORDS} == {key: figures[key] for key in WORDS}, (level, v)
        assert (tile.size, tile.instances) == (figures["utilized_capacity"], figures["utilized_instances"])


@given(mappings(workloads=matmuls(), perfect=True))
def test_perfect_products_are_counted_alike(batch):
    """Without neighbours that pass words on, Timeloop counts a perfect matrix product as it is executed."""
    assert not list(differences(batch, Rules(links=False)))


@given(mappings(workloads=convolutions(), perfect=True))
def test_perfect_windows_are_counted_alike_where_each_step_is_taken(batch):
    """And a perfect convolution where each step is taken, windows whose step changes and nested arrays aside."""
    assert not list(differences(batch, EXACT))


@given(mappings(workloads=matmuls() | convolutions(), most_spatial=1))
def test_imperfect_loops_in_time_are_counted_alike_where_each_step_is_taken(batch):
    """Imperfect loops in time alone are executed counts, if all their steps are taken and no average is cut."""
    assert not list(differences(batch, EXACT))
