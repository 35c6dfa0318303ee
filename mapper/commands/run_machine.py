"""`ruby-machine > cpu.yaml` writes the processor at hand as an architecture; with layers, it fits times to programs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from ...arch import Architecture, one_core, parse_arch
from ...workloads import Fault, InputError, Workload, option_fault, parse_yaml
from ..codegen import (
    BACKENDS,
    DATA_TYPES,
    Nest,
    ProgramError,
    Sample,
    compiler_version,
    described,
    fitted,
    machine_yaml,
    measured_machine,
    sampled,
)
from ..exploration import draw_valid, load
from ..mapspace import Preset
from ..runtime import print_message, print_result
from .guard import FOUND, NOTHING_VALID
from .ruby_machine import MachineRequest

FAILED = NOTHING_VALID
SPACES: tuple[Preset, ...] = ("pfm", "ruby-s")  # half of the mappings from each


def run(request: MachineRequest) -> int:
    """Read the caches, cores and vectors of this processor, measure its rates (some seconds), print it as YAML.

    With ARCH, such a file, and layers: run random mappings of them on one core, fit the seconds of what they do, and
    print the file with these as its calibration; ruby-code and ruby-model then predict times.

    Exit status: 0 printed, 1 no compiler, a program that fails, nothing known of caches, 2 bad input.
    """
    _check(request)
    try:
        print_result((_calibrated(request) if request.arch else _measured(request)).rstrip())
    except ProgramError as error:
        print_message(str(error))
        return FAILED
    return FOUND


def _check(request: MachineRequest) -> None:
    """Raise InputError with every fault of the options."""
    faults = list[Fault]()
    if request.arch and not request.layers:
        faults.append(option_fault("ARCH", "goes with layers, whose mappings are run"))
    for own, names, rule in (
        (bool(request.arch), ("name", "vector_bytes"), f"{request.arch} says it"),
        (not request.arch, ("samples", "dtype", "seed"), "goes with ARCH and layers"),
    ):
        given = [name for name in names if own and name in request.given]
        faults += [option_fault(name.replace("_", "-"), rule) for name in given]
    if request.vector_bytes not in (None, 16, 32, 64):
        faults.append(option_fault("vector-bytes", f"must be 16, 32 or 64; got {request.vector_bytes}"))
    if request.seed < 0:
        faults.append(option_fault("seed", f"must be at least 0, got {request.seed}"))
    if request.dtype not in DATA_TYPES:
        faults.append(option_fault("dtype", f"must be one of {', '.join(DATA_TYPES)}; got {request.dtype}"))
    if faults:
        raise InputError(faults)


def _measured(request: MachineRequest) -> str:
    processor, name = described(vector_bytes=request.vector_bytes), request.name
    try:
        parse_arch(parse_yaml(machine_yaml(processor, name), "the machine"))  # before seconds are spent
    except InputError:
        rule = f"a name has letters, digits, _ and -, and begins with a letter; got {name}"
        raise InputError(option_fault("name", rule)) from None
    return machine_yaml(measured_machine(processor), name)


def _calibrated(request: MachineRequest) -> str:
    """Return the text of ARCH with the fitted calibration in the place of its own."""
    text = _text(request.arch)
    _with_section(text, request.arch, {"measured_on": "here", "dtype": request.dtype})  # before minutes are spent
    every = [load(request.arch, layer) for layer in request.layers or []]
    for _, layer in every:
        if not isinstance(layer, Workload):
            raise InputError(Fault(layer.name, None, "", "programs are of layers; name them, as NETWORK/LAYER"))
    arch = one_core(every[0][0])
    samples = _samples(arch, [layer for _, layer in every if isinstance(layer, Workload)], request)
    own = arch.calibration
    section = {
        "measured_on": own.measured_on if own else described().model,
        "dtype": request.dtype,
        **({"peak_gflops": own.peak_gflops} if own and own.peak_gflops else {}),
        **({"gb_per_second": dict(own.gb_per_second)} if own and own.gb_per_second else {}),
        "fitted_on": [
            *(f"{layer.name}: {request.samples} mappings" for _, layer in every),
            f"{compiler_version()}, {datetime.now(UTC).date()}",
        ],
        "seconds": fitted(samples, request.seed),
    }
    return _with_section(text, request.arch, section)


def _with_section(text: str, source: str, section: dict[str, Any]) -> str:
    """Return the text of an architecture with another calibration at its end; comments and other keys stay.

    Raises InputError for a text that such lines cannot be added to: a mapping in braces, the end mark `...`.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        root = None  # told below, by the reader of all files
    lines = text.splitlines()
    for key, value in root.value if isinstance(root, yaml.MappingNode) else []:
        if key.value == "calibration":
            del lines[key.start_mark.line : _last_line(value) + 1]
    made = "\n".join(lines).rstrip() + "\n" + yaml.safe_dump({"calibration": section}, sort_keys=False, width=110)
    try:
        parse_arch(parse_yaml(made, source))
    except InputError as error:
        rule = "a calibration cannot be written at the end of this file: write it in block style, without braces"
        raise InputError([Fault(source, None, "calibration", rule), *error.faults]) from None
    return made


def _last_line(node: yaml.Node) -> int:
    """Return the line on which the last value within a node ends."""
    inside = [child for pair in node.value for child in pair] if isinstance(node, yaml.MappingNode) else []
    inside = node.value if isinstance(node, yaml.SequenceNode) else inside
    if not inside or getattr(node, "flow_style", False):
        end = node.end_mark
        return int(end.line - 1 if end.column == 0 and end.line > node.start_mark.line else end.line)
    return max(map(_last_line, inside))


def _text(arch: str) -> str:
    """Return the text of a file of this project's form. Raises InputError for others, and for names of the library."""
    path = Path(arch)
    if not path.is_file():
        raise InputError(option_fault("ARCH", f"{arch} is no file; print one first: ruby-machine > {path.name}.yaml"))
    return path.read_text(encoding="utf-8")


def _samples(arch: Architecture, layers: Sequence[Workload], request: MachineRequest) -> list[Sample]:
    """Draw mappings of each layer, and run them."""
    backend, kind, samples = BACKENDS["c"], DATA_TYPES[request.dtype], list[Sample]()
    for layer in layers:
        for mapspace in SPACES:
            number = request.samples // len(SPACES) + (request.samples % len(SPACES) if mapspace == SPACES[0] else 0)
            batch = draw_valid(arch, layer, mapspace, number, request.seed)
            for i in range(len(batch)):
                nest = Nest.of(batch.take([i]))
                if faults := backend.faults(nest, kind):
                    raise InputError(faults)
                samples.append(sampled(backend, nest, kind, request.seed))
                print_message(f"{layer.name}, {mapspace}: {i + 1} of {len(batch)}, {samples[-1].seconds * 1e3:.4g} ms")
    if not samples:
        raise InputError(Fault(arch.name, None, "", "no valid mapping was drawn of any of the layers"))
    return samples
