"""The energy table of an architecture, from the engine asked for and the files given."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..arch import Architecture
from ..workloads import Fault, InputError, near
from .accelergy import accelergy_table
from .ert import apply_art, apply_ert, blank_table, has_art, read_art, read_ert
from .estimate import estimate_compute, estimate_level
from .spec import ComputeEnergy, EnergyTable, LevelEnergy


def default_table(arch: Architecture) -> EnergyTable:
    """The built-in estimates of every component; its own `energy` wins. Raises InputError with every fault."""
    faults: list[Fault] = []
    levels: list[LevelEnergy] = []
    compute: list[ComputeEnergy] = []
    for level in arch.levels:
        _gather(faults, levels, partial(estimate_level, arch, level))
    _gather(faults, compute, partial(estimate_compute, arch, arch.compute))
    if faults:
        raise InputError(faults)
    return EnergyTable(arch.name, tuple(levels), compute[0])


def _gather[T](faults: list[Fault], found: list[T], estimate: Callable[[], T]) -> None:
    try:
        found.append(estimate())
    except InputError as error:
        faults += error.faults


ENGINES: dict[str, Callable[[Architecture], EnergyTable]] = {"default": default_table, "accelergy": accelergy_table}


def _where_known(arch: Architecture) -> EnergyTable:
    """The built-in estimates as far as they go: an ERT is often given because there is none for a class."""
    table = blank_table(arch)
    with warnings.catch_warnings(action="ignore"):  # only its areas will be told
        pairs = zip(arch.levels, table.levels, strict=True)
        levels = tuple(_known(partial(estimate_level, arch, level)) or unknown for level, unknown in pairs)
        compute = _known(partial(estimate_compute, arch, arch.compute)) or table.compute
    return replace(table, levels=levels, compute=compute)


def _known[T](estimate: Callable[[], T]) -> T | None:
    try:
        return estimate()
    except InputError:
        return None


def energy_table(
    arch: Architecture, ert: Path | None = None, art: Path | None = None, engine: str = "default"
) -> EnergyTable:
    """The energy table of `arch`: from the files where given, else from the engine (a name in ENGINES).

    An ERT tells all energies, an ART all areas, and they win over everything, also over a component's own `energy`.
    An ART in the file of the ERT is read too. Without an ART, areas are the engine's.
    Raises InputError with every fault.
    """
    if engine not in ENGINES:
        choices = ", ".join(ENGINES)
        raise InputError(
            Fault("--energy", None, "", f"must be one of {choices}; got {engine!r}{near(engine, ENGINES)}")
        )
    if ert is None:
        table = ENGINES[engine](arch)
    else:
        energies = read_ert(ert)
        base = _where_known(arch) if engine == "default" else ENGINES[engine](arch)
        table = apply_ert(base, energies, ert, f"ERT file {ert}")
        art = ert if art is None and has_art(ert) else art
    return table if art is None else apply_art(table, read_art(art), art, f"ART file {art}")
