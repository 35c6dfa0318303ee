"""Makes network files of ONNX graphs: nodes that multiply as layers, others as operations, and what they hand on."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from ..faults import Fault, InputError
from ..load import read_network
from ..networks import Network
from ..reading import parse_yaml
from .attention import attention
from .entries import Entries
from .graph import Graph, Node, read_graph
from .layers import Layer, product, workload_of
from .operations import OF_CONSTANTS, UNREAD, operate


@dataclass(frozen=True)
class Imported:
    """The layers and operations of a network of another tool, and the nodes of it that became none."""

    name: str
    source: str
    entries: tuple[tuple[str, Layer, int], ...]  # name, as a network file has it, count
    left_out: Mapping[str, Mapping[str, int]]  # why: operations: nodes
    heavy: tuple[str, ...] = ()  # nodes left out that do multiply, and why
    inputs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # what nobody makes, with its sizes
    nodes: int | None = None  # that have entries; None: as many as layers
    remarks: tuple[str, ...] = ()  # what could not be said of the others

    @property
    def layers(self) -> tuple[tuple[str, Layer, int], ...]:
        """The entries that multiply."""
        return tuple(entry for entry in self.entries if "op" not in entry[1])

    @property
    def macs(self) -> int:
        return sum(count * workload_of(layer).macs for _, layer, count in self.layers)

    @property
    def title(self) -> str:
        """How many layers and operations there are, and MACs."""
        layers, operations = len(self.layers), len(self.entries) - len(self.layers)
        more = f" and {operations} operations" if operations else ""
        return f"{layers} layers{more}, {self.macs:,} MACs"


def import_onnx(path: Path, dims: Mapping[str, int] | None = None) -> Imported:
    """The network of an ONNX file; `dims` are sizes of dynamic dims by name.

    Raises InputError with the faults of the file and of all nodes that should have become layers.
    """
    return import_graph(read_graph(path, dims))


def import_graph(graph: Graph) -> Imported:
    """The network of a graph of ONNX, named as its source. Raises InputError as `import_onnx` does."""
    path = Path(graph.source)
    entries = Entries(graph)
    left_out: dict[str, Counter[str]] = {OF_CONSTANTS: Counter()}
    heavy: list[str] = []
    faults: list[Fault] = []
    for node in graph.nodes:
        try:
            added = _add(entries, graph, node)
        except InputError as error:
            faults += error.faults
            continue
        if isinstance(added, str):
            heavy.append(added)
        elif why := operate(entries, node) if not added else "":
            left_out.setdefault(why, Counter())[node.op] += 1
    kept = entries.kept()
    if faults:
        raise InputError(dict.fromkeys(faults))
    if all("op" in entry for _, entry, _ in kept.entries):
        rule = f"no convolution or matrix product among its {len(graph.nodes)} nodes"
        raise InputError(Fault(str(path), None, "", rule))
    stem = "".join(path.stem.split()) or "model"
    reasons = {why: dict(nodes.most_common()) for why, nodes in (left_out | {UNREAD: kept.unread}).items() if nodes}
    return Imported(
        stem, path.name, kept.entries, reasons, tuple(heavy), kept.inputs, kept.nodes, tuple(entries.remarks)
    )


def _add(entries: Entries, graph: Graph, node: Node) -> bool | str:
    """Add the layers of a node; returns whether it has any, or a text about one that multiplies and is left out."""
    if node.op == "Attention":  # of other domains it is another operation, and has their name before it
        attention(entries, node)
        return True
    single = product(graph, node)
    if single is None or isinstance(single, str):
        return single or False
    entries.product(node, single)
    return True


def left_out_lines(imported: Imported) -> list[str]:
    """The lines that name the nodes without a layer or an operation."""
    lines = [f"left out, though it multiplies: {node}" for node in imported.heavy]
    for why, nodes in imported.left_out.items():
        named = ", ".join(f"{op} {count}" for op, count in nodes.items())
        lines.append(f"left out, {sum(nodes.values())} nodes {why}: {named}")
    return [*lines, *imported.remarks]


def network_yaml(imported: Imported) -> str:
    """The text of the network file; comments above it name its source and what is left out."""
    nodes = imported.nodes or sum(count for _, _, count in imported.entries)
    lines = [f"{imported.source}: {nodes} nodes as {imported.title}"]
    lines += left_out_lines(imported)
    lines = [
        f"# {''.join(one if one.isprintable() else '_' for one in line)}" for line in lines
    ]  # of names in the model
    lines += [_flow({"name": imported.name})[1:-1]]
    if imported.inputs:
        lines.append("inputs: " + _flow({name: list(sizes) for name, sizes in imported.inputs.items()}))
    lines.append("layers:")
    for name, entry, count in imported.entries:
        lines.append("  - " + _flow({"name": name, **({"count": count} if count > 1 else {}), **entry}))
    return "\n".join(lines) + "\n"


def as_network(imported: Imported) -> Network:
    """The network that its file would be read as. Raises InputError."""
    return read_network(parse_yaml(network_yaml(imported), imported.source), Path(), imported.name)


def _flow(data: object) -> str:
    return yaml.safe_dump(data, default_flow_style=True, sort_keys=False, width=10**9, allow_unicode=True).strip()
