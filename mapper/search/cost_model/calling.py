"""A cost model that is a function of this process: called with what a command would read, it returns what that would
write."""

import json
import time
from collections.abc import Callable, Generator, Iterable
from math import inf
from typing import Any, Self

from ....workloads import InputError, option_fault
from ...runtime import Reply, TimeUp
from .question import INVALID, value_of

OPTION = "cost-model"

Function = Callable[[dict[str, Any]], float | str]


class Calls:
    """Asks a function, as LineProcesses asks processes: mapping after mapping, in their order."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to end."""

    def answers(self, lines: Iterable[str], until: float = inf) -> Generator[Reply]:
        """Yield the reply to each line, in order.

        Raises TimeUp where it is `until`, by the monotonic clock, before a call; InputError where the function raises
        an exception, or returns what is no value of a mapping.
        """
        for line in lines:
            if time.monotonic() >= until:
                raise TimeUp
            yield Reply(line, self._answer(line))

    def finish(self) -> str:
        """A function says nothing that it was not asked for."""
        return ""

    def _answer(self, line: str) -> str:
        name = function_name(self.function)
        try:
            value = self.function(json.loads(line))
        except Exception as error:
            raise InputError(option_fault(OPTION, f"{name} raised {type(error).__name__}: {error}")) from error
        try:
            answer = json.dumps(value if isinstance(value, bool) or value == INVALID else float(value))
            value_of(answer)
        except (TypeError, ValueError):
            rule = f'{name} must return a finite number, 0 or more, or "{INVALID}"; got {value!r}'
            raise InputError(option_fault(OPTION, rule)) from None
        return answer


def function_name(function: Function) -> str:
    """The name of a function, or the type of an object that can be called."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))
