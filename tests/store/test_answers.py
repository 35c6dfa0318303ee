"""Answers of a cost model in a store."""

import json
import shlex
import sys
import warnings

import pytest
from ruby_map.mapper import SearchOptions, explore
from ruby_map.mapper.exploration import store_link as held
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.problem import Goal
from ruby_map.mapper.proof import proposals
from ruby_map.mapper.runtime import Checkpoint, StoreWarning
from ruby_map.mapper.search import Task
from ruby_map.mapper.store import Store, export_lines, merge_lines, plain_mappings, read_mappings
from ruby_map.workloads import InputError

from .test_store import LAYER, toy

ANSWERS = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    open(sys.argv[1], 'a').write(line)
    value = question['figures']['energy_pj'] + 7 * question['figures']['cycles']
    print(json.dumps('invalid' if question['figures']['cycles'] % 7 == 0 else value), flush=True)
"""


@pytest.fixture(autouse=True)
def a_short_evolution_by_our_model(monkeypatch):
    """Before our model proposes."""
    monkeypatch.setattr(proposals, "GENERATIONS", 3)


@pytest.fixture
def command(tmp_path):
    """A cost model that notes its questions."""
    return shlex.join([sys.executable, "-c", ANSWERS, str(tmp_path / "asked")])


def asked(tmp_path):
    """The questions so far, each with what it should be answered; none where it is refused."""
    lines = map(json.loads, (tmp_path / "asked").read_text().splitlines())
    figures = [line["figures"] for line in lines]
    return [None if each["cycles"] % 7 == 0 else each["energy_pj"] + 7 * each["cycles"] for each in figures]


def search(command, store, **more):
    options = SearchOptions(**({"samples": 30, "cost_model": command} | more))
    return explore(*LAYER, "ruby-s", options, store=store)


def problem(command):
    return toy(goal=Goal(("cost_model",), model=command))


def test_each_answer_is_held_and_the_best_begins_the_next_search(tmp_path, command):
    """Refused mappings are not held. What begins is asked about again; nothing held is believed."""
    with Store(tmp_path / "s") as store:
        first = search(command, store)
        answers = [value for value in asked(tmp_path) if value is not None]
        rows = store.rows(problem(command))
        assert sorted(row.values[0] for row in rows) == pytest.approx(sorted(answers))
        assert rows[0].values[0] == first.answer.value == min(answers)
        batch, _ = read_mappings(problem(command).arch, problem(command).workload, [rows[0].mapping])
        assert plain_mappings(batch) == plain_mappings(first.batch)
        again = search(command, store, samples=1)
        assert again.answer.value == first.answer.value
        assert again.known.since == rows[0].date
        assert len(asked(tmp_path)) == 31
        assert store.rows(problem("another")) == []
        assert store.rows(toy()) == []  # our own model is another


def test_answers_move_to_another_store(tmp_path, command):
    """As lines; a line without its answer, or with one of our model, is refused."""
    with Store(tmp_path / "s") as store, Store(tmp_path / "t") as other:
        search(command, store)
        lines = list(export_lines(store))
        (tmp_path / "lines").write_text("\n".join(lines))
        merge_lines(other, tmp_path / "lines")
        assert other.rows(problem(command)) == store.rows(problem(command))
        (tmp_path / "lines").write_text("\n".join(line.replace('"answer"', '"cost"') for line in lines))
        with pytest.raises(InputError):
            merge_lines(other, tmp_path / "lines")
        without = [json.dumps({k: v for k, v in json.loads(line).items() if k != "answer"}) for line in lines]
        (tmp_path / "lines").write_text("\n".join(without))
        with pytest.raises(InputError, match="answer: the values of this problem are a cost model's"):
            merge_lines(other, tmp_path / "lines")


def test_a_store_that_fails_ends_no_search(tmp_path, command, monkeypatch):
    """The answers are asked for and shown; a warning says that they are not added."""
    monkeypatch.setattr(held, "EVERY", 0.0)

    def add(store, *_):
        raise store.file.fault("disk full")

    monkeypatch.setattr(Store, "add", add)
    with Store(tmp_path / "s") as store:
        with pytest.warns(StoreWarning, match="the mappings found are not added: .*disk full"):
            found = search(command, store)
        assert found.statistics.evaluated == 30
        assert not store.complete


def test_ctrl_c_while_an_answer_is_added_ends_the_search(tmp_path, command, monkeypatch):
    """It adds the answers so far, and shows the best of them."""
    monkeypatch.setattr(held, "EVERY", 0.0)
    real, calls = Store.add, []

    def add(*given):
        calls.append(given)
        if len(calls) == 5:
            raise KeyboardInterrupt
        real(*given)

    monkeypatch.setattr(Store, "add", add)
    with Store(tmp_path / "s") as store, warnings.catch_warnings():
        warnings.simplefilter("error")
        found = search(command, store)
        assert found.statistics.interrupted
        assert found.answer.value == store.best(problem(command)).values[0]
        assert len(store.rows(problem(command))) == 5


def test_a_resumed_search_adds_what_was_answered_before(tmp_path, command):
    """A store that was not there the first time has all answers."""
    options = SearchOptions(samples=20, cost_model=command)
    with Checkpoint(tmp_path / "out", {"what": 1}) as checkpoint:
        explore(*LAYER, "ruby-s", options, checkpoint=checkpoint)
    assert len(asked(tmp_path)) == 20
    with Checkpoint(tmp_path / "out", {"what": 1}, resume=True) as checkpoint, Store(tmp_path / "s") as store:
        more = SearchOptions(samples=25, cost_model=command)
        explore(*LAYER, "ruby-s", more, checkpoint=checkpoint, store=store)
        answers = [value for value in asked(tmp_path) if value is not None]
        assert len(asked(tmp_path)) == 25
        assert len(store.rows(problem(command))) == len(answers)


def test_the_problem_of_a_task_names_its_model(command):
    """As `explore` does."""
    own = toy()
    task = Task.of(Mapspace(own.arch, own.workload), own.energies, SearchOptions(cost_model=command))
    assert task.problem.digest == problem(command).digest
