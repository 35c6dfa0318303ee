"""Figures that an architecture gives itself, under `energy` of a component."""

from typing import TypeGuard

from ..arch import LARGEST, Architecture, Component, Compute, Storage
from ..workloads import Fault, InputError, near
from .spec import ComputeEnergy, LevelEnergy

GIVEN = "given in the architecture"  # the source of figures under `energy`


def component_fault(arch: Architecture, component: Component, message: str) -> InputError:
    """The fault of a component."""
    return InputError(Fault(arch.name, None, component.name, message))


def _given(
    arch: Architecture, component: Component, needed: tuple[str, ...], known: tuple[str, ...]
) -> dict[str, float]:
    """The numbers under `energy` of a component, in pJ and um^2.

    Raises InputError where one of `needed` is missing, for keys other than `known`, and for what is no number from 0.
    """
    value = component.attribute("energy")
    try:
        energies: dict[str, object] = dict(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise component_fault(
            arch, component, f"energy must be a mapping with {', '.join(known)}; got {value!r}"
        ) from None
    bad = [f"energy must have {name}" for name in needed if name not in energies]
    unknown = [name for name in energies if name not in known]
    bad += [f'unknown key "{name}" in energy{near(name, known) or "; known: " + ", ".join(known)}' for name in unknown]
    for name, figure in energies.items():
        if not _is_figure(figure):
            bad.append(f"energy.{name} must be a number from 0 to {LARGEST:g}; got {figure!r}")
    if bad:
        raise InputError(Fault(arch.name, None, component.name, message) for message in bad)
    return {name: float(figure) for name, figure in energies.items() if _is_figure(figure)}


def _is_figure(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that a component may have."""
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= LARGEST


def given_level(arch: Architecture, level: Storage) -> LevelEnergy:
    known = ("read_pj", "write_pj", "update_pj", "leak_pj_per_cycle", "area_um2")
    energies = _given(arch, level, ("read_pj", "write_pj"), known)
    return LevelEnergy(
        level.name,
        energies["read_pj"],
        energies["write_pj"],
        energies.get("update_pj", energies["write_pj"]),
        energies.get("leak_pj_per_cycle", 0.0),
        energies.get("area_um2", 0.0),
        GIVEN,
    )


def given_compute(arch: Architecture, compute: Compute) -> ComputeEnergy:
    energies = _given(arch, compute, ("compute_pj",), ("compute_pj", "leak_pj_per_cycle", "area_um2"))
    leak, area = energies.get("leak_pj_per_cycle", 0.0), energies.get("area_um2", 0.0)
    return ComputeEnergy(compute.name, energies["compute_pj"], leak, area, GIVEN)
