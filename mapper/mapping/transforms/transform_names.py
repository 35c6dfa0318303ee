"""The names that transforms address, and the faults of transforms about them."""

from collections.abc import Collection, Sequence

from ....arch import Architecture
from ....workloads import Document, Fault, Keys
from ....workloads.timeloop import choices
from .transforms import ROOT, Spread


class TransformNames:
    """The names of a machine and of workloads, and the faults of transforms about them.

    The last level of a stack goes by the memory's name, too.
    """

    def __init__(self, arch: Architecture, dims: Sequence[str], tensors: Sequence[str], document: Document) -> None:
        self.arch, self.dims, self.tensors, self.document = arch, dims, tensors, document
        self.faults: list[Fault] = []
        self.levels = {arch.levels[stack[-1]].of_memory: stack[-1] for stack in arch.stacks}
        self.levels |= {level.name: i for i, level in enumerate(arch.levels)}
        self.places: dict[tuple[object, ...], Keys] = {}  # what is decided -> the transform that did

    def fault(self, path: Keys, message: str) -> None:
        """Add a fault."""
        self.faults.append(self.document.fault(path, message))

    def level(self, path: Keys, name: str) -> int | None:
        """Return the place of a level; None with a fault where it is unknown."""
        place = self.known((*path, "level"), "level", name, list(self.levels))
        return None if place is None else list(self.levels.values())[place]

    def known(self, path: Keys, kind: str, name: str, names: Collection[str]) -> int | None:
        """Return the place of a name; None with a fault where it is unknown."""
        if name in names:
            return list(names).index(name)
        self.fault(path, f"unknown {kind} {name!r}{choices(name, names)}")
        return None

    def twice(self, path: Keys, names: Collection[str]) -> None:
        """Report names that are given twice."""
        for name in dict.fromkeys(name for name in names if list(names).count(name) > 1):
            self.fault(path, f"names {name} twice")

    def first(self, path: Keys, *decision: object) -> bool:
        """Whether no other transform has decided this; else there is a fault."""
        first = self.places.setdefault(decision, path)
        if first == path:
            return True
        line = self.document.line(first)
        place = f"on line {line}" if line else f"{ROOT}[{first[1]}]"
        self.fault(path, f"a second transform of the same decision, the first is {place}; keep one of them")
        return False

    def inner(self, path: Keys, name: str, level: int) -> bool:
        """Whether a level's loops can be decided: not the outermost's."""
        if level == 0:
            rule = f"{name} is outermost and takes what the others leave of each dim: leave this out"
            self.fault((*path, "level"), rule)
        return level > 0

    def axis(self, path: Keys, own: Spread, names: Sequence[str]) -> int | None:
        """Return the place of the axis among those below its level; None with a fault."""
        if names:
            return self.known((*path, "axis"), f"axis of {own.level}", own.axis, names)
        self.fault((*path, "axis"), f"{own.level} has no axes below it")
        return None
