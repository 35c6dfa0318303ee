"""Searches by a cost model: a command that is asked for the value of each mapping."""

import json
import os
import shlex
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapping import read_mapping
from ruby_map.mapper.mapspace import Mapspace
from ruby_map.mapper.model import evaluate, recount, validity
from ruby_map.mapper.problem import OBJECTIVES
from ruby_map.mapper.proof import proposals
from ruby_map.mapper.runtime import Part
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.cost_model import nest_keys
from ruby_map.mapper.search.cost_model.question import figures_of, questions, value_of
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.outcome import Ended
from ruby_map.mapper.searchers import STRATEGIES, search
from ruby_map.mapper.searchers.option_faults import option_faults
from ruby_map.workloads import Document, InputError, load_workload, shaped

from ..conftest import DEEP
from ..small_problems import best_of_all, problems
from .test_tables import Kept, layer


@pytest.fixture(autouse=True, scope="module")
def a_short_evolution_by_our_model():
    """Before our model proposes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals, "GENERATIONS", 5)
        yield


ASKING = [name for name, row in STRATEGIES.items() if row.asks]
EDP = "answer(question['figures']['edp'])"
START = """
import json, os, sys, time
def answer(value): print(json.dumps(value), flush=True)
for number, line in enumerate(sys.stdin):
    question = json.loads(line)
    """


def model(body, log=None):
    """The command of a cost model with this body for each question; it notes each question in the file `log`."""
    note = f"open({str(log)!r}, 'a').write(line); " if log else ""
    return shlex.join([sys.executable, "-c", START + note + body])


def task(body, mapspace="pfm", **more):
    """A task with a cost model."""
    given = {"strategy": "random", "samples": 30, "cost_model": model(body)} | more
    return Task.of(*layer(mapspace), SearchOptions(**given))


def toy(name):
    """A task with few nests, of which each is found again and again."""
    arch = load_arch("toy_6pe_linear")
    options = SearchOptions(strategy=name, victory=None, give_up=20_000, cost_model=model(EDP))
    return Task.of(Mapspace(arch, load_workload("rank1_100"), "pfm"), energy_table(arch), options)


def told(outcome):
    """All that a search says but its time."""
    best = outcome.best
    batch = best and (best.factors.tolist(), best.order.tolist(), best.keep.tolist())
    return batch, replace(outcome.statistics, seconds=0.0), outcome.answer


@pytest.mark.parametrize("name", ASKING)
def test_the_same_answer_for_any_number_of_processes(name):
    """Even where one takes longer than another; the best is the least of what was answered."""
    slow = "time.sleep(0.004 * (os.getpid() % 3)); " + EDP
    answered = {}

    def note(jobs):
        own = answered[jobs] = []
        return Observers(answered=lambda batch, value: own.append((nest_keys(batch)[0], value)))

    tasks = {jobs: task(slow, strategy=name, seed=3, jobs=jobs) for jobs in (1, 3)}
    found = {jobs: told(search(each, note(jobs))) for jobs, each in tasks.items()}
    assert found[1] == found[3]
    assert answered[1] == answered[3]
    assert len(dict(answered[1])) == 30
    assert found[1][2].value == min(value for _, value in answered[1])
    assert not found[1][2].failure


@pytest.mark.parametrize("name", ASKING)
@settings(max_examples=3 if DEEP else 2)
@given(problems(), st.integers(0, 9))
def test_by_our_own_figures_a_search_finds_no_better_than_the_best_of_all(name, problem, seed):
    """The value is that of the mapping; an exhaustive search that asks about all finds the best."""
    space, table, objective, costs = problem
    least = best_of_all(space, table, objective, costs)
    assume(np.isfinite(least) and space.size.total <= 200)
    column = OBJECTIVES[objective].column
    options = SearchOptions(strategy=name, seed=seed, valid=300, give_up=3000, victory=None,
                            cost_model=model(f"answer(question['figures']['{column}'])"))  # fmt: skip
    found = search(Task.of(space, table, options, costs), Observers())
    if found.best is None:  # what prunes may leave nothing
        assert found.statistics.ended == (Ended.NOTHING_PROPOSED,)
        return
    assert validity(found.best)[0] == 0
    exact = evaluate(found.best, table, costs, recount(found.best))
    assert found.answer.value == pytest.approx(float(OBJECTIVES[objective].of(exact)[0]), rel=1e-12)
    assert found.answer.value >= least * (1 - 1e-9)
    if name == "exhaustive":
        assert found.answer.value == pytest.approx(least, rel=1e-9)
    if name == "auto":  # our model proposes, and it is the same
        assert found.answer.value <= least * 1.05


def test_a_nest_is_asked_about_once(tmp_path):
    """Also where loops of bound 1 stand in another order; invalid mappings are never asked about."""
    log, given = tmp_path / "log", toy("random")
    seen = set[str]()
    watch = Observers(answered=lambda batch, value: seen.update(nest_keys(batch)))
    found = search(replace(given, options=replace(given.options, samples=2000, cost_model=model(EDP, log))), watch)
    nests = [json.dumps([(line["nest"], line["kept"])]) for line in map(json.loads, log.read_text().splitlines())]
    assert len(nests) == len(set(nests)) == found.statistics.evaluated
    space = given.space
    every = space.at(range(space.size.total))
    assert set(nest_keys(every.take(np.flatnonzero(validity(every) == 0)))) == seen


def test_the_line_of_a_mapping_is_the_mapping():
    """Its entries are read as the same mapping, its nest multiplies to the sizes, its figures are those of `--json`."""
    space, table = layer("ruby-s")
    given = Task.of(space, table, SearchOptions())
    batch = space.sample(np.random.default_rng(1), 200)
    batch = batch.take(np.flatnonzero(validity(batch) == 0)[:20])
    for number, line in enumerate(questions(given, batch)):
        one, said = batch.take([number]), json.loads(line)
        assert "\n" not in line
        again = read_mapping(Document("line", said["mapping"], {}), space.arch, space.workload)
        assert nest_keys(again) == nest_keys(one)
        for d, dim in enumerate(space.workload.dims):
            rounds = [loop["last"] - 1 for loop in said["nest"] if loop["dim"] == dim]
            bounds = [loop["bound"] for loop in said["nest"] if loop["dim"] == dim]
            last = 0
            for bound, digit in zip(bounds, rounds, strict=True):
                last = last * bound + digit
            assert last + 1 == said["workload"]["sizes"][dim] == space.workload.sizes[d]
        costs = evaluate(one, table, None, recount(one))
        figures = said["figures"]
        assert figures["edp"] == float(costs.edp[0]) == pytest.approx(figures["energy_pj"] * figures["cycles"])
        levels = figures["levels"].values()
        assert sum(level["energy_pj"] for level in levels) + figures["compute_energy_pj"] == pytest.approx(
            figures["energy_pj"]
        )
        assert said["kept"] == {name: list(level["tensors"]) for name, level in figures["levels"].items()}
    assert figures_of(given, batch.take([])) == []


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "is not JSON"),
        ("1 2", "is not JSON"),
        ("NaN", 'must be finite, or "invalid"'),
        ("-Infinity", 'must be finite, or "invalid"'),
        ("1e999", 'must be finite, or "invalid"'),
        ("1" + "0" * 400, 'must be finite, or "invalid"'),
        ("-1", "must be 0 or more"),
        ("true", 'must be a number, or "invalid"'),
        ("null", 'must be a number, or "invalid"'),
        ('"12"', 'must be a number, or "invalid"'),
        ("[" * 5000, "is not JSON"),
    ],
)
def test_an_answer_that_is_none_is_told(answer, fault):
    with pytest.raises(ValueError, match=f"^{fault.replace('"', '.')}$"):
        value_of(answer)


def test_answers_are_numbers_or_invalid():
    assert [value_of(text) for text in ("0", "2.5e3", " 7 ", '"invalid"')] == [0.0, 2500.0, 7.0, np.inf]


FAILING = [  # what the model does from its fourth question on, the reason, whether the first three are recorded
    ("print('what?', flush=True)", "its answer is not JSON; got 'what?'"),
    ("answer(float('nan'))", "its answer must be finite"),
    ("answer(-1)", "its answer must be 0 or more"),
    ("print(flush=True)", "its answer is not JSON; got ''"),
    ("sys.stdout.write('1\\n2\\n'); sys.stdout.flush()", "it answered more than one line: '1', then '2\\n'"),
    ("print('7' * 20000, flush=True)", "it answered more than 10,000 bytes for one mapping: '777"),
    ("sys.exit(4)", "no answer for 3 mappings in a row; last it ended with status 4"),
    ("os.kill(os.getpid(), 9)", "no answer for 3 mappings in a row; last it was ended by SIGKILL"),
    ("os.close(1); time.sleep(60)", "no answer for 3 mappings in a row; last it closed its standard output"),
    ("time.sleep(60)", "no answer for 3 mappings in a row; last it did not answer within 0.3 s"),
]


@pytest.mark.parametrize(
    ("does", "why", "jobs"),
    [*((*row, 1) for row in FAILING), *((*row, 3) for row in FAILING[::4])],
)
def test_a_model_that_fails_ends_the_search_with_the_best_so_far(tmp_path, does, why, jobs):
    """The message has what was sent and the last lines of standard error; no process is left."""
    count, pids = tmp_path / "count", tmp_path / "pids"
    body = (
        f"open({str(pids)!r}, 'a').write(f'{{os.getpid()}}\\n'); "
        f"open({str(count)!r}, 'a').write('.'); sys.stderr.write('about to\\n'); "
        f"exec({EDP!r} if os.path.getsize({str(count)!r}) <= 3 else {does!r})"
    )
    began = time.monotonic()
    found = search(task(body, jobs=jobs, cost_timeout=0.3 if does == "time.sleep(60)" else 20), Observers())
    assert time.monotonic() - began < 15
    assert found.statistics.ended == (Ended.MODEL_FAILED,)
    assert why in found.answer.failure
    assert "it was sent: {" in found.answer.failure
    assert "about to" in found.answer.failure
    if jobs == 1:
        assert found.statistics.valid == 3
        assert found.answer.value is not None
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_a_mapping_without_an_answer_is_asked_about_again_then_refused(tmp_path):
    """A process that dies once in a while is replaced; a single mapping that kills it is refused for its own reason."""
    flag = tmp_path / "flag"
    once = f"exec({EDP!r}) if number != 2 or os.path.exists({str(flag)!r}) else (open({str(flag)!r}, 'w'), sys.exit(1))"
    every = search(task(EDP), Observers())
    assert told(search(task(once), Observers()))[:2] == told(every)[:2]
    dies = f"sys.exit(1) if question['figures']['edp'] == {every.answer.value} else {EDP}"
    found = search(task(dies), Observers())
    assert found.statistics.invalid["no answer"] >= 1
    assert found.answer.value > every.answer.value
    assert found.statistics.evaluated == 30


def test_a_model_that_says_more_than_it_was_asked_is_noticed():
    """Its answers may be of other mappings. How soon depends on which process runs when."""
    found = search(task("answer(1); time.sleep(0.02); answer(1)"), Observers())
    assert found.statistics.ended == (Ended.MODEL_FAILED,)
    assert found.statistics.evaluated < 30
    late = search(task(f"{EDP}; number == 4 and (time.sleep(0.05), answer(1))", samples=5), Observers())
    assert "answers may be of other mappings" in late.answer.failure


@pytest.mark.parametrize("body", ["sys.stderr.write('x' * 300000 + '\\n'); " + EDP, EDP + "; sys.exit()"])
def test_a_model_may_write_much_to_standard_error_and_may_end_after_each_answer(body):
    found = search(task(body, samples=10), Observers())
    assert told(found)[:2] == told(search(task(EDP, samples=10), Observers()))[:2]
    assert not found.answer.failure


def test_what_it_refuses_has_its_own_reason():
    found = search(task("answer('invalid')"), Observers())
    assert (found.best, found.answer.value, found.answer.failure) == (None, None, "")
    assert found.statistics.invalid["refused by the cost model"] == found.statistics.evaluated == 30
    some = search(task(f"answer('invalid') if number % 2 else {EDP}"), Observers())
    assert some.statistics.valid == some.statistics.invalid["refused by the cost model"] == 15


@pytest.mark.parametrize("name", ASKING)
def test_a_search_goes_on_from_its_answers(name, tmp_path):
    """Interrupted and resumed, it says what it says when it is not, and asks about no mapping twice."""
    log, part, steps = tmp_path / "log", Kept(), iter(range(100))
    given = task(EDP, strategy=name, cost_model=model(EDP, log), seed=5)
    whole = search(given, Observers())
    log.unlink()

    def interrupt(recorder):
        if next(steps) == 11:
            raise KeyboardInterrupt

    stopped = search(given, Observers(interrupt, part))
    assert stopped.statistics.ended == (Ended.INTERRUPTED,)
    assert stopped.best is not None
    assert told(search(given, Observers(part=part))) == told(whole)
    assert len(log.read_text().splitlines()) <= 30 + 1  # the one in flight at Ctrl-C comes again
    assert told(search(given, Observers(part=part))) == told(whole)  # nothing is asked any more
    assert len(log.read_text().splitlines()) <= 30 + 1
    longer = Task.of(given.space, given.table, replace(given.options, samples=35))
    assert search(longer, Observers(part=part)).statistics.evaluated == 35
    assert len(log.read_text().splitlines()) <= 35 + 1


def test_a_time_limit_ends_even_a_question(tmp_path):
    """In the middle of an answer, and again at once where the search goes on with the same limit."""
    part: Part = Kept()
    given = task("number > 3 and time.sleep(60); " + EDP, time_limit=1.0, samples=None)
    for most in (3.0, 0.5):
        began = time.monotonic()
        found = search(given, Observers(part=part))
        assert time.monotonic() - began < most
        assert found.statistics.ended == (Ended.TIME_LIMIT,)
        assert found.statistics.valid == 4


def test_it_ends_where_nothing_is_new():
    """A small mapspace has few nests, and random search draws them again and again."""
    found = search(toy("random"), Observers())
    assert found.statistics.ended == (Ended.NOTHING_NEW,)
    auto = search(toy("auto"), Observers())
    assert auto.statistics.ended == (Ended.SETTLED,)
    assert auto.answer.value == found.answer.value
    assert auto.statistics.evaluated <= found.statistics.evaluated


def test_a_command_that_cannot_be_started_is_bad_input(tmp_path):
    missing = tmp_path / "model"
    missing.write_text("no program")
    missing.chmod(0o755)
    with pytest.raises(InputError, match="cost-model: cannot be started: .*Exec format error"):
        search(task(EDP, cost_model=str(missing)), Observers())


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"cost_model": "nowhere/to/be/found"}, ["cost-model"]),
        ({"cost_model": ""}, ["cost-model"]),
        ({"cost_model": "model 'of"}, ["cost-model"]),
        ({"cost_model": 3}, ["cost-model"]),
        ({"cost_model": [sys.executable], "cost_timeout": 0}, ["cost-timeout"]),
        ({"cost_model": [sys.executable], "strategy": "optimal"}, ["search"]),
        ({"cost_model": [sys.executable], "objective": "energy", "front": "energy,delay"}, ["objective", "front"]),
        ({"cost_model": [sys.executable], "strategy": "random", "engine": "jax"}, ["engine"]),
        ({"cost_model": [sys.executable], "bound": 1, "certify": True}, ["bound", "certificate"]),
        ({"cost_model": [sys.executable], "budget": "10s"}, ["budget"]),
    ],
)
def test_what_does_not_go_with_a_cost_model_is_told_at_once(more, named):
    assert [fault.source for fault in option_faults(SearchOptions(**more))] == named


def test_a_process_that_cannot_be_replaced_keeps_the_best(tmp_path):
    """The command was there at the beginning."""
    program = tmp_path / "model"
    text = f"#!{sys.executable}\n{START}answer(number) if number < 3 else (os.remove({str(program)!r}), sys.exit(1))\n"
    program.write_text(text)
    program.chmod(0o755)
    found = search(task(EDP, cost_model=str(program)), Observers())
    assert "cannot be started" in found.answer.failure
    assert (found.answer.value, found.statistics.valid) == (0.0, 3)


def test_a_command_is_the_same_as_text_and_as_words():
    assert SearchOptions(cost_model=["a b", "c"]).cost_model == "'a b' c"


@pytest.mark.parametrize("name", ["anneal", "random"])
def test_time_ends_a_search_that_has_nothing_new_to_ask(name):
    """A mapspace of a few mappings, all of them known soon."""
    arch = load_arch("toy_6pe_linear")
    space = Mapspace(arch, shaped("matmul", M=2, N=1, K=1), "ruby-s")
    options = SearchOptions(name, settings="chains=1" if name == "anneal" else "", time_limit=1.0, victory=None,
                            cost_model=model(EDP))  # fmt: skip
    found = search(Task.of(space, energy_table(arch), options), Observers())
    assert set(found.statistics.ended) <= {Ended.TIME_LIMIT, Ended.NOTHING_NEW}
    assert found.statistics.seconds < 3
    if name == "random":  # the victory rule counts mappings that are known
        options = replace(options, time_limit=None, victory=50)
        assert search(Task.of(space, energy_table(arch), options), Observers()).statistics.ended == (Ended.NOTHING_NEW,)
