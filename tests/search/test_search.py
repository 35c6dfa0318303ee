"""The search: stop rules mapping by mapping, one answer for any number of processes, and why nothing was found."""

import gc
import inspect
import itertools
import json
import operator
import os
import signal
import weakref
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import wrap_non_picklable_objects
from joblib.externals.loky import process_executor
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper.mapping.batch import ChainTable
from ruby_map.mapper.mapspace import chain_tables
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.model.cost import REASONS
from ruby_map.mapper.runtime.parallel import in_order
from ruby_map.mapper.search import RandomDraws, Task
from ruby_map.mapper.search.options import SearchOptions
from ruby_map.mapper.search.recorder import Recorder, Scores, Stop
from ruby_map.mapper.search.score import ScoringTask
from ruby_map.mapper.search.score import score_exactly as score
from ruby_map.workloads import load_workload


def scores(values, chunk=0):
    """Scores of one chunk; None is an invalid mapping, for its capacity."""
    reasons = np.array([REASONS.index("capacity") if value is None else 0 for value in values], np.int8)
    return Scores.of(chunk, reasons, np.array([[np.inf if value is None else value] for value in values], float))


def slow_record(values, stop):
    """The rules said mapping by mapping: (evaluated, valid, best, its place, why it ended)."""
    best, place, since, dry, valid, idle, mark = np.inf, None, 0, 0, 0, 0, np.inf
    for number, value in enumerate(values, 1):
        if value is None:
            dry += 1
        else:
            valid, dry, since, idle = valid + 1, 0, since + 1, idle + 1
            if value < best:
                best, place, since = value, number - 1, 0
                if stop.patience and value <= mark * (1 - stop.patience[0]):
                    mark, idle = value, 0
        for met, name in (
            (stop.give_up is not None and dry >= stop.give_up, "nothing valid in a row"),
            (stop.patience is not None and idle >= stop.patience[1], "patience"),
            (stop.samples is not None and number >= stop.samples, "samples"),
            (stop.target is not None and best <= stop.target, "target"),
            (stop.valid is not None and valid >= stop.valid, "valid"),
            (stop.victory is not None and since >= stop.victory, "victory"),
        ):
            if met:
                return number, valid, best, place, name
    return len(values), valid, best, place, ""


def record_in_chunks(values, size, stop, through=lambda recorder: recorder):
    """The recorder after `values` in chunks of `size`; `through` takes it and gives it back between two chunks."""
    recorder = Recorder(stop)
    for chunk, start in enumerate(range(0, len(values), size)):
        recorder.record(scores(values[start : start + size], chunk), 0.0)
        if recorder.statistics.stopped_by:
            break
        recorder = through(recorder)
    return recorder


LIMIT = st.none() | st.integers(1, 8)
RULES = st.builds(
    Stop,
    victory=LIMIT,
    samples=st.none() | st.integers(1, 50),
    give_up=LIMIT,
    valid=st.none() | st.integers(1, 40),
    patience=st.none() | st.tuples(st.sampled_from([0.01, 0.2, 0.5]), st.integers(1, 8)),
    target=st.none() | st.integers(1, 4),
)
VALUES = st.lists(st.none() | st.integers(1, 12), max_size=60)


@given(values=VALUES, size=st.integers(1, 20), stop=RULES)
def test_rules_apply_mapping_by_mapping_whatever_the_chunks(values, size, stop):
    """Cutting the same mappings into chunks of any size changes neither the end nor the best nor the counts."""
    recorder = record_in_chunks(values, size, stop)
    found = recorder.statistics
    place = None if recorder.where is None else recorder.where[0] * size + recorder.where[1]
    assert (found.evaluated, found.valid, recorder.best, place, found.stopped_by) == slow_record(values, stop)
    assert found.valid + sum(found.invalid.values()) == found.evaluated


@given(values=VALUES, size=st.integers(1, 20), stop=RULES)
def test_a_state_written_and_read_goes_on_as_if_nothing_had_happened(values, size, stop):
    """Turning the recorder into JSON and back between any two chunks leaves its end as it was."""

    def reborn(recorder):
        other = Recorder(stop)
        other.restore(json.loads(json.dumps(recorder.state())))
        return other

    assert record_in_chunks(values, size, stop, reborn).state() == record_in_chunks(values, size, stop).state()


@given(
    rows=st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)), max_size=40),
    size=st.integers(1, 15),
    samples=st.integers(1, 40),
)
def test_lists_of_objectives_and_the_front_are_what_all_pairs_say(rows, size, samples):
    """Lexicographic best and front equal those of comparing every mapping with every other, for any chunks and end."""
    recorder = Recorder(Stop(None, samples))
    for chunk, start in enumerate(range(0, len(rows), size)):
        values = np.array(rows[start : start + size], float)
        recorder.record(Scores.of(chunk, np.zeros(len(values), np.int8), values, values[:, :2]), 0.0)
        if recorder.statistics.stopped_by:
            break
    seen = rows[:samples]
    assert recorder.values == min(seen, default=(np.inf,))
    beaten = [any(o[0] <= r[0] and o[1] <= r[1] and o[:2] != r[:2] for o in seen) for r in seen]
    first = [i for i, r in enumerate(seen) if not beaten[i] and r[:2] not in [o[:2] for o in seen[:i]]]
    assert sorted(point.chunk * size + point.index for point in recorder.front) == first


def test_victory_counts_valid_mappings_only():
    """Invalid mappings neither count towards victory nor reset it, and what follows the end does not count."""
    recorder = Recorder(Stop(victory=2))
    recorder.record(scores([5, None, 7, None, None, 5, 1]), 0.0)
    found = recorder.statistics
    assert (found.stopped_by, found.evaluated, found.valid, recorder.best) == ("victory", 6, 3, 5)
    assert found.invalid == dict.fromkeys(REASONS[1:], 0) | {"capacity": 3}


def test_trace_holds_each_improvement():
    """The trace says after how many mappings each improvement came, across chunks."""
    recorder = Recorder(Stop(victory=None))
    recorder.record(scores([None, 9, 9, 4]), 0.0)
    recorder.record(scores([6, 3, None], chunk=1), 0.0)
    assert recorder.statistics.trace == [(2, 9), (4, 4), (6, 3)]
    assert recorder.where == (1, 1)


def test_time_limit_ends_a_search():
    """The first chunk recorded at or after the limit is the last."""
    recorder = Recorder(Stop(victory=None, time_limit=1.0))
    recorder.record(scores([3]), 0.5)
    assert recorder.statistics.stopped_by == ""
    recorder.record(scores([2], 1), 1.0)
    assert (recorder.statistics.stopped_by, recorder.best) == ("time limit", 2)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_come_in_order(jobs):
    """in_order yields the result of every chunk in order for any number of processes."""
    assert list(in_order(operator.mul, 7, range(20), jobs)) == [7 * n for n in range(20)]


def test_an_endless_supply_of_chunks_can_be_left():
    """Closing the generator ends work on chunks without end, and the processes serve again."""
    results = in_order(operator.mul, 3, itertools.count(), jobs=2)
    assert [next(results) for _ in range(3)] == [0, 3, 6]
    results.close()
    assert list(in_order(operator.add, 1, range(3), jobs=2)) == [1, 2, 3]


def test_an_exception_in_a_worker_reaches_the_caller():
    """What fails in another process fails here, with its message."""
    with pytest.raises(ZeroDivisionError):
        list(in_order(operator.floordiv, 1, range(3), jobs=2))


def test_workers_leave_ctrl_c_to_the_parent():
    """A worker ignores the signals that reach the whole group of processes; a search in one process does not."""
    signals = [signal.SIGINT, signal.SIGTERM] * 2
    assert set(in_order(operator.call, signal.getsignal, signals, jobs=2)) == {signal.SIG_IGN}
    assert set(in_order(operator.call, signal.getsignal, [signal.SIGINT], jobs=1)) == {signal.default_int_handler}
    assert set(in_order(operator.call, signal.getsignal, [signal.SIGTERM], jobs=1)) == {signal.SIG_DFL}


def test_workers_keep_what_they_know_however_much_it_is():
    """joblib puts no other process in place of one whose memory grows."""

    def leak(name, _chunk):
        return getattr(process_executor, name)

    name = "_MAX_MEMORY_LEAK_SIZE"
    assert set(in_order(wrap_non_picklable_objects(leak), name, range(4), jobs=2)) == {inf}
    assert name in inspect.getsource(process_executor._process_worker)


def test_a_killed_worker_costs_nothing_but_time(tmp_path, capfd):
    """Others do again what a killed process had begun, in order, and it is said."""

    def die_once(folder, chunk):
        if chunk == 5 and not os.path.exists(folder):
            os.mkdir(folder)
            os.kill(os.getpid(), signal.SIGKILL)
        return chunk

    work = wrap_non_picklable_objects(die_once)
    assert list(in_order(work, str(tmp_path / "died"), range(40), jobs=2)) == list(range(40))
    assert (tmp_path / "died").exists()
    assert "a worker process died" in capfd.readouterr().err


@pytest.mark.parametrize("prune", [True, False])
def test_tables_of_a_chunk_are_gone_with_it(prune, monkeypatch):
    """Too many chains to list: the same scores, and nothing of a chunk's own tables waits for the garbage collector."""
    arch, work = load_arch("eyeriss_like"), load_workload("resnet50/conv5_x_3x3")
    problem = ScoringTask(
        Task.of(Mapspace(arch, work, "ruby"), energy_table(arch), SearchOptions(prune=prune)), RandomDraws()
    )
    listed = score(problem, [0, 1])
    monkeypatch.setattr(chain_tables, "LISTED", 100)
    made, alive = [], []

    class Watched(ChainTable):
        def __init__(self, *given):
            super().__init__(*given)
            alive.append(sum(one() is not None for one in made))
            made.append(weakref.ref(self))

    monkeypatch.setattr(chain_tables, "ChainTable", Watched)
    problem = replace(problem, task=replace(problem.task, space=Mapspace(arch, work, "ruby")))
    assert not problem.space.listed
    few = len(made)
    gc.disable()
    try:
        alone = score(problem, [0, 1])
        left = sum(one() is not None for one in made)
    finally:
        gc.enable()
    own = (len(made) - few) // 2
    assert own > 0
    assert max(alive) < few + own  # those of the first were gone before the second had any
    assert left == few
    assert [one.reasons.tolist() for one in alone] == [one.reasons.tolist() for one in listed]
    assert alone[0].values[-1].tolist() == listed[0].values[-1].tolist()
