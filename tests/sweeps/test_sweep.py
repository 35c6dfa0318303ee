"""`ruby-sweep`: points, resuming, failures, frontiers, and the files that it writes."""

import csv
import json
import math
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table, write_ert
from ruby_map.mapper import SearchOptions, explore, sweep
from ruby_map.mapper.commands.ruby_sweep import main
from ruby_map.mapper.problem.charges import Charges
from ruby_map.mapper.sweeps import picture as sweep_figures
from ruby_map.mapper.sweeps import pieces as sweep_pieces
from ruby_map.mapper.sweeps import run as sweep_run
from ruby_map.mapper.sweeps.file import read_sweep
from ruby_map.mapper.sweeps.fronts import Seeded, candidates, fronts
from ruby_map.mapper.sweeps.labels import write_labels
from ruby_map.mapper.sweeps.result import SweepResult
from ruby_map.mapper.sweeps.run import run_point
from ruby_map.mapper.sweeps.store import NOTHING_VALID, PointOutcome
from ruby_map.workloads import InputError
from typer.testing import CliRunner

ARCH = """
name: line
variables: {pes: 4, words: 64}
levels:
  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16}
  - name: GLB
    class: regfile
    capacity_words: words
    width_bits: 16
    fanout: [{name: PE, size: pes}]
compute: {name: MAC, class: intmac, word_bits: 16}
"""
SWEEP = """
architecture: ./line.yaml
parameters: {pes: [2, 3, 5], words: pes * 16}
workloads: [./mm.yaml]
mapspaces: [pfm, ruby-s]
seeds: [0, 1]
search: {strategy: random, victory: 20}
transfer: false
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "line.yaml").write_text(ARCH)
    (tmp_path / "mm.yaml").write_text("name: mm\nshape: matmul\nsizes: {M: 7, N: 6, K: 10}\n")
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_a_point_is_charged_as_the_file_says(folder):
    """With tables, leakage, hops and drained words a point is what explore finds with the same."""
    arch = load_arch(str(folder / "line.yaml"))
    table = energy_table(arch)
    dear = replace(table, levels=tuple(replace(level, read_pj=9 * level.read_pj) for level in table.levels))
    write_ert(dear, folder / "tables.yaml")
    text = SWEEP.replace("parameters: {pes: [2, 3, 5], words: pes * 16}\n", "").replace("seeds: [0, 1]", "seeds: [1]")
    (folder / "sweep.yaml").write_text(
        text + "energy: {ert: tables.yaml, hop_pj: 3, leakage: true, drain_reads: true}\n"
    )
    options, costs = (
        SearchOptions(strategy="random", victory=20, seed=1),
        Charges(True, hop_pj=3.0, drain_reads=True),
    )
    alone = explore(arch, str(folder / "mm.yaml"), "ruby-s", options, table=dear, costs=costs)
    found = sweep(folder / "sweep.yaml").outcomes[1].result
    assert found["energy_pj"] == pytest.approx(alone.energy_pj)
    assert found["energy_pj"] > explore(arch, str(folder / "mm.yaml"), "ruby-s", options).energy_pj
    assert found["network"]["energy_pj"] > 0


def test_every_point_is_the_search_of_its_design(folder):
    """A row per design x mapspace x seed, each with the figures that ruby-map gives for the same machine."""
    done = run(folder / "sweep.yaml", "--out", folder / "out")
    assert done.exit_code == 0, done.output
    found = rows(folder / "out/results.csv")
    assert [(r["pes"], r["mapspace"], r["seed"]) for r in found][:5] == [
        ("2", "pfm", "0"), ("2", "pfm", "1"), ("2", "ruby-s", "0"), ("2", "ruby-s", "1"), ("3", "pfm", "0"),
    ]  # fmt: skip
    assert len(found) == 12
    row = next(r for r in found if (r["pes"], r["mapspace"], r["seed"]) == ("5", "ruby-s", "1"))
    (folder / "five.yaml").write_text("base: ./line.yaml\nname: five\nvariables: {pes: 5, words: 80}\n")
    alone = explore(
        str(folder / "five.yaml"),
        str(folder / "mm.yaml"),
        "ruby-s",
        SearchOptions(strategy="random", victory=20, seed=1),
    )
    assert float(row["edp"]) == alone.edp
    assert float(row["area_um2"]) == alone.area_um2
    assert float(row["power_pj_per_cycle"]) == pytest.approx(alone.energy_pj / alone.cycles)
    assert row["words"] == "80"


def test_the_answer_does_not_depend_on_the_number_of_processes(folder):
    """One process and two give the same frontiers."""
    one, two = (run(folder / "sweep.yaml", "--json", "--jobs", jobs) for jobs in (1, 2))
    assert one.exit_code == two.exit_code == 0
    assert json.loads(one.stdout) == json.loads(two.stdout)
    assert json.loads(one.stdout)["found"] == 12


def test_every_point_of_a_design_warns_of_it_whichever_process_or_run_it_is_in(folder):
    """results.csv is the same, but for the seconds, for one process, two, and a sweep in two runs."""
    (folder / "line.yaml").write_text(ARCH.replace("class: regfile", "class: SRAM\n    banks: 2"))
    whole = SWEEP.replace("pes * 16", "[4096, 8192]").replace("[2, 3, 5]", "2")
    (folder / "sweep.yaml").write_text(whole.replace("[pfm, ruby-s]", "[ruby-s]").replace("[0, 1]", "[1]"))
    assert run(folder / "sweep.yaml", "--out", folder / "resumed").exit_code == 0
    (folder / "sweep.yaml").write_text(whole)
    found = []
    for out, jobs in (("resumed", 1), ("one", 1), ("two", 2)):
        assert run(folder / "sweep.yaml", "--out", folder / out, "--jobs", jobs).exit_code == 0
        found.append([row | {"seconds": ""} for row in rows(folder / out / "results.csv")])
    assert len(found[0]) == 8
    assert all("CACTI grid, for 1 bank(s) instead of 2" in row["warnings"] for row in found[0])
    assert found[0] == found[1] == found[2]


def test_a_second_run_searches_only_what_is_missing(folder, monkeypatch):
    """Done points are read back, a longer list adds its own, and --fresh forgets all."""
    ran = []
    monkeypatch.setattr(sweep_run, "run_point", lambda plan, number: ran.append(number) or run_point(plan, number))
    first = sweep(folder / "sweep.yaml", folder / "out")
    again = sweep(folder / "sweep.yaml", folder / "out")
    assert ran == list(range(12))
    assert again.summary_json() == first.summary_json()
    (folder / "sweep.yaml").write_text(SWEEP.replace("[2, 3, 5]", "[2, 4, 3, 5]"))
    assert sweep(folder / "sweep.yaml", folder / "out").count("found") == 16
    assert ran[12:] == [4, 5, 6, 7]
    sweep(folder / "sweep.yaml", folder / "out", fresh=True)
    assert len(ran) == 32


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_is_done_and_the_next_run_goes_on(folder, jobs, monkeypatch):
    """Status 130, the outputs hold the done points; then all points are there, as if never interrupted."""
    text = SWEEP.replace("[2, 3, 5]", "{from: 2, to: 15, step: 1}").replace("victory: 20", "victory: 300")
    (folder / "sweep.yaml").write_text(text)
    program = "from ruby_map.mapper.commands.ruby_sweep import main; main()"
    command = [sys.executable, "-c", program, str(folder / "sweep.yaml"), "--out", str(folder / "out")]
    begun = subprocess.Popen([*command, "--jobs", str(jobs)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not grown(folder / "out/sweep.sqlite"):
        assert begun.poll() is None, begun.stderr.read()
        time.sleep(0.05)
    os.killpg(begun.pid, signal.SIGINT)
    told = begun.communicate(timeout=60)[1]
    assert begun.returncode == 130, told
    done = rows(folder / "out/results.csv")
    assert 1 <= len(done) < 56
    assert f"interrupted: {len(done)} of 56 points done; the same command goes on" in told
    ran = []
    monkeypatch.setattr(sweep_run, "run_point", lambda plan, number: ran.append(number) or run_point(plan, number))
    assert sweep(folder / "sweep.yaml", folder / "out").count("found") == 56
    assert ran == list(range(len(done), 56))
    assert rows(folder / "out/results.csv")[: len(done)] == done


def grown(store):
    """Whether an open store, which its lock keeps us from reading, has points: it has outgrown its empty tables."""
    return store.exists() and store.stat().st_size > 9 * 4096


def test_a_point_that_fails_is_recorded_and_the_others_go_on(folder):
    """Status 3; the message is in the results; a rerun tries the failed points again, and only those."""
    (folder / "sweep.yaml").write_text(SWEEP.replace("[2, 3, 5]", "[2, 0, 5]").replace("pes * 16", "pes * 16 + 16"))
    done = run(folder / "sweep.yaml", "--out", folder / "out")
    assert done.exit_code == 3
    assert "levels[1].fanout[0].size: must be at least 1, got 'pes'" in done.stderr
    found = rows(folder / "out/results.csv")
    assert [row["status"] for row in found] == ["found"] * 4 + ["failed"] * 4 + ["found"] * 4
    assert "must be at least 1, got 'pes' = 0" in found[4]["message"]
    assert found[4]["edp"] == ""


def test_a_fault_of_ours_in_one_point_takes_no_other_with_it(folder, monkeypatch):
    """An exception that nobody expected is that point's outcome."""
    real = sweep_pieces.explored

    def broken(study, request):
        if study.options.seed:
            raise RuntimeError("lost")
        return real(study, request)

    monkeypatch.setattr(sweep_pieces, "explored", broken)
    found = sweep(folder / "sweep.yaml", folder / "out")
    assert (found.count("found"), found.count("failed")) == (6, 6)
    assert found.outcomes[1].message == "RuntimeError: lost"
    monkeypatch.setattr(sweep_pieces, "explored", real)
    assert sweep(folder / "sweep.yaml", folder / "out").count("found") == 12


def test_nothing_valid_is_status_1_with_the_reason(folder):
    """A design on which nothing fits has no figures, but a hint."""
    tight = ARCH.replace("    width_bits: 16\n    fanout", "    width_bits: 16\n    keep: [A, B, Z]\n    fanout")
    (folder / "line.yaml").write_text(tight.replace("fanout:", "temporal: {factors: [M=7]}\n    fanout:"))
    (folder / "sweep.yaml").write_text(SWEEP.replace("pes * 16", "[4, 640]").replace("victory: 20", "samples: 50"))
    tensors = "[Weights, Inputs, Outputs]"
    (folder / "line.yaml").write_text((folder / "line.yaml").read_text().replace("[A, B, Z]", tensors))
    done = run(folder / "sweep.yaml", "--out", folder / "out")
    assert done.exit_code == 1, done.output
    bad = [row for row in rows(folder / "out/results.csv") if row["status"] == "nothing valid"]
    assert bad
    assert all("GLB overflows" in row["message"] for row in bad)
    told = [line for line in run(folder / "sweep.yaml").stderr.splitlines() if line.startswith("nothing valid: ")]
    assert told[0].startswith(f"nothing valid: 4 of 4 points of design 0 (pes 2, words 4): {bad[0]['message']}")
    assert len(told) == len({(row["design"], row["message"]) for row in bad})


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_log_has_a_line_for_each_point_as_it_is_done(folder, jobs):
    """With --log off a terminal too: the time, how far it is, which point, what came of it; without, nothing."""
    (folder / "sweep.yaml").write_text(SWEEP.replace("[2, 3, 5]", "[2, 0]").replace("pes * 16", "pes * 16 + 16"))
    lines = run(folder / "sweep.yaml", "--log", "--jobs", jobs, "--out", folder / f"out{jobs}").stderr.splitlines()
    log = [line for line in lines if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} ", line)]
    assert len(log) == 8
    edp = float(rows(folder / f"out{jobs}/results.csv")[3]["edp"])
    assert re.search(r" 4 of 8 points, about \d+ s left; design 0, ./mm.yaml, ruby-s, seed 1: ", log[3])
    assert log[3].endswith(f"EDP {edp:.4g} pJ cycles")
    assert " 8 of 8 points, 4 failed, about 0 s left; design 1, ./mm.yaml, ruby-s, seed 1: failed: " in log[7]
    assert "s left" not in run(folder / "sweep.yaml").stderr


def test_of_many_designs_without_a_mapping_a_few_are_told_and_the_rest_counted(folder, monkeypatch):
    """Ten lines and a count of the points that are left, which tells where they stand."""
    (folder / "sweep.yaml").write_text(SWEEP.replace("[2, 3, 5]", "{from: 2, to: 13, step: 1}"))
    point = PointOutcome(NOTHING_VALID, message="too small")
    monkeypatch.setattr(sweep_run, "run_point", lambda plan, number: point)
    for options, where in (
        ((), "; with --out each is"),
        (("--out", folder / "out"), f"see {folder / 'out/results.csv'}"),
    ):
        done = run(folder / "sweep.yaml", *options)
        told = [line for line in done.stderr.splitlines() if line.startswith("nothing valid: ")]
        assert done.exit_code == 1
        assert len(told) == 11
        assert "nothing valid: 8 more points" in told[-1]
        assert where in told[-1]


def test_a_store_of_another_sweep_is_refused(folder):
    """Another search, another architecture, no store at all: status 2, and nothing is overwritten."""
    assert run(folder / "sweep.yaml", "--out", folder / "out").exit_code == 0
    before = (folder / "out/results.csv").read_text()
    (folder / "sweep.yaml").write_text(SWEEP.replace("victory: 20", "victory: 21"))
    refused = run(folder / "sweep.yaml", "--out", folder / "out")
    assert refused.exit_code == 2
    assert "holds another sweep" in refused.stderr
    assert refused.stderr.endswith("what differs: search.victory (20 there, 21 here)\n")
    assert (folder / "out/results.csv").read_text() == before
    assert run(folder / "sweep.yaml", "--out", folder / "out", "--fresh").exit_code == 0
    assert "already holds files but no sweep" in run(folder / "sweep.yaml", "--out", folder).stderr
    (folder / "out/sweep.sqlite").write_text("no database" * 1000)
    assert "is no store of a sweep, or damaged" in run(folder / "sweep.yaml", "--out", folder / "out").stderr


def test_a_refused_store_names_each_part_that_differs(folder):
    """Architecture, name, objective, search and energy, each as the file calls it; texts without their contents."""
    sweep(folder / "sweep.yaml", folder / "out")
    (folder / "line.yaml").write_text(ARCH.replace("width_bits: 16, word", "width_bits: 32, word"))
    changed = SWEEP.replace("victory: 20", "samples: 9, distinct: true")
    (folder / "sweep.yaml").write_text(changed + "name: mine\nobjective: energy\nenergy: {leakage: true}\n")
    with pytest.raises(InputError) as refused:
        sweep(folder / "sweep.yaml", folder / "out")
    told = str(refused.value).split("what differs: ")[1].split("; ")
    assert told == [
        "architecture",
        "name (sweep there, mine here)",
        "objective (edp there, energy here)",
        "search.victory (20 there, 3000 here)",
        "search.samples (none there, 9 here)",
        "search.distinct (false there, true here)",
        "energy.leakage (false there, true here)",
    ]
    old = sqlite3.connect(folder / "out/sweep.sqlite")
    with old:
        old.execute("DROP TABLE identity")  # as of a store from before there was one
    old.close()
    with pytest.raises(InputError, match="what differs: its file, architecture, search or version"):
        sweep(folder / "sweep.yaml", folder / "out")


def test_two_sweeps_never_write_to_one_folder(folder):
    """A store that is open elsewhere is refused."""
    assert run(folder / "sweep.yaml", "--out", folder / "out").exit_code == 0
    other = sqlite3.connect(folder / "out/sweep.sqlite")
    other.execute("BEGIN EXCLUSIVE")
    refused = run(folder / "sweep.yaml", "--out", folder / "out")
    other.close()
    assert refused.exit_code == 2
    assert "is in use by another run" in refused.stderr


def seeded(values):
    """Points of one workload: {(design, mapspace): [EDP of each seed]}, the area being the design's number + 1."""
    return [
        Seeded(design, "w", mapspace, seed, {"area_um2": design + 1.0, "edp": edp})
        for (design, mapspace), edps in values.items()
        for seed, edp in enumerate(edps)
    ]


def test_frontiers_are_of_medians_and_say_in_how_many_seeds_they_hold():
    """Design 1 is on the frontier by its median and in two of three seeds; design 2 never is."""
    points = seeded(
        {(0, "pfm"): [10, 10, 10], (1, "pfm"): [5, 11, 6], (2, "pfm"): [20, 20, 20], (2, "ruby"): [1, 1, 9]}
    )
    axes = ("area_um2", "edp")
    found = {front.mapspace: front for front in fronts(candidates(points, axes), ["pfm", "ruby"])}
    assert [(one.design, one.share) for one in found["pfm"].members] == [(0, 1.0), (1, pytest.approx(2 / 3))]
    assert [(one.design, one.mapspace) for one in found["all mapspaces"].members] == [
        (0, "pfm"), (1, "pfm"), (2, "ruby")]  # fmt: skip
    assert found["all mapspaces"].members[2].share == pytest.approx(2 / 3)  # with seed 2 design 1 is better, 6 to 9
    # up to 3.3 and 22 from the ideal corner, 1 and 1; the medians are 1 and 10, and 2 and 6
    assert found["pfm"].hypervolume == pytest.approx((1 * 12 + 1.3 * 16) / (2.3 * 21))


def test_the_text_cuts_no_figure_and_heads_are_short(folder):
    """A column per parameter that varies; what is given once is said once; every figure in full."""
    glb = "    class: regfile\n    capacity_words: words"
    (folder / "line.yaml").write_text(ARCH.replace(glb, "    class: SRAM\n    banks: 1\n    capacity_words: words"))
    (folder / "sweep.yaml").write_text("""
architecture: ./line.yaml
parameters:
  levels.GLB.banks: [1, 2]
  levels.GLB.fanout.PE.dims: [[M, N, K], [M, N]]
  levels.GLB.width_bits: [16, 32]
  levels.DRAM.width_bits: [16, 32]
  levels.DRAM.read_bandwidth: 2 * 2
  words: pes * 2048
linked: [{pes: [2, 8], levels.GLB.write_bandwidth: [123456789012345, 1]}]
workloads: [./mm.yaml]
pareto: [area, energy, delay]
search: {strategy: random, samples: 5}
limit: 8
""")
    found = sweep(folder / "sweep.yaml")
    text = str(found)
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    title, notes, table, left = text.split("\n\n")
    assert "may be the knee, by the gaps: " in left
    assert notes.split("\n") == [
        "in every design: levels.DRAM.read_bandwidth 4",
        "computed: words = pes * 2048",
        "banks: levels.GLB.banks",
        "dims: levels.GLB.fanout.PE.dims",
        "GLB.width_bits: levels.GLB.width_bits",
        "DRAM.width_bits: levels.DRAM.width_bits",
        "write_bandwidth: levels.GLB.write_bandwidth",
    ]
    head, _, *lines = table.split("\n")[1:]
    assert re.split(r" {2,}", head) == [
        "design", "banks", "dims", "GLB.width_bits", "DRAM.width_bits", "pes, write_bandwidth", "mapspace",
        "area [mm\N{SUPERSCRIPT TWO}]", "energy [\N{MICRO SIGN}J]", "delay [cycles]", "proof"]  # fmt: skip
    members = found.fronts[0].members
    for line, one in zip(lines, members, strict=True):
        area, energy, delay = one.middle
        assert re.split(r" {2,}", line.strip())[7:10] == [f"{area / 1e6:,.5g}", f"{energy / 1e6:,.5g}", f"{delay:,.0f}"]
        values = found.values[one.design]
        assert f" {values['pes']}, {values['levels.GLB.write_bandwidth']} " in line
        assert f" {values['levels.GLB.fanout.PE.dims']} " in line
    assert sum(line.endswith("knee") for line in lines) == 1


def test_files_agree_with_each_other(folder):
    """pareto.json is made of rows of results.json; no value is lost between CSV and JSON."""
    run(folder / "sweep.yaml", "--out", folder / "out")
    points = json.loads((folder / "out/results.json").read_text())["points"]
    for row, point in zip(rows(folder / "out/results.csv"), points, strict=True):
        assert float(row["edp"]) == point["edp"] == point["result"]["edp"]
    pareto = json.loads((folder / "out/pareto.json").read_text())
    assert [(folder / f"out/pareto.{suffix}").exists() for suffix in ("png", "svg", "pdf")] == [True] * 3
    front = pareto["workloads"]["./mm.yaml"]["fronts"]["pfm"]
    for member in front["points"]:
        same = [p for p in points if (p["design"], p["mapspace"]) == (member["design"], "pfm")]
        assert member["edp"]["median"] == np.median([p["edp"] for p in same])
        assert member["parameters"] == same[0]["parameters"]
    assert front["knee"] in [member["design"] for member in front["points"]]


def test_the_picture_shows_every_point_and_each_frontier(folder, monkeypatch):
    """Per mapspace: all medians, the frontier as a line, the knee; bars over the seeds."""
    found = sweep(folder / "sweep.yaml")
    drawn = []
    real = sweep_figures._draw_front
    monkeypatch.setattr(
        sweep_figures, "_draw_front", lambda panel, *rest: real(panel, *rest) or drawn.append((panel, *rest))
    )
    found.plot("pareto").savefig(folder / "pareto.png")
    assert (folder / "pareto.png").read_bytes()[:4] == b"\x89PNG"
    assert [front.mapspace for _, front, *_ in drawn] == ["pfm", "ruby-s"]
    assert [len(pool) for *_, pool, _, _ in drawn] == [3, 3]
    panel = drawn[0][0]
    lines = {line.get_label(): line for line in panel.get_lines()}
    front = drawn[0][1]
    assert np.allclose(lines["pfm"].get_ydata(), [one.middle[1] for one in front.members])
    assert panel.get_xlabel().startswith("area [mm")
    assert panel.get_title(loc="left").split("\n") == [
        "sweep: less is better on both axes", "labels: pes", "marks inside one another: equal designs",
        "dotted bars: down to what is proven of a point that is not certified",
        "not proven, with bars down to the ideal: all of 6 points", "./mm.yaml"]  # fmt: skip
    widths = [lines[name].get_markersize() for name in ("pfm", "ruby-s")]
    assert widths[0] > widths[1]  # drawn first: a rim is seen where both have the same design


def test_three_axes_make_a_frontier_of_three(folder):
    """pareto may name three measures; nothing on the frontier is beaten on all of them."""
    (folder / "sweep.yaml").write_text(SWEEP + "pareto: [area_um2, energy, delay]\n")
    found = sweep(folder / "sweep.yaml", folder / "out")
    for front in found.fronts:
        middles = [one.middle for one in front.members]
        assert not any((a <= b).all() and (a < b).any() for a in middles for b in middles)
    assert isinstance(found, SweepResult)
    assert 0 < found.fronts[0].hypervolume < 1


def test_a_network_counts_as_one_workload(folder):
    """Its point has the totals of ruby-map's network, layers inside."""
    (folder / "net.yaml").write_text("layers: [{layer: ./mm.yaml, count: 2}]\n")
    (folder / "sweep.yaml").write_text(SWEEP.replace("./mm.yaml", "./mm.yaml, ./net.yaml"))
    found = sweep(folder / "sweep.yaml")
    layer, network = (found.outcomes[found.plan.points - offset].result for offset in (5, 1))
    assert math.isclose(network["edp"], 4 * layer["edp"] if layer["seed"] == network["seed"] else network["edp"])
    assert network["layers"][0]["count"] == 2


def test_wrong_options_are_status_2(folder):
    """jobs below 1, and a limit of nothing, each once, with the faults of the file."""
    assert run(folder / "sweep.yaml", "--jobs", 0).exit_code == 2
    refused = run(folder / "sweep.yaml", "--limit", 0)
    assert refused.exit_code == 2
    assert refused.stderr == "limit: must be from 1 to 100,000 points, got 0\n"
    (folder / "bad.yaml").write_text(SWEEP.replace("victory", "victor"))
    lines = run(folder / "bad.yaml", "--limit", 0, "--jobs", 0).stderr.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["jobs", f"{folder / 'bad.yaml'}:7", "limit"]
    with pytest.raises(InputError, match="must admit the points of one design, 4; got 3"):
        read_sweep(folder / "sweep.yaml", 3)


def test_points_are_named_by_their_parameters_and_no_label_covers_another(folder):
    """Every design once, inside the panel, off the marks; of more than there is room for, the rest is counted."""
    (folder / "sweep.yaml").write_text(SWEEP.replace("[2, 3, 5]", "[2, 3, 4, 5, 6, 7]"))
    figure = sweep(folder / "sweep.yaml").plot("pareto")
    (panel,) = figure.axes
    texts = [text for text in panel.texts if text.get_text()]
    assert {text.get_text() for text in texts} == set("234567")
    boxes, frame = [text.get_window_extent() for text in texts], panel.get_window_extent()
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)
    assert "labels: pes" in panel.get_title(loc="left")
    crowd = Figure(figsize=(2, 2)).subplots()
    crowd.plot([0, 1], [0, 1], linewidth=0)
    assert write_labels(crowd, [(0.5 + n / 1e4, 0.5) for n in range(60)], ["a long label"] * 60) > 30
