"""Effort is counted: neither the clock, nor the number of processes, nor an interruption changes an answer."""

import itertools
import json
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import pytest
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.exploration import explore
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.problem import Effort
from ruby_map.mapper.problem.effort import EFFORTS, read_effort
from ruby_map.mapper.proof import effort_used, policy, rounds
from ruby_map.mapper.report import result_json
from ruby_map.mapper.search.evolution import evolve
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome.ended import Ended
from ruby_map.mapper.searchers import option_faults
from ruby_map.workloads import InputError, load_workload

from ..conftest import DEEP
from ..searches import search

FEW = Effort(4096, 400_000)
LAYERS = {
    "a proof that ends": ("eyeriss_like", "resnet50/fc", "pfm"),
    "a proof that stays open": ("eyeriss_like", "resnet50/conv3_x_3x3", "ruby"),
    "no proof": ("simba_like", "resnet50/conv1", "ruby"),
}


def clock(patch, pace):
    """A clock that goes on by `pace` seconds each time that a search looks at it."""
    ticks = itertools.count()
    fake = SimpleNamespace(monotonic=lambda: next(ticks) * pace, time=lambda: next(ticks) * pace)
    for module in (effort_used, evolve):
        patch.setattr(module, "time", fake)


def answer(result):
    """All of a result but its seconds."""
    text = result_json(result)
    for each in (text, *text.get("layers", [])):
        del each["search"]["seconds"]
    return json.dumps(text)


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("objective", ["edp", "delay,energy"])
def test_the_answer_does_not_depend_on_the_clock(layer, objective, monkeypatch):
    """A machine a million times slower gives the same answer, to the byte but for seconds."""
    options = SearchOptions(objective=objective, effort=FEW)
    answers = set()
    for pace in (1e-9, 1e3):
        clock(monkeypatch, pace)
        answers.add(answer(explore(*layer, options)))
    assert len(answers) == 1


@pytest.mark.parametrize("steps", [200_000, 700_000, *([1_200_000] if DEEP else [])])
def test_nor_on_the_number_of_processes(steps, monkeypatch):
    """Wherever effort ends a proof whose parts are searched in rounds, two processes stop where one does."""
    monkeypatch.setattr(policy, "ALONE", 500)
    monkeypatch.setattr(rounds, "NODES", 2**10)
    monkeypatch.setattr(rounds, "FEWEST", 2**6)
    options = SearchOptions(strategy="optimal", effort=Effort(8192, steps))
    one, two = (explore("gemmini_like", "vgg16/conv3_2", "ruby-s", replace(options, jobs=jobs)) for jobs in (1, 2))
    assert answer(one) == answer(two)
    assert one.statistics.steps >= steps


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("seed", [0, 1])
def test_auto_is_never_behind_evolve(layer, seed):
    """Of the same effort its evolution sees the same mappings, and the proof can only add to them."""
    options = SearchOptions(seed=seed, effort=Effort(6144, 300_000))
    auto, evolved = explore(*layer, options), explore(*layer, replace(options, strategy="evolve"))
    assert auto.edp <= evolved.edp
    assert evolved.statistics.evaluated <= 6144


class Interrupted:
    """A checkpoint in memory; Ctrl-C comes at a save."""

    final = False

    def __init__(self, saves):
        self.saves, self.state = iter(range(saves)), None

    def load(self):
        return json.loads(self.state) if self.state else None

    def save(self, state):
        self.state = json.dumps(state)

    def offer(self, state):
        if next(self.saves, None) is None:
            self.saves = itertools.count()
            raise KeyboardInterrupt
        self.save(state())


@lru_cache
def searched(layer):
    """Mapspace, energies and options of a search of few steps, and its outcome."""
    arch, workload = load_arch(layer[0]), load_workload(layer[1])
    space, table, options = Mapspace(arch, workload, layer[2]), energy_table(arch), SearchOptions(effort=FEW)
    return space, table, options, search(space, table, options)


@pytest.mark.parametrize("saves", [0, 2])
@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_a_resumed_run_ends_with_the_same_mapping(layer, saves):
    """Not only with one of the same value: of several equal ones it finds the same first."""
    (space, table, options, whole), part = searched(layer), Interrupted(saves)
    first = search(space, table, options, part=part)
    assert first.statistics.interrupted
    resumed = search(space, table, options, part=part)
    assert space.index(resumed.best) == space.index(whole.best)
    assert resumed.lower_bound == whole.lower_bound
    assert resumed.statistics.ended == whole.statistics.ended
    assert (resumed.statistics.evaluated, resumed.statistics.steps) == (
        whole.statistics.evaluated,
        whole.statistics.steps,
    )


def test_more_effort_goes_on_and_keeps_what_was_found():
    """A finished search goes on where the effort is larger; with less, the larger one's answer stays."""
    arch = load_arch("eyeriss_like")
    space, table = Mapspace(arch, load_workload("resnet50/conv3_x_3x3"), "ruby"), energy_table(arch)
    part = Interrupted(10**9)
    little = search(space, table, SearchOptions(effort=Effort(2048, 100_000)), part=part)
    more = search(space, table, SearchOptions(effort=Effort(4096, 300_000)), part=part)
    assert little.statistics.stopped_by == more.statistics.stopped_by == "effort"
    assert more.statistics.steps > little.statistics.steps
    assert more.lower_bound >= little.lower_bound
    again = search(space, table, SearchOptions(effort=Effort(2048, 100_000)), part=part)
    assert space.index(again.best) == space.index(more.best)


def test_a_proof_ends_once_it_is_as_near_as_asked():
    """With the bound that it has then; asked for a smaller gap it goes on, for a larger one it has nothing to do."""
    arch = load_arch("eyeriss_like")
    space, table = Mapspace(arch, load_workload("resnet50/conv3_x_3x3"), "ruby-s"), energy_table(arch)
    part, ask = Interrupted(10**9), lambda effort: SearchOptions(strategy="optimal", effort=effort)
    near = search(space, table, ask("gap=0.3"), part=part)
    value = near.statistics.trace[-1][1]
    assert near.statistics.ended == (Ended.CLOSE,)
    assert value * 0.7 <= near.lower_bound < value
    assert search(space, table, ask("gap=0.4"), part=part).statistics.steps == near.statistics.steps
    closed = search(space, table, ask(""), part=part)
    assert closed.optimal
    assert closed.statistics.steps > near.statistics.steps


def test_efforts_are_names_or_numbers():
    """As text they are those of the command line; equal efforts make equal options."""
    assert SearchOptions(effort=EFFORTS["quick"]) == SearchOptions(effort="quick")
    assert SearchOptions(effort=Effort(1000, 2000)).effort == "mappings=1000,steps=2000"
    assert SearchOptions(effort="mappings=1000, steps=2000").limits == Effort(1000, 2000)
    assert SearchOptions(effort="quick", time_limit=3).limits == replace(EFFORTS["quick"], seconds=3.0)
    assert read_effort("") == Effort()
    assert SearchOptions(effort="gap=0.1").limits == Effort(gap=0.1)
    assert EFFORTS["quick"].steps < EFFORTS["normal"].steps < EFFORTS["thorough"].steps


@pytest.mark.parametrize(
    "text",
    ["fast", "mappings", "mappings=x", "mappings=0", "steps=-1", "seconds=0", "seconds=nan", "gap=1", "gap=-0.1"],
)
def test_others_are_refused(text):
    """With the choices, in the user's words."""
    with pytest.raises(InputError):
        read_effort(text)
    assert [fault.source for fault in option_faults(SearchOptions(effort=text))] == ["effort"]


def test_what_time_cuts_says_so(monkeypatch):
    """Also where a proof had not begun: the answer may depend on the machine."""
    clock(monkeypatch, 1e-3)
    result = explore("simba_like", "resnet50/conv3_x_3x3", "ruby", time_limit=0.1)
    assert result.statistics.ended == (Ended.TIME_LIMIT,)
    assert "the answer may depend on the machine" in str(result)
