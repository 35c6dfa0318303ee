"""Designers by the table: what they pass over, that they are repeatable, and what they need."""

import importlib.util

import numpy as np
import pytest
from ruby_map.mapper import sweep
from ruby_map.mapper.designs import DESIGNERS
from ruby_map.workloads import InputError

from .conftest import in_folder

SPACE = {"parameters": {"rows": [1, 4], "words": [8, 48], "rate": [1, 4]}, "workloads": ["mm"],
         "mapspaces": ["ruby-s"], "minimize": "edp", "pareto": ["area", "edp"]}  # fmt: skip
SEARCHING = [name for name, row in DESIGNERS.items() if row.make]


def test_what_another_does_at_no_higher_cost_and_area_is_not_searched(folder):
    """Bandwidth has no area here: of two designs that differ in it alone the slower one is outdone."""
    found = sweep(in_folder(folder, SPACE)).optimised
    candidates = found.candidates
    slower = np.array([candidates.described(row).values["rate"] == 1 for row in range(len(candidates))])
    assert (found.standing.outdone >= slower).all()
    assert not found.standing.searched[slower].any()
    assert (found.standing.lower[slower] > 0).all()  # the bound of the faster one holds there


def test_of_equal_designs_one_is_searched(folder):
    found = sweep(in_folder(folder, SPACE | {"parameters": {"rows": [2, 2, 2], "words": [24, 24]}})).optimised
    assert found.standing.outdone.sum() == 5
    assert found.standing.searched.sum() == 1


@pytest.mark.parametrize("limit", ["power <= 1e9", "cycles * rate >= 1"])
def test_beside_limits_of_mappings_none_is_outdone(folder, limit):
    """The design that allows more may be the one whose best mapping breaks them."""
    found = sweep(in_folder(folder, SPACE | {"subject_to": limit})).optimised
    assert not found.standing.outdone.any()


@pytest.mark.parametrize("designer", SEARCHING)
def test_the_same_seed_makes_the_same_trials(folder, designer):
    """With one process or two, and with the answer of the grid."""
    whole = in_folder(folder, SPACE | {"designer": designer, "seeds": [3], "side_by_side": 2})
    one, two = sweep(whole), sweep(whole, jobs=2)
    assert one.answer.json() == two.answer.json()
    assert list(one.outcomes) == list(two.outcomes)
    best = sweep(in_folder(folder, SPACE | {"designer": "grid"})).answer.json()["best"]["value"]
    assert one.answer.json()["best"]["value"] == pytest.approx(best, rel=1e-9)


def test_another_seed_draws_in_another_order(folder):
    runs = [sweep(in_folder(folder, SPACE | {"designer": "random", "seeds": [seed], "proofs": 1})) for seed in range(6)]
    assert len({tuple(run.outcomes) for run in runs}) > 1
    for run in runs:
        answer = run.answer.json()
        assert answer["proofs"]["made"] == 1
        assert answer["designs"]["open"] > 0  # and so nothing is said to be certified
        assert answer["best"]["gap"] == 1.0


def test_searches_without_proofs_do_for_what_needs_no_bounds(folder):
    whole = in_folder(folder, SPACE | {"designer": "random", "search": {"strategy": "random", "samples": 200}})
    found = sweep(whole)
    designs = found.answer.json()["designs"]
    assert designs["searched"] == designs["of"] - found.optimised.standing.outdone.sum()
    assert designs["open"] == designs["searched"]  # nothing is proven of any
    with pytest.raises(InputError, match="branch-and-bound needs proofs"):
        sweep(whole | {"designer": "branch-and-bound"})


def test_a_designer_says_what_is_not_installed(folder, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "ruby_map.mapper.searchers.learners.packages.find_spec",
        lambda name: None if name == "optuna" else find(name),
    )
    with pytest.raises(
        InputError, match=r"designer: needs optuna, which is not installed: pip install 'ruby-map\[optuna\]'"
    ):
        sweep(in_folder(folder, SPACE | {"designer": "optuna"}))


AUTO = """
name: a
variables: {words: 22}
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16}
  - name: GLB
    class: regfile
    capacity_words: words
    keep: [Inputs, Weights, Outputs]
    energy: {read_pj: 2, write_pj: 2, area_um2: 100}
compute: {name: MAC, class: intmac, word_bits: 16}
"""


@pytest.mark.parametrize("designer", SEARCHING)
@pytest.mark.parametrize("asked", [{"minimize": "energy"}, {"pareto": ["words", "energy"]}])
def test_a_mapspace_that_depends_on_the_machine_makes_no_design_needless(tmp_path, designer, asked):
    """A larger memory may leave `auto` fewer mappings: that of 20 words has remainders here, that of 40 has none."""
    (tmp_path / "a.yaml").write_text(AUTO)
    (tmp_path / "mm.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 11, N: 11, K: 11}\n")
    whole = {"architecture": str(tmp_path / "a.yaml"), "workloads": [str(tmp_path / "mm.yaml")], "mapspaces": ["auto"],
             "parameters": {"words": [20, 30, 40]}, "search": {"strategy": "optimal"}, "transfer": False}  # fmt: skip
    grid = sweep(whole | {"objective": "energy"})
    values = [outcome.result["energy_pj"] for outcome in grid.outcomes.values()]
    assert values[0] < values[2]
    answer = sweep(whole | asked | {"designer": designer}).answer.json()
    if "minimize" in asked:
        assert answer["best"]["value"] == pytest.approx(min(values), rel=1e-9)
    else:
        assert [point["values"]["energy"] for point in answer["frontier"]][-1] == pytest.approx(min(values), rel=1e-9)
