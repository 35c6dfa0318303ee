"""Loads an `Architecture` from a YAML file, or by its name in the library."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..workloads import Document, Fault, InputError, Keys, Workload, check, near, read_yaml
from ..workloads.expressions import arithmetic
from ..workloads.timeloop import ROOTS, TIMELOOP_TAGS, read_timeloop, read_timeloop_problem
from .base import find_arch, with_base
from .components import component_classes
from .loop_constraint import LoopConstraint
from .loop_schema import Loops, TemporalLoops
from .measured import term_faults
from .schema import CAPACITIES, ComputeUnit, Fanout, Level, Machine
from .spec import Architecture, Axis, ComponentClass, Compute, Storage
from .timeloop import apply_timeloop_constraints, read_timeloop_arch

Number = int | float


def load_arch(
    spec: str,
    variables: Mapping[str, Number] | None = None,
    *,
    workload: Workload | None = None,
    more: Sequence[Path] = (),
) -> Architecture:
    """The architecture in the file `spec`, or of that name in the library; `variables` replace those of the file.

    `more` are further Timeloop files, read together with `spec` (constraints, variables...); `workload` is for those of
    their constraints that hold for all its dims or tensors (`keep_only`, `*`). Raises InputError with every fault.

    >>> load_arch("eyeriss_like", {"columns": 7}).instances(2)
    84
    """
    own, further = arch_documents(spec, more)
    if own is None:
        assert further is not None
        return parse_arch(further, variables, workload)
    arch = parse_arch(own, variables, workload)
    return arch if further is None else apply_timeloop_constraints(arch, further, workload)


def arch_documents(spec: str, more: Sequence[Path] = ()) -> tuple[Document | None, Document | None]:
    """The document of `spec` in this project's form, and that of all Timeloop files: `spec` may be either.

    Raises InputError for files that cannot be read, and for unknown root keys of Timeloop files.
    """
    try:
        path = find_arch(spec)
    except LookupError as error:
        raise InputError(Fault(spec, None, "", str(error))) from None
    document = read_yaml(path, tags=TIMELOOP_TAGS)
    if not isinstance(document.data, dict) or not set(ROOTS).isdisjoint(document.data.keys() - {"variables"}):
        return None, read_timeloop(path, *more)
    further = read_timeloop(*more) if more else None
    for key in ("architecture", "arch"):
        if further is not None and key in further.data:
            raise InputError(further.fault((key,), f"a second architecture beside {spec}"))
    return document, further


def parse_arch(
    document: Document, variables: Mapping[str, Number] | None = None, workload: Workload | None = None
) -> Architecture:
    """The architecture in `document`, in this project's form or one of Timeloop's (root key `architecture` or `arch`).

    The constraints of a Timeloop file may need the `workload`; without it a `problem` in the file stands for it.
    Raises InputError with every fault.
    """
    if isinstance(document.data, dict) and not set(ROOTS).isdisjoint(document.data.keys() - {"variables"}):
        if variables:
            raise InputError(document.fault((), f"has no variables to set: {', '.join(variables)}"))
        if workload is None and "problem" in document.data:
            workload = read_timeloop_problem(document)
        return read_timeloop_arch(document, workload)
    document = with_base(document)
    faults: list[Fault] = []
    names = _variables(document, variables or {}, faults)
    faults += _across_levels(document)
    components: tuple[ComponentClass, ...] = ()
    try:
        components = component_classes(document)
    except InputError as error:
        faults += error.faults
    try:
        machine = check(document, Machine, names=names)
    except InputError as error:
        raise InputError(_in_order([*error.faults, *faults])) from None
    if faults:
        raise InputError(_in_order(faults))
    arch = _architecture(machine, components)
    if faults := list(term_faults(document, arch)):
        raise InputError(faults)
    return arch


def _in_order(faults: list[Fault]) -> list[Fault]:
    return sorted(dict.fromkeys(faults), key=lambda fault: (fault.source, fault.line or 0))


def _variables(document: Document, given: Mapping[str, Number], faults: list[Fault]) -> dict[str, Number]:
    """The values of the variables; each may use those above it. Adds to `faults`."""
    written = document.data.get("variables", {}) if isinstance(document.data, dict) else {}
    if not isinstance(written, dict):
        return {}  # the check of the whole file says so
    for name in given.keys() - written.keys():
        faults.append(document.fault(("variables",), f'unknown variable "{name}"{near(name, written)}'))
    values: dict[str, Number] = {}
    for name, value in (written | {name: given[name] for name in given if name in written}).items():
        try:
            if isinstance(value, bool) or not isinstance(value, int | float | str) or not name.isidentifier():
                raise ValueError(f"must be NAME: number or expression, got {value!r}")
            values[name] = arithmetic(str(value), values)
        except ValueError as error:
            faults.append(document.fault(("variables", name), str(error)))
    return values


def _across_levels(document: Document) -> Iterator[Fault]:
    """The faults of levels among each other. They show in the plain data, so that a fault in a level hides none."""
    seen: set[str] = set()
    array = ""  # the level above the systolic axes
    for path, part in _written_parts(document):
        name = part.get("name")
        if isinstance(name, str) and name in seen:
            yield document.fault((*path, "name"), f'must be unique, "{name}" stands above too')
        seen |= {name} if isinstance(name, str) else set()
        if _systolic(part):
            if array:
                rule = f"systolic axes stand below one level; those of {array} above are systolic, too"
                yield document.fault((*path, "fanout"), rule)
            array = array or str(name)
        if path == ("levels", 0):
            yield from _outermost_faults(document, path, part)
        elif path[0] == "levels":
            if not part.keys() & set(CAPACITIES):
                rule = f"one of {', '.join(CAPACITIES)} is missing; only the outermost level may do so"
                yield document.fault(path, rule)
            if "dram" in part:
                yield document.fault((*path, "dram"), "bursts and rows are counted of the outermost level alone")


def _written_parts(document: Document) -> Iterator[tuple[Keys, Mapping[str, Any]]]:
    """The levels and the MAC units as they are written, each with its path; what is no mapping is left out."""
    if not isinstance(document.data, dict):
        return
    levels = document.data.get("levels")
    parts: list[tuple[Keys, Any]] = []
    if isinstance(levels, list):
        parts = [(("levels", index), level) for index, level in enumerate(levels)]
    parts.append((("compute",), document.data.get("compute")))
    yield from ((path, part) for path, part in parts if isinstance(part, dict))


def _outermost_faults(document: Document, path: Keys, level: Mapping[str, Any]) -> Iterator[Fault]:
    """What the outermost level may not say, as it holds all tensors as a whole."""
    if level.get("bypass"):
        yield document.fault((*path, "bypass"), "the outermost level keeps every tensor, it cannot bypass any")
    if level.get("placement") == "uneven":
        yield document.fault((*path, "placement"), "the outermost level holds whole tensors: its placement is even")


def _systolic(level: Mapping[str, Any]) -> bool:
    axes = level.get("fanout")
    return isinstance(axes, list) and any(isinstance(axis, dict) and axis.get("systolic") is True for axis in axes)


def _constraint(loops: Loops) -> LoopConstraint:
    own: dict[str, Any] = {}
    if isinstance(loops, TemporalLoops):
        own = {"outermost": loops.outermost, "innermost": loops.innermost, "max_loops": loops.max_loops}
    elif isinstance(loops, Fanout):
        own = {"min_utilization": loops.min_utilization}
    return LoopConstraint(factors=loops.factors, dims=loops.dims, remainders=loops.remainders, **own)


def _attributes(part: Level | ComputeUnit, machine: Machine) -> tuple[tuple[str, object], ...]:
    technology = part.technology or machine.technology
    if technology is not None and technology.is_integer():
        technology = int(technology)
    energy = part.energy and tuple(sorted(part.energy.model_dump(exclude_none=True).items()))
    own = {"technology_nm": technology, "clock_ns": machine.clock_ns, "type": part.type, "energy": energy}
    attributes = part.attributes | own
    return tuple(sorted((name, value) for name, value in attributes.items() if value is not None))


def _axis(fanout: Fanout) -> Axis:
    doubled = fanout.double_buffered
    return Axis(fanout.name, fanout.size, fanout.mesh, _constraint(fanout), fanout.code, fanout.systolic, doubled)


def _storage(level: Level, machine: Machine) -> Storage:
    return Storage(
        level.name,
        level.cls,
        attributes=_attributes(level, machine),
        capacity_bits=level.capacity,
        word_bits=level.word_bits,
        tensor_bits=tuple(sorted(level.tensor_bits.items())),
        width_bits=level.width_bits or level.word_bits,
        banks=level.banks,
        ports=level.ports,
        read_bandwidth=level.read_bandwidth,
        write_bandwidth=level.write_bandwidth,
        shared_bandwidth=level.shared_bandwidth,
        row_bandwidth=level.row_bandwidth,
        dram=None if level.dram is None else level.dram.value(),
        start_cycles=level.start_cycles,
        multiple_buffering=level.multiple_buffering,
        placement=level.placement,
        code=level.code,
        keep=level.keep,
        bypass=level.bypass,
        temporal=_constraint(level.temporal),
        fanout=tuple(map(_axis, level.fanout)),
    )


def _architecture(machine: Machine, components: tuple[ComponentClass, ...]) -> Architecture:
    unit = machine.compute
    compute = Compute(unit.name, unit.cls, attributes=_attributes(unit, machine), word_bits=unit.word_bits)
    levels = tuple(_storage(level, machine) for level in machine.levels)
    known = None if machine.calibration is None else machine.calibration.value()
    return Architecture(machine.name, levels, compute, components, known, machine.max_loops, machine.clock_ns)
