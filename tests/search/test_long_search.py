"""What long searches add: rules, fronts and progress, the same for any number of workers."""

import json
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.status import Status
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.commands.progress import NAME, Part, Progressing, cut, progress, shortened
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.workloads import load_workload
from typer.testing import CliRunner

TOY = ("toy_6pe", "rank1_100")
LAYER = ("eyeriss_like", "resnet50/conv4_x_3x3")


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def the_json(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    del told["search"]["seconds"]
    return told


@pytest.mark.parametrize(
    "rules",
    [
        (
            "--objective",
            "delay,energy",
            "--front",
            "edp,energy,delay",
            "--search",
            "random",
            "--samples",
            9999,
            "--victory",
            10**9,
        ),
        (
            "--front",
            "energy,delay",
            "--search",
            "random",
            "--patience",
            "0.05:1500",
            "--target",
            1e9,
            "--victory",
            10**9,
        ),
    ],
)
def test_every_rule_gives_one_answer_for_1_2_and_7_workers(rules):
    """Best, front and counts are equal but for the seconds."""
    answers = [the_json(*LAYER, "--mapspace", "ruby-s", *rules, "--jobs", jobs) for jobs in (1, 2, 7)]
    assert answers[0] == answers[1] == answers[2]


def test_the_front_is_that_of_every_mapping():
    """Visited exhaustively, the toy's front holds the values that comparing all valid mappings gives."""
    arch, layer = load_arch("toy_6pe"), load_workload("rank1_100")
    table = energy_table(arch)
    points = []
    for batch in Mapspace(arch, layer, "ruby").batches():
        costs = evaluate(batch.take(np.flatnonzero(validity(batch) == 0)), table)
        points += zip(costs.energy_pj.tolist(), costs.cycles.tolist(), strict=True)
    best = {p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in set(points))}
    found = the_json(*TOY, "--mapspace", "ruby", "--search", "exhaustive", "--front", "energy,delay")["front"]
    assert [(one["energy_pj"], one["cycles"]) for one in found] == sorted(best)


def test_the_front_is_printed_and_written(tmp_path):
    """A table, a CSV, a picture, and each mapping in a file of its own."""
    found = run(*LAYER, "--search", "random", "--samples", 8000, "--front", "energy,delay", "--out", tmp_path / "run")
    assert "energy [pJ]   delay [cycles]" in found.stdout
    front = json.loads((tmp_path / "run" / "stats.json").read_text())["front"]
    lines = (tmp_path / "run" / "front.csv").read_text().splitlines()
    assert lines[0] == "mapping,energy_pj,cycles"
    assert len(lines) == len(front) + 1 > 2
    assert all((tmp_path / "run" / line.split(",")[0]).exists() for line in lines[1:])
    assert (tmp_path / "run" / "front.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "run" / "convergence.png").read_bytes().startswith(b"\x89PNG")


def test_a_list_of_objectives_minimises_the_second_among_equals():
    """delay,energy keeps the least cycles, and with them no more energy than delay alone."""
    alone, listed = (
        the_json(*LAYER, "--search", "random", "--samples", 50_000, "--objective", name)
        for name in ("delay", "delay,energy")
    )
    assert listed["cycles"] == alone["cycles"]
    assert listed["energy_pj"] <= alone["energy_pj"]


def test_a_search_ends_at_its_target_or_when_patience_does():
    """The rule that ended the search is told, and a target is met by the mapping reported."""
    found = run(*LAYER, "--search", "random", "--target", 1e16, "--json", "--log")
    assert json.loads(found.stdout)["edp"] <= 1e16
    assert "ended by: target" in found.stderr
    assert "ended by: patience" in run(*LAYER, "--search", "random", "--patience", "0.1:500").stdout


def test_log_lines_tell_what_is_done_and_what_is_left():
    """Plain lines on standard error, nothing of them on standard output."""
    found = run(*LAYER, "--search", "random", "--samples", 20_000, "--victory", 10**9, "--log", "--json")
    json.loads(found.stdout)
    first, last = found.stderr.strip().splitlines()
    for words in ("conv4_x_3x3: 8,192 mappings", "% valid, best", "/s (", "% of the valid ruled out", "left"):
        assert words in first
    assert "20,000 mappings" in last
    assert "ended by: samples" in last


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--search", "random", "--patience", "soon"), 'patience: must be FRACTION:N, as 0.01:5000; got "soon"'),
        (("--search", "random", "--patience", "2:10"), "with 0 < FRACTION < 1"),
        (("--search", "random", "--target", 0), "target: must be more than 0"),
        (("--front", "energy"), "front: must name two objectives or more"),
        (("--front", "energy,speed"), 'must be one of edp, energy, delay; got "speed"'),
        (("--objective", "edp,edp"), "names one of its objectives twice"),
        (("--search", "optimal", "--front", "edp,delay"), "front: an optimal search proves the front of energy,delay"),
    ],
)
def test_bad_options_are_told(arguments, words):
    """Status 2, in the user's words."""
    found = run(*TOY, *arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert words in found.stderr


def test_a_progress_line_fits_the_terminal(monkeypatch):
    """Too long for it, a line loses first the bracket, then rate and shares, at last its end."""
    shown = []
    monkeypatch.setattr(Status, "update", lambda self, text: shown.append(text))
    terminal = Console(file=StringIO(), force_terminal=True, width=50)
    monkeypatch.setattr("rich.console.Console", lambda stderr: terminal)
    with progress(False) as (told_to, _):
        explore(*LAYER, "ruby-s", SearchOptions(strategy="random", samples=8192), progress=told_to)
    assert shown
    assert max(map(len, shown)) == 47  # and the spinner
    told = "3 of 24 layers; conv5_x_1x1a_first: 1,234,567 mappings, 12.3% valid, best 1.234e+15 at 1,204,224, 98,765/s"
    parts = [Part("3 of 24 layers; "), Part("conv5_x_1x1a_first: 1,234,567 mappings"), Part(", 12.3% valid", 3)]
    parts += [Part(", best 1.234e+15"), Part(" at 1,204,224", 4), Part(", 98,765/s", 2)]
    bracket, left = " (45.6% of the valid ruled out by a bound)", ", 1,234 valid to victory"
    whole = [*parts, Part(bracket, 1), Part(left)]
    assert shortened(whole, 200) == told + bracket + left
    assert shortened(whole, 150) == told + left
    assert shortened(whole, 115) == (
        "3 of 24 layers; conv5_x_1x1a_first: 1,234,567 mappings, best 1.234e+15 at 1,204,224, 1,234 valid to victory"
    )
    for width in range(20, 160):
        assert len(shortened(whole, width)) <= width
    assert shortened([*parts, Part(left)], 40).endswith("first: 1.2\N{HORIZONTAL ELLIPSIS}")


def test_letters_of_two_columns_do_not_wrap_the_line():
    """A line that wraps would leave its parts behind; on a terminal of almost no width, too."""
    name = "\u5377\u79ef\u5c42" * 8
    parts = [Part(f"{name}: 1,234 mappings", short=f"{cut(name, NAME)}: 1,234"), Part(", 30 s left")]
    assert cell_len(cut(name, NAME)) <= NAME
    assert shortened(parts, 40).endswith(": 1.23k, 30 s left")
    for width in range(1, 80):
        assert cell_len(shortened(parts, width)) <= width
    assert len(shortened(parts, -1)) == 1


@pytest.mark.parametrize(
    ("number", "short"),
    [("999,499", "999k"), ("999,500", "1M"), ("999,999", "1M"), ("1,000", "1k"), ("999,999,999", "1G"), ("999", "999")],
)
def test_a_number_that_rounds_up_gets_the_next_unit(number, short):
    """Never 1e+03k."""
    assert Part(f"{number} mappings").compact.text == f"{short} mappings"


def test_a_progress_line_of_80_columns_tells_the_best_and_what_is_left():
    """Long names, large numbers, the state of a proof: the best so far and the time left are there all the same."""
    layer = SimpleNamespace(name="stage_4_block_11_expand_pointwise")
    seen = SimpleNamespace(evaluated=12_345_678, valid=12_300_000, trace=[(12_000_000, 1)], rate=132_737.0)
    seen.ended, seen.seconds = (), 2.0
    stop = SimpleNamespace(time_limit=60.0, samples=None, victory=None)
    proven = "the best possible at most 3.40% below, 1,234,567 sets open"
    recorder = SimpleNamespace(statistics=seen, best=4.599e14, pruned=5, bounded=7, stop=stop, proven=proven)
    recorder.expected_seconds = 58.0
    parts = Progressing(52, "").line(layer, recorder)
    assert shortened(parts, 80) == (
        "0/52; stage_4_block_1\N{HORIZONTAL ELLIPSIS}: 12.3M, best 4.599e+14, gap 3.40%, 58 s left"
    )
