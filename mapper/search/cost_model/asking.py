"""The search with a cost model: each mapping is asked about, recorded, and its value goes back to what proposes.

Mappings are recorded one by one in the order in which they were proposed, so the answer is the same for any number of
processes. The state is the list of answers: a search that goes on proposes everything again, and finds them there.
"""

import time
from collections.abc import Iterator
from contextlib import closing
from math import inf, isinf
from typing import override

import numpy as np

from ....workloads import InputError
from ...mapping import Floats, MappingBatch, Mappings
from ...model import validity
from ...runtime import LineProcesses, Reply, State, TimeUp
from ..options import SearchOptions
from ..outcome import REFUSED, UNANSWERED, Answer, Ended, Outcome
from ..recorder import Recorder, Scores, Stop
from ..recording import Recording
from ..rounds import Rounds
from ..strategy import Observers, Task
from .calling import OPTION, Calls
from .faults import command_of, model_name
from .nests import nest_keys
from .question import questions, value_of

UNANSWERED_IN_A_ROW = 3  # mappings that end the search
SHOWN = 400  # characters of the question in a message


class ModelFailedError(Exception):
    """The cost model's answers are no use any more; the message says why."""


def ask(task: Task, observers: Observers, rounds: Rounds, stop: Stop) -> Outcome:
    """Ask the task's cost model about the mappings of `rounds`, until a rule, their end or Ctrl-C ends the search.

    Goes on from the answers in `watch.part`. Raises InputError where the command cannot be started.
    """
    search = Asking(task, observers, rounds if task.start is None else _start_first(task.start, rounds), stop)
    if observers.part and (state := observers.part.load()):
        search.restore(state)
    search.run()
    return search.outcome()


def _start_first(start: MappingBatch, rounds: Rounds) -> Rounds:
    """Ask about given mappings first."""
    yield start
    return (yield from rounds)


class Asking(Recording):
    """A running search with a cost model."""

    def __init__(self, task: Task, observers: Observers, rounds: Rounds, stop: Stop) -> None:
        super().__init__(Recorder(stop), observers)
        self.task, self.rounds = task, rounds
        self.best: MappingBatch | None = None
        self.failure = ""
        self._values: dict[str, float] = {}  # by nest, of the mappings recorded; inf where refused
        self._seconds: dict[str, float] = {}  # by nest, when they were recorded; not where there was no answer
        self._earlier: dict[str, tuple[float, float]] = {}  # answers of the state, not yet asked for again
        self._silent = 0  # mappings in a row without an answer
        self._known = 0  # valid mappings in a row that were known
        self._dry = 0  # mappings in a row that were invalid or known

    def run(self) -> None:
        """Ask and record."""
        spent, before = self.recorder.statistics.seconds, time.monotonic()
        try:
            self.follow(self._record, Ended.SETTLED)
        except ModelFailedError as error:
            self.failure = str(error)
            self._stop(Ended.MODEL_FAILED, spent + time.monotonic() - before)
        if self.recorder.statistics.interrupted and self.observers.part:
            self.observers.part.save(self.state())

    def outcome(self) -> Outcome:
        """Return the best mapping by the cost model, with its value."""
        value = None if self.best is None else self.recorder.best
        answer = Answer(model_name(self.task.options), value, self.failure)
        return Outcome(self.best, self.recorder.statistics, answer=answer)

    @override
    def state(self) -> State:
        """Return the state from which a later run goes on."""
        answers = [[key, _plain(self._values[key]), seconds] for key, seconds in self._seconds.items()]
        earlier_answers = [[key, _plain(value), seconds] for key, (value, seconds) in self._earlier.items()]
        return self.recorder.state() | {"answers": answers + earlier_answers}

    def restore(self, state: State) -> None:
        """Take the answers and the time of `state`; all else comes again."""
        self._earlier = {key: (inf if value is None else value, seconds) for key, value, seconds in state["answers"]}
        self.recorder.statistics.seconds = state["statistics"]["seconds"]

    def _record(self, began: float) -> bool:
        """Ask about round after round; False where a rule ended the search."""
        options = self.task.options
        with (
            closing(self.rounds),
            _model(options) as model,
        ):
            try:
                batch = next(self.rounds)
                while True:
                    if not self._round(model, batch, began):
                        return self._checked(model)
                    batch = self.rounds.send(self._values_of(batch))
            except StopIteration as end:
                self.recorder.statistics.stop(end.value)
                return self._checked(model)
            except TimeUp:
                self._stop(Ended.TIME_LIMIT, time.monotonic() - began)
                return False
            except InputError as error:  # of a process in another's place, too late to refuse the command
                late = bool(self._values) and OPTION in [fault.source for fault in error.faults]
                if not late or callable(options.cost_model):
                    raise
                raise ModelFailedError(f"the cost model failed: {error}") from None

    def _round(self, model: LineProcesses | Calls, batch: Mappings, began: float) -> bool:
        """Ask about the new mappings of a round; False where a rule ended the search."""
        new = self._new(batch)
        limit = self.recorder.stop
        if self._dried_up(batch, new):
            self.recorder.statistics.stop(Ended.NOTHING_NEW)
            return False
        if not len(new) and limit.time_limit is not None and time.monotonic() - began >= limit.time_limit:
            raise TimeUp
        if limit.samples is not None:
            new = new.take(slice(0, max(limit.samples - self.recorder.statistics.evaluated, 0)))
        keys = nest_keys(new)
        unknown = new.take([i for i, key in enumerate(keys) if key not in self._earlier])
        until = inf if limit.time_limit is None else began + limit.time_limit
        with closing(model.answers(questions(self.task, unknown), until)) as replies:
            for i, key in enumerate(keys):
                if not self._mapping(new.take([i]), key, replies, began):
                    return False
        return True

    def _dried_up(self, batch: Mappings, new: MappingBatch) -> bool:
        """Count what came since the last new mapping; return whether that is enough to end the search."""
        self._dry = 0 if len(new) else self._dry + len(batch)
        self._known = 0 if len(new) else self._known + int((validity(batch) == 0).sum())
        limit = self.recorder.stop
        settled = limit.victory is not None and self._known >= limit.victory
        return settled or (limit.give_up is not None and self._dry >= limit.give_up)

    def _new(self, batch: Mappings) -> MappingBatch:
        """Return the valid mappings of nests that were never asked about."""
        own = batch.take(np.flatnonzero(validity(batch) == 0)).arranged()
        keys = nest_keys(own)
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key not in self._values}
        return own.take(sorted(first.values()))

    def _mapping(self, one: MappingBatch, key: str, replies: Iterator[Reply], began: float) -> bool:
        """Record one mapping by its answer, of now or of the state; False where a rule ends the search."""
        if key in self._earlier:
            value, seconds = self._earlier.pop(key)
            reason = REFUSED if isinf(value) else 0
        else:
            value, reason = _read(next(replies), self._silent)
            seconds = time.monotonic() - began
        number = len(self._values)
        self._values[key] = value
        if reason != UNANSWERED:
            self._seconds[key] = seconds
        scores = Scores.of(number, np.array([reason], np.int8), np.array([[value]]))
        self.recorder.record(scores, seconds)
        if self.recorder.where == (number, 0):
            self.best = one
        if self.observers.answered and reason != UNANSWERED:
            self.observers.answered(one, value)
        going = self.go_on()
        self._silent = self._silent + 1 if reason == UNANSWERED else 0
        return going

    def _values_of(self, batch: Mappings) -> Floats:
        """Return the values of a round; inf where invalid, refused or unanswered. # (mapping,)"""
        values = np.full(len(batch), np.inf)
        valid = np.flatnonzero(validity(batch) == 0)
        values[valid] = [self._values.get(key, inf) for key in nest_keys(batch.take(valid))]
        return values

    def _checked(self, model: LineProcesses | Calls) -> bool:
        """Return False: the search is over. Raises ModelFailedError where the model said more than it was asked."""
        if surplus := model.finish():
            what = f"it wrote {surplus} without a question, so that answers may be of other mappings"
            raise ModelFailedError(f"the cost model failed: {what}")
        return False

    def _stop(self, reason: Ended, seconds: float) -> None:
        """End the search for that reason, and save the state."""
        self.recorder.statistics.stop(reason)
        self.recorder.statistics.seconds = seconds
        if self.observers.part:
            self.observers.part.save(self.state())


def _model(options: SearchOptions) -> LineProcesses | Calls:
    """What answers: a function, or processes of a command."""
    if callable(options.cost_model):
        return Calls(options.cost_model)
    return LineProcesses(command_of(options), options.jobs, options.cost_timeout, OPTION)


def _read(reply: Reply, silent: int) -> tuple[float, int]:
    """Return value and reason code of an answer, after so many `silent` mappings.

    Raises ModelFailedError where it is nonsense, or missing again.
    """
    if reply.answer is None:
        if reply.nonsense:
            raise ModelFailedError(_message(f"it {reply.trouble}", reply))
        if silent + 1 >= UNANSWERED_IN_A_ROW:
            what = f"it gave no answer for {UNANSWERED_IN_A_ROW} mappings in a row; last it {reply.trouble}"
            raise ModelFailedError(_message(what, reply))
        return inf, UNANSWERED
    try:
        value = value_of(reply.answer)
    except ValueError as error:
        raise ModelFailedError(_message(f"its answer {error}; got {reply.answer[:SHOWN]!r}", reply)) from None
    return value, REFUSED if isinf(value) else 0


def _plain(value: float) -> float | None:
    return None if isinf(value) else value


def _message(what: str, reply: Reply) -> str:
    """Say what failed, what was sent, and what the process said on standard error."""
    sent = reply.line[:SHOWN] + ("..." if len(reply.line) > SHOWN else "")
    said = f"\nits standard error ends with:\n{reply.said}" if reply.said else ""
    return f"the cost model failed: {what}\nit was sent: {sent}{said}"
