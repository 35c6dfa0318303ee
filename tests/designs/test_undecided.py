"""What a sweep that optimises leaves undecided is said, and designs that it cannot judge are told."""

import json

import pytest
from ruby_map.mapper import sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from .conftest import in_folder

ONE = {"parameters": {"rows": [2], "columns": [1]}, "workloads": ["mm"], "mapspaces": ["ruby-s"]}
FEW = {"parameters": {"rows": [1, 2, 4]}, "workloads": ["mm"], "mapspaces": ["ruby-s"]}


def test_a_limit_that_the_best_mapping_breaks_is_not_proven_to_be_kept_by_none(folder):
    """Of power, and from below, only the best mapping is known to break it: slower ones may keep it."""
    whole = in_folder(folder, ONE) | {"minimize": "edp"}
    best = sweep(whole).answer.json()["best"]
    (outcome,) = sweep(whole).outcomes.values()
    power, cycles = outcome.power_pj_per_cycle, outcome.result["cycles"]
    for limit in (f"power <= {0.99 * power}", f"cycles >= {cycles + 1}"):
        found = sweep(whole | {"subject_to": limit})
        answer = found.answer.json()
        assert answer["best"] is None
        assert answer["designs"]["open"] == 1
        assert "proven" not in str(found)
        assert "1 may still change the answer" in str(found)
    assert sweep(whole | {"subject_to": f"power <= {1.01 * power}"}).answer.json()["best"]["value"] == best["value"]


def test_proofs_that_stay_open_leave_the_answer_open(folder):
    """A frontier of designs with gaps is not certified, nor is it proven that nothing keeps a limit."""
    (folder / "wide.yaml").write_text("name: wide\nshape: conv2d\nsizes: {M: 4, C: 3, P: 6, Q: 1, R: 3, S: 1}\n")
    proven = in_folder(folder, FEW | {"workloads": ["wide"]})
    whole = proven | {"search": {"effort": "mappings=50,steps=20"}}
    found = sweep(whole | {"pareto": ["area", "edp"], "designer": "branch-and-bound"})
    answer = found.answer.json()
    assert any(point["gap"] > 0.01 for point in answer["frontier"])
    assert answer["designs"]["open"]
    assert "may still change it" in str(found)
    optimum = sweep(proven | {"minimize": "edp"}).answer.json()["best"]
    limited = sweep(whole | {"minimize": "edp", "subject_to": [f"edp <= {optimum['value'] * 1.0001}"]})
    assert limited.answer.json()["best"] is not None or "proven" not in str(limited)


@pytest.mark.parametrize(
    "varied",
    [
        {"parameters": {"levels.GLB.start_cycles": [0, 1]}},
        {"parameters": {"rows": [2, 2]}},
        {
            "parameters": {
                "rows": [2, 2.0],
                "levels.GLB.keep": [["Inputs", "Outputs"], ["Inputs", "Weights", "Outputs"]],
            }
        },
        {"parameters": {}, "linked": [{"rows": [2, 2], "words": [8, 24]}]},
    ],
)
def test_designs_that_a_parameter_does_not_tell_apart_are_divided(folder, varied):
    found = sweep(in_folder(folder, FEW | varied) | {"minimize": "edp"}).answer.json()
    grid = sweep(in_folder(folder, FEW | varied) | {"designer": "grid"}).answer.json()
    assert found["best"]["value"] == pytest.approx(grid["best"]["value"], rel=1e-9)


def test_what_has_no_least_value_is_refused(folder):
    for text in ("energy * -1", "edp * (area_mm2 - 1)", "0 * edp"):
        with pytest.raises(InputError, match="what is minimised must be above 0"):
            sweep(in_folder(folder, FEW) | {"minimize": text})
    with pytest.raises(InputError, match="too large"):
        sweep(in_folder(folder, FEW) | {"minimize": "edp * 1e400"})


def test_a_limit_that_holds_whatever_a_mapping_does_excludes_nothing(folder):
    """With a side of 0 for one of the designs."""
    whole = in_folder(folder, FEW) | {"minimize": "edp"}
    found = sweep(whole | {"subject_to": "cycles * (rows - 1) <= 1e9"}).answer.json()
    assert found["designs"]["within_limits"] == 3
    assert found["best"]["value"] == sweep(whole).answer.json()["best"]["value"]
    none = sweep(whole | {"subject_to": "cycles <= rows - 4"}).answer.json()
    assert none["best"] is None


def test_designs_that_cannot_be_made_or_judged_are_told(folder, tmp_path):
    """Status 3; the answer is about the others."""
    whole = in_folder(folder, FEW) | {"minimize": "edp"}
    for more in ({"parameters": {"words": [0, 24]}}, {"subject_to": ["area / (rows - 2) <= 1e9"]}):
        (tmp_path / "sweep.yaml").write_text(json.dumps(whole | more))
        done = CliRunner().invoke(main, [str(tmp_path / "sweep.yaml"), "--json"])
        assert done.exit_code == 3
        assert "failed: 1 designs: " in done.stderr
        assert "the answer is about the others" in done.stderr
        assert json.loads(done.stdout)["designs"]["failed"] == 1


def test_a_smaller_gap_in_the_same_folder_is_proven_anew(folder, tmp_path):
    whole = in_folder(folder, FEW | {"workloads": ["net"]}) | {"minimize": "edp"}
    wide = sweep(whole | {"gap": 0.5}, tmp_path / "out").answer.json()
    assert wide["best"]["gap"] <= 0.5
    close = sweep(whole, tmp_path / "out").answer.json()
    assert close["best"] == sweep(whole).answer.json()["best"]


def test_a_grid_shows_the_designs_within_the_limits(folder):
    """And which of them is the best."""
    whole = in_folder(folder, FEW) | {"designer": "grid", "minimize": "edp"}
    every = sweep(whole)
    cycles = sorted(outcome.result["cycles"] for outcome in every.outcomes.values())
    limited = sweep(whole | {"subject_to": [f"cycles <= {cycles[0]}"]})
    assert len(limited.fronts[0].members) == 1 <= len(every.fronts[0].members)
    assert str(limited).split("\n")[2].startswith("best  edp ")


def test_designs_that_were_not_searched_may_dominate_a_frontier_that_nobody_asked_for(folder):
    """Of the frontier of those searched nothing is sure, until it is proven."""
    whole = in_folder(folder, FEW) | {"pareto": ["area", "edp"]}

    def sure(more):
        (front,) = sweep(whole | more).pareto_json()["workloads"].values()
        return {not point["may_be_dominated"] for own in front["fronts"].values() for point in own["points"]}

    asked = {"designer": "branch-and-bound"}
    assert sure(asked) == sure({"designer": "grid"}) == {True}
    assert sure(asked | {"pareto": ["area_mm2", "edp"]}) == {True}  # another unit of the same
    assert sure(asked | {"pareto": ["area_mm2 * rows", "edp"]}) == {False}
    assert sure(asked | {"proofs": 2}) <= {False}
    assert sure(asked | {"gap": 0.3}) == {False}
    best_alone = {key: own for key, own in whole.items() if key != "pareto"} | {"minimize": "edp"}
    (front,) = sweep(best_alone).pareto_json()["workloads"].values()
    assert all(point["may_be_dominated"] for own in front["fronts"].values() for point in own["points"])


def test_what_cannot_be_judged_is_named_with_its_line(folder, tmp_path):
    """All of it at once, where no design can; beside the answer, where one can."""
    asked = in_folder(folder, FEW) | {"minimize": "edp * 0", "subject_to": ["rows <= 4", "tokens_per_s >= 3"]}
    path = tmp_path / "asked.yaml"
    path.write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in asked.items()))
    line = list(asked).index("minimize") + 1
    done = CliRunner().invoke(main, [str(path)])
    assert done.exit_code == 2
    assert f"{path}:{line}: minimize: what is minimised must be above 0: 'edp * 0'" in done.stderr
    assert f"{path}:{line + 1}: subject_to[1]: tokens_per_s is not known" in done.stderr
    some = asked | {"minimize": "edp", "subject_to": ["1 / (rows - 2) <= 9"]}
    path.write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in some.items()))
    done = CliRunner().invoke(main, [str(path)])
    assert done.exit_code == 3
    assert f"{path}:{line + 1}: subject_to[0]: division by zero" in done.stderr


NO_ROOM = """
name: m
variables: {words: 60}
levels:
- {name: DRAM, class: DRAM, word_bits: 16, energy: {read_pj: 100, write_pj: 100, update_pj: 100}}
- {name: B0, class: SRAM, capacity_words: words, word_bits: 16, keep: [Inputs, Weights, Outputs],
   energy: {read_pj: 1, write_pj: 1, update_pj: 1}}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10}}
"""


@pytest.mark.parametrize("designer", ["branch-and-bound", "grid", "random"])
@pytest.mark.parametrize("work", ["one.yaml", "two.yaml"])
def test_a_design_that_is_proven_to_have_no_mapping_leaves_nothing_open(designer, work, tmp_path, monkeypatch):
    """Of 2 words no tensor of three has its room: the other design is certified to be the best."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arch.yaml").write_text(NO_ROOM)
    layers = [f"{{name: {name}, shape: matmul, sizes: {{M: {m}, N: 6, K: 4}}}}" for name, m in (("one", 8), ("two", 5))]
    (tmp_path / "one.yaml").write_text(layers[0])
    (tmp_path / "two.yaml").write_text(f"layers: [{', '.join(layers)}]")
    whole = {
        "architecture": "arch.yaml", "parameters": {"words": [2, 60]}, "workloads": [f"./{work}"], "minimize": "energy",
        "search": {"strategy": "optimal"}, "designer": designer,
    }  # fmt: skip
    answer = sweep(whole).answer.json()
    assert (answer["best"]["parameters"], answer["best"]["gap"]) == ({"words": 60}, 0)
    assert answer["designs"]["open"] == 0
    assert "proven: no design has a mapping" in str(sweep(whole | {"parameters": {"words": [1, 2]}}))
