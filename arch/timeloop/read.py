"""Reads Timeloop's architectures: the 0.2/0.3 tree, the 0.4 nodes and the flat list."""

import re
from dataclasses import replace
from pathlib import Path

from ...workloads import Document, Keys, Workload
from ...workloads.timeloop import REFUSED, Reader, root_faults
from ..schema import checked_name
from ..spec import Architecture, Compute, Storage
from .apply import apply_timeloop_constraints
from .components import Attributes, class_kind, compute, enabled, storage
from .fanouts import Part, joined, meshes
from .nodes import read_nodes

VERSIONS = ("0.2", "0.3", "0.4")
_RANGE = re.compile(r"(.*)\[(\d{1,9})\.\.(\d{1,9})\]")
_FLAT = ("name", "class")  # of an entry of the flat list; the rest are its attributes


def _counted(reader: Reader, path: Keys) -> tuple[str, int]:
    """The name at `path` without its range `[a..b]`, and the number of instances in the range."""
    name = reader.text((*path, "name"), required=True) or "unnamed"
    match = _RANGE.fullmatch(name)
    if match is None:
        if "[" in name or ".." in name:
            reader.fault((*path, "name"), f"a range is written NAME[0..15], got {name!r}")
        return name, 1
    first, last = int(match[2]), int(match[3])
    if last < first:
        reader.fault((*path, "name"), f"a range must go upwards, got {name!r}")
    return match[1], max(1, last - first + 1)


def _component(reader: Reader, path: Keys, inherited: list[Keys], around: int) -> Part | None:
    """The component at `path`, an entry of a `local` list, inside `around` instances of its containers."""
    reader.mapping(path, ("name", "class", "subclass", "attributes", "required_actions", "enabled"))
    enabled(reader, path)
    name, count = _counted(reader, path)
    cls = reader.text((*path, "class"), required=True)
    kind = class_kind(reader, (*path, "class"), cls) if cls else None
    if cls is None or kind not in ("storage", "compute"):
        return None
    attributes = Attributes(reader, [*inherited, (*path, "attributes")])
    instances = attributes.integer("instances")
    if instances not in (None, around * count):
        reader.fault(attributes.paths["instances"], f"the names make {around * count} instances, got {instances}")
    shown = reader.text((*path, "subclass")) or cls
    make: Storage | Compute
    if kind == "storage":
        make = replace(storage(reader, path, name, cls, attributes), cls=shown)
    else:
        make = compute(name, shown, attributes)
    return Part(path, name, make, *meshes(reader, path, attributes, around * count))


def _tree(reader: Reader, path: Keys) -> list[Part]:
    """The components of a tree, outermost first: a node's own before those of its subtree."""
    parts: list[Part] = []
    inherited: list[Keys] = [(*path, "attributes")]
    around = 1
    while True:
        nodes = reader.items((*path, "subtree"))
        if len(nodes) > 1:
            reader.fault((*path, "subtree"), f"one subtree per node is expected, got {len(nodes)}")
        if not nodes:
            return parts
        path = nodes[0]
        reader.mapping(path, ("name", "attributes", "local", "subtree", "required_actions"))
        around *= _counted(reader, path)[1]
        inherited = [*inherited, (*path, "attributes")]
        local = (_component(reader, local, inherited, around) for local in reader.items((*path, "local")))
        parts += [part for part in local if part is not None]


def _flat(reader: Reader, root: Keys) -> list[Part]:
    """The components of the form without a version: `arithmetic`, and the list `storage`, innermost first."""
    reader.mapping(root, ("name", "version", "arithmetic", "storage", "constraints"))
    parts = []
    for path in [*reversed(reader.items((*root, "storage"))), (*root, "arithmetic")]:
        reader.mapping(path)
        arithmetic = path[-1] == "arithmetic"
        name = reader.text((*path, "name"), required=not arithmetic) or ("MAC" if arithmetic else "unnamed")
        attributes = Attributes(reader, [path])
        instances = attributes.integer("instances")
        cls = reader.text((*path, "class"))
        make: Storage | Compute
        if arithmetic:
            make = compute(name, cls or "mac", attributes)
        else:
            make = storage(reader, path, name, cls or str(attributes.value("technology") or "SRAM"), attributes)
        if instances is None and not (attributes.value("meshX") and attributes.value("meshY")):
            reader.fault(path, f"{name}: instances, or meshX and meshY, are missing")
        parts.append(Part(path, name, make, *meshes(reader, path, attributes, instances or 1)))
    return parts


def _parts_checked(reader: Reader, root: Keys, parts: list[Part]) -> None:
    """Puts the compute units last, wherever they stand, as Timeloop does; other numbers of them than one are faults."""
    units = [part for part in parts if isinstance(part.component, Compute)]
    for part in units[1:]:
        reader.fault(part.path, f"one kind of compute units is expected, {units[0].name} stands above")
    parts.sort(key=lambda part: isinstance(part.component, Compute))
    unknown = "class" in reader.wrong_keys  # a class at fault may have been meant for compute
    if not unknown and (not parts or not isinstance(parts[-1].component, Compute)):
        reader.fault(root, "the innermost component must be the compute units (a class with mac or compute)")


def _named(reader: Reader, root: Keys, levels: tuple[Storage, ...], units: Compute | None) -> None:
    """Adds faults where there is no level, or a name occurs twice or cannot stand in a mapping file."""
    if not levels:
        reader.fault(root, "at least one storage level is expected")
    names = [level.name for level in levels] + ([units.name] if units else [])
    for name in (*names, *(axis.name for level in levels for axis in level.fanout)):
        try:
            checked_name(name)
        except ValueError as error:
            reader.fault(root, str(error))
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        reader.fault(root, f"two components are called {name!r}; names must differ")


def _root(reader: Reader) -> Keys:
    given: list[Keys] = [(key,) for key in ("architecture", "arch") if reader.value((key,)) is not None]
    if len(given) != 1:
        reader.fault((), "one of the keys architecture and arch is expected")
    reader.mapping(given[0] if given else ())
    if reader.faults:
        reader.finish()
    for key, refuse in (("sparse_optimizations", reader.sparse), ("layout", reader.fault)):
        if reader.value((*given[0], key)) not in (None, [], {}):
            refuse((*given[0], key), f"{key} is not supported{REFUSED[key]}")
    return given[0]


def read_timeloop_arch(document: Document, workload: Workload | None = None) -> Architecture:
    """The architecture of a Timeloop file; read 0.4 files with `read_yaml(path, tags=TIMELOOP_TAGS)`.

    `workload` is needed only for constraints that hold for all dims or tensors (`keep_only`, `*`...).
    Constraint lists in the same file are applied.
    A fan-out with both meshX and meshY becomes two axes, Y outside X, as Timeloop nests them.
    Raises InputError with every fault, among them what this model cannot honour.
    """
    reader = Reader(document)
    reader.faults += root_faults(document)
    root = _root(reader)
    architecture = reader.mapping(root)
    version = architecture.get("version")
    if version is not None and str(version) not in VERSIONS:
        reader.fault((*root, "version"), f"must be one of {', '.join(VERSIONS)}; got {version!r}")
    name = ""
    if "nodes" in architecture:
        reader.mapping(root, ("version", "name", "nodes", "constraints", "sparse_optimizations"))
        nodes = read_nodes(reader, root, workload)
        levels, units, name = tuple(nodes.levels), nodes.compute, nodes.name
        if units is None and "class" not in reader.wrong_keys:
            reader.fault(root, "compute units are missing (a class with mac or compute)")
    else:
        flat = "storage" in architecture or "arithmetic" in architecture
        if not flat:
            reader.mapping(root, ("version", "name", "attributes", "subtree", "constraints", "sparse_optimizations"))
        parts = _flat(reader, root) if flat else _tree(reader, root)
        _parts_checked(reader, root, parts)
        levels, units = joined(reader, parts)
        name = "" if flat else _counted(reader, (*root, "subtree", 0))[0] if parts else ""
    _named(reader, root, levels, units)
    reader.finish()
    assert units is not None  # else a fault
    arch = Architecture(str(architecture.get("name") or name or Path(document.source).stem), levels, units)
    return apply_timeloop_constraints(arch, document, workload)
