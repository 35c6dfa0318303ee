"""`ruby-code ARCH LAYER [MAPPING] --out DIR` writes a mapping as a program; `--run` runs it beside NumPy."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from ...energy import energy_table
from ...workloads import Fault, InputError, Workload, option_fault, unknown_choice, written_together
from ..codegen import BACKENDS, DATA_TYPES, Backend, DataType, Measurement, Nest, ProgramError, with_codes
from ..exploration import evaluate, explore, load
from ..mapping import mapping_yaml
from ..mapspace import PRESETS
from ..model import OBJECTIVES
from ..report import Json, Result
from ..runtime import say, tell
from ..search import SearchOptions
from .shared import FOUND, NOTHING_VALID, PLACEMENT, WITH, Request, echo_json, new_app, placed_as
from .timeloop_options import reference_tables

FAILED = NOTHING_VALID
AS = "What a level (cache, buffer, registers) or an axis (loop, threads, lanes) becomes: NAME=ROLE, repeatable."


@dataclass(frozen=True, kw_only=True)
class CodeRequest(Request):
    """The arguments and options of `ruby-code`."""

    arch: Annotated[str, typer.Argument(metavar="ARCH", help="The architecture: a library name or a path.")]
    workload: Annotated[str, typer.Argument(metavar="LAYER", help="A layer: a name or a path.")]
    mapping: Annotated[str, typer.Argument(metavar="[MAPPING]", help="A mapping file; without it, search first.")] = ""
    out: Annotated[Path, typer.Option(help="The folder to write: new, empty, or of an earlier program.")]
    backend: Annotated[str, typer.Option(help=f"{', '.join(BACKENDS)}.")] = "c"
    dtype: Annotated[str, typer.Option(help=f"{', '.join(DATA_TYPES)}.")] = "float32"
    roles: Annotated[list[str], typer.Option("--as", help=AS)] = field(default_factory=list)
    run: Annotated[bool, typer.Option("--run", help="Run it, compare with NumPy, and time it.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object and nothing else.")] = False
    mapspace: Annotated[str, typer.Option(help=f"To search: {', '.join(PRESETS)}.")] = "ruby-s"
    objective: Annotated[str, typer.Option(help=f"Of that search: {', '.join(OBJECTIVES)}.")] = "edp"
    time_limit: Annotated[float, typer.Option(help="Seconds for that search.")] = 10.0
    seed: Annotated[int, typer.Option(help="Of that search, and of the operands of --run.")] = 0
    ert: Annotated[Path | None, typer.Option(help="Accelergy energy table.")] = None
    more: Annotated[list[Path], typer.Option("--with", help=WITH)] = field(default_factory=list)
    placement: Annotated[str, typer.Option(help=PLACEMENT)] = ""


def code(request: CodeRequest) -> int:
    """Write the loop nest of a mapping as a program that computes the layer, with its check against plain loops.

    Exit status: 0 written, and with --run correct; 1 no valid mapping, no compiler, or a program that fails or is
    wrong; 2 bad input.
    """
    roles = _checked(request)
    arch, layer = load(request.arch, request.workload, request.more)
    arch = with_codes(placed_as(arch, request.placement), roles)
    if not isinstance(layer, Workload):
        raise InputError(Fault(layer.name, None, "", "a program is of one layer; name one, as NETWORK/LAYER"))
    table = energy_table(arch, *reference_tables(request.arch, request.more, request.ert, None))
    if request.mapping:
        result = evaluate(arch, layer, request.mapping, table=table)
    else:
        options = SearchOptions(objective=request.objective, time_limit=request.time_limit, seed=request.seed)
        found = explore(arch, layer, request.mapspace, options, table=table)
        assert isinstance(found, Result)
        result = found
    if result.batch is None:
        say(str(result))
        return NOTHING_VALID
    if result.hint:
        tell("\n".join([f"warning: {request.mapping} is not valid on {arch.name}:", *result.hint.splitlines()]))
    backend, kind = BACKENDS[request.backend], DATA_TYPES[request.dtype]
    nest = Nest.of(result.batch)
    if faults := backend.faults(nest, kind):
        raise InputError(faults)
    files = {**backend.files(nest, kind), "mapping.yaml": mapping_yaml(result.batch)}
    with written_together(request.out, "mapping.yaml", "make room and run the same command again") as part:
        for name, text in files.items():
            (part / name).write_text(text)
    return _shown(request, result, files, _run(request, backend, nest, kind) if request.run else None)


def _checked(request: CodeRequest) -> dict[str, str]:
    """Return the roles of `--as`. Raises InputError with every fault of the options."""
    faults, roles = list[Fault](), dict[str, str]()
    choices = (("backend", BACKENDS), ("dtype", DATA_TYPES), ("mapspace", PRESETS), ("objective", OBJECTIVES))
    for option, known in choices:
        if getattr(request, option) not in known:
            faults.append(unknown_choice(option, getattr(request, option), known))
    for text in request.roles:
        name, _, role = text.partition("=")
        if not name or not role:
            faults.append(option_fault("as", f"reads NAME=ROLE, got {text!r}"))
        elif roles.setdefault(name, role) != role:
            faults.append(option_fault("as", f"{name} has two roles: {roles[name]} and {role}"))
    if request.mapping:
        given = [name for name in ("mapspace", "objective", "time_limit") if name in request.given]
        faults += [option_fault(name.replace("_", "-"), "is for the search; a mapping is given") for name in given]
    faults += _folder_faults(request.out)
    if faults:
        raise InputError(faults)
    return roles


def _folder_faults(folder: Path) -> list[Fault]:
    """Say why a folder is not written to: it is none, or has files that no program of this command has."""
    if not folder.exists():
        return []
    if not folder.is_dir():
        return [option_fault("out", f"{folder} is no folder")]
    names = sorted(path.name for path in folder.iterdir())
    if not names or "mapping.yaml" in names:
        return []
    return [option_fault("out", f"{folder} has other files: {', '.join(names[:3])}; name a new folder")]


def _run(request: CodeRequest, backend: Backend, nest: Nest, kind: DataType) -> Measurement | ProgramError:
    try:
        return backend.measured(request.out, nest, kind, request.seed)
    except ProgramError as error:
        return error


def _shown(request: CodeRequest, result: Result, files: dict[str, str], ran: Measurement | ProgramError | None) -> int:
    """Print what was written, and how the program ran. Returns the exit status."""
    assert result.costs is not None
    cycles = float(result.costs.cycles[0])
    if request.as_json:
        values: Json = {"arch": result.arch.name, "workload": result.workload.name, "backend": request.backend}
        values |= {"dtype": request.dtype, "folder": str(request.out), "files": sorted(files)}
        values |= {"predicted": {"cycles": cycles, "seconds": None}}
        if isinstance(ran, Measurement):
            values |= {**asdict(ran), "gflops": ran.gflops}
        elif ran is not None:
            values |= {"correct": None, "failure": str(ran)}
        echo_json(values)
    else:
        say(f"{result.workload.name} on {result.arch.name}, {request.dtype}: {', '.join(files)} in {request.out}")
        say(f"predicted    {cycles:,.0f} cycles")
        if isinstance(ran, Measurement):
            say(_measured_text(ran))
    if isinstance(ran, ProgramError):
        tell(str(ran))
        return FAILED
    return FOUND if ran is None or ran.correct else FAILED


def _measured_text(ran: Measurement) -> str:
    allowed = (
        "exactly" if ran.tolerance == 0 else f"to {ran.error:.2g} of the sums' magnitudes, {ran.tolerance:.2g} allowed"
    )
    equal = "equals NumPy" if ran.correct else "WRONG: is not what NumPy computes"
    seconds = f"{ran.seconds * 1e3:,.4g} ms, the least of {ran.runs} runs"
    return f"output       {equal}, {allowed}\ntime         {seconds}\nrate         {ran.gflops:,.4g} GFLOP/s"


main = new_app(CodeRequest, code)
