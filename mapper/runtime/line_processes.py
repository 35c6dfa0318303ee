"""Several processes that are asked by lines, side by side; their answers come in the order of the questions."""

import selectors
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Self

from ...workloads import InputError, option_fault
from .deadline import TimeUp
from .line_process import LineProcess

ATTEMPTS = 2  # at a question whose process hangs or dies
GRACE = 1.0  # seconds that processes have to end by themselves after the last question


@dataclass(frozen=True)
class Reply:
    """What became of a question: the answer, or the trouble."""

    line: str  # the question
    answer: str | None
    trouble: str = ""  # why there is no answer
    nonsense: bool = False  # the trouble is output that is no answer: nothing it says can be trusted
    said: str = ""  # the last lines of the process's standard error


@dataclass(frozen=True)
class _Question:
    number: int
    line: str
    attempt: int = 1


class LineProcesses:
    """At most `jobs` processes of one command, begun when they are needed; a context manager that ends them.

    A process that hangs or dies is replaced, and the question asked once more.
    """

    def __init__(self, command: Sequence[str], jobs: int, timeout: float, option: str) -> None:
        """`timeout`: seconds for an answer; `option`: the name of the command to the user."""
        self.command, self.timeout, self.option = command, timeout, option
        self._slots: list[LineProcess | None] = [None] * jobs
        self._asked: dict[int, _Question] = {}  # by slot
        self._selector = selectors.DefaultSelector()

    def answers(self, lines: Iterable[str], until: float = inf) -> Generator[Reply]:
        """Yield the reply to each line, in order.

        Raises TimeUp at the moment `until`, by the monotonic clock; InputError where no process can begin.
        """
        questions = (_Question(number, line) for number, line in enumerate(lines))
        again, done, number = deque[_Question](), dict[int, Reply](), 0
        try:
            while self._hand_out(again, questions, done) or done:
                asked = len(self._asked)
                self._collect(again, done)
                if self._asked and len(self._asked) == asked:  # no answer is there already
                    self._wait(until)
                    self._collect(again, done)
                while number in done:
                    yield done.pop(number)
                    number += 1
        finally:
            for slot in list(self._asked):  # nobody waits for these any more
                self._end(slot)

    def _hand_out(self, again: deque[_Question], questions: Iterable[_Question], done: dict[int, Reply]) -> bool:
        """Ask those that are free; return whether any is asked."""
        rest = iter(questions)
        for slot, process in enumerate(self._slots):
            if slot in self._asked:
                continue
            question = again.popleft() if again else next(rest, None)
            if question is None:
                break
            if process is not None:
                self._look()
                if process.spoke:
                    trouble, said = f"wrote {process.unasked()} without a question", process.said
                    done[question.number] = Reply(question.line, None, trouble, True, said)
                    self._end(slot)
                    continue
                if process.gone():
                    self._end(slot)
            self._started(slot).ask(question.line, self.timeout)
            self._asked[slot] = question
        return bool(self._asked)

    def _started(self, slot: int) -> LineProcess:
        """Return the process of a slot; begins one where there is none."""
        process = self._slots[slot]
        if process is None:
            try:
                process = self._slots[slot] = LineProcess(self.command, self._selector)
            except (OSError, ValueError) as error:  # ValueError: a zero byte in a word
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                raise InputError(option_fault(self.option, f"cannot be started: {self.command[0]}: {reason}")) from None
        return process

    def _look(self) -> None:
        """Read what is there already, of any process."""
        for key, _ in self._selector.select(0):
            key.data.ready(key.fileobj)

    def _wait(self, until: float) -> None:
        """Wait for a pipe that is ready, or for the end of someone's time. Raises TimeUp."""
        ends = min(until, *(process.ends for slot in self._asked if (process := self._slots[slot])))
        for key, _ in self._selector.select(max(ends - time.monotonic(), 0.0) if ends < inf else None):
            key.data.ready(key.fileobj)
        if time.monotonic() >= until:
            raise TimeUp

    def _collect(self, again: deque[_Question], done: dict[int, Reply]) -> None:
        """Take the answers that are there; replace processes that hang or have died."""
        for slot, question in list(self._asked.items()):
            process = self._slots[slot]
            assert process is not None, "it was asked"
            try:
                answer = process.answer()
            except ValueError as error:
                self._end(slot)
                done[question.number] = Reply(question.line, None, f"answered {error}", True, process.said)
                continue
            if answer is not None:
                del self._asked[slot]
                self._look()  # for what it said on standard error before it answered
                done[question.number] = Reply(question.line, answer, said=process.said)
            elif process.closed or time.monotonic() >= process.ends:
                self._replace(slot, question, again, done)

    def _replace(self, slot: int, question: _Question, again: deque[_Question], done: dict[int, Reply]) -> None:
        """End a process that gave no answer; ask again, or give the question up."""
        process = self._slots[slot]
        assert process is not None, "it was asked"
        closed, how = process.closed, self._end(slot)
        if not closed:
            how = f"did not answer within {self.timeout:g} s"
        elif not how:
            how = f"closed {closed}"
        if question.attempt < ATTEMPTS:
            again.append(_Question(question.number, question.line, question.attempt + 1))
        else:
            done[question.number] = Reply(question.line, None, how, False, process.said)

    def _end(self, slot: int) -> str:
        """End the process of a slot; return how it had ended by itself, if it had."""
        process = self._slots[slot]
        self._asked.pop(slot, None)
        self._slots[slot] = None
        return "" if process is None else process.end()

    def finish(self) -> str:
        """End the input of those that are free, and wait GRACE for their own end; show what they still say.

        Output now means that an answer may have been another question's: some process said more than it was asked.
        """
        free = [process for slot, process in enumerate(self._slots) if process and slot not in self._asked]
        for process in free:
            process.leave()
        until = time.monotonic() + GRACE
        while any(not process.closed for process in free) and (remaining := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(remaining):
                key.data.ready(key.fileobj)
        return next((process.unasked() for process in free if process.spoke), "")

    def close(self) -> None:
        """End all processes at once."""
        for slot in range(len(self._slots)):
            self._end(slot)
        self._selector.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
