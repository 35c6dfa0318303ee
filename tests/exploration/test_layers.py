"""Networks: several layers at once, equal layers once, budgets; the same answer however the work is spread."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import chain, repeat
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruby_map.mapper import SearchOptions, explore, load, result_json
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration import layers as layers_module
from ruby_map.mapper.exploration import spending, spread
from ruby_map.mapper.exploration import time_slices as turns
from ruby_map.mapper.report.pictures import bars as figures
from ruby_map.mapper.runtime import checkpoint
from ruby_map.mapper.runtime.checkpoint import Checkpoint
from ruby_map.mapper.search.options.budget import DECAY, BudgetMark, LayerShare, deal, read_budget, spend, weights
from ruby_map.mapper.search.score import CHUNK
from ruby_map.workloads import InputError
from typer.testing import CliRunner

from ..conftest import DEEP, interrupt_at

NETWORK = """
name: net
layers:
  - {name: one, shape: conv2d, sizes: {M: 8, C: 4, P: 13, Q: 13, R: 3, S: 3}}
  - {name: two, shape: matmul, sizes: {M: 64, N: 100, K: 36}, count: 3}
  - {name: again, shape: conv2d, sizes: {M: 8, C: 4, P: 13, Q: 13, R: 3, S: 3}, count: 2}
  - {name: three, shape: conv2d, sizes: {M: 16, C: 7, P: 5, Q: 5, R: 1, S: 1}}
"""


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    path = tmp_path_factory.mktemp("net") / "net.yaml"
    path.write_text(NETWORK)
    return str(path)


def plain(result):
    """The object of --json without what depends on the machine."""
    found = result_json(result) if not isinstance(result, dict) else result
    for one in (found, *found["layers"]):
        del one["search"]["seconds"]
    return found


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def short_turns(monkeypatch):
    """Turns of one chunk, taken in this process."""
    monkeypatch.setattr(turns, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(
        spread, "in_order", lambda work, shared, tickets, *_, **__: (work(shared, one) for one in tickets)
    )


SEARCHES = [
    {"victory": 200},
    {"samples": 3 * CHUNK + 5, "victory": 10**9, "front": "energy,delay"},
    {"budget": "150000"},
    {"budget": "20000", "objective": "delay,energy"},
    {"budget": "1001", "patience": (0.5, 20)},
]


@pytest.mark.parametrize("options", SEARCHES, ids=str)
def test_turns_change_nothing(net, options, short_turns):
    """A layer whose search is handed from turn to turn gives what it gives in one go, and so do several at once."""
    alone = explore("eyeriss_like", net, options=SearchOptions(strategy="random", **options))
    in_turns = explore("eyeriss_like", net, options=SearchOptions(strategy="random", **options, jobs=3))
    assert plain(in_turns) == plain(alone)


def test_the_same_answer_for_any_number_of_processes(net):
    """With real processes, of searches to their end and of a budget."""
    for options in SEARCHES[1:3]:
        answers = [
            plain(explore("eyeriss_like", net, options=SearchOptions(strategy="random", **options, jobs=jobs)))
            for jobs in (1, 2)
        ]
        assert answers[0] == answers[1]


def test_equal_layers_are_searched_once_and_counted_together(net):
    """Names do not matter; the counts add up, and the report says which layers were put together."""
    network = explore("eyeriss_like", net, options=SearchOptions(strategy="random", samples=500))
    assert [(layer.workload.name, count) for layer, count in network.layers] == [("one", 3), ("two", 3), ("three", 1)]
    assert network.statistics.evaluated == 1500
    assert "one counts for again too" in str(network)
    assert [layer.get("alike") for layer in result_json(network)["layers"]] == [["again"], None, None]


def test_totals_are_sums_and_edp_is_their_product(net):
    """EDP = (sum of energies) x (sum of cycles), each layer as often as it occurs, as if each was searched alone."""
    _, work = load("eyeriss_like", net)
    network = explore("eyeriss_like", net, options=SearchOptions(strategy="random", samples=500))
    alone = [
        (explore("eyeriss_like", layer, options=SearchOptions(strategy="random", samples=500)), n)
        for layer, n in work.layers
    ]
    energy = sum(n * one.energy_pj for one, n in alone)
    cycles = sum(n * one.cycles for one, n in alone)
    assert (network.energy_pj, network.cycles) == (pytest.approx(energy), cycles)
    assert network.edp == pytest.approx(energy * cycles)
    assert network.macs == sum(n * layer.macs for layer, n in work.layers)


def test_the_table_has_shares_of_cycles_and_energy(net):
    """The shares count every occurrence and come to 100 %, as the line below them says."""
    network = explore("eyeriss_like", net, options=SearchOptions(strategy="random", samples=500))
    title, *table = str(network).split("\n\n")[2].splitlines()
    assert title.startswith("shares of the network, with counts")
    head = next(number for number, line in enumerate(table) if line.split()[:3] == ["layer", "cycles", "energy"])
    *layers, whole = (line.removeprefix("all layers").split() for line in table[head + 2 :])
    assert whole[:2] == ["100.0%", "100.0%"]
    for column in (1, 2):
        assert sum(float(line[column].rstrip("%")) for line in layers) == pytest.approx(100, abs=0.2)


def test_the_picture_shows_all_cycles_and_all_energy(net, monkeypatch):
    """The bars of both sides add up to the totals; the busy part is what full use of the MAC units takes."""
    network = explore("eyeriss_like", net, options=SearchOptions(strategy="random", samples=500))
    drawn = []
    real = figures._bars
    monkeypatch.setattr(figures, "_bars", lambda axes, series, rows: drawn.append(series) or real(axes, series, rows))
    picture = figures.draw_layers(network)
    scales = [float(axes.get_xlabel().count("10³") * 999 + 1) for axes in picture.axes[:1]]
    assert sum(map(sum, drawn[0].values())) * scales[0] == pytest.approx(network.cycles)
    assert drawn[0][figures.CYCLES[0]][0] * scales[0] == pytest.approx(3 * network.layers[0][0].macs / 168)
    assert sum(map(sum, drawn[1].values())) * 1e6 == pytest.approx(network.energy_pj)


# Budgets


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(1, 3000),
    st.dictionaries(st.integers(0, 5), st.integers(1, 300)),
)
@example([1, 1], 19, {1: 1})  # less than a chunk each, and one leaves some to the other
def test_a_budget_is_used_up_and_each_layer_has_half_an_even_share(counts, samples, ends):
    """However layers end early: not a mapping more, none left while some layer could use it, no share below half."""
    chunk, shares = 10, [LayerShare(number, count) for number, count in enumerate(counts)]
    given_out = []

    def bring(some):
        for share in some:
            given_out.append(share.number)
            end = ends.get(share.number)
            share.ended = end if end is not None and end <= share.target else None
            share.marks.append(BudgetMark(share.used, 1e6 / share.used + share.number, 1e3))
        return True

    spend(shares, samples, chunk, "edp", bring)
    used = sum(share.used for share in shares)
    assert used <= samples
    open_ = [share for share in shares if not share.over and share.target % chunk == 0]
    assert used == samples or not open_
    if samples >= chunk * len(shares):
        half = max(1, samples // chunk // (2 * len(shares))) * chunk
        assert all(share.used >= min(half, ends.get(share.number, half)) for share in shares)


def test_more_goes_to_the_layers_that_weigh_more():
    """The rest is shared as weight^(1/1.5): 8 times the weight is 4 times the mappings; one without a mapping first."""
    shares = [LayerShare(n, count, 1000, marks=[BudgetMark(1000, 1.0, 1.0)]) for n, count in enumerate((1, 8))]
    deal(shares, 10**6, 100, "edp")
    assert shares[1].target / shares[0].target == pytest.approx(8 ** (1 / DECAY), rel=0.01)
    assert weights([*shares, LayerShare(2, 1, 1000, marks=[BudgetMark(1000)])], "edp")[2] == weights(shares, "edp")[1]


def test_weights_are_parts_of_the_objective():
    """Of energy its share of it, of an EDP both shares."""
    shares = [
        LayerShare(0, 2, 1, marks=[BudgetMark(1, 10.0, 1.0)]),
        LayerShare(1, 1, 1, marks=[BudgetMark(1, 20.0, 2.0)]),
    ]
    assert weights(shares, "energy") == {0: 0.5, 1: 0.5}
    assert weights(shares, "delay") == {0: 0.5, 1: 0.5}
    assert weights(shares[:1], "edp") == {0: 2.0}


@pytest.mark.parametrize("budget", ["3", "100", str(3 * CHUNK), "123457"])
def test_a_budget_of_mappings_is_met_exactly(net, budget):
    """Not one more and not one less, also where it is no whole number of chunks."""
    network = explore("eyeriss_like", net, options=SearchOptions(strategy="random", budget=budget))
    assert network.statistics.evaluated == int(budget)
    assert set(network.statistics.stopped_by.split("; ")) <= {"budget", ""}


def test_a_budget_of_seconds_is_shared(net, monkeypatch):
    """Each layer is looked at, and the sum is near the budget."""
    monkeypatch.setattr(layers_module.Layers, "is_late", lambda *_: False)  # on a slow machine, too
    network = explore("eyeriss_like", net, options=SearchOptions(strategy="random", budget="0.9s"))
    seconds = [layer.statistics.seconds for layer, _ in network.layers]
    assert network.statistics.stopped_by == "budget"
    assert sum(seconds) > 0.3
    assert all(layer.statistics.evaluated >= CHUNK for layer, _ in network.layers)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("strategy", ["random", "auto"])
def test_layers_that_a_budget_leaves_no_time_say_so(net, strategy, jobs, monkeypatch):
    """The budget was used up before the first search: no layer is searched or diagnosed, and each says why."""
    monkeypatch.setattr(spending, "time", SimpleNamespace(monotonic=lambda: -1e9))
    monkeypatch.setattr(turns.Study, "space", lambda *_: pytest.fail("no mapspace is needed"))
    network = explore("eyeriss_like", net, options=SearchOptions(strategy=strategy, budget="5s", jobs=jobs))
    assert len(network.layers) == 3
    assert {layer.hint for layer, _ in network.layers} == {"not searched: no time within the budget"}
    assert network.statistics.stopped_by == "no time within the budget"
    names = ", ".join(layer.workload.name for layer, _ in network.layers)
    assert f"not searched, no time within the budget: 3 of the layers: {names}" in str(network)
    assert str(network.layers[0][0]).count("not searched: no time within the budget") == 1


def test_layers_searched_before_a_budget_is_used_up_keep_their_mappings(net, monkeypatch):
    """The clock passes the budget during the first search."""
    clock = chain([0.0, 0.0], repeat(6.0))
    monkeypatch.setattr(spending, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(layers_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    options = SearchOptions(strategy="random", budget="0.3s")
    network = explore("eyeriss_like", net, options=options)
    assert [(layer.found, layer.unsearched) for layer, _ in network.layers] == [(True, False)] + [(False, True)] * 2


def test_a_budget_of_one_layer_is_its_end():
    """Mappings looked at, whatever the victory rule would say."""
    found = explore("toy_6pe", "rank1_100", options=SearchOptions(strategy="random", budget="30000", victory=10))
    assert (found.statistics.evaluated, found.statistics.stopped_by) == (30000, "budget")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("--search", "random", "--budget", "many"),
            "budget: must be a number of mappings, as 1000000, or a time, as 60s or 5m",
        ),
        (("--search", "random", "--budget", "0"), 'more than 0; got "0"'),
        (("--search", "random", "--budget", "infs"), 'got "infs"'),
        (("--search", "random", "--budget", "-3s"), 'got "-3s"'),
        (
            ("--search", "random", "--budget", "9", "--samples", "5"),
            "samples: leave this out: the budget says when to stop",
        ),
        (("--search", "random", "--budget", "9s", "--time-limit", "5"), "time-limit: leave this out"),
        (("--search", "random", "--budget", "9", "--victory", "5"), "victory: leave this out"),
        (("--budget", "9", "--search", "optimal"), 'budget: must be seconds for an optimal search, as 60s; got "9"'),
    ],
)
def test_bad_budgets_are_status_2(arguments, words):
    """In the user's words, with the value."""
    found = run("toy_6pe", "rank1_100", *arguments)
    assert (found.exit_code, found.stdout) == (2, "")
    assert words in found.stderr


def test_read_budget():
    """Mappings or seconds."""
    assert read_budget("1_000") == (1000, None)
    assert read_budget("2.5s") == (None, 2.5)


# Interruptions


@pytest.mark.parametrize("options", [{"budget": "100000"}, {"victory": 2000}, {"budget": "100000", "jobs": 3}], ids=str)
def test_an_interrupted_network_resumes_to_the_same_answer(net, tmp_path, options, short_turns, monkeypatch):
    """Ctrl-C at any moment, in turns too: what is kept is gone on from, and the shares of the budget are the same."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    options = SearchOptions(strategy="random", **options)
    whole = plain(explore("eyeriss_like", net, options=options))
    for moment in (1, 2, 3, 5, 8, 13) if DEEP else (2, 5, 9):
        with Checkpoint(tmp_path / str(moment), {}) as file:
            first = explore("eyeriss_like", net, options=options, progress=interrupt_at(moment), checkpoint=file)
        assert first.statistics.interrupted or plain(first) == whole
        with Checkpoint(tmp_path / str(moment), {}, resume=True) as file:
            assert plain(explore("eyeriss_like", net, options=options, checkpoint=file)) == whole


def test_ctrl_c_keeps_the_layers_that_are_done(net, short_turns):
    """Of several layers at once each has its best so far; those not begun are missing."""
    options = SearchOptions(strategy="random", victory=10**9, samples=4 * CHUNK, jobs=2)
    found = explore("eyeriss_like", net, options=options, progress=interrupt_at(5))
    assert [layer.statistics.stopped_by for layer, _ in found.layers] == ["samples", "interrupted"]
    assert (found.missing, found.found) == (1, False)
    assert found.layers[1][0].edp > 0


def test_layers_are_proven_side_by_side(net):
    """Each process has a whole layer; the answer is that of one process."""
    alone, together = (explore("eyeriss_like", net, options=SearchOptions(jobs=jobs, time_limit=60)) for jobs in (1, 2))
    assert together.optimal
    assert all(layer.own_gap == 0 for layer, _ in together.layers)
    assert [layer.optimal for layer, _ in together.layers] == [True, True, False]  # the last gives up EDP of its own
    assert plain(together) == plain(alone)


@pytest.mark.parametrize("moment", [1, 2, 3])
def test_ctrl_c_ends_proofs_side_by_side_with_the_best_so_far(net, moment):
    """Layers that are being proven keep what they have; a budget of seconds is shared by all."""
    options = SearchOptions(jobs=2, budget="60s")
    began = time.monotonic()
    found = explore("eyeriss_like", net, "ruby", options, progress=interrupt_at(moment))
    assert found.statistics.interrupted
    assert time.monotonic() - began < 50
    assert len(found.layers) >= moment
    assert all(layer.edp > 0 for layer, _ in found.layers if layer.found)


SCRIPT = (
    "from ruby_map.mapper.exploration import time_slices\ntime_slices.SLICE_SECONDS = 0.05\n"
    "from ruby_map.mapper.commands.ruby_map import main\nmain()"
)


@pytest.mark.parametrize(
    "end", [("--search", "random", "--budget", 10**6), ("--search", "random", "--samples", 200_000, "--victory", 10**9)]
)
def test_a_killed_network_resumes_to_the_same_answer(net, tmp_path, end):
    """kill -9 of all processes at some moment of a search of several layers at once."""
    command = [sys.executable, "-c", SCRIPT, "eyeriss_like", net, *map(str, end), "--jobs", "2", "--json"]
    whole = plain(json.loads(run("eyeriss_like", net, *end, "--json").stdout))
    for moment in (1.5, 2, 2.5, 3, 3.5, 4) if DEEP else (2.5,):
        folder = str(tmp_path / str(moment))
        with open(os.devnull, "w") as null:
            killed = subprocess.Popen([*command, "--out", folder], stdout=null, stderr=null, start_new_session=True)
            time.sleep(moment)
            os.killpg(killed.pid, signal.SIGKILL)
            killed.wait()
        found = subprocess.run([*command, "--out", folder, "--resume"], capture_output=True, timeout=120, check=False)
        assert found.returncode == 0, found.stderr
        assert plain(json.loads(found.stdout)) == whole


# Faults


def test_a_budget_of_less_than_a_mapping_per_layer_is_status_2(net):
    """The number of layers is told."""
    found = run("eyeriss_like", net, "--search", "random", "--budget", 2)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "budget: must be at least a mapping for each of the 3 layers, got 2" in found.stderr


@pytest.fixture
def narrow(tmp_path):
    """A machine for layers of M=7 and N=5, and a maker of networks from (name, M, N)."""
    text = "name: narrow\nlevels:\n"
    text += "  - {name: DRAM, class: DRAM, width_bits: 16, word_bits: 16, temporal: {factors: [M=7, N=5]}}\n"
    (tmp_path / "arch.yaml").write_text(text + "compute: {name: MAC, class: intmac, word_bits: 16}\n")

    def network(*layers):
        layer = "  - {name: %s, shape: matmul, sizes: {M: %d, N: %d, K: 3}}\n"
        (tmp_path / "net.yaml").write_text("name: net\nlayers:\n" + "".join(layer % each for each in layers))
        return str(tmp_path / "arch.yaml"), str(tmp_path / "net.yaml"), "pfm"

    return network


def test_layers_without_a_mapspace_stop_no_other(narrow, short_turns, tmp_path):
    """Each says why, whatever the search, the number of processes and the budget; what others found is written."""
    works = narrow(("bad", 9, 5), ("good", 7, 5), ("worse", 7, 6))
    for ends in ({"samples": 300}, {"budget": "300"}, {"strategy": "auto"}):
        several = [explore(*works, SearchOptions(**{"strategy": "random"} | ends, jobs=jobs)) for jobs in (1, 2)]
        for network in several:
            found = {layer.workload.name: layer for layer, _ in network.layers}
            assert [layer.found for layer in found.values()] == [False, True, False]
            assert not network.found
            assert "bad on narrow: " in found["bad"].hint
            assert "M=7 at DRAM" in found["bad"].hint
            assert "worse on narrow: " in found["worse"].hint
        assert plain(several[0]) == plain(several[1])
    begun = "--start-from", tmp_path / "out", "--out", tmp_path / "begun"
    for more in (("--out", tmp_path / "out"), ("--out", tmp_path / "out", "--resume"), begun):
        run_ = run(*works[:2], "--mapspace", "pfm", *more)
        assert (run_.exit_code, (tmp_path / "out/02_good/mapping.yaml").exists()) == (1, True)
        assert "these layers" in run_.stdout
        assert "worse on narrow: " in run_.stdout
        assert "all layers" not in run_.stdout


def test_layers_without_a_mapspace_have_no_certificate_and_no_size(narrow, short_turns, tmp_path):
    """Why there is no certificate is true of them; the sizes of the others are told, with status 1."""
    works = narrow(("bad", 9, 5), ("good", 7, 5))[:2]
    told = run(*works, "--mapspace", "pfm", "--objective", "delay", "--certificate", tmp_path / "c.json")
    assert "c.json: not written: a certificate is of all layers, and bad can have no mapping" in told.stderr
    sizes = run(*works, "--mapspace", "pfm", "--size")
    assert sizes.exit_code == 1
    assert "good on narrow, pfm: " in sizes.stdout
    assert "bad on narrow: " in sizes.stderr
    assert run(*narrow(("bad", 9, 5))[:2], "--mapspace", "pfm", "--size").exit_code == 2


def test_a_refused_run_leaves_nothing_behind(narrow, short_turns, tmp_path):
    """Where nothing was searched the folder is free for the corrected run."""
    command = *narrow(("bad", 9, 5))[:2], "--mapspace", "pfm", "--search", "random", "--samples", 10
    assert run(*command, "--out", tmp_path / "out").exit_code == 2
    assert not (tmp_path / "out").exists()


def test_where_no_layer_has_a_mapspace_all_are_named(narrow, short_turns):
    """As faults, by any number of processes."""
    works, told = narrow(("bad", 9, 5), ("worse", 7, 6)), []
    for jobs in (1, 2):
        with pytest.raises(InputError) as one:
            explore(*works, SearchOptions(strategy="random", samples=10, jobs=jobs))
        told.append({str(fault) for fault in one.value.faults})
    assert told[0] == told[1]
    assert {each.partition(":")[0] for each in told[0]} == {"bad on narrow", "worse on narrow"}


def test_progress_tells_of_all_layers(net):
    """How many layers are over, or what of the budget is used."""
    told = run("eyeriss_like", net, "--search", "random", "--samples", 100, "--log").stderr
    assert "1 of 3 layers; one: 100 mappings" in told
    assert "3 of 3 layers; three: 100 mappings" in told
    assert (
        "100 of 300 mappings; one: 100 mappings"
        in run("eyeriss_like", net, "--search", "random", "--budget", 300, "--log").stderr
    )


@pytest.mark.parametrize(("budget", "jobs"), [("0.4s", 1), ("1s", 2), ("300", 1)])
def test_log_lines_name_the_rule_that_was_given(net, budget, jobs, short_turns, monkeypatch):
    """The share of a budget that a layer used up is told as the budget, not as a limit that nobody set."""
    monkeypatch.setattr(layers_module.Layers, "is_late", lambda *_: False)  # on a slow machine, too
    told = run("eyeriss_like", net, "--search", "random", "--budget", budget, "--jobs", jobs, "--log")
    ends = [line.rsplit("ended by: ")[-1] for line in told.stderr.splitlines() if "ended by" in line]
    assert len(ends) >= 3
    assert set(ends) == {"budget"}
    assert "ended by: budget; seconds of the searches alone" in told.stdout
