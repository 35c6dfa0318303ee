"""The sensitivity of the best design: beside full grids, interrupted and resumed, and where little is proven."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.mapper import explore, sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.designs import Settings
from ruby_map.mapper.designs.branch_and_bound import BranchAndBound
from ruby_map.mapper.report import result_json
from ruby_map.mapper.sweeps import optimise
from ruby_map.mapper.sweeps.file import read_sweep
from ruby_map.mapper.sweeps.neighbours import neighbours_of
from ruby_map.mapper.sweeps.store import open_store
from ruby_map.workloads import InputError, load_workload
from typer.testing import CliRunner

from ..conftest import DEEP
from .conftest import in_folder
from .test_optimise import LISTS, by_grid, sweeps

ASKED = {"minimize": "edp", "sensitivity": True}
SMALL = {"parameters": {"rows": [1, 2, 4], "words": [8, 24, 48]}, "workloads": ["mm"], "mapspaces": ["ruby-s"]}
LONGER = {"parameters": {"rows": [1, 2, 3], "words": [8, 24, 48]}, "workloads": ["mm", "net"],
          "mapspaces": ["pfm"], "subject_to": ["rows * words <= 48"]}  # fmt: skip
FREE = ("area_um2", float("inf"))


def next_values(values, own):
    """The neighbours of a value, by hand: the next numbers by size, or all that differ."""
    if all(isinstance(value, int | float) for value in values):
        less, more = [value for value in values if value < own], [value for value in values if value > own]
        return sorted(less)[-1:] + sorted(more)[:1]
    return [value for value in values if value != own]


@settings(max_examples=100 if DEEP else 4)
@given(given_sweep=sweeps(), share=st.floats(0.2, 1.0), minimise=st.sampled_from(["edp", "edp * area_mm2"]))
def test_each_row_and_the_cheapest_change_are_those_of_the_full_grid(folder, given_sweep, share, minimise):
    whole = in_folder(folder, given_sweep)
    grid = sweep(whole | {"objective": "edp"})
    scores = by_grid(grid, {"minimize": minimise}, FREE)
    points = {number: grid.plan.point(number) for number in grid.outcomes}
    areas = {points[number].design: own.result["area_um2"] for number, own in grid.outcomes.items() if own.result}
    assume(scores)
    limit = sorted(areas.values())[int(share * (len(areas) - 1))]
    answer = sweep(whole | ASKED | {"minimize": minimise, "subject_to": [f"area <= {limit!r}"]}).answer.json()
    within = {place: own[0] for place, own in scores.items() if areas[place[0]] <= limit}
    best, rows = answer["best"], answer["sensitivity"]
    if not within:
        assert (best, rows, answer["cheapest_change"]) == (None, [], None)
        return
    by_values = {json.dumps(grid.plan.values(design)): design for design in grid.plan.designs}
    expected = {
        by_values[json.dumps(best["parameters"] | {name: value})]
        for name, values in whole["parameters"].items()
        for value in next_values(values, best["parameters"][name])
    }
    assert {row["design"] for row in rows} == expected
    for row in rows:
        value = scores.get((row["design"], best["mapspace"]), [None])[0]
        assert row["value"] == (value and pytest.approx(value, rel=1e-8))
        assert bool(row["broken_limits"]) == (row["area_mm2"] is not None and row["area_mm2"] * 1e6 > limit * 1.0000001)
        if value is None:
            assert row["message"]
        else:
            assert row["factor_at_least"] == pytest.approx(value / best["value"], rel=1e-8)
    assume(all(abs(own[0] / best["value"] - 0.9) > 1e-8 for own in scores.values()))  # or rounding decides
    assert_cheapest(answer, scores, areas)


def assert_cheapest(answer, scores, areas):
    """The least area of all designs that are a tenth better, whatever the limits."""
    cheapest, most = answer["cheapest_change"], 0.9 * answer["best"]["value"]
    better = {place: own[0] for place, own in scores.items() if own[0] <= most}
    assert cheapest["proof"] == ("certified" if better else "none")
    if better:
        assert cheapest["area_mm2"] == pytest.approx(min(areas[design] for design, _ in better) / 1e6, rel=1e-9)
        assert cheapest["value"] == pytest.approx(better[cheapest["design"], cheapest["mapspace"]], rel=1e-8)
        assert cheapest["lower"] == pytest.approx(1 - cheapest["value"] / answer["best"]["value"], abs=1e-9)


@pytest.mark.parametrize("minimise", ["edp", "energy ** 2 / area_mm2"])
def test_the_cheapest_change_sums_over_the_workloads_and_may_break_limits_of_a_design(folder, minimise):
    weights = {"mm": 3, "net": 0.2}
    whole = in_folder(folder, LONGER | {"subject_to": ["rows <= 1", "words <= 24"], "weights": weights})
    answer = sweep(whole | ASKED | {"minimize": minimise}).answer.json()
    grid = sweep({key: own for key, own in whole.items() if key != "subject_to"} | {"objective": minimise[:6].strip()})
    scores = by_grid(grid, {"minimize": minimise}, FREE)
    areas = {grid.plan.point(number).design: own.result["area_um2"] for number, own in grid.outcomes.items()}
    assert_cheapest(answer, scores, areas)
    assert answer["cheapest_change"]["design"] is not None


def test_without_energies_nothing_is_compared(folder):
    """EDP is 0 whatever a design is."""
    nothing = "energy: {read_pj: 0, write_pj: 0, update_pj: 0}, "
    text = (folder / "small.yaml").read_text().replace("class: DRAM, ", f"class: DRAM, {nothing}")
    text = text.replace("class: regfile, ", f"class: regfile, {nothing}")
    text = text.replace("    class: regfile\n", f"    class: regfile\n    {nothing[:-2]}\n")
    (folder / "free.yaml").write_text(text.replace("class: intmac, ", "class: intmac, energy: {compute_pj: 0}, "))
    whole = in_folder(folder, SMALL) | ASKED | {"architecture": str(folder / "free.yaml"), "subject_to": "rows <= 2"}
    found = sweep(whole)
    answer = found.answer.json()
    assert answer["best"]["value"] == 0
    assert [row["factor"] for row in answer["sensitivity"]] == [None] * len(answer["sensitivity"])
    assert answer["sensitivity"]
    assert "one step from the best, 0" in str(found)
    assert found.plot("tornado").axes


def steps(plan, **values):
    """The steps from the design with these values: (step, the values there of the parameters that change)."""
    design = next(own for own in plan.designs if values.items() <= plan.values(own).items())
    return [(own.step, *(plan.values(own.design)[name] for name in own.group.names))
            for own in neighbours_of(plan, design)]  # fmt: skip


@pytest.mark.parametrize(
    ("varied", "values", "expected"),
    [
        ({"parameters": {"rows": [4, 1, 6, 2]}}, {"rows": 2}, [(-1, 1), (1, 4)]),
        ({"parameters": {"rows": {"from": 1, "to": 5, "step": 2}}}, {"rows": 5}, [(-1, 3)]),
        ({"parameters": {"rows": [2, 2, 3]}}, {"rows": 2}, [(1, 3)]),
        ({"parameters": {"columns": 2, "rows": ["columns * 2", "columns", "columns + 1"]}}, {"rows": 3},
         [(-1, 2), (1, 4)]),
        ({"linked": [{"rows": [2, 4, 4], "words": [8, 48, 24]}]}, {"words": 24}, [(-1, 2, 8), (1, 4, 48)]),
        ({"linked": [{"levels.GLB.keep": [["Inputs"], ["Outputs"], ["Weights"]], "rows": [1, 2, 3]}]}, {"rows": 2},
         [(0, ["Inputs"], 1), (0, ["Weights"], 3)]),
        ({"linked": [{"rows": [2, 2, 3], "levels.GLB.keep": [["Inputs"], ["Outputs"], ["Outputs"]]}]}, {"rows": 2},
         [(1, 3, ["Outputs"]), (0, 2, ["Outputs"])]),
    ],
)  # fmt: skip
def test_a_step_is_the_next_number_by_size_and_other_values_are_all_beside(folder, varied, values, expected):
    plan = read_sweep(in_folder(folder, {"workloads": ["mm"], "parameters": {}} | varied))
    assert steps(plan, **values) == expected


def test_levels_are_alternatives_and_linked_parameters_change_together(folder):
    spad = {"class": "regfile", "capacity_words": 6, "width_bits": 16, "keep": ["Outputs"], "bypass": ["Weights"]}
    varied = {"parameters": {"levels.spad": [None, spad]}, "linked": [{"rows": [1, 2], "words": [8, 24]}]}
    whole = in_folder(folder, SMALL | varied)
    found, grid = sweep(whole | ASKED), sweep(whole | {"objective": "edp"})
    values = {grid.plan.point(number).design: own.result["edp"] for number, own in grid.outcomes.items()}
    answer = found.answer.json()
    assert {tuple(row["parameters"]): row["step"] for row in answer["sensitivity"]} == {
        ("levels.spad",): 0,
        ("rows", "words"): -1,
    }
    for row in answer["sensitivity"]:
        assert row["value"] == pytest.approx(values[row["design"]], rel=1e-9)
    assert "rows, words   2, 24 -> 1, 8" in str(found)


def test_limits_that_a_neighbour_breaks_are_named(folder):
    """Of the design, of its mappings, and of those that no mapping keeps."""
    whole = in_folder(folder, SMALL) | {"minimize": "energy", "sensitivity": True}
    answer = sweep(whole | {"subject_to": ["rows * words < 96", "cycles <= 20"]}).answer.json()
    assert (answer["best"]["parameters"]["rows"], answer["best"]["parameters"]["words"]) == (2, 24)
    rows = {(row["parameters"][0], row["step"]): row for row in answer["sensitivity"]}
    assert rows["words", 1]["broken_limits"] == ["rows * words 96 >= 96"]
    assert rows["words", 1]["value"] is not None
    assert rows["rows", -1]["message"] == "no mapping keeps the limits"
    assert rows["rows", -1]["value"] is None
    limit = sweep(whole).answer.json()["best"]["value"] * 1.0001
    answer = sweep(whole | {"subject_to": [f"{limit!r} >= energy"]}).answer.json()
    broken = [row for row in answer["sensitivity"] if row["broken_limits"]]
    assert broken
    assert all(row["broken_limits"][0].startswith("energy ") and row["value"] > limit for row in broken)


def answer_of(result):
    """What is asked of the best design, with what its points came to."""
    answer = result.answer.json()
    return answer | {"points": {number: outcome.status for number, outcome in result.outcomes.items()}}


def test_the_same_is_said_with_more_processes_and_after_any_interruption(folder, tmp_path):
    """Interrupted after each step in turn, and resumed from what is kept."""
    whole = in_folder(folder, LONGER) | ASKED
    seen = []
    at_once = sweep(whole, progress=seen.append)
    alone = answer_of(at_once)
    assert alone["proofs"]["sensitivity"] > 0
    resumed, runs = None, 0
    while resumed is None or resumed.interrupted:
        steps = iter([False] * runs + [True] + [False] * 99)
        runs += 1

        def interrupt(_, steps=steps):
            if next(steps):
                raise KeyboardInterrupt

        resumed = sweep(whole, tmp_path / "out", progress=interrupt)
        rows = resumed.answer.json()["sensitivity"]
        assert not resumed.interrupted or all(row["value"] or row["message"] for row in rows)
    assert runs == len(seen) + 1
    assert answer_of(resumed) == alone
    assert answer_of(sweep(whole, jobs=2)) == alone
    assert resumed.optimised.made < at_once.optimised.made


@pytest.mark.parametrize(
    "more",
    [{}, {"pareto": ["area", "edp"]}, {"search": {"effort": "mappings=50,steps=20"}}, {"proofs": 2}, {"proofs": 4}],
)
def test_nothing_is_searched_twice(folder, monkeypatch, more):
    made = []
    search = optimise.search_piece

    def counted(plan, piece):
        point = getattr(piece, "point", None)
        made.append(plan.set_key(piece.workload, piece.key) if point is None else plan.key(point))
        return search(plan, piece)

    monkeypatch.setattr(optimise, "search_piece", counted)
    found = sweep(in_folder(folder, SMALL) | ASKED | more)
    assert len(made) == len(set(made)) == found.optimised.made


def test_little_effort_leaves_comparisons_undecided(folder):
    (folder / "wide.yaml").write_text("name: wide\nshape: conv2d\nsizes: {M: 4, C: 3, P: 6, Q: 1, R: 3, S: 1}\n")
    whole = in_folder(folder, SMALL | {"workloads": ["wide"]}) | ASKED
    found = sweep(whole | {"search": {"effort": "mappings=50,steps=20"}})
    rows = found.answer.json()["sensitivity"]
    undecided = [row for row in rows if row["verdict"] == "undecided"]
    assert undecided
    assert all(row["factor_at_least"] <= 1 <= row["factor_at_most"] for row in undecided)
    assert all(row["factor_at_least"] <= row["factor"] <= row["factor_at_most"] for row in rows)
    cheapest = found.answer.json()["cheapest_change"]
    assert (cheapest["proof"], cheapest["design"]) == ("undecided", None)
    assert f"undecided: {cheapest['open']} designs may be 10% better" in str(found)
    limited = sweep(whole | {"search": {"effort": "mappings=50,steps=20"}, "subject_to": "rows <= 1"})
    assert limited.answer.json()["cheapest_change"]["proof"] == "undecided"
    assert "1 design with less area may be, too" in str(limited)
    proven = {row["design"]: row for row in sweep(whole).answer.json()["sensitivity"]}
    assert all(row["verdict"] in ("better", "worse", "equal") for row in proven.values())


def test_a_better_neighbour_takes_the_place_of_a_best_that_was_not_proven(folder):
    """Where proofs end early the designs beside it are searched all the same, and those beside what is better."""
    varied = {"parameters": {name: LISTS[name] for name in ("rows", "columns", "words")}, "mapspaces": ["pfm"]}
    whole, moved = in_folder(folder, SMALL | varied) | ASKED, False
    for seed in (0, 1, 2):
        first = {"designer": "random", "seeds": [seed], "proofs": 1}
        before = sweep(whole | first | {"sensitivity": False}).answer.json()["best"]
        answer = sweep(whole | first).answer.json()
        moved |= before is not None and answer["best"]["value"] < 0.9 * before["value"]
        rows = answer["sensitivity"]
        assert before is None or rows
        assert not any(row["message"] for row in rows)
        assert all(row["value"] >= answer["best"]["value"] * (1 - 1e-12) for row in rows)
    assert moved


def test_a_set_that_another_question_asks_for_again_is_taken(folder):
    """Its bounds are those of the first time."""
    plan = read_sweep(in_folder(folder, SMALL) | ASKED)
    with open_store(None, "", {}) as store:
        optimiser = optimise.Optimiser(plan, store, 1, None)
        (root,) = BranchAndBound(optimiser.optimised.candidates.space, optimiser.standing, Settings()).ask()
        (first,), (again,) = optimiser._made([root]), optimiser._made([root])
    assert again.results == first.results
    assert optimiser.optimised.made == 1


def test_a_grid_says_the_same(folder):
    whole = in_folder(folder, SMALL) | ASKED | {"subject_to": "rows * words <= 48"}
    by_sets, grid = sweep(whole).answer.json(), sweep(whole | {"designer": "grid"})
    for row, own in zip(by_sets["sensitivity"], grid.answer.json()["sensitivity"], strict=True):
        assert (row["design"], row["broken_limits"]) == (own["design"], own["broken_limits"])
        assert row["value"] == pytest.approx(own["value"], rel=1e-9)
    assert grid.answer.json()["cheapest_change"]["design"] == by_sets["cheapest_change"]["design"]
    assert "one step from the best" in str(grid)


def test_designs_that_were_not_drawn_are_no_neighbours(folder):
    answer = sweep(in_folder(folder, SMALL) | ASKED | {"limit": 4}).answer.json()
    assert any(row["message"] == "not among the designs that were drawn" for row in answer["sensitivity"])


def test_what_binds_each_layer_is_what_its_result_says(folder):
    whole = in_folder(folder, SMALL | {"workloads": ["net", "mm"], "parameters": {"rate": [0.5, 1], "rows": [4]}})
    found = sweep(whole | ASKED)
    answer, plan = found.answer.json(), found.plan
    (net, mm), rows = plan.workloads, answer["bottlenecks"]
    assert [(row["workload"], row["layer"], row["count"]) for row in rows] == [(net, "a", 2), (net, "b", 1),
                                                                              (mm, "mm", 1)]  # fmt: skip
    assert sum(row["cycles_share"] for row in rows[:2]) == pytest.approx(1)
    assert sum(row["energy_share"] for row in rows[:2]) == pytest.approx(1)
    own = result_json(explore(plan.arch(answer["best"]["design"]), load_workload(mm), "ruby-s"))
    levels = {name: level["energy_pj"] for name, level in own["levels"].items()}
    assert (rows[2]["bound_by"], rows[2]["utilization"]) == (own["bound_by"], own["utilization"])
    assert rows[2]["largest"] == max(levels, key=levels.get)
    assert rows[2]["largest_share"] == pytest.approx(max(levels.values()) / own["energy_pj"])


def test_pictures_and_json_are_written(folder, tmp_path):
    """Nulls where it is not asked for, and the reason why there is no picture."""
    whole = in_folder(folder, SMALL | {"parameters": {"rows": [1, 2, 4], "words": [0, 24]}}) | ASKED
    (tmp_path / "sweep.yaml").write_text(json.dumps(whole | {"subject_to": "rows <= 2"}))
    done = CliRunner().invoke(main, [str(tmp_path / "sweep.yaml"), "--out", str(tmp_path / "out"), "--json"])
    assert {"tornado.png", "tornado.svg", "tornado.pdf"} <= {path.name for path in (tmp_path / "out").iterdir()}
    picture = (tmp_path / "out/tornado.svg").read_text()
    for text in ("rows 2 \N{RIGHTWARDS ARROW} 4", "cannot be made", "outside the limits", "one step less"):
        assert text in picture, text
    assert json.loads(done.stdout)["sensitivity"]
    without = sweep(whole | {"sensitivity": False})
    answer = without.answer.json()
    assert [answer[key] for key in ("sensitivity", "cheapest_change", "bottlenecks")] == [None] * 3
    with pytest.raises(InputError, match="needs sensitivity: true"):
        without.plot("tornado")


def test_a_frontier_alone_has_no_sensitivity(folder):
    frontier = {"pareto": ["area", "edp"], "designer": "branch-and-bound", "sensitivity": True}
    with pytest.raises(InputError, match="sensitivity: is about the best design"):
        sweep(in_folder(folder, SMALL) | frontier)


def test_what_has_no_shares_has_no_sensitivity(folder):
    """A tenth less than a value below 0 is more; of an overflow nothing is less."""
    whole = in_folder(folder, SMALL) | ASKED
    for text in ("-area", "rows - 9", "area * 0"):
        with pytest.raises(InputError, match="a sensitivity is of what is above 0"):
            sweep(whole | {"minimize": text})
        assert sweep(whole | {"minimize": text, "sensitivity": False}).answer.row is not None
    answer = sweep(whole | {"minimize": "edp ** 200"}).answer.json()
    assert (answer["sensitivity"], answer["cheapest_change"]) == ([], None)


def test_without_limits_none_is_spoken_of(folder):
    """Where nothing was searched."""
    assert "best  no design found\n" in f"{sweep(in_folder(folder, SMALL) | ASKED | {'proofs': 0})}\n"
