"""How a command is made of its arguments and options, without importing what it does: `--help` begins at once."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer

WITH = "A Timeloop file to read together with ARCH (constraints, ERT...), repeatable"
TEMPLATE = "NAME=VALUE of a name in the files' {{...}}, repeatable."
SPARSITY = "Count the dense part of sparse designs."
PLACEMENT = "How the tensors of a memory are placed: even, uneven; by default as ARCH says."
FIX = 'Search only mappings with this: "LEVEL: C=8 order=M,C keep=Inputs", or a file of transforms.'
LEAKAGE = "Charge what every instance leaks in every cycle."
WIRE = "Charge wires between levels, pJ per bit and mm; with --tile-mm."
TILE = "Length of a hop, from one place of an array to the next."
DRAIN = "Charge a read for each word of an output that moves up to the next level that keeps it."
NO_ENERGY = "Use no energies: search for delay, show cycles and counts."
STORE = "A store of known mappings: begin with those of this problem, add the results."
PAD = "Pad dims to fill the array first."
IM2COL = "Make matrix products of convolutions first."
FORCE = "Replace files that this command did not write."
HOP = "Instead of both: pJ per word and hop, as Timeloop's energy_per_hop."


@dataclass(frozen=True, kw_only=True)
class Request:
    """The input of a command: each field of a subclass is an argument or option."""

    given: frozenset[str] = frozenset()  # the names of the fields that the command line sets


@dataclass(frozen=True, kw_only=True)
class FilesRequest(Request):
    """The input of a command that reads Timeloop's files, with how they are read."""

    template: Annotated[list[str], typer.Option("--template", help=TEMPLATE)] = field(default_factory=list)
    ignore_sparsity: Annotated[bool, typer.Option("--ignore-sparsity", help=SPARSITY)] = False


def new_app[R: Request](request: type[R], does: str | Callable[[R], str]) -> typer.Typer:
    """Make the app of a command. `new_app(R, "run_x")()` runs it and exits with its status.

    The fields of `request` are the arguments and options, its docstring is the help text. `run(request)` in the module
    `does` of this folder (or the one that `does(request)` names), which is imported only then, does what the command is
    for and returns the exit status.
    """
    hints = get_type_hints(request, include_extras=True) | {"context": typer.Context}
    options = [option for option in fields(request) if option.name != "given"]

    def run(context: typer.Context, **values: Any) -> None:
        made = request(given=_on_command_line(context), **{option.name: values[option.name] for option in options})
        name = does if isinstance(does, str) else does(made)
        function = import_module(f".{name}", __package__).run
        import_module(".guard", __package__).guarded(function, made)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("context", keyword, annotation=typer.Context)]
    for option in options:
        default = inspect.Parameter.empty if option.default is MISSING else option.default
        default = default if option.default_factory is MISSING else option.default_factory()
        parameters.append(inspect.Parameter(option.name, keyword, default=default, annotation=hints[option.name]))
    parameters.append(inspect.Parameter("version", keyword, default=False, annotation=VERSION))
    run.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = request.__doc__
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(run)
    return app


def duration(text: str) -> float:
    """Read an option that is a time: `60`, `60s`, `5m`. Raises typer.BadParameter."""
    try:
        return float(text)
    except ValueError:
        from ..runtime import seconds_in

        seconds = seconds_in(text)
    if seconds is None:
        raise typer.BadParameter(f'must be seconds, as 60, or a time, as 60s, 5m or 1h30m; got "{text}"')
    return seconds


def _print_version(context: typer.Context, asked: bool) -> None:
    """Print the version, as `ruby-map 0.1.0`, and end."""
    if asked:
        from importlib.metadata import version  # not before it is needed

        typer.echo(f"{context.info_name} {version('ruby-map')}")
        raise typer.Exit


VERSION = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]


def _on_command_line(context: typer.Context) -> frozenset[str]:
    """Return the names of the parameters that the command line sets."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE")
