"""What runs a command: exit statuses, faults and warnings to standard error, Ctrl-C, JSON to standard output."""

import json
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from ...workloads import Fault, InputError, ToldWarning, option_fault
from ...workloads.outputs import inputs_noted
from ...workloads.templates import template_values
from ...workloads.timeloop import dense_part
from ..runtime import InternalError, print_message, print_result, refused, report_crash
from .app import FilesRequest, Request

FOUND, NOTHING_VALID, BAD_INPUT, INTERNAL, INTERRUPTED = 0, 1, 2, 70, 130
MODEL_FAILED = 1


def guarded[R: Request](function: Callable[[R], int], request: R) -> None:
    """Run a command and exit with the status that it returns: faults and Ctrl-C end it without a traceback.

    SIGTERM, with which batch systems and `timeout` end a program, acts like Ctrl-C.
    """
    try:
        with warnings_on_standard_error(), _ended_as_by_ctrl_c(), inputs_noted(), _reading(request):
            status = function(request)
    except InputError as error:
        print_message(str(error))
        status = BAD_INPUT
    except InternalError as error:
        print_message(str(error))
        status = INTERNAL
    except KeyboardInterrupt:
        print_message("interrupted")
        status = INTERRUPTED
    except (OSError, MemoryError) as error:  # may happen anywhere: no room, no memory, no more open files
        refused(error)
        status = BAD_INPUT
    except Exception as error:  # of the program itself: status 1 would say that there is no valid mapping
        report_crash(error)
        status = INTERNAL
    raise typer.Exit(status)


@contextmanager
def _reading(request: Request) -> Iterator[None]:
    """Read files as a request says, meanwhile. Raises InputError for a value that is not NAME=VALUE."""
    if not isinstance(request, FilesRequest):
        yield
        return
    with template_values(named_values(request.template)), dense_part(only=request.ignore_sparsity):
        yield


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Make SIGTERM act like Ctrl-C; leave ignored signals as they are, and all signals outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def named_values(given: Sequence[str]) -> dict[str, str | int | bool]:
    """Read `--template NAME=VALUE`; whole numbers, True and False are no text. Raises InputError with every fault."""
    values, faults = dict[str, str](), list[Fault]()
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            faults.append(option_fault("template", f"reads NAME=VALUE, got {text!r}"))
        elif values.setdefault(name, value) != value:
            faults.append(option_fault("template", f"{name} has two values: {values[name]} and {value}"))
    if faults:
        raise InputError(faults)
    return {name: _plain_value(text) for name, text in values.items()}


def _plain_value(text: str) -> str | int | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.isdecimal() and str(int(text)) == text else text


@contextmanager
def warnings_on_standard_error() -> Iterator[None]:
    """Print warnings about energies and rounding as lines on standard error, each once."""
    printed, show = set[str](), warnings.showwarning

    def once(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not issubclass(category, ToldWarning):
            show(message, category, *where)
        elif str(message) not in printed:
            printed.add(str(message))
            print_message(f"{category.label}: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", ToldWarning)
        warnings.showwarning = once  # type: ignore[assignment]
        yield


def echo_json(value: object) -> None:
    """Print an object as JSON to standard output."""
    print_result(json.dumps(value, indent=2, allow_nan=False))
