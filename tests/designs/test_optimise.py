"""Sweeps that optimise: the same answer as the full grid, with fewer proofs; and what cannot be answered."""

import json
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.mapper import SearchOptions, explore, sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.runtime import InternalError
from ruby_map.mapper.sweeps import optimise
from ruby_map.mapper.sweeps.file import read_sweep
from ruby_map.mapper.sweeps.fronts import MEASURES
from ruby_map.mapper.sweeps.optimise import interval
from ruby_map.workloads import InputError, Workload
from typer.testing import CliRunner

from ..conftest import DEEP
from .conftest import LISTS, in_folder, sweeps

QUESTIONS = (
    {"minimize": "edp"},
    {"minimize": "energy"},
    {"minimize": "cycles * area"},
    {"minimize": "energy ** 2 * area_mm2 * (1 + area)"},
    {"minimize": "edp", "pareto": ["area", "edp"]},
    {"minimize": "1 / tops", "pareto": ["area", "seconds"]},
    {"pareto": ["area_mm2", "energy"]},
)


def by_grid(result, question, limit):
    """Values of the question's expressions of all candidates of a full grid, by hand: (scores, area) by candidate."""
    plan, every = result.plan, {}
    weights = plan.question.weights
    texts = [text for text in (question.get("minimize"), *question.get("pareto", ())) if text]
    for number, outcome in result.outcomes.items():
        point = plan.point(number)
        every.setdefault((point.design, point.mapspace), []).append(outcome)
    scores = {}
    for (design, space), outcomes in every.items():
        if any(outcome.status != "found" for outcome in outcomes):
            continue
        values = []
        for text in texts:
            terms = [weight * value_of(text, outcome.result) for weight, outcome in zip(weights, outcomes, strict=True)]
            alone = text.startswith("area")
            values.append(terms[0] / weights[0] if alone else sum(terms))
        if all(value_of(limit[0], outcome.result) <= limit[1] for outcome in outcomes):
            scores[design, space] = values
    return scores


def value_of(text, result):
    """An expression of results, by Python."""
    names = {name: result[column] for column, measure in MEASURES.items() if column in result
             for name in (column, measure.name.lower())}  # fmt: skip
    names |= {"area_mm2": result["area_um2"] / 1e6, "seconds": result["milliseconds"] / 1e3, "tops": result["tops"]}
    return eval(text, {}, names)  # noqa: S307  # of this file


def points_of_front(points):
    """The points that no other dominates, each once."""
    front = {point for point in points if not any(dominates(other, point) for other in points)}
    return sorted(front)


def dominates(other, point):
    return all(a <= b for a, b in zip(other, point, strict=True)) and other != point


@settings(max_examples=100 if DEEP else 4)
@given(
    given_sweep=sweeps(),
    question=st.sampled_from(QUESTIONS),
    share=st.floats(0.2, 1.0),
    designer=st.sampled_from(["branch-and-bound", "branch-and-bound", "random", "optuna"]),
)
def test_the_answer_is_that_of_the_full_grid(folder, given_sweep, question, share, designer):
    """The best design under a limit on its area, and the frontier, by proofs of all designs and by every designer."""
    objective = {"energy": "energy", "cycles * area": "delay", "1 / tops": "delay", "edp": "edp"}
    first = question.get("minimize") or question["pareto"][-1]
    asked = {"objective": next((own for text, own in objective.items() if first.startswith(text)), "energy")}
    whole = in_folder(folder, given_sweep)
    grid = sweep(whole | asked)
    areas = sorted({outcome.result["area_um2"] for outcome in grid.outcomes.values() if outcome.result})
    areas = [area for area in areas if area is not None]
    assume(areas)
    limit = ("area_um2", areas[int(share * (len(areas) - 1))])
    found = sweep(whole | question | {"subject_to": [f"area <= {limit[1]!r}"], "designer": designer})
    check_bounds(grid, found)
    scores = by_grid(grid, question, limit)
    answer = found.answer.json()
    if designer == "optuna" and answer["designs"]["open"]:
        assert "may still change the answer" in str(found)
        return  # its sampler named nothing new any more
    assert not answer["designs"]["open"]
    assert answer["proofs"]["made"] <= 2 * answer["proofs"]["of"]
    if "minimize" in question:
        values = {place: own[0] for place, own in scores.items()}
        assert (answer["best"] is None) == (not values)
        if values:
            best = answer["best"]
            assert best["value"] == pytest.approx(min(values.values()), rel=1e-8)
            assert best["lower_bound"] == pytest.approx(best["value"], rel=1e-8)
            assert values[best["design"], best["mapspace"]] == pytest.approx(best["value"], rel=1e-8)
    if "pareto" in question:
        axes = [tuple(float(f"{value:.8g}") for value in own[-2:]) for own in scores.values()]
        shown = [tuple(float(f"{value:.8g}") for value in point["values"].values()) for point in answer["frontier"]]
        assert sorted(set(shown)) == points_of_front(axes)
        assert all(point["gap"] <= 1e-8 for point in answer["frontier"])


def check_bounds(grid, found):
    """No bound is above the best mapping of the grid, and no design is passed over that is better than all others."""
    standing = found.optimised.standing
    candidates = found.optimised.candidates
    column = (
        f"{candidates.plan.question.objective}_pj"
        if candidates.plan.question.objective == "energy"
        else ({"edp": "edp", "delay": "cycles"}[candidates.plan.question.objective])
    )
    values = np.full(standing.lower.shape, np.inf)
    for number, outcome in grid.outcomes.items():
        if outcome.status == "found":
            values[candidates.row(grid.plan.point(number))] = outcome.result[column]
    assert (standing.lower <= values * (1 + 1e-9)).all()
    every = [score for scores in standing.wanted.questions for score in scores]
    scores = standing.values(every, values)
    possible = standing.wanted.possible & np.isfinite(scores).all(axis=1)
    needed = scores[possible & ~standing.outdone]
    for row in np.flatnonzero(possible & standing.outdone):
        assert (needed <= scores[row] * (1 + 1e-9)).all(axis=1).any()


LIMITED = (("energy", "cycles"), ("edp", "cycles"), ("delay", "energy"), ("edp", "energy"), ("energy", "edp"))


@settings(max_examples=60 if DEEP else 3)
@given(
    work=st.sampled_from(["mm", "conv", "net"]),
    names=st.sampled_from(["rows words", "columns inner", "words rate"]),
    asked=st.sampled_from(LIMITED),
    share=st.floats(0.05, 0.95),
)
def test_limits_of_mappings_are_kept_by_the_best_mapping_that_keeps_them(folder, work, names, asked, share):
    """Beside every choice of mappings on the proven fronts of energy and delay of each layer of each design."""
    parameters = {name: LISTS[name][:3] for name in names.split()}
    whole = in_folder(folder, {"parameters": parameters, "workloads": [work], "mapspaces": ["ruby-s"]})
    plan = read_sweep(whole)
    fronts = [points_of(plan, design) for design in plan.designs]
    of = {"energy": lambda c, e: e, "cycles": lambda c, e: c, "delay": lambda c, e: c, "edp": lambda c, e: c * e}
    limited = sorted(of[asked[1]](*point) for front in fronts for point in front)
    most = limited[int(share * (len(limited) - 1))]
    within = [of[asked[0]](*point) for front in fronts for point in front if of[asked[1]](*point) <= most * (1 + 1e-12)]
    found = sweep(whole | {"minimize": asked[0], "subject_to": f"{asked[1]} <= {most!r}"})
    answer = found.answer.json()
    if work == "net":  # sums of several layers are proven up to a gap
        assert answer["best"]["lower_bound"] <= min(within) * (1 + 1e-9)
        assert answer["best"]["value"] >= min(within) * (1 - 1e-9)
        assert answer["best"]["gap"] < 0.3
    else:
        assert answer["best"]["value"] == pytest.approx(min(within), rel=1e-8)
        assert answer["best"]["gap"] <= 1e-8
        assert not answer["designs"]["open"]
    for outcome in found.outcomes.values():
        figures = outcome.result["cycles"], outcome.result["energy_pj"]
        assert outcome.kept == (of[asked[1]](*figures) <= most * (1 + 1e-12))


def points_of(plan, design):
    """Cycles and energy of all choices of mappings on the fronts of the layers of a design."""
    (workload,) = plan.workloads.values()
    layers = [(workload, 1)] if isinstance(workload, Workload) else workload.layers
    every = [(0, 0.0)]
    for layer, count in layers:
        found = explore(plan.arch(design), layer, "ruby-s", SearchOptions(strategy="optimal", front="energy,delay"))
        points = [(float(member.cycles), member.energy_pj) for member in found.front]
        every = [(c + count * own[0], e + count * own[1]) for c, e in every for own in points]
    return every


def test_no_design_may_keep_all_limits(folder):
    """That is proven, and said; status 1."""
    whole = in_folder(folder, {"parameters": {"rows": [1, 2]}, "workloads": ["mm"], "mapspaces": ["ruby-s"]})
    found = sweep(whole | {"minimize": "energy", "subject_to": ["cycles <= 3"]})
    assert found.answer.json()["best"] is None
    assert "proven: no design keeps them" in str(found)
    path = folder / "none.yaml"
    path.write_text(json.dumps(whole | {"minimize": "edp", "subject_to": ["area <= 0.001"]}))
    done = CliRunner().invoke(main, [str(path)])
    assert done.exit_code == 1
    assert "0 within the limits of area and parameters" in done.stdout


LONGER = {"parameters": {"rows": [1, 2, 3], "words": [8, 24, 48]}, "workloads": ["mm"], "mapspaces": ["pfm"],
          "minimize": "edp", "pareto": ["area", "edp"]}  # fmt: skip


def answer_of(result):
    """The answer of a sweep, with what its points came to."""
    points = {number: outcome.result["edp"] for number, outcome in result.outcomes.items()}
    return result.answer.json() | {"points": points}


def test_the_answer_is_the_same_with_more_processes_and_after_any_kill(folder, tmp_path):
    """Killed at five moments, with nothing to clean up, and resumed each time; then by two processes from nothing."""
    whole = in_folder(folder, LONGER)
    (tmp_path / "sweep.yaml").write_text(json.dumps(whole))
    at_once = sweep(whole)
    alone = answer_of(at_once)
    command = [sys.executable, "-c", "from ruby_map.mapper.commands.ruby_sweep import main; main()"]
    command += [str(tmp_path / "sweep.yaml"), "--out", str(tmp_path / "out"), "--log"]
    for lines in (1, 2, 1, 2, 1):
        begun = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(lines):
            begun.stderr.readline()  # a step is done, and so is in the store
        begun.kill()
        begun.communicate()
    kept = sqlite3.connect(tmp_path / "out/sweep.sqlite").execute("SELECT COUNT(*) FROM sets").fetchone()[0]
    assert kept >= 3
    resumed = sweep(tmp_path / "sweep.yaml", tmp_path / "out")
    assert answer_of(resumed) == alone
    assert answer_of(sweep(whole, jobs=2)) == alone
    assert resumed.optimised.made < at_once.optimised.made


def test_other_questions_over_the_same_designs_take_up_what_is_known(folder, tmp_path):
    """In the folder of a sweep, with another limit, frontier or gap."""
    whole = in_folder(folder, LONGER)
    first = sweep(whole, tmp_path / "out")
    again = sweep(whole | {"subject_to": ["rows * words <= 48"]}, tmp_path / "out")
    fresh = sweep(whole | {"subject_to": ["rows * words <= 48"]})
    assert answer_of(again) == answer_of(fresh)
    assert again.optimised.made < fresh.optimised.made
    assert first.answer.json()["best"]["value"] <= again.answer.json()["best"]["value"]


def test_a_design_better_than_the_bound_of_its_set_is_a_fault_of_ours(folder, monkeypatch):
    """A bound that is too high is noticed where a design is searched, also where it changed no answer."""
    monkeypatch.setattr(optimise, "interval", lambda plan, outcome: tuple(0.5 * own for own in interval(plan, outcome)))
    with pytest.raises(InternalError, match="better than the bound"):
        sweep(in_folder(folder, LONGER))


def test_every_fault_of_a_question_is_named_at_once(folder, tmp_path):
    """With line and path, in the user's words."""
    text = json.dumps(in_folder(folder, LONGER)).replace("}", "}\n")
    whole = json.loads(text) | {
        "minimize": "edp + cycles", "subject_to": ["area", "cycles < 3", "are <= 2", "rows == 2"], "weights": {"x": 2},
        "pareto": ["area", "energy"], "designer": "best", "seeds": [0, 1], "search": {"strategy": "random"},
    }  # fmt: skip
    with pytest.raises(InputError) as error:
        sweep(whole)
    said = "\n".join(str(fault) for fault in error.value.faults)
    for part in (
        "minimize: results of mappings may be multiplied, divided and raised to a power, not added",
        "subject_to[0]: a limit is expected, as area_mm2 <= 4",
        "subject_to[1]: of results of mappings a limit is <= or >=",
        "subject_to[2]: unknown name 'are'; did you mean \"area\"?",
        'designer: must be one of grid, branch-and-bound, random, optuna; got "best"',
        'weights.x: no workload "x"',
        "seeds: branch-and-bound searches with one seed",
        "search.strategy: branch-and-bound needs proofs, of a strategy that proves",
    ):
        assert part in said, said
    with pytest.raises(InputError, match="mappings are searched for one objective, here edp; 'energy' is of energy"):
        sweep(in_folder(folder, LONGER) | {"pareto": ["energy", "edp"]})
    with pytest.raises(InputError, match=r"minimize: names no result.*'2 \+ 1'[\s\S]*\[0\]: names no result.*'3 <= 4'"):
        sweep(in_folder(folder, LONGER) | {"minimize": "2 + 1", "subject_to": ["3 <= 4"]})
    with pytest.raises(InputError, match="tokens_per_s is not known without clock_ns in the architecture, and tokens"):
        sweep(in_folder(folder, LONGER) | {"subject_to": ["tokens_per_s >= 3"]})


def test_what_was_found_without_limits_is_no_answer_within_them(folder, tmp_path):
    """In one folder: first the least energy, then that of mappings that are fast enough, then without a limit again."""
    whole = in_folder(folder, LONGER | {"pareto": ["area", "energy"], "minimize": "energy"})
    free = sweep(whole, tmp_path / "out")
    best = free.optimised.outcomes.values()
    limit = min(outcome.result["cycles"] for outcome in best) - 1
    limited = whole | {"subject_to": [f"cycles <= {limit}"]}
    within = sweep(limited, tmp_path / "out")
    assert answer_of(within) == answer_of(sweep(limited))
    assert all(outcome.result["cycles"] <= limit for outcome in within.outcomes.values() if outcome.kept)
    assert answer_of(sweep(whole, tmp_path / "out")) == answer_of(free)


def test_limits_of_mappings_and_gaps_are_part_of_what_a_store_knows_a_point_by(folder):
    """Not so limits of what a design alone decides, or of the objective: the best mapping is the same."""
    whole = in_folder(folder, LONGER | {"pareto": ["area", "energy"], "minimize": "energy"})
    free, fast, close, small, little = (
        read_sweep(whole | more)
        for more in ({}, {"subject_to": "cycles <= 9"}, {"gap": 0.1}, {"subject_to": "area <= 9"},
                     {"subject_to": "energy <= 9"})
    )  # fmt: skip
    keys = [plan.key(plan.point(0)) for plan in (free, fast, close, small, little)]
    assert keys[0] == keys[3] == keys[4]
    assert len(set(keys)) == 3
    (workload,) = free.workloads
    assert free.set_key(workload, "k") != close.set_key(workload, "k")


def test_a_limit_that_differs_by_design_is_that_of_each(folder):
    """A set has the loosest of its designs: what the tightest forbids may be the best of another."""
    whole = in_folder(folder, {"parameters": {"rows": [1, 2, 4]}, "workloads": ["mm"], "mapspaces": ["ruby-s"]})
    plan = read_sweep(whole)
    every = [(plan.values(design)["rows"], *point) for design in plan.designs for point in points_of(plan, design)]
    for sides, of in (
        ("cycles * rows <= {}", int.__mul__),
        ("cycles <= {} * rows", lambda rows, cycles: cycles / rows),
    ):
        values = sorted({of(rows, int(cycles)) for rows, cycles, _ in every})
        for most in values[:: max(1, len(values) // 3)]:
            within = [energy_pj for rows, cycles, energy_pj in every if of(rows, int(cycles)) <= most]
            found = sweep(whole | {"minimize": "energy", "subject_to": sides.format(repr(most))}).answer.json()
            assert found["best"]["value"] == pytest.approx(min(within), rel=1e-8), (sides, most)


@settings(max_examples=60 if DEEP else 3)
@given(given_sweep=sweeps(), gap=st.sampled_from([0.02, 0.1, 0.4]))
def test_with_a_gap_the_answer_is_within_it(folder, given_sweep, gap):
    """Beside the full grid: of the best design, and of each design of its frontier one that is nearly as good."""
    whole = in_folder(folder, given_sweep)
    grid = sweep(whole)
    found = sweep(whole | {"minimize": "edp", "pareto": ["area", "edp"], "gap": gap})
    scores = by_grid(grid, {"minimize": "edp", "pareto": ["area", "edp"]}, ("area_um2", np.inf))
    assume(scores)
    answer = found.answer.json()
    least = min(own[0] for own in scores.values())
    assert not answer["designs"]["open"]
    assert answer["best"]["lower_bound"] <= least * (1 + 1e-9)
    assert answer["best"]["value"] * (1 - gap) <= least * (1 + 1e-9)
    check_bounds(grid, found)
    points = [tuple(point["values"].values()) for point in answer["frontier"]]
    for _, area, edp in scores.values():
        assert any(own[0] <= area * (1 + 1e-9) and own[1] * (1 - gap) <= edp * (1 + 1e-9) for own in points)
