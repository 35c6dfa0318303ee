"""The built-in estimate of each component: by its class, or what its own `energy` says."""

import math
from collections.abc import Callable, Mapping
from typing import Concatenate

from ..arch import Architecture, Component, Compute, Storage
from ..workloads import Fault, InputError, near
from . import closed_form
from .cacti import OutsideGrid, Sram, scaled, sram
from .closed_form import Figures
from .spec import ComputeEnergy, LevelEnergy

# Leakage is a power; a cycle of this length makes it an energy where a component has no `clock_ns`. It is the clock
# behind the closed forms.
CLOCK_NS = 5.0
NODE_NM = 45.0  # where a component has no `technology_nm`

# What a class is to the built-in estimates, with the names of the Timeloop and Accelergy exercises. In lower case.
STORAGE = {
    "dram": "DRAM",
    "sram": "SRAM",
    "smartbuffer_sram": "SRAM",
    "regfile": "regfile",
    "register_file": "regfile",
    "smartbuffer_rf": "regfile",
    "reg": "reg",
    "reg_storage": "reg",
}
COMPUTE = {"intmac": "intmac", "lmac": "intmac"}


def _fault(arch: Architecture, component: Component, message: str) -> InputError:
    return InputError(Fault(arch.name, None, component.name, message))


def _number(arch: Architecture, component: Component, name: str, default: float) -> float:
    value = component.attribute(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise _fault(arch, component, f"{name} must be a number greater than 0, got {value!r}")
    return float(value)


def _node(arch: Architecture, component: Component) -> float:
    """The technology node in nm; a `technology` that is no size is a fault rather than the default."""
    named = component.attribute("technology")
    if named is not None and component.attribute("technology_nm") is None:
        raise _fault(arch, component, f"technology must be a size such as 45nm, got {named!r}")
    return _number(arch, component, "technology_nm", NODE_NM)


def _class(arch: Architecture, component: Component, known: Mapping[str, str]) -> str:
    cls = known.get(component.cls.lower())
    if cls is None:
        rule = f"for a built-in estimate the class must be one of {', '.join(dict.fromkeys(known.values()))}"
        ways = "any other class needs its figures in `energy`, or an ERT file"
        raise _fault(arch, component, f"{rule}; got {component.cls!r}{near(component.cls, known)}; {ways}")
    return cls


def _dram(arch: Architecture, level: Storage) -> Figures:
    kind = level.attribute("type") or "LPDDR4"
    if kind not in closed_form.DRAM_PJ_PER_BIT:
        choices = list(closed_form.DRAM_PJ_PER_BIT)
        hint = near(str(kind), choices)
        raise _fault(arch, level, f"the type of a DRAM must be one of {', '.join(choices)}; got {kind!r}{hint}")
    return closed_form.dram(str(kind), level.width_bits)


def _depth(arch: Architecture, level: Storage) -> int:
    if level.capacity_bits is None:
        raise _fault(arch, level, f"a {level.cls} must have a capacity")
    return max(1, math.ceil(level.capacity_bits / level.width_bits))


def _registers(arch: Architecture, level: Storage, cls: str) -> Figures:
    """A register file; with one word it is a register, which has no address."""
    depth = _depth(arch, level)
    if cls == "reg" and depth > 1:
        rule = "a register (class reg) holds one access of its width"
        raise _fault(arch, level, f"{rule}, got {level.capacity_bits} bits of width {level.width_bits}; use regfile")
    return closed_form.register() if depth == 1 else closed_form.register_file(depth, level.width_bits)


def _sram(arch: Architecture, level: Storage, memory: Callable[[Sram], Figures]) -> Figures:
    """The memory itself from CACTI, and the two address generators of every buffer."""
    _depth(arch, level)
    bits = level.capacity_bits or 0
    node = _node(arch, level)
    found = memory(Sram(node, bits / 8, level.width_bits, level.ports, level.banks))
    extra = scaled(closed_form.address_generators(), closed_form.NODE_NM, node)

    def value(name: str) -> float:
        return float(getattr(found, name) + getattr(extra, name))

    return closed_form.figures(value, f"{found.source}, plus address generators")


def _guarded[C: Component, **P, E](
    estimate: Callable[Concatenate[Architecture, C, P], E],
) -> Callable[Concatenate[Architecture, C, P], E]:
    """`estimate`, whose OutsideGrid becomes an InputError that names the component."""

    def guarded(arch: Architecture, component: C, /, *args: P.args, **kwargs: P.kwargs) -> E:
        try:
            return estimate(arch, component, *args, **kwargs)
        except OutsideGrid as error:
            ways = "give its figures in `energy`, or an ERT file"
            raise _fault(arch, component, f"{error}; {ways}") from None

    return guarded


@_guarded
def estimate_level(arch: Architecture, level: Storage, memory: Callable[[Sram], Figures] = sram) -> LevelEnergy:
    """One level by its class: DRAM, register file and register by closed forms, SRAM by `memory` (the CACTI grid).

    An update costs a write. Raises InputError for a class, type, node or size without an estimate.
    """
    if level.attribute("energy") is not None:
        return _given_level(arch, level)
    cls = _class(arch, level, STORAGE)
    if cls == "DRAM":
        found = _dram(arch, level)  # off chip: the chip's technology says nothing of it
    elif cls == "SRAM":
        found = _sram(arch, level, memory)
    else:
        node = _node(arch, level)
        found = scaled(_registers(arch, level, cls), closed_form.NODE_NM, node)
    # uW * ns = fJ
    leak = found.leak_uw * _number(arch, level, "clock_ns", CLOCK_NS) / 1000
    return LevelEnergy(level.name, found.read_pj, found.write_pj, found.write_pj, leak, found.area_um2, found.source)


@_guarded
def estimate_compute(arch: Architecture, compute: Compute) -> ComputeEnergy:
    """One MAC unit by the closed form. Raises InputError for a class or node without an estimate."""
    if compute.attribute("energy") is not None:
        return _given_compute(arch, compute)
    _class(arch, compute, COMPUTE)
    node = _node(arch, compute)
    found = scaled(closed_form.integer_mac(compute.word_bits), closed_form.NODE_NM, node)
    return ComputeEnergy(compute.name, found.read_pj, 0.0, found.area_um2, found.source)


GIVEN = "given in the architecture"


def _given(
    arch: Architecture, component: Component, needed: tuple[str, ...], known: tuple[str, ...]
) -> dict[str, float]:
    """The `energy` of a component, checked: all of `needed`, none but `known`, numbers from 0."""
    value = component.attribute("energy")
    try:
        found: dict[str, object] = dict(value)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise _fault(arch, component, f"energy must be a mapping with {', '.join(known)}; got {value!r}") from None
    bad = [f"energy must have {name}" for name in needed if name not in found]
    unknown = [name for name in found if name not in known]
    bad += [f'unknown key "{name}" in energy{near(name, known) or "; known: " + ", ".join(known)}' for name in unknown]
    for name, figure in found.items():
        if isinstance(figure, bool) or not isinstance(figure, int | float) or not 0 <= figure < math.inf:
            bad.append(f"energy.{name} must be a finite number, at least 0; got {figure!r}")
    if bad:
        raise InputError(Fault(arch.name, None, component.name, message) for message in bad)
    return {name: float(figure) for name, figure in found.items() if isinstance(figure, int | float)}


def _given_level(arch: Architecture, level: Storage) -> LevelEnergy:
    known = ("read_pj", "write_pj", "update_pj", "leak_pj_per_cycle", "area_um2")
    found = _given(arch, level, ("read_pj", "write_pj"), known)
    return LevelEnergy(
        level.name,
        found["read_pj"],
        found["write_pj"],
        found.get("update_pj", found["write_pj"]),
        found.get("leak_pj_per_cycle", 0.0),
        found.get("area_um2", 0.0),
        GIVEN,
    )


def _given_compute(arch: Architecture, compute: Compute) -> ComputeEnergy:
    found = _given(arch, compute, ("compute_pj",), ("compute_pj", "leak_pj_per_cycle", "area_um2"))
    leak, area = found.get("leak_pj_per_cycle", 0.0), found.get("area_um2", 0.0)
    return ComputeEnergy(compute.name, found["compute_pj"], leak, area, GIVEN)
