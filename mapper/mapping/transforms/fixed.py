"""Some decisions of a mapping as constraints: what is left free is the mapspace (Matmap's knobs)."""

from collections.abc import Sequence
from dataclasses import replace

from ....arch import Architecture, FactorRule, LoopConstraint, Storage
from ....workloads import Document, InputError, Keys, Workload
from .transform_names import TransformNames
from .transforms import ROOT, Keep, Pad, Reorder, Spread, Tile, Transform, Transforms


def fixed(
    arch: Architecture, workloads: Sequence[Workload], transforms: Transforms, document: Document | None = None
) -> Architecture:
    """Constrain `arch`, as it is written, to the mappings of `workloads` that agree with all `transforms`.

    A bound is as it says, of 1 too; the named dims of an order are the innermost loops, the last innermost; a level
    keeps the tensors named and no others. Every other decision stays free. `document` is the file that they are from.
    Raises InputError with every fault: unknown names, two transforms of one decision, constraints that exclude it.
    """
    return _Fixing(arch, workloads, document or Document(ROOT, transforms.model_dump(mode="json"), {})).of(transforms)


class _Fixing(TransformNames):
    """An architecture while decisions become constraints of it."""

    def __init__(self, arch: Architecture, workloads: Sequence[Workload], document: Document) -> None:
        dims = dict.fromkeys(dim for workload in workloads for dim in workload.dims)
        tensors = dict.fromkeys(tensor.name for workload in workloads for tensor in workload.tensors)
        super().__init__(arch, tuple(dims), list(tensors), document)
        self.workloads, self.storages = workloads, list(arch.levels)

    def of(self, transforms: Transforms) -> Architecture:
        """Return the architecture with the constraints."""
        for number, transform in enumerate(transforms.transforms):
            self._fix((ROOT, number), transform)
        if self.faults:
            raise InputError(dict.fromkeys(self.faults))
        return replace(self.arch, levels=tuple(self.storages))

    def _fix(self, path: Keys, transform: Transform) -> None:
        if isinstance(transform, Pad):
            self.fault(path, "padding makes another layer: pad that, and leave this out")
            return
        level = self.level(path, transform.level)
        if level is None:
            return
        storage = self.storages[level]
        match transform:
            case Tile():
                if self.inner(path, transform.level, level) and self._decided(path, transform.dim, "slot", level):
                    loops = self._bound(
                        (*path, "bound"), storage.name, storage.temporal, transform.dim, transform.bound
                    )
                    self.storages[level] = replace(storage, temporal=loops)
            case Spread():
                self._spread(path, transform, level)
            case Reorder():
                known = [self.known((*path, "dims"), "dimension", dim, self.dims) for dim in transform.dims]
                self.twice((*path, "dims"), transform.dims)
                if None not in known and self.first(path, "order", level):
                    loops = self._order((*path, "dims"), storage, transform.dims)
                    self.storages[level] = replace(storage, temporal=loops)
            case Keep():
                self._keep(path, transform, level)

    def _decided(self, path: Keys, dim: str, *place: object) -> bool:
        """Whether the dim is known, and nothing else has decided its bound at that place."""
        known = self.known((*path, "dim"), "dimension", dim, self.dims) is not None
        return known and self.first(path, *place, dim)

    def _spread(self, path: Keys, own: Spread, level: int) -> None:
        """Fix a bound at an axis."""
        storage = self.storages[level]
        names = [axis.name for axis in storage.fanout]
        place = self.axis(path, own, names)
        if place is None or not self._decided(path, own.dim, "slot", level, own.axis):
            return
        axis = storage.fanout[place]
        name = f"{storage.name}.{axis.name}"
        loops = self._bound((*path, "bound"), name, axis.constraint, own.dim, own.bound)
        fanout = [*storage.fanout]
        fanout[place] = replace(axis, constraint=loops)
        self.storages[level] = replace(storage, fanout=tuple(fanout))
        used = 1
        for rule in loops.factors:
            used *= (rule.value or 1) if rule.op == "=" else 1
        if used > axis.size:
            self.fault((*path, "bound"), f"{name} has {axis.size} instances, the loops spread over it need {used}")

    def _bound(self, path: Keys, name: str, loops: LoopConstraint, dim: str, bound: int) -> LoopConstraint:
        """Add the rule that a bound is so; the rules on the dim until now say less."""
        rules = [rule for rule in loops.factors if rule.dim == dim]
        if not all(_allows(rule, bound) for rule in rules):
            self.fault(path, f"the architecture's constraint on {name} is {' and '.join(map(str, rules))}")
        if loops.dims is not None and dim not in loops.dims and bound > 1:
            self.fault(path, f"the architecture's constraint on {name} lets only {', '.join(loops.dims)} loop there")
        for workload in self.workloads:
            if bound > workload.size(dim):
                self.fault(path, f"{dim} is {workload.size(dim)} in {workload.name}, got {bound}")
        other_rules = tuple(rule for rule in loops.factors if rule.dim != dim)
        full = [rule for rule in rules if rule.value is None]  # the same wherever the dim has this size
        return replace(loops, factors=(*other_rules, FactorRule(dim, "=", bound), *full))

    def _order(self, path: Keys, storage: Storage, dims: tuple[str, ...]) -> LoopConstraint:
        """Make the dims the innermost loops, as far as the constraints until now do not say so."""
        loops = storage.temporal
        begins, ends = (tuple(d for d in own if d in self.dims) for own in (loops.outermost, loops.innermost))
        named = dims[len(begins) :] if begins and dims[: len(begins)] == begins else dims
        short, long = sorted((named, ends), key=len)
        if set(long) & set(begins) or long[len(long) - len(short) :] != short:
            rules = {"outermost": begins, "innermost": ends}
            says = ", ".join(f"{key}: {' '.join(names)}" for key, names in rules.items() if names)
            self.fault(path, f"the architecture's constraint on {storage.name} is {says}")
        return replace(loops, innermost=long)

    def _keep(self, path: Keys, own: Keep, level: int) -> None:
        """Fix what a level keeps."""
        at, storage = (*path, "tensors"), self.storages[level]
        known = [self.known(at, "tensor", name, self.tensors) for name in own.tensors]
        self.twice(at, own.tensors)
        if None in known or not self.first(path, "keep", level):
            return
        kept, bypassed = frozenset(own.tensors), frozenset(self.tensors) - frozenset(own.tensors)
        if level == 0 and bypassed:
            self.fault(at, f"the outermost level {own.level} keeps every tensor")
        for key, wrong in (("keep", storage.keep & bypassed), ("bypass", storage.bypass & kept)):
            if wrong:
                self.fault(at, f"the architecture says that {storage.name} must {key} {', '.join(sorted(wrong))}")
        self.storages[level] = replace(storage, keep=storage.keep | kept, bypass=storage.bypass | bypassed)


def _allows(rule: FactorRule, bound: int) -> bool:
    if rule.value is None:  # the dim's size, which a layer has and an architecture has not
        return True
    return {"=": bound == rule.value, "<=": bound <= rule.value, ">=": bound >= rule.value}[rule.op]
