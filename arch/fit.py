"""Checks that the constraints of an architecture name dims and tensors that a workload has."""

from collections.abc import Iterator, Sequence

from ..workloads import SHAPES, Document, Fault, InputError, Keys, Workload, near
from ..workloads.block_scales import blocks_of, scales_of
from .loop_constraint import FactorRule, LoopConstraint
from .spec import Architecture

# The dims and tensors of all shapes: constraints may name them whether a workload has them or not.
SHAPE_DIMS = frozenset(dim for shape in SHAPES.values() for dim in shape.dims)
SHAPE_TENSORS = frozenset(name for shape in SHAPES.values() for name in shape.projections)

Misfit = tuple[str, str, str]  # the level, axis or list; the name that it may not have; what is wrong


def check_fit(arch: Architecture, workload: Workload, source: str, documents: Sequence[Document] = ()) -> None:
    """Raises InputError, with faults in `source`, where constraints of `arch` cannot hold for `workload`.

    Those are constraints on tensors that the workload lacks, on dims that neither it nor any shape of the library
    has, and factors over the size of a dim. A dim of another shape counts as a dim of size 1; a workload that names
    its tensors as the shapes do need not have all of them (rank1 has no Weights). Faults have the lines of the names in
    the `documents` that the architecture was read from.
    """
    known = sorted({*workload.dims, *SHAPE_DIMS})
    conflicts = (
        *_tensor_faults(arch, workload),
        *_dim_faults(arch, known),
        *_layout_faults(arch, workload),
        *_factor_faults(arch, workload),
    )
    if conflicts:
        raise InputError(_fault(conflict, source, documents) for conflict in conflicts)


def _fault(conflict: Misfit, source: str, documents: Sequence[Document]) -> Fault:
    """The fault with the file and line of the wrong name, or of the level that it is about."""
    place, word, message = conflict
    for document in documents:
        own = isinstance(document.data, dict) and isinstance(document.data.get("levels"), list)
        for at in _own_places(document, place) if own else _timeloop_places(document, place):
            # an axis may be called X, too
            mentions = [path for path in document.mentions(at, word) if path[-1] != "name"]
            path = min(mentions, key=lambda path: "factors" not in path, default=(*at, "name"))
            return Fault(*document.place(path), place, message)
    return Fault(source, None, place, message)


def _own_places(document: Document, place: str) -> Iterator[Keys]:
    """Where a file of this project has the list, the axis or the temporal loops that `place` names, or else the level.

    Levels are those below `levels`: a machine, a component class or an axis of another level may have the same name.
    """
    name, _, part = place.partition(".")  # names have no dots
    for index, level in enumerate(document.data["levels"]):
        if isinstance(level, dict) and level.get("name") == name:
            axes = [axis["name"] for axis in level.get("fanout") or ()]
            if part in axes:
                yield ("levels", index, "fanout", axes.index(part))
            key = part or "temporal"
            yield ("levels", index, key) if key in level else ("levels", index)


def _timeloop_places(document: Document, place: str) -> Iterator[Keys]:
    """Where Timeloop's files name the axis, or else the level, of `place`."""
    for name in reversed(place.split(".")):
        yield from document.named(name)


def known_tensors(workload: Workload) -> frozenset[str]:
    """The tensors that a constraint may name: those of `workload`, or of all shapes where it names them as they do."""
    scales = frozenset(tensor.name for tensor in workload.tensors if tensor.scale_of)
    names = frozenset(tensor.name for tensor in workload.tensors) - scales
    return (SHAPE_TENSORS if SHAPE_TENSORS.issuperset(names) else names) | scales


def _tensor_faults(arch: Architecture, workload: Workload) -> Iterator[Misfit]:
    names = [tensor.name for tensor in workload.tensors]
    known = known_tensors(workload)
    taken = known | {scales_of(name) for name in known}  # those of other layers of the network, too
    for level in arch.levels:
        lists = {"keep": level.keep, "bypass": level.bypass, "tensor_bits": dict(level.tensor_bits).keys()}
        lists |= {} if level.dram is None else {"dram.layout": dict(level.dram.layout).keys()}
        for key, used in lists.items():
            for name in sorted(used - taken):
                has = f"workload {workload.name} has {', '.join(names)}"
                yield f"{level.name}.{key}", name, f'unknown tensor "{name}"; {has}{near(name, names)}'


def _named_dims(constraint: LoopConstraint) -> set[str]:
    rules = {rule.dim for rule in constraint.factors}
    return rules | {*(constraint.dims or ()), *constraint.outermost, *constraint.innermost}


def _dim_faults(arch: Architecture, known: list[str]) -> Iterator[Misfit]:
    named = [(slot.name, _named_dims(slot.constraint)) for slot in arch.slots]
    named += [(place, set(dims)) for place, _, dims in _layouts(arch)]
    for place, dims in named:
        for dim in sorted(dims.difference(known, map(blocks_of, known))):
            yield place, dim, f'unknown dim "{dim}"; known: {", ".join(known)}{near(dim, known)}'


def _layouts(arch: Architecture) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Where a layout of a tensor stands, the tensor, and its dims."""
    for level in arch.levels:
        for name, dims in () if level.dram is None else level.dram.layout:
            yield f"{level.name}.dram.layout", name, dims


def _layout_faults(arch: Architecture, workload: Workload) -> Iterator[Misfit]:
    """Dims of a layout that the workload has, but not the tensor."""
    tensors = {tensor.name: tensor for tensor in workload.tensors}
    for place, name, dims in _layouts(arch):
        for dim in dims if name in tensors else ():
            if dim in workload.dims and dim not in tensors[name].dims:
                own = ", ".join(own for own in workload.dims if own in tensors[name].dims)
                yield place, dim, f"{name} has no {dim}; it has {own}"


def _over(rule: FactorRule, size: int) -> bool:
    return rule.op != "<=" and rule.value is not None and rule.value > size


def _factor_faults(arch: Architecture, workload: Workload) -> Iterator[Misfit]:
    for slot in arch.slots:
        for rule in slot.constraint.factors:
            size = workload.size(rule.dim)
            if _over(rule, size):
                why = f"{size} in workload {workload.name}" if rule.dim in workload.dims else "1: it lacks this dim"
                yield slot.name, rule.dim, f"a factor of at most the dim's size is expected, {why}; got {rule}"
