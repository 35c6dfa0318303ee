"""`--set "LEVEL: C=8 order=M,C keep=Inputs"`: changes of a mapping, read as transforms, and what changes with them."""

from collections.abc import Mapping, Sequence

from ...arch import Architecture
from ...workloads import Fault, InputError, Workload, collect, near, option_fault
from ..mapping import MappingBatch
from ..mapping.transforms import Keep, Reorder, Spread, Tile, Transform, Transforms, applied, transforms_of

Target = tuple[str, str]  # a level, and the name of an axis below it or nothing


def changed(before: MappingBatch, workload: Workload, texts: Sequence[str]) -> MappingBatch:
    """Change a mapping, of `workload` unless it pads that, as the `texts` say. Raises InputError with every fault."""
    faults, made = list[Fault](), dict[tuple[str, ...], str]()  # by address, the text that decides it
    new = list[Transform]()
    for text in texts:
        for each in collect(faults, lambda text=text: read_change(text, before)) or []:  # type: ignore[misc]
            if each.address in made:
                faults.append(_fault(text, f'a second change of what "{made[each.address]}" sets; keep one of them'))
            made.setdefault(each.address, text)
            new.append(each)
    if faults:
        raise InputError(faults)
    transforms = transforms_of(before, workload).replaced(*new)
    try:
        return applied(transforms, before.arch, workload)
    except InputError as error:
        raise InputError(_named(fault, transforms, made) for fault in error.faults) from None


def read_change(text: str, before: MappingBatch) -> list[Transform]:
    """Read one text: a level or an axis, then bounds of dims, `order=` and `keep=`. Raises InputError with every fault.

    An order is outermost first; dims that it leaves out stay outside those named, in their order.
    """
    name, colon, rest = (part.strip() for part in text.partition(":"))
    entries = [entry.partition("=") for entry in rest.split()]
    if not colon or not entries or not all(equals for _, equals, _ in entries):
        raise InputError(_fault(text, "must be LEVEL: DIM=BOUND, or AXIS: DIM=BOUND; also order=DIMS, keep=TENSORS"))
    targets = _targets(before.arch)
    if name not in targets:
        known = near(name, targets) or f"; known: {', '.join(targets)}"
        raise InputError(_fault(text, f'unknown level or axis "{name}"{known}'))
    found, faults = list[Transform](), list[Fault]()
    for key, _, value in entries:
        own = collect(faults, lambda key=key, value=value: _entry(text, targets[name], key, value, before))  # type: ignore[misc]
        found += [own] if own is not None else []
    if faults:
        raise InputError(faults)
    return found


def with_them(before: MappingBatch, after: MappingBatch) -> list[str]:
    """List what changed beside what was asked for: the outermost level takes what the others leave of each dim."""
    name = before.arch.levels[0].name
    bounds = zip(before.workload.dims, before.factors[0, 0].tolist(), after.factors[0, 0].tolist(), strict=True)
    return [f"{name}: {dim}={old} becomes {dim}={new}" for dim, old, new in bounds if old != new]


def _entry(text: str, target: Target, key: str, value: str, before: MappingBatch) -> Transform:
    """Read one entry. Raises InputError."""
    level, axis = target
    names = tuple(filter(None, value.split(",")))
    if key in ("order", "keep") and axis:
        raise InputError(_fault(text, f"an axis has no {key}: name a level"))
    if key == "keep":
        return Keep(level=level, tensors=names)
    if key == "order":
        return Reorder(level=level, dims=_whole(level, names, before))
    if not (value.isascii() and value.isdigit() and int(value)):
        raise InputError(_fault(text, f'a bound must be a whole number, 1 or more; got "{key}={value}"'))
    if axis:
        return Spread(level=level, axis=axis, dim=key, bound=int(value))
    return Tile(level=level, dim=key, bound=int(value))


def _whole(level: str, names: tuple[str, ...], before: MappingBatch) -> tuple[str, ...]:
    """Return the order of all dims of a level, those not named outside as they were."""
    index = next(i for i, own in enumerate(before.arch.levels) if own.name == level)
    now = [before.workload.dims[d] for d in before.order[0, index].tolist()]
    return (*(dim for dim in now if dim not in names), *names)


def _targets(arch: Architecture) -> Mapping[str, Target]:
    """List levels and axes by every name they may be given: an axis with its level, or alone where that is clear."""
    levels = {arch.levels[stack[-1]].of_memory: arch.levels[stack[-1]].name for stack in arch.stacks}
    levels |= {level.name: level.name for level in arch.levels}
    found: dict[str, Target] = {name: (level, "") for name, level in levels.items()}
    axes = [(slot, slot.axis.name) for slot in arch.slots if slot.axis]
    for slot, axis in axes:
        target = (arch.levels[slot.level].name, axis)
        found[slot.name] = target
        if axis not in levels and [name for _, name in axes].count(axis) == 1:
            found[axis] = target
    return found


def _named(fault: Fault, transforms: Transforms, made: Mapping[tuple[str, ...], str]) -> Fault:
    """Say of a fault which text it is about; else it is about the mapping as it would be."""
    own = transforms.transforms[fault.keys[1]] if len(fault.keys) > 1 and isinstance(fault.keys[1], int) else None
    text = made.get(own.address) if own else None
    return _fault(text, fault.message) if text else option_fault("set", f"then {fault.message}")


def _fault(text: str, message: str) -> Fault:
    return option_fault(f'set "{text}"', message)
