"""`ruby-code ARCH LAYER [MAPPING] --out DIR` writes a mapping as a program; `--run` runs it beside NumPy."""

import math
from dataclasses import asdict, dataclass, replace
from typing import override

from ...arch import Architecture, with_roles
from ...workloads import Fault, InputError, Workload, option_fault, unknown_choice, written_together
from ...workloads.outputs import Manifest
from ..codegen import (
    BACKENDS,
    DATA_TYPES,
    Backend,
    DataType,
    Measurement,
    Nest,
    ProgramCounts,
    ProgramError,
    predicted_seconds,
)
from ..exploration import evaluate, explore, load
from ..mapping import mapping_yaml
from ..mapspace import PRESETS
from ..problem import OBJECTIVES
from ..report import Json, Result
from ..runtime import print_message, print_result
from ..search.options import SearchOptions
from .guard import FOUND, NOTHING_VALID, echo_json
from .predicted_time import Question
from .ruby_code import CodeRequest
from .shared import placed_as
from .timeloop_options import energies

FAILED = NOTHING_VALID
NAME = "ruby-code"
WRITTEN = {"kernel.c", "kernel.h", "check.c", "Makefile", "schedule.py", "mapping.yaml"}  # by any back end
MADE = {"layer.c", "layer.h", "layer.d", "program"}  # by compiling and running these
COMPILED = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")  # how Linux, macOS and Windows begin one
FIT = "ruby-machine ARCH LAYER... fits them"


def run(request: CodeRequest) -> int:
    """Write the loop nest of a mapping as a program that computes the layer, with its check against plain loops.

    Exit status: 0 written, and with --run correct; 1 no valid mapping, no compiler, or a program that fails or is
    wrong; 2 bad input.
    """
    roles = _checked(request)
    arch, layer = load(request.arch, request.workload, request.more)
    arch = with_roles(placed_as(arch, request.placement), roles)
    if not isinstance(layer, Workload):
        raise InputError(Fault(layer.name, None, "", "a program is of one layer; name one, as NETWORK/LAYER"))
    result = _mapped(request, arch, layer, roles)
    if result.batch is None:
        print_message(_nothing(request, result))
        return NOTHING_VALID
    if result.hint:
        print_message(
            "\n".join([f"warning: {request.mapping} is not valid on {arch.name}:", *result.hint.splitlines()])
        )
    backend, kind = BACKENDS[request.backend], DATA_TYPES[request.dtype]
    nest = Nest.of(result.batch)
    if faults := backend.faults(nest, kind):
        raise InputError(faults)
    files = {**backend.files(nest, kind), "mapping.yaml": mapping_yaml(result.batch)}
    earlier = Manifest.read(request.out, NAME)
    again = "make room and run the same command again"
    with written_together(request.out, "mapping.yaml", again, NAME, request.force) as part:
        for name, text in files.items():
            (part / name).write_text(text)
    for name in earlier.unchanged(request.out) - files.keys() | (MADE if earlier.hashes else set()):
        (request.out / name).unlink(missing_ok=True)  # of the earlier program
    ran = _run(request, backend, nest, kind) if request.run else None
    written = _Written(request, result, files, ProgramCounts(nest, kind), ran)
    if request.as_json:
        echo_json(written.json())
    else:
        print_result(str(written))
    if isinstance(ran, ProgramError):
        print_message(str(ran))
        return FAILED
    return FOUND if ran is None or ran.correct else FAILED


def _nothing(request: CodeRequest, result: Result) -> str:
    """Say why there is no mapping: no program was timed yet, or none is valid."""
    if request.fastest and request.time_limit is not None:
        return f"no program was timed in {request.time_limit:g} s: give --time-limit more"
    return str(result)


def _mapped(request: CodeRequest, arch: Architecture, layer: Workload, roles: dict[str, str]) -> Result:
    """Count the mapping that is given, or search one."""
    table = energies(arch, request.arch, request.more, request.ert, None)
    if request.mapping:
        return evaluate(arch, layer, request.mapping, table=table)
    options = SearchOptions(objective=request.objective, time_limit=request.time_limit, seed=request.seed)
    if request.fastest:
        known = arch.calibration
        if known is None or not known.seconds or known.dtype != request.dtype:
            raise InputError(option_fault("fastest", f"{arch.name} has no times fitted for {request.dtype}: {FIT}"))
        more = [str(path) for path in request.more]
        read = list(request.template), request.ignore_sparsity
        times = Question(request.arch, request.workload, more, request.placement, roles, request.dtype, *read)
        options = replace(options, cost_model=tuple(times.command))
    result = explore(arch, layer, request.mapspace, options, table=table)
    assert isinstance(result, Result)
    return result


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
        given = [name for name in ("mapspace", "objective", "time_limit", "fastest") if name in request.given]
        faults += [option_fault(name.replace("_", "-"), "is for the search; a mapping is given") for name in given]
    if request.fastest and "objective" in request.given:
        faults.append(option_fault("objective", "is of our model; --fastest minimises the predicted time"))
    if request.seed < 0:
        faults.append(option_fault("seed", f"must be at least 0, got {request.seed}"))
    faults += _folder_faults(request)
    if faults:
        raise InputError(faults)
    return roles


def _folder_faults(request: CodeRequest) -> list[Fault]:
    """Say why no program can be written to the folder: it is none, or has files in the way that are the user's."""
    folder = request.out
    if folder.exists() and not folder.is_dir():
        return [option_fault("out", f"{folder} is no folder")]
    if request.mapping:  # no search, which would be lost; it may be the mapping of this folder
        return _program_faults(request)
    earlier = Manifest.read(folder, NAME)
    if not earlier.hashes:
        return earlier.faults("out", folder, WRITTEN | MADE, request.force)
    return [*earlier.faults("out", folder, WRITTEN, request.force), *_program_faults(request)]


def _program_faults(request: CodeRequest) -> list[Fault]:
    """Say that a file in the way of the compiled program is none; `make` may have compiled it."""
    path = request.out / "program"
    try:
        with path.open("rb") as file:
            foreign = not request.force and not file.read(4).startswith(COMPILED)
    except FileNotFoundError:
        return []
    except OSError as error:
        return [Fault("out", None, str(path), f"cannot be replaced: {error.strerror}")]
    rule = "exists, and is no compiled program: name another folder, or give --force to replace it"
    return [Fault("out", None, str(path), rule)] if foreign else []


def _run(request: CodeRequest, backend: Backend, nest: Nest, kind: DataType) -> Measurement | ProgramError:
    try:
        return backend.measured(request.out, nest, kind, request.seed)
    except ProgramError as error:
        return error


@dataclass(frozen=True)
class _Written:
    """A program, what its mapping predicts of it, and how it ran."""

    request: CodeRequest
    result: Result
    files: dict[str, str]
    effort: ProgramCounts
    ran: Measurement | ProgramError | None

    @property
    def seconds(self) -> float | None:
        """The seconds by the machine's calibration; None where there is none for such programs."""
        own = BACKENDS[self.request.backend].calibrated
        return predicted_seconds(self.effort) if own else None

    @property
    def share_of_peak(self) -> float | None:
        """The measured rate over the peak of as many cores as the program has threads; None where it is not known."""
        known = self.result.arch.calibration
        if not isinstance(self.ran, Measurement) or known is None or known.peak_gflops is None:
            return None
        same = known.dtype == self.request.dtype
        share = self.ran.gflops / known.peak_gflops / self.effort.threads if same else math.inf
        return share if math.isfinite(share) else None

    @property
    def cycles(self) -> float:
        """The cycles that the model counts."""
        return float(self.result.valid_costs.cycles[0])

    def json(self) -> Json:
        """Convert it to JSON values."""
        values: Json = {"arch": self.result.arch.name, "workload": self.result.workload.name}
        values |= {"backend": self.request.backend, "dtype": self.request.dtype, "folder": str(self.request.out)}
        values |= {"files": sorted(self.files), "predicted": {"cycles": self.cycles, "seconds": self.seconds}}
        if isinstance(self.ran, Measurement):
            values |= {**asdict(self.ran), "gflops": self.ran.gflops, "share_of_peak": self.share_of_peak}
        elif self.ran is not None:
            values |= {"correct": None, "failure": str(self.ran)}
        return values

    @override
    def __str__(self) -> str:
        result, request = self.result, self.request
        by = "" if self.seconds is None else f", {self.seconds * 1e3:,.4g} ms by the machine's calibration"
        lines = [
            f"{result.workload.name} on {result.arch.name}, {request.dtype}: {', '.join(self.files)} in {request.out}"
        ]
        lines.append(f"predicted    {self.cycles:,.0f} cycles{by}")
        if isinstance(self.ran, Measurement):
            share = "" if self.share_of_peak is None else f", {self.share_of_peak:.1%} of the peak"
            lines.append(_measured_text(self.ran) + share)
        return "\n".join(lines)


def _measured_text(ran: Measurement) -> str:
    wrong = f"WRONG: {ran.wrong:,} of {ran.words:,} words are not what NumPy computes"
    equal = "equals NumPy in every word" if ran.correct else wrong
    seconds = f"{ran.seconds * 1e3:,.4g} ms, the least of {ran.runs} runs"
    return f"output       {equal}\ntime         {seconds}\nrate         {ran.gflops:,.4g} GFLOP/s"
