"""Gaps of a sweep's points: bars, columns, and what they leave open on a frontier."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper import sweep
from ruby_map.mapper.mapping import frontier
from ruby_map.mapper.sweeps.fronts import Seeded, candidates, fronts
from ruby_map.mapper.sweeps.proofs import Bounds, bounds, may_be_beaten, may_join
from ruby_map.mapper.sweeps.result import measures

AXES = ("area_um2", "edp")
FILE = """
architecture: linear_16
workloads: [matmul_100]
mapspaces: [pfm, ruby-s]
search: {strategy: %s}
"""


def point(design, edp, least=None):
    """A point whose EDP may come down to `least`; None: not proven."""
    figures = {"area_um2": design + 1.0, "edp": edp}
    proof = None if least is None else Bounds(1 - least / edp, figures | {"edp": least})
    return Seeded(design, "w", "pfm", 0, figures, proof)


def front_of(*points):
    (front, _) = fronts(candidates(points, AXES), ["pfm"])
    return front


def test_gaps_that_overlap_are_told():
    """Design 1 beats design 2 unless that comes down below it; design 0 is beaten by nothing."""
    front = front_of(point(0, 10.0, 10.0), point(1, 8.0, 6.0), point(2, 9.0, 7.0), point(3, 9.5, 8.5))
    assert [(one.design, one.beaten) for one in front.members] == [(0, False), (1, False)]
    assert [one.design for one in front.joining] == [2]
    front = front_of(point(0, 10.0, 7.0), point(1, 8.0, 8.0))
    assert [(one.design, one.beaten) for one in front.members] == [(0, False), (1, True)]


def test_of_several_seeds_the_largest_bound_counts_and_each_must_have_one():
    """All seeds search the same mapspace."""
    seeds = [point(0, 10.0, 7.0), point(0, 9.0, 8.0)._replace(seed=1), point(0, 8.0, 8.0)._replace(seed=2)]
    (one,) = candidates(seeds, AXES)
    assert (one.gap, one.middle[1], one.least[1]) == (pytest.approx(0.3), 9.0, 8.0)
    (one,) = candidates([*seeds, replace_bounds(seeds[0])], AXES)
    assert (one.gap, one.proven) == (None, None)
    assert np.array_equal(one.least, one.middle)


def replace_bounds(seeded):
    """The same without a proof, of another seed."""
    return seeded._replace(seed=3, bounds=None)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_what_a_gap_leaves_open_is_what_a_change_within_it_changes(points):
    """A point may join, or a member be beaten, if one point at its least makes it so; no certified point."""
    values = np.array([[x, y] for x, y, *_ in points], float)
    least = np.maximum(values - np.array([[a, b] for *_, a, b in points]), 0.5)
    on = frontier(values)
    joined, beaten = np.zeros(len(points), bool), np.zeros(len(points), bool)
    for row in range(len(points)):
        moved = values.copy()
        moved[row] = least[row]
        if (moved != values).any():
            after = frontier(moved)
            joined[row] = after[row]
            beaten |= on & ~after
    assert np.array_equal(may_join(values, least), joined)
    assert np.array_equal(on & may_be_beaten(values, least), beaten & on)


def test_a_certified_point_may_not_move_and_an_open_one_within_its_bounds():
    """The proof bounds the objective of an open point, the ideal bounds energy and cycles, nothing its power."""
    figures = {"area_um2": 3.0, "energy_pj": 10.0, "cycles": 6.0, "edp": 60.0, "power_pj_per_cycle": 10 / 6}
    result = {"objective": "edp", "ideal": {"energy_pj": 4.0, "cycles": 5, "edp": 20.0}, "lower_bound": 45.0}
    assert bounds(result | {"gap": 0.0}, figures) == Bounds(0.0, figures)
    known = bounds(result | {"gap": 0.25}, figures)
    assert known.least == {"area_um2": 3.0, "energy_pj": 4.0, "cycles": 5.0, "edp": 45.0, "power_pj_per_cycle": 0.0}
    assert bounds({"objective": "edp"}, figures) is None


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
    assert [("lower_bound" in one["edp"]) for one in points] == [proves] * len(points)


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
