"""The built-in estimate of each component: by its class, or what its own `energy` says."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Concatenate

from ..arch import Architecture, Component, Compute, Storage
from ..workloads import Fault, InputError, near
from . import closed_form
from .cacti import sram
from .closed_form import Figures
from .compound import INHERITED, Classes, by_name, class_faults, compound_estimate, shipped
from .given import component_fault, given_compute, given_level
from .grid import EnergyWarning, OutsideGrid, Sram
from .nodes import scaled
from .primitives import COMPUTE, COMPUTE_LIKE, STORAGE, STORAGE_LIKE, Estimate, Memory, Value
from .spec import ComputeEnergy, LevelEnergy

# Leakage is a power; a cycle of this length makes it an energy where a component has no `clock_ns`. It is the clock
# behind the closed forms.
CLOCK_NS = 5.0
NOTHING = Figures(0.0, 0.0, 0.0, 0.0, "a dummy: no energy")
WAYS_OUT = (
    "give its figures in `energy`, or an ERT with --ert (ruby-energy --energy hwcomponents --write-ert makes one by "
    "CACTI), or go without energies, --no-energy"
)
NODE_NM = 45.0  # where a component has no `technology_nm`


def _number(arch: Architecture, component: Component, name: str, default: float) -> float:
    value = component.attribute(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise component_fault(arch, component, f"{name} must be a number greater than 0, got {value!r}")
    return float(value)


def _node(arch: Architecture, component: Component) -> float:
    """The technology node in nm; a `technology` that is no size is a fault rather than the default."""
    named = component.attribute("technology")
    if named is not None and component.attribute("technology_nm") is None:
        raise component_fault(arch, component, f"technology must be a size such as 45nm, got {named!r}")
    return _number(arch, component, "technology_nm", NODE_NM)


def compound_classes(arch: Architecture) -> Classes:
    """The compound classes that the components of `arch` may have: the shipped ones and its own."""
    return {**shipped(), **by_name(arch.components)}


def _class(arch: Architecture, component: Component, known: Mapping[str, str], like: Mapping[str, str]) -> str:
    name = component.cls.lower()
    cls = known.get(name)
    matching_part = next((part for part in like if part in name), None)
    if cls is None and matching_part:
        cls = like[matching_part]
        message = (
            f"{arch.name}: {component.name}: class {component.cls} is estimated as {cls}; an ERT has its own figures"
        )
        warnings.warn(message, EnergyWarning, stacklevel=2)
    if cls is None:
        rule = f"for a built-in estimate the class must be one of {', '.join(dict.fromkeys(known.values()))}"
        compounds = compound_classes(arch)
        hint = near(component.cls, [*known, *compounds])
        ways = f"or compound, {', '.join(compounds)}; or {WAYS_OUT}"
        raise component_fault(arch, component, f"{rule}; got {component.cls!r}{hint}; {ways}")
    return cls


def own_class_faults(arch: Architecture) -> list[Fault]:
    """What is wrong with the compound classes that `arch` defines, used or not."""
    return class_faults(by_name(arch.components), {*STORAGE, *COMPUTE})


def cluster_size(level: Storage) -> int:
    """How many instances share one memory, whose access is `width_bits` wide; each has `capacity_bits` of it."""
    shared = level.attribute("cluster_size", 1)
    return shared if isinstance(shared, int) and shared > 0 else 1


def _sizes(arch: Architecture, component: Storage | Compute) -> dict[str, Value]:
    """The attributes that a component has for its compound class beside its free ones: node, clock, sizes."""
    sizes: dict[str, Value] = {"technology_nm": _node(arch, component), "word_bits": component.word_bits}
    sizes["clock_ns"] = _number(arch, component, "clock_ns", CLOCK_NS)
    if (kind := component.attribute("type")) is not None:
        sizes["type"] = str(kind)
    if isinstance(component, Storage):
        sizes |= {"width_bits": component.width_bits, "banks": component.banks, "ports": component.ports}
        if component.capacity_bits is not None:
            sizes["capacity_bits"] = component.capacity_bits * cluster_size(component)
    return sizes


def _given_to(arch: Architecture, component: Storage | Compute, declared: Classes) -> dict[str, Value]:
    """The attributes of a component for its compound class `cls`.

    Raises InputError for those that the class does not declare, and for those that it needs and lacks.
    """
    cls = component.cls
    wanted = {name: default.value for name, default in declared[cls].attributes}
    given, bad = _sizes(arch, component), []
    for name, value in component.attributes:
        if name in ("energy", "type", *INHERITED):
            continue
        if name not in wanted:
            known = f"; known: {', '.join(wanted)}{near(name, wanted)}"
            bad.append(f"the class {cls} has no attribute {name!r}{known}")
        elif isinstance(value, bool) or not isinstance(value, int | float | str):
            bad.append(f"{name} must be a number or text, got {value!r}")
        else:
            given[name] = value
    bad += [f"the class {cls} must be given {name}" for name in wanted if wanted[name] is None and name not in given]
    if bad:
        raise InputError(Fault(arch.name, None, component.name, message) for message in bad)
    return given


def _compound(arch: Architecture, component: Storage | Compute, memory: Memory, needed: tuple[str, ...]) -> Estimate:
    """The sums over the parts of a component's compound class. Raises InputError with every fault.

    A class without one of the actions `needed` is at fault.
    """
    faults = own_class_faults(arch)
    if faults:
        raise InputError(faults)
    classes = compound_classes(arch)
    actions = [name for name, _ in classes[component.cls].actions]
    missing = [name for name in needed if name not in actions]
    if missing:
        rule = f"the class {component.cls} must have the action {', '.join(missing)} here"
        raise component_fault(arch, component, f"{rule}; it has {', '.join(actions)}")
    given = _given_to(arch, component, classes)
    try:
        return compound_estimate(classes, component.cls, given, memory)
    except InputError as error:
        users = (replace(fault, message=f"{fault.message}; used by {component.name}") for fault in error.faults)
        raise InputError(users) from None


def _dram(arch: Architecture, level: Storage) -> Figures:
    kind = level.attribute("type") or "LPDDR4"
    if kind not in closed_form.DRAM_PJ_PER_BIT:
        choices = list(closed_form.DRAM_PJ_PER_BIT)
        hint = near(str(kind), choices)
        raise component_fault(
            arch, level, f"the type of a DRAM must be one of {', '.join(choices)}; got {kind!r}{hint}"
        )
    return closed_form.dram(str(kind), level.width_bits)


def _depth(arch: Architecture, level: Storage) -> int:
    if level.capacity_bits is None:
        raise component_fault(arch, level, f"a {level.cls} must have a capacity")
    return max(1, math.ceil(level.capacity_bits * cluster_size(level) / level.width_bits))


def _registers(arch: Architecture, level: Storage, cls: str) -> Figures:
    """The figures of a register file; one of a single word is a register, which has no address."""
    depth = _depth(arch, level)
    if cls == "reg" and depth > 1:
        rule = "a register (class reg) holds one access of its width"
        raise component_fault(
            arch, level, f"{rule}, got {level.capacity_bits} bits of width {level.width_bits}; use regfile"
        )
    return closed_form.register() if depth == 1 else closed_form.register_file(depth, level.width_bits)


def _sram(arch: Architecture, level: Storage, memory: Memory) -> Figures:
    """The figures of an SRAM: the memory by CACTI and the two address generators of every buffer."""
    _depth(arch, level)
    bits = (level.capacity_bits or 0) * cluster_size(level)
    node = _node(arch, level)
    array = memory(Sram(node, bits / 8, level.width_bits, level.ports, level.banks))
    extra = scaled(closed_form.address_generators(), closed_form.NODE_NM, node)

    def value(name: str) -> float:
        return float(getattr(array, name) + getattr(extra, name))

    return closed_form.figures(value, f"{array.source}, plus address generators")


def _guarded[C: Component, **P, E](
    estimate: Callable[Concatenate[Architecture, C, P], E],
) -> Callable[Concatenate[Architecture, C, P], E]:
    """Turns an OutsideGrid that `estimate` raises into an InputError that names the component."""

    def guarded(arch: Architecture, component: C, /, *args: P.args, **kwargs: P.kwargs) -> E:
        try:
            return estimate(arch, component, *args, **kwargs)
        except OutsideGrid as error:
            raise component_fault(arch, component, f"{error}; {WAYS_OUT}") from None

    return guarded


def _leak(arch: Architecture, component: Component, leak_uw: float) -> float:
    """The leakage of a component in pJ per cycle: uW times ns are fJ."""
    return leak_uw * _number(arch, component, "clock_ns", CLOCK_NS) / 1000


def _compound_level(arch: Architecture, level: Storage, memory: Memory) -> LevelEnergy:
    estimate = _compound(arch, level, memory, ("read", "write"))
    read, write = estimate.energies["read"], estimate.energies["write"]
    update, leak = estimate.energies.get("update", write), _leak(arch, level, estimate.leak_uw)
    return LevelEnergy(level.name, read, write, update, leak, estimate.area_um2, estimate.source)


def _compound_compute(arch: Architecture, compute: Compute, memory: Memory) -> ComputeEnergy:
    estimate = _compound(arch, compute, memory, ("compute",))
    leak = _leak(arch, compute, estimate.leak_uw)
    return ComputeEnergy(compute.name, estimate.energies["compute"], leak, estimate.area_um2, estimate.source)


@_guarded
def estimate_level(arch: Architecture, level: Storage, memory: Memory = sram) -> LevelEnergy:
    """Estimates a level by its class: DRAM, register file and register by closed forms, SRAM by `memory`.

    An update costs a write. Raises InputError for a class, type, node or size without an estimate.
    """
    if level.attribute("energy") is not None:
        return given_level(arch, level)
    return _shared_out(_whole_level(arch, level, memory), cluster_size(level))


def _shared_out(energy: LevelEnergy, instances: int) -> LevelEnergy:
    """The energies of one of the instances that share a memory: leakage and area are a part of the whole."""
    leak, area = energy.leak_pj_per_cycle / instances, energy.area_um2 / instances
    return replace(energy, leak_pj_per_cycle=leak, area_um2=area)


def _whole_level(arch: Architecture, level: Storage, memory: Memory) -> LevelEnergy:
    if level.cls in compound_classes(arch):
        return _compound_level(arch, level, memory)
    cls = _class(arch, level, STORAGE, STORAGE_LIKE)
    if cls == "dummy":
        figures = NOTHING
    elif cls == "DRAM":
        figures = _dram(arch, level)  # off chip: the chip's technology says nothing of it
    elif cls == "SRAM":
        figures = _sram(arch, level, memory)
    else:
        node = _node(arch, level)
        figures = scaled(_registers(arch, level, cls), closed_form.NODE_NM, node)
    leak = _leak(arch, level, figures.leak_uw)
    return LevelEnergy(
        level.name, figures.read_pj, figures.write_pj, figures.write_pj, leak, figures.area_um2, figures.source
    )


@_guarded
def estimate_compute(arch: Architecture, compute: Compute, memory: Memory = sram) -> ComputeEnergy:
    """Estimates a MAC unit by the closed form; `memory` is for the parts of a compound class.

    Raises InputError for a class or node without an estimate.
    """
    if compute.attribute("energy") is not None:
        return given_compute(arch, compute)
    if compute.cls in compound_classes(arch):
        return _compound_compute(arch, compute, memory)
    cls = _class(arch, compute, COMPUTE, COMPUTE_LIKE)
    node = _node(arch, compute)
    if cls == "dummy":
        return ComputeEnergy(compute.name, 0.0, 0.0, 0.0, NOTHING.source)
    mac = closed_form.float_mac if cls == "fpmac" else closed_form.integer_mac
    whole = mac(compute.word_bits)
    figures = scaled(whole, closed_form.NODE_NM, node)
    form = closed_form.bit_form(compute.word_bits, cls == "fpmac", figures.read_pj / whole.read_pj)
    return ComputeEnergy(compute.name, figures.read_pj, 0.0, figures.area_um2, figures.source, form)
