"""The energy table of an architecture, from the engine asked for and the files given."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..arch import Architecture
from ..workloads import Fault, InputError, collect, near
from .accelergy import accelergy_table
from .cacti import sram
from .closed_form import Figures
from .ert import apply_art, apply_ert, blank_table, has_art, read_art, read_ert
from .estimate import estimate_compute, estimate_level, own_class_faults
from .grid import Sram
from .hwcomponents import cacti_memory
from .spec import EnergyTable


def default_table(arch: Architecture) -> EnergyTable:
    """The built-in estimates of every component; its own `energy` wins. Raises InputError with every fault."""
    return _estimated(arch, sram)


def hwcomponents_table(arch: Architecture) -> EnergyTable:
    """The built-in estimates, with SRAM from the optional package hwcomponents-cacti rather than the shipped grid."""
    return _estimated(arch, cacti_memory(arch.name))


def _estimated(arch: Architecture, memory: Callable[[Sram], Figures]) -> EnergyTable:
    faults: list[Fault] = []
    levels = [collect(faults, partial(estimate_level, arch, level, memory)) for level in arch.levels]
    compute = collect(faults, partial(estimate_compute, arch, arch.compute, memory))
    faults += own_class_faults(arch)  # of classes that nothing uses too
    if faults or compute is None:
        raise InputError(dict.fromkeys(faults))
    return EnergyTable(arch.name, tuple(level for level in levels if level is not None), compute)


ENGINES: dict[str, Callable[[Architecture], EnergyTable]] = {
    "default": default_table,
    "accelergy": accelergy_table,
    "hwcomponents": hwcomponents_table,
}
BY_COMPONENT = ("default", "hwcomponents")  # the engines that price each component by itself


def _where_known(arch: Architecture) -> EnergyTable:
    """The built-in estimates as far as they go: an ERT is often given because there is none for a class."""
    table = blank_table(arch)
    with warnings.catch_warnings(action="ignore"):  # the ERT replaces all energies
        pairs = zip(arch.levels, table.levels, strict=True)
        levels = tuple(collect([], partial(estimate_level, arch, level)) or unknown for level, unknown in pairs)
        compute = collect([], partial(estimate_compute, arch, arch.compute)) or table.compute
    return replace(table, levels=levels, compute=compute)


def area_um2(arch: Architecture, table: EnergyTable) -> float:
    """The area of all instances of all levels and of the MAC units, in um^2."""
    levels = sum(figures.area_um2 * arch.instances(i) for i, figures in enumerate(table.levels))
    return levels + table.compute.area_um2 * arch.instances(len(arch.levels))


def no_energies(arch: Architecture) -> EnergyTable:
    """A table of an architecture whose energies nobody knows: mappings have cycles and counts, no energy and no EDP."""
    return replace(blank_table(arch), counted=False)


def energy_table(
    arch: Architecture, ert: Path | None = None, art: Path | None = None, engine: str = "default"
) -> EnergyTable:
    """The energy table of `arch`: from the files where given, else from the engine (a name in ENGINES).

    An ERT has all energies, an ART all areas, and they win over everything, also over a component's own `energy`.
    An ART in the file of the ERT is read too. Without an ART, areas are the engine's.
    Raises InputError with every fault.
    """
    if engine not in ENGINES:
        choices = ", ".join(ENGINES)
        raise InputError(
            Fault("--energy", None, "", f"must be one of {choices}; got {engine!r}{near(engine, ENGINES)}")
        )
    faults: list[Fault] = []
    table = collect(faults, lambda: _with_energies(arch, ert, engine))
    areas = None
    if art is not None or (ert is not None and table is not None and has_art(ert)):
        at = art or ert
        assert at is not None
        energies = None if ert is None else _ert_source(ert)
        areas = collect(
            faults, lambda: apply_art(table or blank_table(arch), read_art(at), at, f"ART file {at}", energies)
        )
    if faults or table is None:
        raise InputError(faults)
    return areas or table


def _with_energies(arch: Architecture, ert: Path | None, engine: str) -> EnergyTable:
    if ert is None:
        return ENGINES[engine](arch)
    energies = read_ert(ert)
    base = _where_known(arch) if engine == "default" else ENGINES[engine](arch)
    return apply_ert(base, energies, ert, _ert_source(ert))


def _ert_source(ert: Path) -> str:
    return f"ERT file {ert}"
