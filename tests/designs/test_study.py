"""Sweeps asked and told step by step, and the data frame of all designs."""

import pytest
from ruby_map.mapper import sweep
from ruby_map.workloads import InputError

from ruby_map import DesignStudy

from .conftest import in_folder

SPACE = {"parameters": {"rows": [1, 2, 4], "words": [8, 48], "rate": [1, 4]}, "workloads": ["mm"],
         "mapspaces": ["ruby-s"], "minimize": "edp", "pareto": ["area", "edp"],
         "subject_to": "rows * words <= 96"}  # fmt: skip


def ended(study):
    """The trials of a study that searches all it asks for."""
    trials = []
    while (trial := study.ask()) is not None:
        study.tell(trial)
        trials.append(trial)
    return trials


@pytest.mark.parametrize("designer", ["branch-and-bound", "random"])
def test_a_study_ends_with_the_answer_of_the_sweep(folder, tmp_path, designer):
    """Also where it stops and is made again in the same folder: what is known there is not searched twice."""
    whole = in_folder(folder, SPACE) | {"designer": designer}
    at_once = sweep(whole)
    with DesignStudy(whole, tmp_path / "out") as study:
        first = study.ask()
        study.tell(first)
    with DesignStudy(whole, tmp_path / "out") as study:
        trials = ended(study)
        assert study.answer.json() == at_once.answer.json()
        assert study.result.outcomes.keys() == at_once.outcomes.keys()
    assert trials[0].designs == first.designs
    singles = [trial for trial in trials if trial.single]
    assert len(singles) == at_once.answer.json()["designs"]["searched"]
    for trial in singles:
        assert trial.architecture.levels[1].fanout[1].size == trial.parameters["rows"]
    for trial in trials:
        if not trial.single:
            assert trial.architecture.levels[1].fanout[1].size == max(own["rows"] for own in trial.designs)
            with pytest.raises(ValueError, match=f"a set of {len(trial.designs)} designs"):
                _ = trial.parameters


def test_objectives_of_another_model_may_be_told(folder):
    """Each design by its own figure, all of them; the least wins, whatever our model says of designs and of others."""
    whole = in_folder(folder, SPACE) | {"designer": "random", "pareto": ["rows", "edp"]}
    told = {}
    with DesignStudy(whole, measured=True) as study:
        while (trial := study.ask()) is not None:
            own = trial.parameters
            told[tuple(own.values())] = value = 100.0 / own["rows"] + own["rate"]
            study.tell(trial, value)
        answer = study.answer.json()
    assert len(told) == 10
    assert answer["best"]["value"] == min(told.values()) == 26
    assert answer["best"]["parameters"] == {"rows": 4, "words": 8, "rate": 1}
    assert {tuple(point["values"].values()) for point in answer["frontier"]} == {(1, 101), (2, 51), (4, 26)}


def test_what_cannot_be_told_is_refused(folder):
    whole = in_folder(folder, SPACE)
    with DesignStudy(whole) as study:
        trial = study.ask()
        with pytest.raises(ValueError, match="in a study of measured designs"):
            study.tell(trial, 3.0)
        with pytest.raises(ValueError, match="tell 1 first"):
            study.ask()
        study.tell(trial)
        with pytest.raises(ValueError, match="is not one that was asked for"):
            study.tell(trial)
    two = in_folder(folder, SPACE | {"workloads": ["mm", "conv"], "designer": "random"})
    with DesignStudy(two, measured=True) as study:
        trial = study.ask()
        with pytest.raises(ValueError, match="in a study of measured designs"):
            study.tell(trial)
        with pytest.raises(ValueError, match="of each workload"):
            study.tell(trial, 3.0)
        with pytest.raises(ValueError, match="from 0 on"):
            study.tell(trial, dict.fromkeys(study.plan.workloads, -1.0))
        study.tell(trial, dict.fromkeys(study.plan.workloads, 2.0))
        assert study.answer.json()["best"]["value"] == 4.0
    grid = {name: own for name, own in whole.items() if name not in ("minimize", "pareto", "subject_to")}
    with pytest.raises(InputError, match="grid asks for all points"):
        DesignStudy(grid)
    with pytest.raises(InputError, match="only the objective, edp, is told"):
        DesignStudy(two | {"subject_to": "cycles <= 9"}, measured=True)
    with pytest.raises(InputError, match="branch-and-bound goes by bounds"):
        DesignStudy(whole, measured=True)


def test_the_frame_of_all_designs_says_what_became_of_each(folder):
    whole = in_folder(folder, SPACE)
    found = sweep(whole)
    frame, answer = found.answer.to_pandas(), found.answer.json()
    assert len(frame) == answer["designs"]["of"] == 12
    assert list(frame)[:4] == ["design", "rows", "words", "rate"]
    assert frame[frame["best"]]["design"].tolist() == [answer["best"]["design"]]
    assert frame[frame["on_frontier"]]["design"].tolist() == sorted(own["design"] for own in answer["frontier"])
    states = frame["state"].value_counts()
    assert states["searched"] == answer["designs"]["searched"]
    assert states["beyond the limits of a design"] == 12 - answer["designs"]["within_limits"]
    assert states["outdone by another"] >= 4
    searched = frame[frame["state"] == "searched"]
    assert (searched["edp, bound"] <= searched["edp"] * (1 + 1e-12)).all()
    assert frame[frame["state"] != "searched"]["edp"].isna().all()
