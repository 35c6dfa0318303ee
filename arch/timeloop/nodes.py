"""Reads the 0.4 dialect: a list of nodes (`!Container`, `!Component`, `!Parallel`...)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...workloads import Keys, Workload
from ...workloads.timeloop import TIMELOOP_TAGS, Names, Reader
from ..spec import Axis, Compute, Storage
from .apply import ROOTS, entries, kept_elsewhere
from .components import Attributes, class_kind, compute, enabled, storage
from .dataspaces import dataspace, keeping
from .loops import spatial, temporal
from .maximize import maximized
from .scope import Scope

_NODE = ("name", "class", "subclass", "attributes", "spatial", "constraints", "required_actions", "enabled", "nodes")
_EXTRA = ("sparse_optimizations", "networks", "area_share", "max_utilization")


@dataclass
class Nodes:
    """Walks the nodes from the outside in and collects levels and compute units."""

    reader: Reader
    scope: Scope
    levels: list[Storage] = field(default_factory=list)
    compute: Compute | None = None
    name: str = ""
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by level, what constraints elsewhere keep
    loops: dict[Keys, int | None] = field(default_factory=dict)  # the constraints on loops, outermost first: instances

    def walk(self, path: Keys, inherited: list[Keys]) -> None:
        """Reads the list of nodes at `path`. The attributes of a container hold for all nodes after it."""
        inherited = list(inherited)
        for node in self.reader.items(path):
            self.node(node, inherited)
            if self.tag(node) == "Container":
                inherited.append((*node, "attributes"))

    def tag(self, node: Keys) -> str:
        """The tag of a node without its `!`; `None` where it has none."""
        tag = self.reader.mapping(node).get("!tag")
        return "Component" if tag == "Element" else str(tag)

    def node(self, node: Keys, inherited: list[Keys]) -> None:
        """Reads a node by its tag; `inherited` are the paths of the attributes of the containers around it."""
        values = self.reader.mapping(node, (*_NODE, *_EXTRA))
        for key in _EXTRA:
            if values.get(key) not in (None, [], {}):
                refuse = self.reader.sparse if key == "sparse_optimizations" else self.reader.fault
                refuse((*node, key), f"{key} is not supported")
        enabled(self.reader, node)
        match self.tag(node):
            case "Nothing":
                pass
            case "Hierarchical":
                self.walk((*node, "nodes"), inherited)
            case "Parallel":
                self.parallel(node, inherited)
            case "Container":
                self.container(node, inherited)
            case "Component":
                self.component(node, inherited)
            case other:
                known = ", ".join(f"!{tag}" for tag in TIMELOOP_TAGS if tag not in ("Pipelined", "Element"))
                shown = "a node without a tag" if other == "None" else f"!{other}"
                self.reader.fault(node, f"{shown} is not supported; known: {known}")

    def container(self, node: Keys, inherited: list[Keys]) -> None:
        """Reads a container: its fan-out."""
        name = self.reader.text((*node, "name"), required=True) or "container"
        self.name = self.name or name
        self.axes(node, name, name, Attributes(self.reader, [*inherited, (*node, "attributes")]).inside)
        for kind in ("temporal", "dataspace"):
            if self.reader.value((*node, "constraints", kind)) not in (None, {}):
                self.reader.fault((*node, "constraints", kind), f"a container has no {kind} constraints")

    def axes(self, node: Keys, name: str, single: str, names: Names) -> None:
        """Adds the fan-out of a node to the innermost level so far; its sizes may use `names`.

        `single`, if any, names a fan-out of one mesh.
        """
        self.reader.mapping((*node, "spatial"), ("meshX", "meshY"))
        self.reader.mapping((*node, "constraints"), ("spatial", "temporal", "dataspace", "max_overbooked_proportion"))
        if self.reader.value((*node, "constraints", "max_overbooked_proportion")) not in (None, {}):
            self.reader.fault((*node, "constraints", "max_overbooked_proportion"), "overbooking is not supported")
        size_x = self.reader.integer((*node, "spatial", "meshX"), names=names) or 1
        size_y = self.reader.integer((*node, "spatial", "meshY"), names=names) or 1
        both: tuple[Axis, ...] = (Axis(f"{name}_Y", size_y, "Y"), Axis(f"{name}_X", size_x, "X"))
        axes = tuple(axis for axis in both if axis.size > 1)
        if len(axes) == 1 and single:
            axes = (replace(axes[0], name=single),)
        at = (*node, "constraints", "spatial")
        self.loops[at] = size_x * size_y
        ruled = spatial(self.scope, at, axes)
        axes = tuple(replace(axis, constraint=rule) for axis, rule in zip(axes, ruled, strict=True))
        if axes and self.levels:
            self.levels[-1] = replace(self.levels[-1], fanout=self.levels[-1].fanout + axes)
        elif axes:
            self.reader.fault(
                (*node, "spatial"), f"the outermost level must have 1 instance: no storage outside {name}"
            )

    def component(self, node: Keys, inherited: list[Keys]) -> None:
        """Reads a storage level or the compute units."""
        name = self.reader.text((*node, "name"), required=True) or "component"
        cls = self.reader.text((*node, "class"), required=True)
        kind = class_kind(self.reader, (*node, "class"), cls) if cls else None
        if kind in (None, "network", "nothing") or cls is None:
            return
        if self.compute is not None:
            self.reader.fault(node, f"{name} stands inside the compute units {self.compute.name}; they must come last")
        attributes = Attributes(self.reader, [*inherited, (*node, "attributes")])
        self.axes(node, name, "", attributes.inside)
        shown = self.reader.text((*node, "subclass")) or cls
        if kind == "compute":
            self.compute = compute(name, shown, attributes)
            for kind in ("temporal", "dataspace"):
                if self.reader.value((*node, "constraints", kind)) not in (None, {}):
                    self.reader.fault((*node, "constraints", kind), f"compute units have no {kind} constraints")
            return
        level = replace(storage(self.reader, node, name, cls, attributes), cls=shown)
        if level.capacity_bits == 0 and self.levels:
            return  # it keeps nothing, and its fan-out is that of the level outside
        at = (*node, "constraints", "temporal")
        self.loops[at] = None
        level = replace(level, temporal=temporal(self.scope, at))
        at = (*node, "constraints", "dataspace")
        self.levels.append(keeping(self.reader, at, level, *dataspace(self.scope, at), not self.levels))

    def parallel(self, node: Keys, inherited: list[Keys]) -> None:
        """Reads storages side by side as levels one after the other; each tensor is in one branch at most."""
        homes: dict[str, str] = {}  # tensor -> the branch that keeps it
        branches: list[tuple[range, frozenset[str]]] = []  # the levels of each, and what they keep
        for branch in self.reader.items((*node, "nodes")):
            name = str(self.reader.value((*branch, "name")) or self.tag(branch))
            start = len(self.levels)
            keep = self.branch(branch, name, inherited)
            branches.append((range(start, len(self.levels)), keep))
            for tensor in sorted(keep & homes.keys()):
                self.reader.fault(branch, f"{tensor} is kept in two branches of !Parallel: {homes[tensor]} and {name}")
            homes |= dict.fromkeys(keep, name)
        for numbers, keep in branches:
            for index in numbers:
                level = self.levels[index]
                self.levels[index] = replace(level, bypass=level.bypass | (homes.keys() - keep - level.keep))

    def branch(self, branch: Keys, name: str, inherited: list[Keys]) -> frozenset[str]:
        """Reads a branch of !Parallel: a storage, several inside each other, or nothing. Returns what it keeps."""
        tag, start = self.tag(branch), len(self.levels)
        plain = self.reader.value((*branch, "spatial")) in (None, {})
        keep: frozenset[str] = frozenset()
        if tag == "Component" and plain:
            self.component(branch, inherited)
        elif tag == "Hierarchical" and all(self.is_storage(inner) for inner in self.reader.items((*branch, "nodes"))):
            self.walk((*branch, "nodes"), inherited)
        elif tag == "Container" and plain:
            self.reader.mapping((*branch, "constraints"), ("dataspace",))
            return dataspace(self.scope, (*branch, "constraints", "dataspace"))[0]  # they pass all branches by
        elif tag != "Nothing":
            self.reader.fault(branch, f"a branch of !Parallel is storages without a fan-out, got {name}")
        for level in self.levels[start:]:
            keep |= level.keep | self.kept.get(level.name, frozenset())
        if self.compute is not None or (len(self.levels) > start and not keep):
            self.reader.fault(branch, f"each branch of !Parallel is a storage with a keep list, {name} is not")
        return keep

    def is_storage(self, node: Keys) -> bool:
        """Whether a node is a component without a fan-out."""
        return self.tag(node) == "Component" and self.reader.value((*node, "spatial")) in (None, {})


def read_nodes(reader: Reader, root: Keys, workload: Workload | None) -> Nodes:
    """The architecture under `root` (`nodes: [...]`); faults stay in `reader`."""
    scope = Scope(reader, workload)
    kept = kept_elsewhere(scope)
    nodes = Nodes(reader, scope, kept=kept)
    nodes.walk((*root, "nodes"), [])
    lists = [path for name in ROOTS for path in entries(reader, name)]
    if greedy := maximized(scope, nodes.loops, lists):  # which needs the constraints of all nodes
        nodes = Nodes(reader, replace(scope, greedy=greedy), kept=kept)
        nodes.walk((*root, "nodes"), [])
    return nodes
