"""`--layouts`: the best mapping in the best layout, proven against every mapping in every layout."""

import json
from dataclasses import replace
from itertools import product
from math import inf

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch, unstacked
from ruby_map.arch.dram import Dram
from ruby_map.energy import as_written
from ruby_map.mapper import SearchOptions, evaluate, explore, result_json
from ruby_map.mapper.commands.ruby_map import main
from ruby_map.mapper.exploration import Request, Study, explored, study_faults
from ruby_map.mapper.exploration import layouts as module
from ruby_map.mapper.exploration.layouts import Choice
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem import Problem
from ruby_map.mapper.proof import least_below
from ruby_map.mapper.search import Observers
from ruby_map.mapper.search.outcome import Ended
from ruby_map.workloads import InputError, load_workload, shaped
from typer.testing import CliRunner

from ..conftest import DEEP
from ..small_problems import FEW, best_of_all, problems, uneven_problems, values_of
from ..strategies import drams

PROOF = SearchOptions(strategy="optimal")
DDR = """
name: ddr
compute: {name: MAC, class: intmac}
levels:
  - name: DRAM
    class: DRAM
    shared_bandwidth: 4
    row_bandwidth: 1/8
    dram: {burst_bits: 128, row_bits: 1024, activate_pj: 1000, refresh_pj_per_cycle: 2, layout: {Inputs: [C, K]}}
  - {name: GLB, class: SRAM, capacity_bits: 16 * 1024, fanout: [{name: PE, size: 4}]}
"""
LAYER = shaped("conv2d", M=8, C=6, P=5, Q=7, R=3, S=3)


@pytest.fixture(scope="module")
def ddr(tmp_path_factory):
    path = tmp_path_factory.mktemp("layouts") / "machine.yaml"
    path.write_text(DDR)
    return load_arch(str(path))


def with_dram(arch, dram):
    """The machine with another DRAM."""
    return replace(arch, levels=(replace(arch.levels[0], dram=dram), *arch.levels[1:]))


def laid(arch, layout):
    """The machine with another layout of its DRAM."""
    return with_dram(arch, replace(arch.levels[0].dram, layout=layout))


def every_layout(arch, workload):
    """All layouts: of a tensor that the machine's file names its own, of others each rank innermost."""
    known = dict(arch.levels[0].dram.layout)
    choices = [
        [(tensor.name, known[tensor.name])]
        if tensor.name in known
        else [(tensor.name, (rank[0].dim,)) for rank in tensor.ranks]
        for tensor in workload.tensors
    ]
    return list(product(*choices))


@settings(max_examples=150 if DEEP else 8)
@given(st.one_of(problems(), uneven_problems()), drams(), st.data())
def test_the_best_of_every_mapping_in_every_layout(problem, dram, data):
    """No other mapping in any layout is better, and the one found has its value on the machine of the result."""
    space, energies, objective, costs = problem
    assume(dram is not None)
    assume(space.size.total <= FEW)
    if dram.row_bits is not None:
        dram = replace(dram, activate_pj=data.draw(st.sampled_from([0.0, 1.0, 100.0])))
    names = data.draw(st.sets(st.sampled_from(sorted(tensor.name for tensor in space.workload.tensors)), max_size=1))
    dram = replace(dram, layout=tuple(pair for pair in dram.layout if pair[0] in names))
    written = with_dram(unstacked(space.arch), dram)
    table = as_written(space.arch, energies)[1]
    options = replace(PROOF, objective=objective)
    study = Study.of(
        space.workload, lambda layer: Problem(written, layer, table, costs, options.goal), "ruby-s", True, options
    )
    layouts = every_layout(written, space.workload)
    spaces = [Mapspace(laid(written, layout), space.workload, "ruby-s", distinct=True) for layout in layouts]
    assume(spaces[0].size.total <= FEW)
    least = [best_of_all(own, energies, objective, costs) for own in spaces]
    if faults := study_faults(study, Request(layouts=True)):
        assert "nothing to choose" in faults[0].message
        assert max(least) == pytest.approx(min(least), rel=1e-12)
        return
    found = explored(study, Request(layouts=True))
    if min(least) == inf:
        assert not found.found
        return
    value = found.problem.goal.minimised[0].of(found.valid_costs)[0]
    assert value == pytest.approx(min(least), rel=1e-8)
    assert found.optimal
    assert found.lower_bound == pytest.approx(min(least), rel=1e-8)
    assert values_of(found.batch, energies, objective, costs)[0] == pytest.approx(value, rel=1e-9)
    assert found.batch.arch.levels[0].dram == found.arch.levels[0].dram
    assert found.layouts.searched == found.layouts.number <= len(layouts)
    chosen = dict(found.layouts.chosen)
    assert {name: chosen[name] for name in dict(dram.layout)} == dict(dram.layout)


def test_only_what_is_below_a_value_is_looked_for(ddr):
    """A mapping just below it is found; else there is none, and nothing is proven beyond the value."""
    best = explore(ddr, LAYER, options=PROOF)
    far = explore(ddr, LAYER, options=SearchOptions(strategy="random", samples=20))
    study = Study.of(LAYER, lambda layer: Problem(ddr, layer, best.table), "ruby-s", False, PROOF)
    task = study.task(0, study.space(0), PROOF)
    found = least_below(task, best.edp * (1 + 1e-6), far.batch, Observers())
    assert (found.lower_bound, found.optimal) == (pytest.approx(best.edp), True)
    assert evaluate(ddr, LAYER, found.best).edp == pytest.approx(best.edp, rel=1e-9)
    for value in (best.edp, best.edp / 2):
        nothing = least_below(task, value, far.batch, Observers())
        assert (nothing.best, nothing.lower_bound, nothing.optimal) == (None, value, True)


def test_a_report_says_which_and_what_is_proven(ddr):
    """The layout as the file takes it; written there, the same mapping costs the same."""
    alone = explore(ddr, LAYER, options=PROOF)
    found = explore(ddr, LAYER, options=PROOF, layouts=True)
    assert found.edp == min(explore(laid(ddr, own), LAYER, options=PROOF).edp for own in every_layout(ddr, LAYER))
    told = result_json(found)["layouts"]
    assert told == {
        "layout": {name: list(dims) for name, dims in found.arch.levels[0].dram.layout},
        "number": 12,
        "searched": 12,
        "given": alone.edp,
    }
    assert told["layout"]["Inputs"] == ["C", "K"]
    text = str(found)
    assert (
        f"the best of 12, a rank of each tensor innermost; with that of the file the EDP found is {alone.edp:.5g}"
        in text
    )
    assert "proof        optimal: no mapping of ruby-s, in any of 12 layouts, has a lower EDP" in text
    again = evaluate(laid(ddr, tuple((name, tuple(dims)) for name, dims in told["layout"].items())), LAYER, found)
    assert again.edp == found.edp
    assert "layouts" not in result_json(alone)


def test_the_hint_is_that_of_the_mapping_found(ddr, monkeypatch):
    """Not that of the best in the layout of the file."""
    monkeypatch.setattr(module, "idle_hint", lambda space, mapped: f"{space.arch.levels[0].dram} {mapped.edp}")
    found = explore(ddr, LAYER, options=PROOF, layouts=True)
    assert found.hint == f"{found.arch.levels[0].dram} {found.edp}"


def test_the_answer_does_not_depend_on_processes(ddr):
    one, two = (explore(ddr, LAYER, options=replace(PROOF, jobs=jobs), layouts=True) for jobs in (1, 2))
    assert (one.edp, one.lower_bound, one.layouts) == (two.edp, two.lower_bound, two.layouts)


def test_ctrl_c_leaves_the_ideal_of_those_not_searched(ddr):
    """The best so far stays, and nothing is claimed of layouts that were not looked at."""
    looks = []

    def stop(_, recorder):
        if recorder.proven.startswith("layout 2"):
            looks.append(recorder.proven)
            raise KeyboardInterrupt

    alone, found = explore(ddr, LAYER, options=PROOF), explore(ddr, LAYER, options=PROOF, layouts=True, progress=stop)
    assert looks
    assert looks[0].startswith("layout 2 of 12: ")
    assert found.edp <= alone.edp
    assert found.layouts.searched == 2
    assert found.statistics.interrupted
    assert not found.optimal
    assert found.lower_bound <= found.ideal.edp
    assert "the best of the 2 searched, a rank" in str(found)


def test_nothing_is_claimed_of_layouts_that_nobody_looked_at(ddr, monkeypatch):
    """Ctrl-C after the layout of the file."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Choice, "_value_in", stop)
    found = explore(ddr, LAYER, options=PROOF, layouts=True)
    assert (found.layouts.searched, found.layouts.number) == (1, 12)
    assert found.layouts.given == found.edp
    assert found.lower_bound == found.ideal.edp < found.edp
    assert not found.optimal


@pytest.mark.parametrize("layouts_before", [0, 10])
def test_a_layout_is_open_until_it_is_searched(ddr, monkeypatch, layouts_before):
    """Ctrl-C while a search is made, of the last layout, too."""
    made, space = [], Study.space

    def stop(study, number):
        made.append(number)
        if len(made) == layouts_before + 2:  # the first is that of the file
            raise KeyboardInterrupt
        return space(study, number)

    monkeypatch.setattr(Study, "space", stop)
    found = explore(ddr, LAYER, options=PROOF, layouts=True)
    assert (found.layouts.searched, found.layouts.number) == (layouts_before + 1, 12)
    assert found.lower_bound == found.ideal.edp < found.edp
    assert not found.optimal
    assert found.statistics.interrupted


def test_ctrl_c_in_the_layout_of_the_file(ddr):
    """Nothing is said of others but that they were not searched."""
    calls = []

    def stop(_, recorder):
        calls.append(recorder)
        if len(calls) == 15:
            raise KeyboardInterrupt

    found = explore(ddr, LAYER, options=PROOF, layouts=True, progress=stop)
    assert (found.layouts.searched, found.layouts.number) == (1, 12)
    assert found.lower_bound is None or found.lower_bound <= found.ideal.edp
    assert not found.optimal
    assert found.statistics.interrupted


def test_a_layout_left_open_leaves_the_proof_open(ddr):
    """What the effort leaves open of one layout is open of all."""
    found = explore(ddr, LAYER, options=replace(PROOF, effort="mappings=1000,steps=60000"), layouts=True)
    assert found.layouts.searched == 12
    assert not found.optimal
    assert found.lower_bound < found.edp
    assert Ended.EFFORT in found.statistics.ended


@pytest.mark.parametrize(
    ("options", "more", "messages"),
    [
        ({"strategy": "random"}, {}, ["needs a proof: give --search optimal; got random"]),
        ({"objective": "delay,energy"}, {}, ["is about the best by one objective; got delay,energy"]),
        ({"front": "energy,delay"}, {}, ["is about the best by one objective; got edp with a front"]),
        ({"certify": True}, {}, ["a certificate is about one layout"]),
        ({"bound": 1.0}, {}, ["leave --bound out"]),
        ({"budget": "2s", "strategy": "auto"}, {}, ["give --time-limit, for each of them"]),
        ({}, {"transfer_only": True, "start_from": "some"}, ["transfer-only: is of one layout: leave out layouts"]),
    ],
)
def test_what_does_not_go_with_it_is_refused(ddr, options, more, messages):
    with pytest.raises(InputError) as error:
        explore(ddr, LAYER, options=replace(PROOF, **options), layouts=True, **more)
    for message in messages:
        assert message in str(error.value)


def test_every_fault_is_said(ddr):
    """A machine without bursts, a network, and nothing to choose."""
    with pytest.raises(InputError, match="needs a machine with a section dram; eyeriss_like has none"):
        explore("eyeriss_like", LAYER, layouts=True)
    with pytest.raises(InputError, match="is about one layer: name it, as NETWORK/LAYER"):
        explore(ddr, load_workload("alexnet"), layouts=True)
    dims = {tensor.name: (tensor.ranks[0][0].dim,) for tensor in LAYER.tensors}
    with pytest.raises(InputError, match="has nothing to choose: the layout of every tensor of conv2d"):
        explore(laid(ddr, tuple(dims.items())), LAYER, layouts=True)


def test_layouts_that_put_words_into_the_same_bursts_are_one():
    """Of a burst that holds a whole tensor there is nothing to choose; bursts of a word differ by their rows."""
    layer, arch = shaped("matmul", M=4, N=4, K=4), load_arch("toy_6pe_linear")
    whole, words = (with_dram(arch, dram) for dram in (Dram(16 * 64), Dram(16, 16 * 4)))
    with pytest.raises(InputError, match="nothing to choose"):
        explore(whole, layer, layouts=True)
    assert explore(words, layer, "pfm", layouts=True).layouts.number == 8


def run(*arguments):
    """Run the command in this process."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_on_the_command_line(tmp_path):
    """The object has it, alone and in the folder; what it does not go with is said at once."""
    path = tmp_path / "ddr.yaml"
    path.write_text(DDR)
    found = run(path, "alexnet/conv3", "--layouts", "--json", "--effort", "quick", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert told["layouts"]["searched"] == told["layouts"]["number"] > 1
    assert told["layouts"]["given"] > told["edp"]
    assert json.loads((tmp_path / "out" / "stats.json").read_text())["layouts"] == told["layouts"]
    refused = run(
        *(path, "alexnet/conv3", "--layouts", "--size", "--transfer-only", "--start-from", path),
        *("--store", tmp_path / "s.jsonl"),
    )
    assert (refused.exit_code, refused.stdout) == (2, "")
    for words in (
        "size: does not go with --layouts: leave one out",
        "store: does not go with --layouts: leave one out",
        "transfer-only: does not go with --layouts: leave one out",
    ):
        assert words in refused.stderr
