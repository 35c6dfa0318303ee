"""Gaps of a sweep's points: bars, columns, and what they leave open on a frontier."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper import sweep
from ruby_map.mapper.comparison import Interval
from ruby_map.mapper.mapping import frontier
from ruby_map.mapper.sweeps.fronts import (
    Seeded,
    _share_below,
    candidates,
    fronts,
    knee,
    possible_knees,
    possibly_on,
    surely_on,
)
from ruby_map.mapper.sweeps.proofs import Bounds, bounds
from ruby_map.mapper.sweeps.result import measures

AXES = ("area_um2", "edp")
FILE = """
architecture: linear_16
workloads: [matmul_100]
mapspaces: [pfm, ruby-s]
search: {strategy: %s}
"""


def point(design, edp, least=None, most=None):
    """A point whose best mapping has an EDP from `least` to `most`; None: as it stands."""
    figures = {"area_um2": design + 1.0, "edp": edp}
    limits = {name: Interval(value, value) for name, value in figures.items()}
    least, most = edp if least is None else least, edp if most is None else most
    return Seeded(design, "w", "pfm", 0, figures, Bounds(1 - least / edp, limits | {"edp": Interval(least, most)}))


def front_of(*points):
    (front, _) = fronts(candidates(points, AXES), ["pfm"])
    return front


def test_gaps_that_overlap_are_told():
    """Design 1 beats design 2 unless that comes down below it; design 0 is beaten by nothing."""
    front = front_of(point(0, 10.0, 10.0), point(1, 8.0, 6.0), point(2, 9.0, 7.0), point(3, 9.5, 8.5))
    assert [(one.design, one.surely) for one in front.members] == [(0, True), (1, True)]
    assert [one.design for one in front.joining] == [2]
    front = front_of(point(0, 10.0, 7.0), point(1, 8.0, 8.0))
    assert [(one.design, one.surely) for one in front.members] == [(0, True), (1, False)]


def test_of_several_seeds_what_all_leave_open_counts():
    """All seeds search the same mapspace: the best mapping is below each value and above each bound."""
    seeds = [point(0, 10.0, 7.0), point(0, 9.0, 8.0)._replace(seed=1), point(0, 8.5, 8.0)._replace(seed=2)]
    (one,) = candidates(seeds, AXES)
    assert (one.gap, one.middle[1], one.least[1], one.most[1]) == (pytest.approx(0.3), 9.0, 8.0, 8.5)
    unproven = Bounds(None, seeds[0].bounds.limits | {"edp": Interval(1.0, 10.0)})
    (one,) = candidates([*seeds, seeds[0]._replace(seed=3, bounds=unproven)], AXES)
    assert (one.gap, one.least[1], one.most[1]) == (None, 8.0, 8.5)


NUMBER = st.integers(0, 6)
BOX = st.tuples(NUMBER, NUMBER, NUMBER).map(sorted)


@st.composite
def boxes(draw):
    """Points within limits, and what they are: low, true, high. # (point, axis) each"""
    axes = draw(st.integers(1, 3))
    rows = draw(st.lists(st.tuples(*[BOX] * axes), min_size=1, max_size=6))
    low, true, high = np.moveaxis(np.array(rows, float), 2, 0)
    return low, true, np.where(draw(st.booleans()) & (high == 6), np.inf, high)


@given(boxes())
def test_a_frontier_is_surely_and_possibly_what_is_said_of_it(some):
    """Who is surely on it is, who is on it possibly was, and so for its knee and its hypervolume."""
    low, true, high = some
    on = frontier(true)
    assert (on >= surely_on(low, high)).all()
    assert (on <= possibly_on(low, high)).all()
    assert possible_knees(low, high)[knee(true)]
    corner = (np.full(low.shape[1], 1.0), np.full(low.shape[1], 7.0))
    assert _share_below(high, corner) <= _share_below(true, corner) <= _share_below(low, corner) <= 1


@given(boxes())
def test_what_may_be_and_what_need_not_be_happen(some):
    """Both are exact: each point at its best among others at their worst, and the reverse, is a possible truth."""
    low, _, high = some
    high = np.minimum(high, 9.0)  # whatever is beyond all others
    sure, possible = surely_on(low, high), possibly_on(low, high)
    for row in range(len(low)):
        best, worst = high.copy(), low.copy()
        best[row], worst[row] = low[row], high[row]
        assert frontier(best)[row] == possible[row]
        assert frontier(worst)[row] == sure[row]


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=6))
def test_without_gaps_nothing_is_open(rows):
    """Proven points: the frontier, its knee and those as near as it, one hypervolume."""
    values = np.array(rows, float)
    assert np.array_equal(surely_on(values, values), frontier(values))
    assert np.array_equal(possibly_on(values, values), frontier(values))
    points = values[frontier(values)]
    span = np.ptp(points, axis=0)
    distances = np.linalg.norm((values - points.min(axis=0)) / np.where(span > 0, span, 1), axis=1)
    nearest = distances <= distances[knee(values)] + 1e-9
    assert np.array_equal(possible_knees(values, values), nearest & frontier(values))


def test_the_objective_of_a_certified_point_stays_and_all_else_has_bounds():
    """Another mapping of the same EDP may differ in energy and cycles; proven by two objectives nothing may."""
    figures = {"area_um2": 3.0, "energy_pj": 10.0, "cycles": 6.0, "edp": 60.0, "power_pj_per_cycle": 10 / 6}
    result = {"arch": "m", "workload": "w", "macs": 1, "utilization": 1.0, "energy_pj": 10.0, "cycles": 6, "edp": 60.0}
    result |= {"objective": "edp", "ideal": {"energy_pj": 4.0, "cycles": 5, "edp": 20.0}, "lower_bound": 45.0}
    closed = result | {"gap": 0.0, "optimal": True}
    exact = {name: Interval(value, value) for name, value in figures.items()}
    assert bounds(closed | {"objective": "edp,energy"}, figures) == Bounds(0.0, exact)
    assert bounds(closed, figures).limits == {
        "area_um2": Interval(3.0, 3.0),
        "energy_pj": Interval(4.0, 12.0),
        "cycles": Interval(5.0, 15.0),
        "edp": Interval(60.0, 60.0),
        "power_pj_per_cycle": Interval(4 / 15, 12 / 5),
    }
    known = bounds(result | {"gap": 0.25, "optimal": False}, figures)
    assert known.limits == {
        "area_um2": Interval(3.0, 3.0),
        "energy_pj": Interval(4.0, 12.0),
        "cycles": Interval(5.0, 15.0),
        "edp": Interval(45.0, 60.0),
        "power_pj_per_cycle": Interval(4 / 15, 12 / 5),
    }
    del result["lower_bound"]
    assert bounds(result, figures).limits["edp"] == Interval(20.0, 60.0)
    assert bounds(result, figures).gap is None


@pytest.mark.parametrize(("strategy", "said"), [("optimal", "certified"), ("random, victory: 10", "not proven")])
def test_tables_files_and_page_say_what_is_proven(tmp_path, strategy, said):
    """Certified by proof, or not proven by a random search; the same in text, CSV, JSON and HTML."""
    (tmp_path / "sweep.yaml").write_text(FILE % strategy)
    found = sweep(tmp_path / "sweep.yaml", tmp_path / "out")
    assert said in str(found)
    assert f'"proof": "{said}"' in (tmp_path / "out/report.html").read_text()
    rows = list(csv.DictReader((tmp_path / "out/results.csv").open()))
    pareto = json.loads((tmp_path / "out/pareto.json").read_text())
    points = [one for front in pareto["workloads"]["matmul_100"]["fronts"].values() for one in front["points"]]
    proves = said == "certified"
    assert all((float(row["lower_bound"]) == float(row["edp"])) if proves else not row["gap"] for row in rows)
    assert [one["gap"] for one in points] == [0.0 if proves else None] * len(points)
    assert [one["edp"]["at_least"] == one["edp"]["at_most"] for one in points] == [proves] * len(points)
    assert any(one["may_be_dominated"] for one in points) != proves
    front = pareto["workloads"]["matmul_100"]["fronts"]["ruby-s"]
    assert 0 < front["hypervolume_at_least"] <= front["hypervolume"] <= front["hypervolume_at_most"]
    assert front["hypervolume_at_least"] == front["hypervolume_at_most"] or not proves
    assert front["may_be_knee"] == [{"design": 0, "mapspace": "ruby-s"}]


def test_an_open_point_has_a_bar_and_a_gap(tmp_path):
    """Down to its lower bound in the picture; a certified one has none."""
    (tmp_path / "sweep.yaml").write_text(FILE % "optimal")
    found = sweep(tmp_path / "sweep.yaml")
    outcomes = dict(found.outcomes)
    result = outcomes[0].result | {"gap": 0.25, "optimal": False, "lower_bound": 0.75 * outcomes[0].result["edp"]}
    outcomes[0] = replace(outcomes[0], result=result)
    opened = replace(found, outcomes=outcomes)
    assert "within 25.00%" in str(opened)
    assert "certified" in str(opened)
    panel = opened.plot("pareto").axes[0]
    bars = [line for line in panel.get_lines() if line.get_linestyle() == ":"]
    edp = measures(outcomes[0])["edp"]
    assert [sorted(line.get_ydata()) for line in bars] == [[pytest.approx(0.75 * edp), pytest.approx(edp)]]
    assert "dotted bars" in panel.get_title(loc="left")
    assert "dotted bars" not in found.plot("pareto").axes[0].get_title(loc="left")
