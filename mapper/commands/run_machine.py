"""`ruby-machine > cpu.yaml` writes the processor at hand as an architecture; with layers, it fits times to programs."""

from collections.abc import Sequence
from datetime import UTC, datetime

from ...arch import Architecture, one_core, parse_arch
from ...workloads import Fault, InputError, Workload, option_fault, parse_yaml
from ..calibration import FitError, Sample, fitted
from ..codegen import (
    BACKENDS,
    DATA_TYPES,
    Nest,
    ProgramError,
    compiler_version,
    described,
    machine_yaml,
    measured_machine,
    sampled,
)
from ..exploration import draw_valid, load
from ..mapspace import Preset
from ..runtime import print_message, print_result
from .calibration_section import own_section, with_section, written
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
    except (ProgramError, FitError) as error:
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
    text = written(request.arch)
    with_section(text, request.arch, {"measured_on": "here", "dtype": request.dtype})  # before minutes are spent
    every = [load(request.arch, layer) for layer in request.layers or []]
    for _, layer in every:
        if not isinstance(layer, Workload):
            raise InputError(Fault(layer.name, None, "", "programs are of layers; name them, as NETWORK/LAYER"))
    arch = one_core(every[0][0])
    samples = _samples(arch, [layer for _, layer in every if isinstance(layer, Workload)], request)
    own = arch.calibration
    section = own_section(text, request.arch) | {
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
    return with_section(text, request.arch, section)


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
                print_message(f"{layer.name}, {mapspace}: {i + 1} of {len(batch)}, {samples[-1].measured * 1e3:.4g} ms")
    if not samples:
        raise InputError(Fault(arch.name, None, "", "no valid mapping was drawn of any of the layers"))
    return samples
