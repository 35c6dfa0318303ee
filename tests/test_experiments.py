"""The experiments: each runs at a small size, and the recorded results of the full size say what their claims say."""

import ast
import importlib
import json
import os
import runpy
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from matplotlib.image import imread
from ruby_map.mapper import evaluate
from ruby_map.mapper.model.timeloop_rules import Rules, TimeloopNest, timeloop_counts

from .conftest import needs_compiler

FOLDER = Path(__file__).parent.parent / "experiments"
RESULTS = FOLDER / "results"
SHARED = ("common", "networks", "searches")
# have test files of their own
OWN_TESTS = (
    "energy_interpolation", "cacti_grid", "cacti_macros", "default_answers", "design_sets", "ordinary_machines",
)  # fmt: skip
SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in (*SHARED, *OWN_TESTS))


# run by Python itself, the first three with processes of their own
PROCESSES = ("optimality", "resnet50_eyeriss", "searchers", "toy")


def run_here(name, options, monkeypatch):
    """Run a script in this process, as Python does: its folder comes first on the path, and no fault is its end."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options])
    monkeypatch.setenv("CFLAGS", os.environ.get("CFLAGS", ""))  # what a script sets ends with the test
    with status_of_0():
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")


@contextmanager
def status_of_0():
    """Where a script ends with a status it is that of success."""
    ended = None
    try:
        yield
    except SystemExit as end:
        ended = end.code
    assert not ended


def recorded(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_compiler) if name == "measured" else name for name in SCRIPTS]
)
def test_every_experiment_runs_at_a_small_size(name, tmp_path, monkeypatch):
    """`--quick` writes the JSON and the picture, and the script begins with its claim."""
    script = FOLDER / f"{name}.py"
    assert (ast.get_docstring(ast.parse(script.read_text())) or "").startswith("Claim: ")
    options = ["--quick", "--out", str(tmp_path)]
    if name in PROCESSES:
        done = subprocess.run([sys.executable, str(script), *options], capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, done.stderr
    else:
        run_here(name, [*options, *(["--jobs", "1"] if "jobs_option" in script.read_text() else [])], monkeypatch)
    quick = json.loads((tmp_path / f"{name}.json").read_text())
    assert set(quick) >= set(recorded(name)) - {"matmul_100"}  # the same fields, of a smaller cube
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (RESULTS / f"{name}.png").exists()


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_recorded_result_is_drawn_again(name, tmp_path, monkeypatch):
    """`--draw` measures nothing: it makes the recorded picture of the recorded JSON, which stays as it is."""
    for path in RESULTS.glob(f"{name}.json*"):
        shutil.copy(path, tmp_path)
    run_here(name, ["--draw", "--out", str(tmp_path)], monkeypatch)
    assert json.loads((tmp_path / f"{name}.json").read_text()) == recorded(name)
    drawn, before = (imread(folder / f"{name}.png") for folder in (tmp_path, RESULTS))
    assert drawn.shape == before.shape
    assert np.abs(drawn - before).mean() < 0.01  # another matplotlib may draw letters otherwise


def test_a_small_size_replaces_no_recorded_result(monkeypatch):
    """Without `--out`, `--quick` writes into a folder that git ignores; the full size writes the recorded results."""
    monkeypatch.syspath_prepend(FOLDER)
    common = importlib.import_module("common")
    monkeypatch.setattr(sys, "argv", ["toy.py", "--quick"])
    assert common.arguments("Claim").out == RESULTS / "quick"
    monkeypatch.setattr(sys, "argv", ["toy.py"])
    assert common.arguments("Claim").out == RESULTS
    assert "experiments/results/quick/" in (FOLDER.parent / ".gitignore").read_text().splitlines()


def test_recorded_sizes():
    """The table for a fanout of 9, column by column, at 100 and at the largest size; the matmuls of Fig. 7."""
    found = recorded("mapspace_sizes")
    at_100, at_4096 = (found["sizes"].index(size) for size in (100, 4096))
    table = list(found["table"].values())
    assert [column[at_100] for column in table] == [36, 24, 57, 247, 573, 228, 366]
    assert [column[at_4096] for column in table] == [91, 46, 96, 10131, 38803, 9387, 15223]
    assert list(found["matmul_100"]["5"].values()) == [5346, 9261, 6082300, 10090300]
    assert list(found["matmul_100"]["16"].values()) == [10017, 47048, 10427439, 28941445]


def test_recorded_fused_peers():
    """All runs in RTL count the same words, in 0.95 to 1.2 of the cycles; no pair costs more than AccelForge's."""
    found = recorded("fused_peers")
    assert len(found["rtl"]) == 76
    assert all(row["equal"] for row in found["rtl"])
    assert all(0.95 <= row["cycles_rtl"] / row["cycles"] <= 1.2 for row in found["rtl"])
    for row in found["accelforge"]:
        assert row["optimal"], row["pair"]
        assert row["energy_pj"] <= row["accelforge"]["energy_pj"]
        assert row["objective"] == "energy" or row["cycles"] <= row["accelforge"]["cycles"]
    energy = {halo: own["energy_pj"] for halo, own in found["stacks"].items()}
    assert energy["recompute"] / energy["retain"] == pytest.approx(1.095, rel=0.03)


def test_recorded_plan_peers():
    """Stream's plan counts its loops to a cycle each, its energies on chip to 2 %; nothing is below what is proven."""
    page = (FOLDER.parent / "docs" / "validation.md").read_text()
    found = recorded("plan_peers")
    stream, counted, (fastest, best) = found["stream"], found["counted"], found["plans"]
    assert sum(stream["loops"].values()) + stream["ends"] + stream["transfers"] == stream["total"]
    assert not counted["limits"]
    for name, loops in stream["loops"].items():
        assert counted["layers"][name] == loops + 1
        assert counted["on_chip_pj"][name] == pytest.approx(found["stream_pj"][name], rel=0.02)
    assert fastest["lower_bound"] <= fastest["cycles"] <= counted["cycles"]
    assert best["lower_bound"] <= best["cycles"] * best["energy_pj"]
    assert fastest["gap"] == pytest.approx(1 - fastest["lower_bound"] / fastest["cycles"])
    for number in (stream["total"], counted["cycles"], fastest["cycles"], fastest["lower_bound"]):
        assert f"{number:,.0f}" in page
    defines, tiles = found["defines"], found["tiles"]
    for row in tiles:
        assert row["lower_bound_pj"] <= row["energy_pj"] == pytest.approx(sum(row["levels_pj"].values()))
        figures = row["energy_pj"] / 1e9, row["lower_bound_pj"] / 1e9, row["cycles"] / 1e6
        assert f"| {row['columns']} x {row['rows']} | {' | '.join(f'{own:.2f}' for own in figures)} |" in page
    assert 1 <= min(row["energy_pj"] for row in tiles) / 1e9 / defines["energy_mj"] <= 1.25
    assert min(row["cycles"] for row in tiles) == pytest.approx(defines["cycles"], rel=0.03)


def test_recorded_plans():
    """No plan is worse than the layers one by one, or below what is proven; docs/validation.md has every row."""
    page = (FOLDER.parent / "docs" / "validation.md").read_text()
    rows = {(row["machine"], row["network"], row["fuse"]): row for row in recorded("plans")["plans"]}
    assert len(rows) == 2 * 28
    for row in rows.values():
        alone, plan = row["alone"], row["plan"]
        assert row["lower_bound"] <= plan["edp"] * (1 + 1e-9) <= alone["edp"] * (1 + 2e-9)
        assert row["saved"] == pytest.approx(1 - plan["edp"] / alone["edp"])
        assert row["gap"] == pytest.approx(1 - row["lower_bound"] / plan["edp"])
        assert row["fuse"] == "auto" or row["fused"] == 0
    for machine, network, fuse in rows:
        if fuse == "resident":
            cells = [network, _figures(rows[machine, network, fuse]["alone"])]
            for own in (rows[machine, network, fuse], rows[machine, network, "auto"]):
                saved = f"{-own['saved']:+.1%}" if own["saved"] >= 5e-4 else "0"
                cells += [_figures(own["plan"]), saved, f"{own['gap']:.1%}"]
                cells.append(f"{own['cpu_seconds']:.0f}")
            assert f"| {' | '.join(cells)} |" in page
    best = min(rows.values(), key=lambda row: row["plan"]["edp"] / row["alone"]["edp"])
    assert best["saved"] == pytest.approx(0.88, abs=0.005)


def _figures(costs):
    """Energy in mJ and millions of cycles, three digits of each at least."""
    figures = costs["energy_pj"] / 1e9, costs["cycles"] / 1e6
    return " | ".join(f"{own:,.0f}" if own >= 100 else f"{own:#.3g}" for own in figures)


def test_recorded_fused():
    """No best group is below what is proven, a verdict never says more, and docs/validation.md has every row."""
    page = (FOLDER.parent / "docs" / "validation.md").read_text()
    rows = recorded("fused")["groups"]
    assert len(rows) == 36
    for row in rows:
        alone, edp = row["alone"], row["edp"]
        assert row["lower_bound"] <= edp * (1 + 1e-9)
        assert row["optimal"] == (row["gap"] <= 1e-9)
        assert row["saved"] == pytest.approx(1 - edp / alone["edp"])
        if row["verdict"] == "fuse":
            assert edp < alone["edp"]
        if row["verdict"] == "alone":
            assert row["lower_bound"] >= alone["edp"] * (1 - 1e-9)
        gap = "proven" if row["optimal"] else f"{row['gap']:.1%}"
        cells = f"{-row['saved']:+.1%}", gap, row["verdict"], f"{row['cpu_seconds']:.0f}"
        assert f"| {row['title']} | {row['machine']} | {' | '.join(cells)} |" in page


def test_recorded_toy():
    """20 steps with perfect factors or remainders in time alone, 17 with remainders in space."""
    best = recorded("toy")["best"]
    assert {preset: one["steps"] for preset, one in best.items()} == {"pfm": 20, "ruby-s": 17, "ruby-t": 20, "ruby": 17}


def test_recorded_padding():
    """Over D, padding has the cycles of Ruby-S; its EDP grows as the zeros do, and perfect factors suffer at primes."""
    found = recorded("padding")
    cycles, edp = found["cycles"], found["edp"]
    assert found["sizes"] == list(range(1, 201))
    assert cycles["pfm + pad"] == cycles["ruby-s"] == [-(-size // 16) for size in found["sizes"]]
    for size, padded in ((127, 128), (113, 128), (17, 32)):
        at = size - 1
        assert edp["pfm + pad"][at] / edp["ruby-s"][at] == pytest.approx(padded / size, rel=1e-3)
        assert found["zeros"][at] == pytest.approx(1 - size / padded)
        assert cycles["pfm"][at] == size


def test_recorded_strip_mining():
    """Perfect factors fill 5 * 2 by 3 * 4 of 12 x 14; Ruby-S, as full as the hand-made mapping, needs less EDP."""
    found = recorded("strip_mining")
    hand, pfm, ours = (found["designs"][name] for name in ("by hand", "pfm, whole filters", "ruby-s, whole filters"))
    assert [one["groups_per_row"] for one in (hand, pfm, ours)] == [1, 9, 4]
    assert pfm["utilization"] == pytest.approx(120 / 168)
    assert ours["utilization"] == hand["utilization"] == pytest.approx(27 * 5 / 168)
    assert hand["edp"] == pytest.approx(found["whole_rows"]["edp"])  # no strip-mined mapping is better
    assert found["row_by_row"]["edp"] > 1.9 * hand["edp"]  # its weights come from DRAM for every row
    assert ours["edp"] < hand["edp"] < pfm["edp"]
    assert ours["energy_pj"] < hand["energy_pj"]
    assert ours["buffer_words"] < hand["buffer_words"]
    for name, by_rule in found["random"].items():
        assert min(min(edp) for edp in by_rule.values()) >= found["designs"][name]["edp"] * (1 - 1e-9)
    assert all(edp < hand["edp"] for edp in found["random"]["ruby-s, whole filters"]["24 x 3000"])


def test_the_strip_mined_mapping_made_by_hand():
    """The mapping file is valid where whole rows stand on the array, and still costs what is recorded."""
    found = evaluate(
        str(FOLDER / "strip_mining_rows.yaml"), "alexnet_conv2_paper", FOLDER / "strip_mining.mapping.yaml"
    )
    hand = recorded("strip_mining")["designs"]["by hand"]
    assert not found.hint
    assert (found.edp, found.cycles) == pytest.approx((hand["edp"], hand["cycles"]))


def test_recorded_time_to_quality():
    """How near 1, 10 and 60 CPU-seconds come in the median, PFM nearer; every optimum certified, nothing below it."""
    found = recorded("time_to_quality")
    medians = {machine: {preset: dict(map(tuple, of)) for preset, of in every.items()}
               for machine, every in found["medians"].items()}  # fmt: skip
    for machine, least in (("eyeriss_like", 1.05), ("simba_like", 1.13)):
        for mark, near in ((1.0, least), (10.0, 1.03), (60.0, 1.02)):
            assert 1 <= medians[machine]["pfm"][mark] <= medians[machine]["ruby-s"][mark] < near
    for row in found["table"]:
        assert {at["searches"] for mark, at in row["over_best_known"]} == {row["searches"]} == {10}
        assert row["best_known"] == pytest.approx(row["optimum"], rel=1e-9)


def test_recorded_mapspace_comparison():
    """docs/reproduction.md has the recorded statements and optima of Fig. 7; no search is below an optimum."""
    found = recorded("mapspace_comparison")
    page = (FOLDER.parent / "docs" / "reproduction.md").read_text()
    for name, by_panel in found["statements"].items():
        cells = [verdict for panel in "abcd" for verdict in by_panel.get(panel, {}).values()]
        assert f"| {name} | {'- | ' * (7 - len(cells))}{' | '.join(cells)} |" in page
    for name, by_panel in found["optimum"].items():
        for panel, best in by_panel.items():
            assert f"| {panel}, {name} | {' | '.join(f'{edp:.4g}' for edp in best.values())} |" in page
            ends = {preset: one["end"] for preset, one in found["setups"][name][panel].items()}
            assert all(ends[preset] >= edp * (1 - 1e-9) for preset, edp in best.items())
            assert (
                best["ruby"]
                <= min(best["ruby-s"], best["ruby-t"])
                <= max(best["ruby-s"], best["ruby-t"])
                <= best["pfm"]
            )
    assert found["statements"]["base"]["d"] == {"Ruby-S is best": "yes"}
    assert [found["setups"]["base"][panel]["pfm"]["valid_mappings"] for panel in "abcd"] == [2936, 5970, 8791, 8791]


def test_recorded_optimality():
    """No random search is below a proven bound; in every machine and mapspace it is above the optimum in the median."""
    found = recorded("optimality")
    runs = [*found["runs"], *found["library"]]
    assert found["below"] == 0
    for run in runs:
        assert run["optimal"] == (run["gap"] is not None and run["gap"] <= 1e-9)
        assert all(edp >= (run["lower_bound"] or 0.0) * (1 - 1e-9) for edp in run["random"])
    assert all(row["random_over_optimum"]["median"] > 1.1 for row in found["summary"])


def test_recorded_silicon(monkeypatch):
    """What docs/validation.md says of each chip, and its tables."""
    monkeypatch.syspath_prepend(FOLDER)
    found, page = recorded("silicon"), (FOLDER.parent / "docs" / "validation.md").read_text()
    for name, table in importlib.import_module("silicon").TABLES.items():
        assert table.text(found[name]) in page, name
    designs = found["gemmini"][0]
    assert designs["as_timeloop"] == 179
    assert designs["rank"] > 0.97
    assert min(designs["ranks_with_starts"]) > 0.975
    assert designs["held_out_errors"][0] < 0.13
    for row in (*found["eyeriss_alexnet"], *found["eyeriss_vgg16"]):
        assert row["fits"], row["layer"]
        assert abs(row["our_elements"] - row["elements"]) <= 5
    for row in found["eyeriss_vgg16"]:
        assert abs(row["our_cycles"] / row["cycles"] - 1) < 0.15
        assert abs(row["our_buffer_mb"] / row["buffer_mb"] - 1) < 0.1
    power = [(row["our_mw_of_others"] / row["mw"], row["our_mw"] / row["mw"]) for row in found["eyeriss_power"]]
    assert all(0.45 < without_zeros < 0.66 and without_zeros <= every < 1.15 for without_zeros, every in power)
    assert all(abs(row["sheet"] - 1) < (0.03 if row["macs"] > 64 else 0.12) for row in found["nvdla"])
    assert all(abs(row["ours"] / row["published"] - 1) < 0.1 for row in found["tpu"][:3])
    held_out = [row["fitted"] / row["ms"] for row in found["gpus"] if row["gpu"] == "A100" and row["held_out"]]
    assert all(abs(ratio - 1) < 0.07 for ratio in held_out)
    assert np.median(np.abs(np.array(held_out) - 1)) < 0.03


def test_recorded_rewrites(monkeypatch):
    """The page has the recorded rows; no answer is worse, and none is said to be proven that is not."""
    monkeypatch.syspath_prepend(FOLDER)
    found, page = recorded("rewrites"), (FOLDER.parent / "docs" / "rewrites.md").read_text()
    script = importlib.import_module("rewrites")
    assert script.table(found) in page
    assert {(row["title"], row["machine"]) for row in found["networks"]} == {
        (title, machine) for title in script.NETWORKS for machine in script.MACHINES
    }
    for row in found["networks"]:
        before, after = row["before"], row["after"]
        assert after["edp"] <= before["edp"]
        assert before["lower_bound"] <= after["edp"]  # as the page says
        assert bool(row["rewrites"]) == (after["edp"] < before["edp"])
        assert (row["title"] == "SqueezeNet") == (not row["rewrites"])
        assert 1 - after["edp"] / before["edp"] < 0.0025


def test_recorded_codesign(monkeypatch):
    """A tenth of the proofs under each budget, the grid's answer on a subset, frontiers within what was asked."""
    monkeypatch.syspath_prepend(FOLDER)
    found, page = recorded("codesign"), (FOLDER.parent / "docs" / "codesign.md").read_text()
    script = importlib.import_module("codesign")
    assert script.table(found) in page
    for own in found["budgets"].values():
        assert own["proofs"]["made"] <= 0.1 * own["proofs"]["of"]
        assert own["proofs"]["of"] == 24 * own["designs"]["within_limits"]
        assert (own["designs"]["of"], own["designs"]["open"]) == (1000, 0)
        assert own["best"]["gap"] <= 1e-9
    few, grid = (found["subset"][way] for way in ("branch-and-bound", "grid"))
    assert few["best"]["parameters"] == grid["best"]["parameters"]
    assert few["best"]["value"] == pytest.approx(grid["best"]["value"], rel=1e-12)
    assert grid["proofs"]["made"] == grid["proofs"]["of"] == 40 * 24
    assert all(point["gap"] <= 1e-9 for point in found["frontier"]["frontier"])
    for own in found["language_model"].values():
        assert own["designs"]["open"] == 0
        assert max(point["gap"] for point in own["frontier"]) <= script.GAP
        assert own["seconds"] < 600
    told = script.second_certificates(found)
    assert f"take {median(told):.2f} of the steps of proofs from nothing ({told[0]:.2f} to {told[-1]:.2f})" in page
    runs = found["designers"]
    least = min(value for every in runs.values() for run in every for _, value in run)
    assert runs["branch-and-bound"][0][-1][1] == least
    assert f"has proven its answer after {runs['branch-and-bound'][0][-1][0]} proofs" in page


def test_recorded_dosa(monkeypatch):
    """By DOSA's formula no network costs more than DOSA's; all is proven by our counts; the page has the figures."""
    monkeypatch.syspath_prepend(FOLDER)
    found, page, script = recorded("dosa"), (FOLDER.parent / "docs" / "codesign.md").read_text(), dosa_script()
    rows = found["networks"]
    assert script.markdown(script.TABLE, rows) in page
    assert [row["network"] for row in rows] == list(script.PUBLISHED)
    for row in [*rows, *found["best"]]:
        assert row["optimal"], row["network"]
        assert row["gap"] <= 1e-9
        assert row["lower_bound"] == pytest.approx(row["ours"]["counts"]["edp"])
        assert all(0.86 < ratio <= 1 + 1e-9 for ratio in row["ratio"].values())
        assert row["dosa"]["least_hardware"] == row["dosa_hardware"]  # the published sizes
        assert row["dosa"]["formula"]["edp"] == pytest.approx(row["timeloop"]["edp"], rel=5e-4)
    (swept,), (best,) = found["sweeps"], found["best"]
    assert script.said(swept) in page
    assert swept["designs"]["open"] == 0
    assert swept["best"]["gap"] <= 1e-9
    assert best["ours"]["counts"]["edp"] == pytest.approx(swept["best"]["value"])
    assert all(own["bound"] >= swept["best"]["value"] * (1 - 1e-9) for own in swept["grid"])
    least = [best[whose]["formula_on_least"]["edp"] for whose in ("ours", "dosa")]
    for figure in least:
        assert f"{figure / 1e6:.4e}".replace("e+0", "e") in page
    assert f"{1 - least[0] / least[1]:.2%}".replace("%", " % less") in page


def dosa_script():
    """The script, whose folder of files has its name."""
    script = importlib.import_module("dosa")
    assert script.__file__ == str(FOLDER / "dosa.py")
    return script


def test_dosas_formula(monkeypatch):
    """Timeloop's cycles within a hundredth of a percent in all mappings of DOSA."""
    monkeypatch.syspath_prepend(FOLDER)
    tables, gemmini, formula = (importlib.import_module(f"chips.{name}") for name in ("tables", "gemmini", "dosa"))
    lines = tables.lines_of(gemmini.SETS["designs"])
    for line in lines:
        nest = formula.Nest(gemmini.loops_of(line["mapping"]), int(line["stride"]))
        _, cycles = formula.costs(nest, formula.Hardware(16, 128, 32))
        assert cycles == pytest.approx(float(line["timeloop"]), rel=1e-4)
    assert len(lines) == 222


# loops, stride, hardware, uJ by Timeloop: ucb-bar/dosa a7a3239, firesim_test_data/analytical.csv and timeloop_dataset
WINDOWS = {
    "slides": ("P7 Q14 - L2[WI] N1 K16X - L1[O] K4 S7 R7 Q2 P4 C3X - L0[W] Q4 P4", 2, (16, 127, 32), 423.604),
    "is widened": ("S3 K8 R3 - L2[WI] N1 K16X - L1[O] K4 C32 Q7 P7 C16X - L0[W] N1", 2, (16, 127, 32), 694.361),
    "of a row": ("Q4 K8 P56 R3 - L2[WI] N1 K8X - L1[O] K2 S3 C2 Q14 C2X - L0[W] N1", 1, (32, 2, 16), 224.585274),
    "of as many rows as the filter": (
        "Q7 K32 P7 R2 - L2[WI] N1 K8X - L1[O] S2 C64 Q2 C4X - L0[W] P2", 1, (16, 8, 2), 1681.988807,
    ),
    "of more": ("K8 Q28 C2 P2 R3 - L2[WI] N1 K16X - L1[O] K2 S3 C4 P14 - L0[W] N1", 2, (32, 2, 16), 270.229891),
}  # fmt: skip


@pytest.mark.parametrize("name", WINDOWS)
def test_dosas_formula_where_loops_of_dram_cut_a_window(name, monkeypatch):
    """Timeloop's energy, within two thousandths."""
    monkeypatch.syspath_prepend(FOLDER)
    gemmini, formula = (importlib.import_module(f"chips.{name}") for name in ("gemmini", "dosa"))
    loops, stride, sizes, energy = WINDOWS[name]
    nest = formula.Nest(gemmini.loops_of(f"L3[WIO] {loops}"), stride)
    assert formula.costs(nest, formula.Hardware(*sizes))[0] / 1e6 == pytest.approx(energy, rel=2e-3)


def test_timeloops_cycles_of_dosas_mappings(monkeypatch):
    """By its rules: nine of ten to the cycle, others within two hundredths; every level shares its bandwidth."""
    monkeypatch.syspath_prepend(FOLDER)
    tables, gemmini = (importlib.import_module(f"chips.{name}") for name in ("tables", "gemmini"))
    batches, evaluate_batch = [], gemmini.evaluate_batch
    monkeypatch.setattr(gemmini, "evaluate_batch", lambda *one: batches.append(one[0]) or evaluate_batch(*one))
    lines = tables.lines_of(gemmini.SETS["designs"])[::8]
    for line in lines:
        gemmini.counted(line)
    ours = np.array([timeloop_counts(TimeloopNest(batch), Rules()).cycles for batch in batches])
    ratios = ours / [float(line["timeloop"]) for line in lines]
    assert (ratios == 1).mean() >= 0.85
    assert (abs(ratios - 1) < 0.02).all()


def test_the_rules_of_nvdlas_sheet(monkeypatch):
    """They make the words of each layer of the sheet, but of the two with a pooling behind them.

    Weights of 3x3 layers grow there by 16/9, as Winograd's do.
    """
    monkeypatch.syspath_prepend(FOLDER)
    tables, nvdla = (importlib.import_module(f"chips.{name}") for name in ("tables", "nvdla"))
    wrong = []
    for line in tables.lines_of("nvdla_resnet50.csv"):
        layer = nvdla.Layer.of(line)
        growth = 16 / 9 if layer.work.size("R") == 3 else nvdla.STRIDED_WEIGHTS if layer.strided else 1
        words = nvdla.sheet_words(layer, 512 * nvdla.KB, layer.weights * growth)
        if abs(words / nvdla.KB - float(line["dram_kb"])) > 1:
            wrong.append(line["layer"])
    assert wrong == ["Conv1", "Res5c_branch2c"]
