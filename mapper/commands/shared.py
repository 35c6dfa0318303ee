"""Shared by all commands: faults to standard error, the exit statuses, JSON to standard output."""

import inspect
import json
import signal
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from ...arch import PLACEMENTS, Architecture, placed
from ...energy import CacheWarning, EnergyWarning
from ...workloads import Fault, InputError, option_fault, unknown_choice
from ...workloads.templates import template_values
from ...workloads.timeloop import InputWarning, dense_part
from ..model import InternalError, RoundingWarning
from ..runtime import StoreWarning, refused, say, tell

WITH = "A Timeloop file to read together with ARCH (constraints, ERT...), repeatable"
TEMPLATE = "NAME=VALUE of a name in the files' {{...}}, repeatable."
SPARSITY = "Count the dense part of sparse designs."
PLACEMENT = "even, uneven: of tensors in each memory but the outermost; else as ARCH says."
FIX = 'Only mappings with this: "LEVEL: C=8 order=M,C keep=Inputs", or a file of transforms.'
LEAKAGE = "Charge what every instance leaks in every cycle."
WIRE = "Charge wires between levels, pJ per bit and mm; with --tile-mm."
TILE = "Length of a hop, from one place of an array to the next."
DRAIN = "Charge a read for each word of an output that moves up to the next level that keeps it."
NO_ENERGY = "Nothing is known of energies: search for delay, show cycles and counts."
STORE = "A file of mappings found before: begin with its own, add what is found."
HOP = "Instead of both: pJ per word and hop, as Timeloop's energy_per_hop."
CHARGES = ("leakage", "wire_pj_per_bit_mm", "tile_mm", "hop_pj")  # of options
PRINTED_WARNINGS = (EnergyWarning, CacheWarning, InputWarning, RoundingWarning, StoreWarning)
FOUND, NOTHING_VALID, BAD_INPUT, INTERNAL, INTERRUPTED = 0, 1, 2, 70, 130
MODEL_FAILED = 1


def placed_as(arch: Architecture, placement: str) -> Architecture:
    """Return `arch` with the placement that an option asks for, if it does. Raises InputError for another word."""
    if placement in PLACEMENTS:
        return placed(arch, placement)
    if placement:
        raise InputError(unknown_choice("placement", placement, PLACEMENTS))
    return arch


def command[**P](function: Callable[P, int]) -> Callable[P, None]:
    """Make a command of a function that returns its exit status: faults and Ctrl-C end it without a traceback.

    SIGTERM, with which batch systems and `timeout` end a program, acts like Ctrl-C.
    """

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with warnings_on_standard_error(), _ended_as_by_ctrl_c():
                status = function(*args, **kwargs)
        except InputError as error:
            tell(str(error))
            status = BAD_INPUT
        except InternalError as error:
            tell(str(error))
            status = INTERNAL
        except KeyboardInterrupt:
            tell("interrupted")
            status = INTERRUPTED
        except (OSError, MemoryError) as error:  # may happen anywhere: no room, no memory, no more open files
            refused(error)
            status = BAD_INPUT
        raise typer.Exit(status)

    return guarded


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


@dataclass(frozen=True, kw_only=True)
class Request:
    """The input of a command: each field of a subclass is an argument or option."""

    given: frozenset[str] = frozenset()  # the names of the fields that the command line sets


@dataclass(frozen=True, kw_only=True)
class FilesRequest(Request):
    """The input of a command that reads Timeloop's files, with how they are read."""

    template: Annotated[list[str], typer.Option("--template", help=TEMPLATE)] = field(default_factory=list)
    ignore_sparsity: Annotated[bool, typer.Option("--ignore-sparsity", help=SPARSITY)] = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read files so meanwhile. Raises InputError for a value that is not NAME=VALUE."""
        with template_values(named_values(self.template)), dense_part(only=self.ignore_sparsity):
            yield


def energy_clashes(given: Collection[str]) -> list[Fault]:
    """What of the options `given` says something of energies, where --no-energy says that nothing is known."""
    names = [name for name in (*CHARGES, "ert", "art", "beside") if name in given]
    return [option_fault(name.replace("_", "-"), "says something of energies: leave out --no-energy") for name in names]


def named_values(given: Sequence[str]) -> dict[str, str]:
    """Read `--template NAME=VALUE`. Raises InputError with every fault."""
    values, faults = dict[str, str](), list[Fault]()
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            faults.append(option_fault("template", f"reads NAME=VALUE, got {text!r}"))
        elif values.setdefault(name, value) != value:
            faults.append(option_fault("template", f"{name} has two values: {values[name]} and {value}"))
    if faults:
        raise InputError(faults)
    return values


def new_app[R: Request](request: type[R], function: Callable[[R], int]) -> typer.Typer:
    """Make the app of a command; its help text is the docstring of `function`. `new_app(R, f)()` runs the command and
    exits with its status."""
    hints = get_type_hints(request, include_extras=True) | {"context": typer.Context}
    options = [option for option in fields(request) if option.name != "given"]

    def run(context: typer.Context, **values: Any) -> int:
        made = request(given=_on_command_line(context), **values)
        with made.reading() if isinstance(made, FilesRequest) else nullcontext():
            return function(made)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("context", keyword, annotation=typer.Context)]
    for option in options:
        default = inspect.Parameter.empty if option.default is MISSING else option.default
        default = default if option.default_factory is MISSING else option.default_factory()
        parameters.append(inspect.Parameter(option.name, keyword, default=default, annotation=hints[option.name]))
    run.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(command(run))
    return app


def _on_command_line(context: typer.Context) -> frozenset[str]:
    """Return the names of the parameters that the command line sets."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE")


@contextmanager
def warnings_on_standard_error() -> Iterator[None]:
    """Print warnings about energies and rounding as lines on standard error, each once."""
    printed, show = set[str](), warnings.showwarning

    def once(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not issubclass(category, PRINTED_WARNINGS):
            show(message, category, *where)
        elif str(message) not in printed:
            printed.add(str(message))
            tell(f"warning: {message}")

    with warnings.catch_warnings():
        for category in PRINTED_WARNINGS:
            warnings.simplefilter("always", category)
        warnings.showwarning = once  # type: ignore[assignment]
        yield


def echo_json(value: object) -> None:
    """Print an object as JSON to standard output."""
    say(json.dumps(value, indent=2, allow_nan=False))
