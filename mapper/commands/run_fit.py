"""`ruby-model ARCH --fit MEASURED.csv` fits cycles and energies to measurements, and prints ARCH with the fit."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...arch import Architecture, arch_documents, load_arch
from ...energy import EnergyTable, no_energies
from ...workloads import Fault, InputError, Workload, parse_yaml
from ..calibration import FitError, Sample, cycle_terms_of, energies_of, energy_terms_of
from ..exploration import evaluate, load
from ..mapping import MappingBatch, read_mapping
from ..model.figures import Mapped
from ..problem import Charges, fingerprint
from ..runtime import print_message, print_result
from .calibration_section import own_section, with_section, written
from .guard import FOUND, NOTHING_VALID, echo_json
from .measured_fit import Fit
from .measurements import Measured, read_measurements
from .ruby_model import ModelRequest
from .shared import energy_clashes, placed_as
from .timeloop_options import energies


def run_fit(request: ModelRequest) -> int:
    """Fit what the request's file says was measured, and print ARCH with it, or with --json the fit."""
    if faults := _clashes(request):
        raise InputError(faults)
    assert request.fit is not None
    machine = placed_as(load_arch(request.arch, more=request.more), request.placement)
    measured = read_measurements(request.fit)
    of_energy = any("energy_pj" in own.figures for own in measured)
    if request.no_energy and of_energy:
        raise InputError(Fault(str(request.fit), None, "energy_pj", "cannot be fitted with --no-energy: leave one out"))
    table = _energies(machine, request) if of_energy else no_energies(machine)
    document, _ = arch_documents(request.arch)
    if document is None:
        raise InputError(Fault(request.arch, None, "", "is of Timeloop's form, which holds no calibration"))
    path = document.source
    text = written(path)
    with_section(text, path, _section(text, path, {}, "", ""))  # before minutes are spent
    costs = Charges(request.leakage, request.wire_pj_per_bit_mm, request.tile_mm, request.hop_pj, request.drain_reads)
    try:
        fits = _fits(request, machine, _counted(request, measured, machine, (table, costs)))
    except FitError as error:
        print_message(str(error))
        return NOTHING_VALID
    if request.json:
        echo_json({fit.figure: fit.json() for fit in fits})
        return FOUND
    for fit in fits:
        print_message(fit.text())
    origin = f"{request.fit.name}, {datetime.now(UTC).date()}"
    section = _section(text, path, {fit.figure: fit for fit in fits}, origin, energies_of(table, costs))
    print_result(with_section(text, path, section).rstrip())
    return FOUND


def _clashes(request: ModelRequest) -> list[Fault]:
    """List options that do not go with a fit."""
    rule = "is of one mapping; --fit takes many, which its file names"
    names = {"workload": "WORKLOAD", "mapping": "MAPPING", "other": "MAPPING_B", "changes": "--set"}
    names |= {name: f"--{name}" for name in ("transforms", "pad", "im2col", "store", "objective", "beside")}
    names |= {"simulated": "--simulate", "explained": "--explain"}
    faults = [Fault(shown, None, "", rule) for name, shown in names.items() if name in request.given]
    return faults + (energy_clashes(request.given) if request.no_energy else [])


def _energies(machine: Architecture, request: ModelRequest) -> EnergyTable:
    return energies(machine, request.arch, request.more, request.ert, request.art, request.energy)


def _counted(
    request: ModelRequest, measured: Sequence[Measured], machine: Architecture, energy: tuple[EnergyTable, Charges]
) -> list[tuple[Measured, Mapped]]:
    """Count the mapping of each measurement. Raises InputError with the faults of all."""
    assert request.fit is not None
    table, costs = energy
    faults, counted, too_large = list[Fault](), list[tuple[Measured, Mapped]](), 0
    layers = dict[str, Workload]()
    for own in measured:
        try:
            layer = layers[own.workload] = layers.get(own.workload) or _layer(request.fit, own, machine)
            result = evaluate(machine, layer, _mapping(request.fit, own, machine, layer), table=table, costs=costs)
        except InputError as error:
            faults += [_placed(fault, request.fit, own.line) for fault in error.faults]
            continue
        assert result.mapped is not None
        too_large += bool(result.hint)
        counted.append((own, result.mapped))
    if faults:
        raise InputError(dict.fromkeys(faults))
    if too_large:
        print_message(
            f"{too_large} of the {len(counted)} mappings do not fit the machine as described; they count, too"
        )
    return counted


def _placed(fault: Fault, file: Path, line: int) -> Fault:
    """Return a fault with the line of the measurements that it is about, where it names no line of another file."""
    return fault if fault.line is not None else Fault(str(file), line, "", str(fault))


def _layer(file: Path, own: Measured, machine: Architecture) -> Workload:
    """Return the layer of a measurement: a file beside that of the measurements, else any, or a name of the library."""
    beside = file.parent / own.workload
    _, layer = load(machine, beside if _exists(beside) or _in_file(beside) else own.workload)
    if not isinstance(layer, Workload):
        raise InputError(Fault(str(file), own.line, "workload", "is a network; name a layer, as NETWORK/LAYER"))
    return layer


def _in_file(path: Path) -> bool:
    """Whether it is a layer of a network's file."""
    return any(_exists(parent) and parent.is_file() for parent in path.parents)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long
        return False


def _same_layer(layer: Workload) -> str:
    """Name what a layer computes, whatever it is called."""
    return fingerprint((layer.dims, layer.sizes, layer.tensors))


def _mapping(file: Path, own: Measured, machine: Architecture, layer: Workload) -> Path | MappingBatch:
    """Return the mapping of a measurement: a file, beside that of the measurements or not, or its text in YAML."""
    if own.mapping[0] in "[{-" or "\n" in own.mapping:
        try:
            return read_mapping(parse_yaml(own.mapping, str(file)), machine, layer)
        except InputError as error:
            raise InputError(Fault(str(file), own.line, fault.path, fault.message) for fault in error.faults) from None
    beside = file.parent / own.mapping
    return beside if _exists(beside) else Path(own.mapping)


def _fits(request: ModelRequest, machine: Architecture, counted: Sequence[tuple[Measured, Mapped]]) -> list[Fit]:
    """Fit cycles and energies, where they were measured. Raises InputError for seconds without a clock, FitError."""
    assert request.fit is not None
    clock = machine.clock_ns
    if clock is None and any("seconds" in own.figures for own, _ in counted):
        rule = f"needs the clock of {machine.name}: clock_ns, nanoseconds of a cycle"
        raise InputError(Fault(str(request.fit), None, "seconds", rule))
    of_cycles, of_energy = list[Sample](), list[Sample]()
    cycles, energies_pj = list[float](), list[float]()
    for own, mapped in counted:
        figures, layer = own.figures, _same_layer(mapped.batch.workload)
        taken = figures["seconds"] * 1e9 / (clock or 1) if "seconds" in figures else figures.get("cycles")
        if taken is not None:
            of_cycles.append(Sample(cycle_terms_of(mapped, machine), taken, layer))
            cycles.append(mapped.cycles)
        if "energy_pj" in figures:
            of_energy.append(Sample(energy_terms_of(mapped, machine), figures["energy_pj"], layer))
            energies_pj.append(mapped.energy_pj)
    every = (("cycles", of_cycles, cycles), ("energy_pj", of_energy, energies_pj))
    return [Fit.of(figure, samples, own_figures, request.seed) for figure, samples, own_figures in every if samples]


def _section(text: str, source: str, fits: Mapping[str, Fit], origin: str, basis: str) -> dict[str, Any]:
    """Return the calibration of a machine's text with these fits in place of its own of the same figures.

    `basis` names the energies that one of energies is to.
    """
    made = {"measured_on": "measurements"} | own_section(text, source)
    if not fits:
        return made
    made |= {name: fit.weights for name, fit in fits.items()}
    made["held_out"] = {**made.get("held_out", {}), **{name: fit.errors for name, fit in fits.items()}}
    origins = {name: f"{fit.measurements}; {origin}" for name, fit in fits.items()}
    made["origin"] = {**made.get("origin", {}), **origins}
    return made | ({"energies": basis} if "energy_pj" in fits else {})
