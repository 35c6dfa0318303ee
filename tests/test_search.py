"""The search: stop rules mapping by mapping, one answer for any number of processes, and why nothing was found."""

import itertools
import operator
import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruby_map.mapper.cost import REASONS
from ruby_map.mapper.parallel import in_order
from ruby_map.mapper.record import Recorder, Scores, Stop


def scores(values, chunk=0):
    """Scores of one chunk; None is an invalid mapping, for its capacity."""
    reasons = np.array([REASONS.index("capacity") if value is None else 0 for value in values], np.int8)
    return Scores(chunk, reasons, np.array([np.inf if value is None else value for value in values], float))


def slow_record(values, stop):
    """The rules said mapping by mapping: (evaluated, valid, best, its place, why it ended)."""
    best, place, since, dry, valid = np.inf, None, 0, 0, 0
    for number, value in enumerate(values, 1):
        if value is None:
            dry += 1
        else:
            valid, dry, since = valid + 1, 0, since + 1
            if value < best:
                best, place, since = value, number - 1, 0
        for met, name in (
            (stop.give_up is not None and dry >= stop.give_up, "nothing valid in a row"),
            (stop.samples is not None and number >= stop.samples, "samples"),
            (stop.victory is not None and since >= stop.victory, "victory"),
        ):
            if met:
                return number, valid, best, place, name
    return len(values), valid, best, place, ""


@given(
    values=st.lists(st.none() | st.integers(1, 6), max_size=60),
    size=st.integers(1, 20),
    victory=st.none() | st.integers(1, 8),
    samples=st.none() | st.integers(1, 50),
    give_up=st.none() | st.integers(1, 8),
)
def test_rules_apply_mapping_by_mapping_whatever_the_chunks(values, size, victory, samples, give_up):
    """Cutting the same mappings into chunks of any size changes neither the end nor the best nor the counts."""
    stop = Stop(victory, samples, None, give_up)
    recorder = Recorder(stop)
    for chunk, start in enumerate(range(0, len(values), size)):
        recorder.record(scores(values[start : start + size], chunk), 0.0)
        if recorder.statistics.stopped_by:
            break
    found = recorder.statistics
    place = None if recorder.where is None else recorder.where[0] * size + recorder.where[1]
    assert (found.evaluated, found.valid, recorder.best, place, found.stopped_by) == slow_record(values, stop)
    assert found.valid + sum(found.invalid.values()) == found.evaluated


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
    """A worker ignores the interrupt that reaches the whole group of processes; a search in one process does not."""
    assert set(in_order(operator.call, signal.getsignal, [signal.SIGINT] * 4, jobs=2)) == {signal.SIG_IGN}
    assert set(in_order(operator.call, signal.getsignal, [signal.SIGINT], jobs=1)) == {signal.default_int_handler}
