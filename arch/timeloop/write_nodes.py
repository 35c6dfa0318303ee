"""Writes an architecture and its constraints as the nodes of Timeloop's front end (0.4)."""

from typing import Any, override

import yaml

from ...workloads import Workload
from ..spec import Architecture
from .write import checked, compute_entry, storage_entry
from .write_constraints import axis_entry, constraint_faults, kept_entry, temporal_entry


class Node(dict[str, Any]):
    """A mapping with a local tag: `!Component {...}`."""

    def __init__(self, tag: str, **values: Any) -> None:
        super().__init__(values)
        self.tag = tag


class NodeDumper(yaml.SafeDumper):
    """Writes nodes with their tags, and lists as they are however often they occur."""

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _written(dumper: NodeDumper, node: Node) -> yaml.MappingNode:
    return dumper.represent_mapping(f"!{node.tag}", dict(node))


NodeDumper.add_representer(Node, _written)


def write_timeloop_nodes(arch: Architecture, workload: Workload) -> dict[str, Any]:
    """The architecture with its constraints as `nodes`, to be dumped by `NodeDumper`: an axis becomes a container.

    Raises ValueError with all that the dialect cannot express.
    """
    checked(arch)
    faults = constraint_faults(arch, workload)
    faults += [
        f"{slot.name}: a utilization"
        for slot in arch.slots
        if slot.constraint.min_utilization and slot.axis and slot.axis.size > 1
    ]
    if faults:
        raise ValueError(f"constraints of {arch.name} cannot be written as nodes: {'; '.join(faults)}")
    nodes = [Node("Container", name=arch.name)]
    for number, level in enumerate(arch.levels):
        rules = {
            "temporal": temporal_entry(level.temporal, workload),
            "dataspace": kept_entry(level, workload) if number else {},
        }
        given = {name: rule for name, rule in rules.items() if rule}
        constraints = {"constraints": given} if given else {}
        entry = storage_entry(level)
        width = entry["attributes"].pop("word_bits")  # which the front end knows as datawidth alone
        entry["attributes"] = {"datawidth": width, **entry["attributes"]}
        nodes.append(Node("Component", name=level.name, **entry, **constraints))
        for axis in (axis for axis in level.fanout if axis.size > 1):
            spatial = {f"mesh{axis.mesh}": axis.size}
            rule = {"spatial": axis_entry(axis, workload)}
            nodes.append(Node("Container", name=axis.name, spatial=spatial, constraints=rule))
    nodes.append(Node("Component", name=arch.compute.name, **compute_entry(arch.compute)))
    return {"architecture": {"version": 0.4, "nodes": nodes}}
