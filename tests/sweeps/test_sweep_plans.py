"""Sweeps over plans of networks: every point is the plan that `ruby-map --fuse` finds, with what it proves."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from ruby_map.arch import load_arch
from ruby_map.mapper import explore, sweep
from ruby_map.mapper.commands.ruby_map import main as ruby_map
from ruby_map.mapper.commands.ruby_model import main as ruby_model
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.exploration import plans
from ruby_map.mapper.plan_search import TooManyError, search_plans
from ruby_map.mapper.plan_search.plans import _Plans
from ruby_map.workloads import InputError, load_workload
from typer.testing import CliRunner

from ..browser import data_of
from ..networks.test_commands import NETWORK as BLOCK
from ..schema_files import faults, object_faults

NETWORK = BLOCK.replace("c, shape: matmul, sizes: {M: 8", "c, shape: matmul, sizes: {M: 9")  # no layer equals another
MACHINE = """
name: m
variables: {words: 150, wide: 8}
clock_ns: 1
levels:
- name: DRAM
  class: DRAM
  word_bits: 16
  read_bandwidth: wide
  write_bandwidth: wide
  energy: {read_pj: 100, write_pj: 100, update_pj: 100}
- name: B0
  class: SRAM
  capacity_words: words
  word_bits: 16
  energy: {read_pj: words // 50 + 1, write_pj: 1, update_pj: 1, area_um2: 50 * words}
compute: {name: MAC, class: intmac, word_bits: 16, energy: {compute_pj: 10}}
"""
ASKED = {
    "name": "plans",
    "architecture": "arch.yaml",
    "parameters": {"words": [20, 60], "wide": [1, 8]},
    "workloads": ["./net.yaml"],
    "search": {"fuse": "auto"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "arch.yaml").write_text(MACHINE)
    (tmp_path / "net.yaml").write_text(NETWORK)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def points(found):
    """Of each point its parameters and its outcome."""
    return [(found.values[found.plan.point(number).design], own) for number, own in found.outcomes.items()]


@pytest.mark.parametrize("fuse", ["auto", "resident"])
def test_every_point_is_what_a_search_of_its_plan_finds(fuse, folder):
    """Figures, bound, gap; and its file says the same again."""
    found = sweep(ASKED | {"search": {"fuse": fuse}}, folder / "out")
    assert len(found.outcomes) == 4
    saved = []
    for values, outcome in points(found):
        own = explore(load_arch("arch.yaml", values), load_workload("net.yaml"), fuse=fuse)
        saved.append(own.plan.saved)
        assert outcome.result["plan"]["groups_tried"] == (fuse == "auto")
        for name in ("energy_pj", "cycles", "edp", "lower_bound", "gap"):
            assert outcome.result[name] == getattr(own, name)
        assert outcome.least == own.lower_bound
        Path("plan.yaml").write_text(outcome.plan_file)
        Path("own.yaml").write_text(_with(values))
        done = CliRunner().invoke(ruby_model, ["own.yaml", "net.yaml", "plan.yaml", "--json"])
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["energy_pj"] == outcome.result["energy_pj"]
    assert max(saved) > 0.1
    assert ("proofs of plans: of fused groups some" in str(found)) == (fuse == "auto")
    stored = json.loads((folder / "out/results.json").read_text())
    assert faults("sweep-results", stored) == []
    assert stored["points"][0]["plan_file"] == found.outcomes[0].plan_file


def _with(values):
    """The machine with values of its variables."""
    return MACHINE.replace("{words: 150, wide: 8}", json.dumps(values))


def test_the_best_of_a_grid_of_plans_is_the_least_and_is_proven():
    """With several seeds or none, of the plans within the limits the least."""
    found = sweep(ASKED | {"minimize": "energy", "subject_to": "area_mm2 <= 0.002"})
    least = min((own.result["energy_pj"], values["words"]) for values, own in points(found) if values["words"] == 20)
    best = found.answer.json()["best"]
    assert (best["value"], best["parameters"]["words"]) == least
    assert best["gap"] == 0
    assert "transfer" not in str(found)


def test_limits_are_of_plans():
    """The plan with the least energy of those that are fast enough; where none is it is proven."""
    one = ASKED | {"parameters": {"words": [60], "wide": [1]}, "minimize": "delay"}
    least = points(sweep(one | {"minimize": "energy"}))[0][1].result["energy_pj"]
    free = points(sweep(one))[0][1].result
    assert free["energy_pj"] > 1.1 * least
    ((_, outcome),) = points(sweep(one | {"subject_to": [f"energy <= {1.1 * least}", "milliseconds <= 1"]}))
    assert outcome.kept
    assert outcome.result["energy_pj"] <= 1.1 * least
    assert outcome.result["cycles"] >= free["cycles"]
    assert outcome.least <= outcome.result["cycles"]
    none = sweep(one | {"subject_to": [f"energy <= {0.99 * least}", f"cycles <= {free['cycles']}"]})
    assert "proven: no design keeps them" in str(none)
    assert points(none)[0][1].none_keeps
    tried = sweep(one | {"subject_to": "edp <= 1"})  # the search of plans does not go by it
    assert "no design found that keeps all limits" in str(tried)
    assert "proven" not in str(tried).split("frontier")[0]


def test_parts_of_plans_are_told_in_place_of_layers(folder):
    """What binds, the report and its pages: parts add up to the plan, and the page is that of ruby-map."""
    found = sweep(ASKED | {"minimize": "edp", "sensitivity": True}, folder / "out")
    rows = found.answer.json()["bottlenecks"]
    assert object_faults("run_sweep", found.summary_json()) == []
    best = next(own for values, own in points(found) if values == found.answer.json()["best"]["parameters"])
    parts = best.result["plan"]["groups"]
    assert len(rows) == len(parts)
    assert [row["cycles_share"] for row in rows] == [part["cycles"] / best.result["cycles"] for part in parts]
    assert sum(row["energy_share"] for row in rows) == pytest.approx(1)
    macs = 6 * 4 * (8 + 8 + 9)
    busy = sum(row["utilization"] * row["cycles_share"] for row in rows if row["utilization"])
    assert busy == pytest.approx(macs / best.result["cycles"])
    data = data_of(folder / "out/report.html")
    assert "proofs of plans" in data["counts"]
    for design in data["designs"]:
        (own,) = [own for number, own in found.outcomes.items() if found.plan.point(number).design == design["design"]]
        energy = sum(map(sum, (layer["energy"] for layer in design["layers"])))
        unit = {"pJ": 1, "nJ": 1e3, "\N{MICRO SIGN}J": 1e6}[data["energy_unit"]]
        assert energy * unit == pytest.approx(own.result["energy_pj"])
        page = (folder / "out" / design["page"]).read_text()
        assert design["page"].endswith("plan.html")
        assert f"design {design['design']} ({design['label']})" in page
        assert (folder / "out" / design["page"]).with_name("plan.yaml").read_text() == own.plan_file
        linked = [line.split('"')[0] for line in page.split('href="')[1:] if line.startswith("parts/")]
        assert linked
        assert all(((folder / "out" / design["page"]).parent / link).exists() for link in linked)


def test_a_page_is_as_ruby_map_writes_it(folder):
    """The plan made again from what is stored says all that its search said."""
    sweep(ASKED | {"parameters": {"words": [60], "wide": [1]}, "objective": "energy", "minimize": "energy",
                   "subject_to": "cycles <= 900"}, folder / "out")  # fmt: skip
    Path("own.yaml").write_text(_with({"words": 60, "wide": 1}))
    words = ["--fuse", "auto", "--objective", "energy", "--deadline", "900", "--out", "own"]
    assert CliRunner().invoke(ruby_map, ["own.yaml", "net.yaml", *words]).exit_code == 0
    pages = [(path / "plan.html").read_text() for path in (folder / "own", next((folder / "out/mappings").iterdir()))]
    other = ("href=", "<p>sweep", "<polygon")  # links, facts, and a region of which only distinct corners are stored
    kept = [[line for line in page.splitlines() if not any(map(line.__contains__, other))] for page in pages]
    assert len(kept[0]) > 100
    assert kept[0] == kept[1]
    assert [page.count("Proven: no plan within the limits") for page in pages] == [1, 1]
    assert [page.count("Limits: at most 900 cycles: kept.") for page in pages] == [1, 1]


def test_pages_of_plans_go_with_fewer_files(folder):
    """And files of the user stay."""
    sweep(ASKED, folder / "out")
    pages = [*(folder / "out/mappings").iterdir()]
    assert len(pages) == 4
    (pages[0] / "notes.txt").write_text("of the user")
    sweep(ASKED | {"mapping_pages": 0}, folder / "out")
    assert [path.name for path in (folder / "out/mappings").rglob("*") if path.is_file()] == ["notes.txt"]


@pytest.mark.parametrize("designer", ["random", "optuna"])
def test_designers_that_go_by_no_bounds_search_plans(designer):
    """Nothing is said of a design by what is known of another: all are searched."""
    if designer == "optuna":
        pytest.importorskip("optuna")
    found = sweep(ASKED | {"designer": designer, "minimize": "energy"})
    grid = sweep(ASKED | {"minimize": "energy"})
    assert found.answer.json()["best"] == grid.answer.json()["best"]
    assert found.answer.json()["designs"]["searched"] == 4


def test_what_goes_with_no_plan_is_a_fault(folder):
    """Every fault at once, with its line."""
    (folder / "arch2.yaml").write_text(MACHINE)
    (folder / "bad.yaml").write_text("""
architecture: ./arch.yaml
workloads: [rank1_100]
mapspaces: [pfm+pad]
designer: branch-and-bound
search:
  strategy: random
  budget: 3s
  fuse: auto
""")
    done = CliRunner().invoke(main, ["bad.yaml"])
    assert done.exit_code == 2
    said = done.stderr
    assert "bad.yaml:4: mapspaces: plans are of layers as they are written, without transformations: pfm+pad" in said
    assert "bad.yaml:5: designer: no bound of plans holds for a set of designs" in said
    assert "bad.yaml:9: search.fuse: plans stand on what is proven of layers: random proves nothing" in said
    assert "bad.yaml:9: search.fuse: plans are searched without a budget" in said
    assert "bad.yaml:9: search.fuse: plans are of networks whose file says what their layers hand" in said
    with pytest.raises(InputError, match="proofs: goes with another designer: a grid searches every point"):
        sweep(ASKED | {"minimize": "edp", "proofs": 3})
    with pytest.raises(InputError, match=r'must be one of auto, resident, none; got "outo"; did you mean "auto"'):
        sweep(ASKED | {"search": {"fuse": "outo"}})


def test_workloads_without_plans_stand_beside_others(folder):
    """They are searched layer by layer, and a warning says so."""
    (folder / "listed.yaml").write_text("layers: [{layer: matmul_100, count: 2}]\n")
    found = sweep(ASKED | {"workloads": ["./net.yaml", "rank1_100", "./listed.yaml"], "parameters": {"words": [60]}})
    plan, layer, network = (own for _, own in points(found))
    assert plan.plan_file
    assert not plan.warnings
    assert any("no plan, layer by layer: it is a single layer" in text for text in layer.warnings)
    assert any("no plan, layer by layer: listed does not say what" in text for text in network.warnings)
    assert not layer.plan_file + network.plan_file


@pytest.fixture
def some_too_many(monkeypatch):
    """Machines with 20 words have too many plans."""

    def search(search, *more):
        if search.machine.arch.levels[1].capacity_bits == 20 * 16:
            raise TooManyError("there are too many")
        return search_plans(search, *more)

    monkeypatch.setattr(plans, "search_plans", search)


@pytest.mark.parametrize("designer", ["grid", "random"])
@pytest.mark.usefixtures("some_too_many")
def test_a_design_without_plans_is_compared_with_no_plan(designer, folder):
    """Its layers one by one leave operations out: it failed, and may change the answer."""
    asked = ASKED | {"minimize": "energy", "sensitivity": True, "designer": designer, "objective": "energy"}
    found = sweep(asked, folder / "out")
    for values, outcome in points(found):
        assert (outcome.message == "m: no plan: there are too many") == (values["words"] == 20)
        assert (outcome.result is None) == (values["words"] == 20)
    answer = found.answer.json()
    assert answer["best"]["parameters"]["words"] == 60
    assert answer["best"]["gap"] == 1  # the others may be better
    assert answer["cheapest_change"]["proof"] == "undecided"
    assert answer["cheapest_change"]["open"] >= 1
    (row,) = [row for row in answer["sensitivity"] if row["to"] == {"words": 20}]
    assert (row["value"], row["message"]) == (None, "failed: m: no plan: there are too many")


def test_machines_without_plans_fail_beside_others():
    """Start cycles are not counted in plans."""
    machine = MACHINE.replace("capacity_words: words", "capacity_words: words\n  start_cycles: 0")
    Path("arch.yaml").write_text(machine)
    found = sweep(ASKED | {"parameters": {"levels.B0.start_cycles": [0, 1]}, "minimize": "energy"})
    planned, none = (own for _, own in points(found))
    assert planned.plan_file
    assert "no plan: m has start_cycles" in none.message
    assert found.answer.json()["best"]["parameters"] == {"levels.B0.start_cycles": 0}


def test_another_choice_of_plans_is_another_sweep(folder):
    """A folder of plans is not taken for one of layers; the same again searches nothing."""
    sweep(ASKED, folder / "out")
    again = []
    sweep(ASKED, folder / "out", progress=again.append)
    assert again == []
    with pytest.raises(InputError, match=r"what differs: search.fuse \(auto there, resident here\)"):
        sweep(ASKED | {"search": {"fuse": "resident"}}, folder / "out")
    with closing(sqlite3.connect(folder / "out/sweep.sqlite")) as before:  # as of a version without such a choice
        before.execute("DELETE FROM identity WHERE part = 'search.fuse'")
        before.commit()
    with pytest.raises(InputError, match=r"what differs: search.fuse \(none there, resident here\)"):
        sweep(ASKED | {"search": {"fuse": "resident"}}, folder / "out")


def test_an_interrupted_search_of_plans_is_not_kept(folder, monkeypatch):
    """The point is searched again."""

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(_Plans, "_search", interrupted)
        assert sweep(ASKED, folder / "out").interrupted
    found = sweep(ASKED, folder / "out")
    assert len(found.outcomes) == 4
    assert all(own.result["saved"] > 0 for own in found.outcomes.values())
