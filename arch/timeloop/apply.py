"""Lays the constraint lists of Timeloop files on an architecture."""

from dataclasses import replace

from ...workloads import Document, Keys, Workload
from ...workloads.timeloop import Reader, choices
from ..loop_constraint import LoopConstraint
from ..spec import Architecture, Axis
from .dataspaces import dataspace, keeping
from .loops import merged, spatial, temporal
from .scope import GREEDY, REFUSED, Scope

ROOTS: tuple[Keys, ...] = (
    ("constraints",),
    ("mapspace_constraints",),
    ("architecture_constraints",),
    ("arch_constraints",),
    ("mapspace", "constraints"),
    ("architecture", "constraints"),
    ("arch", "constraints"),
)
MOST_LOOPS = ("mapper", "max_temporal_loops_in_a_mapping")  # of its mapper, for which longer nests are no mappings
KINDS = {
    "temporal": "temporal",
    "spatial": "spatial",
    **dict.fromkeys(("datatype", "bypass", "bypassing", "dataspace"), "dataspace"),
    **dict.fromkeys(("utilization", "parallelism"), "utilization"),
}


def _of_both(axis: Axis) -> str:
    """The name of the container whose fan-out over meshX and meshY an axis is a part of."""
    return axis.name.removesuffix(f"_{axis.mesh}")


class _Applied:
    """The levels of an architecture while constraints are laid on them, one entry after the other."""

    def __init__(self, arch: Architecture, scope: Scope):
        self.levels = list(arch.levels)
        self.scope = scope
        self.reader = scope.reader

    def targets(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """The level and the axes that each name of a target means; a number counts levels from the innermost."""
        targets: dict[str, tuple[int, tuple[int, ...]]] = {}
        for number, level in enumerate(self.levels):
            for at, axis in enumerate(level.fanout):
                for name in (axis.name, f"{level.name}.{axis.name}", f"inter_{axis.name}_spatial"):
                    targets.setdefault(name, (number, (at,)))
            for name in {_of_both(axis) for axis in level.fanout}:  # a container with meshX and meshY
                both = tuple(at for at, axis in enumerate(level.fanout) if _of_both(axis) == name)
                targets.setdefault(name, (number, both))
                targets.setdefault(f"inter_{name}_spatial", (number, both))
        for number, level in enumerate(self.levels):
            everything = (number, tuple(range(len(level.fanout))))
            targets |= {level.name: everything, str(len(self.levels) - 1 - number): everything}
        return targets

    def entry(self, path: Keys) -> None:
        """Lays the entry at `path` on its target."""
        for key in GREEDY:
            if self.reader.mapping(path).get(key) is not None:
                self.reader.fault((*path, key), f"{key} stands at a node of version 0.4, in its constraints")
        given = self.reader.text((*path, "type"), required=True)
        kind = KINDS.get(given or "")
        if given is not None and kind is None:
            known = REFUSED if given in REFUSED else ()
            message = f"{given} is not supported" if known else f"unknown type {given!r}{choices(given, KINDS)}"
            self.reader.fault((*path, "type"), message)
        target, targets = self.reader.text((*path, "target"), required=True), self.targets()
        if target is not None and target not in targets:
            names = [name for name in targets if not name.isdigit()]
            self.reader.fault((*path, "target"), f"unknown target {target!r}{choices(target, names)}")
        if kind is not None and target in targets:
            getattr(self, kind)(path, *targets[target], target == self.levels[targets[target][0]].name)

    def temporal(self, path: Keys, level: int, axes: tuple[int, ...], whole: bool) -> None:
        new = temporal(self.scope, path, known=("target", "type"))
        if not whole and not str(self.reader.value((*path, "target"))).isdigit():
            if any(rule.value != 1 for rule in new.factors):
                self.reader.fault(path, "an axis has no temporal loops")
            return
        old = self.levels[level]
        self.levels[level] = replace(old, temporal=merged(self.reader, path, old.temporal, new))

    def spatial(self, path: Keys, level: int, axes: tuple[int, ...], whole: bool) -> None:
        fanout = list(self.levels[level].fanout)
        new = spatial(self.scope, path, tuple(fanout[at] for at in axes), known=("target", "type"))
        for at, constraint in zip(axes, new, strict=False):
            fanout[at] = replace(fanout[at], constraint=merged(self.reader, path, fanout[at].constraint, constraint))
        self.levels[level] = replace(self.levels[level], fanout=tuple(fanout))

    def dataspace(self, path: Keys, level: int, axes: tuple[int, ...], whole: bool) -> None:
        keep, bypass = dataspace(self.scope, path, known=("target", "type"))
        if not whole and not str(self.reader.value((*path, "target"))).isdigit():
            if keep:
                self.reader.fault(path, "an axis keeps nothing")
            return
        self.levels[level] = keeping(self.reader, path, self.levels[level], keep, bypass, level == 0)

    def utilization(self, path: Keys, level: int, axes: tuple[int, ...], whole: bool) -> None:
        self.reader.mapping(path, ("target", "type", "min"))
        least = self.reader.number((*path, "min"))
        everywhere = [(number, at) for number, storage in enumerate(self.levels) for at in range(len(storage.fanout))]
        if least is None or not everywhere:
            return
        if least > 1 or len(everywhere) > 1:
            rule = "must be at most 1" if least > 1 else "a utilization over several axes is not supported"
            self.reader.fault(path, f"{rule}, got {least:g} over {len(everywhere)} axes")
            return
        number, at = everywhere[0]
        axis = self.levels[number].fanout[at]
        new = merged(self.reader, path, axis.constraint, LoopConstraint(min_utilization=least))
        self.levels[number] = replace(self.levels[number], fanout=(replace(axis, constraint=new),))


def entries(reader: Reader, root: Keys) -> list[Keys]:
    """The paths of the entries of the constraint list at `root`: a list, or a mapping with a list under `targets`."""
    value = reader.value(root)
    if isinstance(value, dict):
        reader.mapping(root, ("version", "targets"))
        return reader.items((*root, "targets"))
    return reader.items(root)


def kept_elsewhere(scope: Scope) -> dict[str, frozenset[str]]:
    """What the constraint lists of a file keep, by target; faults of them are those of `apply_timeloop_constraints`."""
    kept: dict[str, frozenset[str]] = {}
    before, reader = len(scope.reader.faults), scope.reader
    for path in (path for root in ROOTS for path in entries(reader, root)):
        given = reader.value((*path, "type"))
        target = reader.value((*path, "target"))
        if KINDS.get(str(given)) == "dataspace" and isinstance(target, str):
            keep, _ = dataspace(scope, path, known=("target", "type"))
            kept[target] = kept.get(target, frozenset()) | keep
    del reader.faults[before:]
    return kept


def apply_timeloop_constraints(
    arch: Architecture, document: Document, workload: Workload | None = None
) -> Architecture:
    """`arch` with the constraints of a Timeloop file, which stand under ROOTS, and the limit of its mapper on loops.

    Raises InputError with every fault: unknown targets and keys, contradictions, what has no counterpart here.
    """
    reader = Reader(document)
    reader.mapping(("mapspace",), ("version", "template", "constraints"))
    applied = _Applied(arch, Scope(reader, workload))
    for root in ROOTS:
        for path in entries(reader, root):
            applied.entry(path)
    most = reader.integer(MOST_LOOPS, least=-1)
    reader.finish()
    limit = (
        arch.max_loops if most is None or most < 1 else min(most, most if arch.max_loops is None else arch.max_loops)
    )
    return replace(arch, levels=tuple(applied.levels), max_loops=limit)
