"""What is concluded of best mappings: whatever a proof leaves open, limits contain it and verdicts hold."""

import json
from math import exp, inf, log
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.commands.ruby_report import main
from ruby_map.mapper.comparison import Stored
from ruby_map.mapper.comparison.limits import FIGURES, Interval, limits, mean_limits, ratio_limits
from ruby_map.mapper.problem import OBJECTIVES, ROUNDING
from typer.testing import CliRunner

WHOLE = st.integers(1, 20)
SLACK = 1e-12  # of float products in two orders


def figures(energy, cycles):
    return {"edp": float(energy * cycles), "energy_pj": float(energy), "cycles": cycles}


@st.composite
def results(draw):
    """A stored result, and what the best mapping may be in truth: (stored, figures)."""
    names = draw(st.permutations(list(OBJECTIVES)))[: draw(st.integers(1, 2))]
    first = OBJECTIVES[names[0]].column
    least, reached, true = ((draw(WHOLE), draw(WHOLE)) for _ in range(3))
    least = tuple(map(min, zip(least, reached, true, strict=True)))
    best, value = sorted((figures(*reached), figures(*true)), key=itemgetter(first))
    optimal = draw(st.booleans())
    if optimal:  # the best may be another mapping that is equal by the objectives
        columns = [OBJECTIVES[name].column for name in names]
        best = best if all(best[column] == value[column] for column in columns) else value
    proven = draw(st.booleans()) or optimal
    bound = draw(st.floats(0.0, 1.0)) * best[first] if draw(st.booleans()) and not optimal else best[first]
    gap = max(0.0, 1 - bound / value[first])
    if proven and gap <= ROUNDING and len(names) > 1:  # equals by the first objective: the second decides
        best, value = sorted((best, value), key=itemgetter(OBJECTIVES[names[1]].column))
    whole = {"arch": "m", "workload": "w", "macs": 1, "utilization": 0.5, "objective": ",".join(names), **value}
    whole |= {"ideal": figures(*least)} if draw(st.booleans()) else {}
    whole |= {"lower_bound": bound, "gap": gap, "optimal": optimal} if proven else {}
    return Stored.model_validate(whole), best


def inside(value, interval):
    return interval.low * (1 - SLACK) <= value <= interval.high * (1 + SLACK)


@given(results())
def test_what_the_best_mapping_costs_is_within_its_limits(result):
    """Any mapping that the proof leaves: of energy, cycles and EDP, whatever the objectives."""
    stored, true = result
    known = limits(stored)
    assert set(known) == set(FIGURES)
    assert all(inside(true[name], known[name]) for name in FIGURES)
    names = stored.objective.split(",")
    if stored.optimal:
        sure = FIGURES if len(names) > 1 else [OBJECTIVES[names[0]].column]
        assert all(known[name].high == getattr(stored, name) for name in sure)


@given(st.lists(st.tuples(results(), results()), min_size=1, max_size=4), st.sampled_from(FIGURES))
def test_ratios_and_their_mean_are_within_their_limits_and_the_verdict_holds(pairs, name):
    """Better, worse and equal are said only where that is so for whatever the best mappings are."""
    ratios = [(true_b[name] / true_a[name], ratio_limits((a, b), name)) for (a, true_a), (b, true_b) in pairs]
    mean = exp(sum(log(ratio) for ratio, _ in ratios) / len(ratios))
    for ratio, interval in [*ratios, (mean, mean_limits(interval for _, interval in ratios))]:
        assert inside(ratio, interval)
        assert interval.verdict != "better" or ratio < 1
        assert interval.verdict != "worse" or ratio > 1
        assert interval.verdict != "equal" or ratio == pytest.approx(1, rel=3 * ROUNDING)


@given(st.tuples(WHOLE, WHOLE).map(sorted), st.tuples(WHOLE, WHOLE).map(sorted))
def test_the_limits_of_a_ratio_are_reached(a, b):
    """They are no wider than the limits of both sides: each end is the ratio of two possible figures."""
    ratio = Interval(*b).over(Interval(*a))
    assert ratio == Interval(b[0] / a[1], b[1] / a[0])
    decided = {"better": b[1] < a[0], "worse": b[0] > a[1], "equal": a[0] == a[1] == b[0] == b[1]}
    assert [verdict for verdict, holds in decided.items() if holds] == (
        [] if ratio.verdict == "undecided" else [ratio.verdict]
    )


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(), "no limits"),
        (Interval(0.0, 2.0), "at most 2, no lower limit"),
        (Interval(0.5), "at least 0.5, no upper limit"),
        (Interval(0.5, 2.0), "0.5 to 2"),
    ],
)
def test_an_open_side_is_said(interval, text):
    assert interval.text == text


def test_a_figure_of_nothing_limits_nothing():
    """A side whose least is 0 leaves the ratio open above; one without energies has none."""
    assert Interval(1.0, 2.0).over(Interval(0.0, 2.0)) == Interval(0.5, inf)
    plain = {"arch": "m", "workload": "w", "macs": 1, "cycles": 5, "utilization": 0.5, "objective": "delay"}
    assert limits(Stored.model_validate(plain)) == {"cycles": Interval(0.0, 5.0)}


def written(folder, edp, bound):
    """A folder of a layer whose best EDP is between both."""
    folder.mkdir()
    whole = {"arch": folder.name, "workload": "w", "macs": 1, "utilization": 0.5, "objective": "edp", "cycles": 10}
    whole |= {"edp": edp, "energy_pj": edp / 10, "lower_bound": bound, "gap": 1 - bound / edp, "optimal": bound == edp}
    (folder / "stats.json").write_text(json.dumps(whole))
    return folder


@pytest.mark.parametrize(
    ("b", "bound", "said", "verdict"),
    [
        (149.8, 76.4, "0.764 to 2.081; undecided", "undecided"),
        (149.8, 120.0, "1.2 to 2.081; B is worse", "worse"),
        (60.0, 50.0, "0.5 to 0.8333; B is better", "better"),
    ],
)
def test_nothing_is_concluded_that_the_gaps_leave_open(tmp_path, b, bound, said, verdict):
    """A of 100 may be 72; in text, JSON, tables and page."""
    folders = [str(written(tmp_path / "a", 100.0, 72.0)), str(written(tmp_path / "b", b, bound))]
    run = lambda *more: CliRunner().invoke(main, [*folders, *map(str, more)])  # noqa: E731
    text = run("--out", tmp_path / "p.html", "--files", tmp_path / "f", "--format", "csv").stdout
    assert f"EDP of B over that of A: {b / 100:.4g}\nof the best mappings, by what is proven: {said}" in text
    assert said in (tmp_path / "p.html").read_text()
    found = json.loads(run("--json").stdout)
    (case,) = found["cases"]
    limit = {"at_least": bound / 100, "at_most": pytest.approx(b / 72), "verdict": verdict}
    assert case["edp"] == {"a": 100.0, "b": b, "ratio": b / 100, **limit}
    assert case["layers"][0]["edp"] == case["edp"]
    cases = dict.fromkeys(("better", "worse", "equal", "undecided"), 0) | {verdict: 1}
    assert found["mean"] == {"figure": "edp", "ratio": b / 100, **limit, "cases": cases}
    assert f",{verdict}," in (tmp_path / "f" / "verdicts.csv").read_text()
