"""`"LEVEL: C=8 order=M,C keep=Inputs"`: decisions, read as transforms.

`--set` changes them in a mapping, `--fix` leaves to a search the mappings that agree with them.
"""

from collections.abc import Callable, Mapping, Sequence
from os.path import isfile
from pathlib import Path

from ...arch import Architecture
from ...workloads import Fault, InputError, Network, Workload, collect, near, option_fault, read_yaml
from ..exploration import layers_of
from ..mapping import MappingBatch
from ..mapping.transforms import (
    ROOT,
    Keep,
    Reorder,
    Spread,
    Tile,
    Transform,
    Transforms,
    applied,
    fixed,
    read_transforms,
    transforms_of,
)
from .shared import placed_as

Decision = tuple[Transform, Callable[[Fault], Fault]]  # with what tells where a fault of it is
Target = tuple[str, str]  # a level, and the name of an axis below it or nothing


def changed(before: MappingBatch, workload: Workload, texts: Sequence[str]) -> MappingBatch:
    """Change a mapping, of `workload` unless it pads that, as the `texts` say. Raises InputError with every fault."""
    faults, made = list[Fault](), dict[tuple[str, ...], str]()  # by address, the text that decides it
    new = list[Transform]()
    for text in texts:
        for transform in collect(faults, lambda text=text: read_change(text, before.arch, before=before)) or []:  # type: ignore[misc]
            if transform.address in made:
                faults.append(
                    _fault(text, f'a second change of what "{made[transform.address]}" sets; keep one of them')
                )
            made.setdefault(transform.address, text)
            new.append(transform)
    if faults:
        raise InputError(faults)
    transforms = transforms_of(before, workload).replaced(*new)
    try:
        return applied(transforms, before.arch, workload)
    except InputError as error:
        raise InputError(_named(fault, transforms, made) for fault in error.faults) from None


def machine_as(arch: Architecture, work: Workload | Network, placement: str, fix: Sequence[str]) -> Architecture:
    """Return the machine with what `--placement` and `--fix` say of it. Raises InputError with every fault."""
    arch = placed_as(arch, placement)
    return fixed_by(arch, layers_of(work), fix) if fix else arch


def fixed_by(arch: Architecture, workloads: Sequence[Workload], texts: Sequence[str]) -> Architecture:
    """Constrain a machine to the mappings that agree with all `texts`, each as of `--set` or a file of transforms.

    Raises InputError with every fault.
    """
    faults, decisions = list[Fault](), list[Decision]()
    for text in texts:
        for transform, tell in collect(faults, lambda text=text: _decided(arch, text)) or []:  # type: ignore[misc]
            first = next((other for other in decisions if other[0].address == transform.address), None)
            if first is None:
                decisions.append((transform, tell))
            else:
                faults.append(tell(Fault("", None, "", f"a second decision of {_at(transform)}: keep one of them")))
    try:
        machine = fixed(arch, workloads, Transforms(transforms=tuple(transform for transform, _ in decisions)))
    except InputError as error:
        faults += [_by_source(fault, decisions) for fault in error.faults]
    if faults:
        raise InputError(dict.fromkeys(faults))
    return machine


def _decided(arch: Architecture, text: str) -> list[Decision]:
    """Read a text or a file. Raises InputError."""
    if isfile(text):  # also where the text is too long for a name
        document = read_yaml(Path(text))
        own = read_transforms(document).transforms
        return [
            (transform, lambda fault, i=i: document.fault((ROOT, i, *fault.keys[2:]), fault.message))  # type: ignore[misc]
            for i, transform in enumerate(own)
        ]
    name = f'fix "{text}"'
    return [
        (transform, lambda fault: option_fault(name, fault.message)) for transform in read_change(text, arch, "fix")
    ]


def _at(transform: Transform) -> str:
    """Name what a transform decides."""
    kind, *names = transform.address
    if kind == "reorder":
        return f"the order of {names[0]}"
    if kind == "keep":
        return f"what {names[0]} keeps"
    return f"{names[-1]} at {'.'.join(names[:-1])}" if names[1:] else f"the size of {names[0]}"


def _by_source(fault: Fault, decisions: Sequence[Decision]) -> Fault:
    """Say of a fault of one of the decisions where it is."""
    number = fault.keys[1] if len(fault.keys) > 1 else None
    return decisions[number][1](fault) if isinstance(number, int) else fault


def read_change(
    text: str, arch: Architecture, option: str = "set", before: MappingBatch | None = None
) -> list[Transform]:
    """Read one text: a level or an axis, then bounds of dims, `order=` and `keep=`. Raises InputError with every fault.

    An order is outermost first; dims that it leaves out stay outside those named, in their order in `before`.
    """
    name, colon, rest = (part.strip() for part in text.partition(":"))
    entries = [entry.partition("=") for entry in rest.split()]
    if not colon or not entries or not all(equals for _, equals, _ in entries):
        rule = "must be LEVEL: DIM=BOUND, or AXIS: DIM=BOUND; also order=DIMS, keep=TENSORS"
        rule += "; or a file, which this is not" if option == "fix" else ""
        raise InputError(_fault(text, rule, option))
    targets = _targets(arch)
    if name not in targets:
        known = near(name, targets) or f"; known: {', '.join(targets)}"
        raise InputError(_fault(text, f'unknown level or axis "{name}"{known}', option))
    transforms, faults = list[Transform](), list[Fault]()
    for key, _, value in entries:
        try:
            transform = _entry(targets[name], key, value)
            transforms.append(
                _whole(transform, before) if before is not None and isinstance(transform, Reorder) else transform
            )
        except ValueError as error:
            faults.append(_fault(text, str(error), option))
    if faults:
        raise InputError(faults)
    return transforms


def with_them(before: MappingBatch, after: MappingBatch) -> list[str]:
    """List what changed beside what was asked for: the outermost level takes what the others leave of each dim."""
    name = before.arch.levels[0].name
    bounds = zip(before.workload.dims, before.factors[0, 0].tolist(), after.factors[0, 0].tolist(), strict=True)
    return [f"{name}: {dim}={old} becomes {dim}={new}" for dim, old, new in bounds if old != new]


def _entry(target: Target, key: str, value: str) -> Transform:
    """Read one entry. Raises ValueError with what is wrong."""
    level, axis = target
    names = tuple(filter(None, value.split(",")))
    if not key:
        raise ValueError(f'must say of which dim; got "={value}"')
    if key in ("order", "keep") and axis:
        raise ValueError(f"an axis has no {key}: name a level")
    if key == "keep":
        return Keep(level=level, tensors=names)
    if key == "order":
        return Reorder(level=level, dims=names)
    if not (value.isascii() and value.isdigit() and int(value)):
        raise ValueError(f'a bound must be a whole number, 1 or more; got "{key}={value}"')
    if axis:
        return Spread(level=level, axis=axis, dim=key, bound=int(value))
    return Tile(level=level, dim=key, bound=int(value))


def _whole(own: Reorder, before: MappingBatch) -> Reorder:
    """Add to an order the dims that it leaves out, outside as they were."""
    index = next(i for i, level in enumerate(before.arch.levels) if level.name == own.level)
    now = [before.workload.dims[d] for d in before.order[0, index].tolist()]
    return Reorder(level=own.level, dims=(*(dim for dim in now if dim not in own.dims), *own.dims))


def _targets(arch: Architecture) -> Mapping[str, Target]:
    """List levels and axes by every name they may be given: an axis with its level, or alone where that is clear."""
    levels = {arch.levels[stack[-1]].of_memory: arch.levels[stack[-1]].name for stack in arch.stacks}
    levels |= {level.name: level.name for level in arch.levels}
    targets: dict[str, Target] = {name: (level, "") for name, level in levels.items()}
    axes = [(slot, slot.axis.name) for slot in arch.slots if slot.axis]
    for slot, axis in axes:
        target = (arch.levels[slot.level].name, axis)
        targets[slot.name] = target
        if axis not in levels and [name for _, name in axes].count(axis) == 1:
            targets[axis] = target
    return targets


def _named(fault: Fault, transforms: Transforms, made: Mapping[tuple[str, ...], str]) -> Fault:
    """Say of a fault which text it is about; else it is about the mapping as it would be."""
    own = transforms.transforms[fault.keys[1]] if len(fault.keys) > 1 and isinstance(fault.keys[1], int) else None
    text = made.get(own.address) if own else None
    return _fault(text, fault.message) if text else option_fault("set", f"then {fault.message}")


def _fault(text: str, message: str, option: str = "set") -> Fault:
    return option_fault(f'{option} "{text}"', message)
