"""The graph of a network as nodes in the order of computing: what each is, makes and reads; and their totals."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from ....workloads import Network, Workload
from ....workloads.operators import Moves, Operation

SHORT = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))


class Kind(StrEnum):
    """What a node of the graph is."""

    LAYER = "layer"
    OPERATION = "operation"  # that moves words
    PASSING = "passing"  # an operation that moves none
    INPUT = "input"  # of the network


@dataclass(frozen=True)
class Node:
    """A layer, an operation, or an input of a network; figures are of one occurrence."""

    name: str
    kind: Kind
    what: str  # the shape of a layer, the operator of an operation
    sizes: tuple[int, ...]  # of its output
    reads: tuple[str, ...] = ()
    macs: int = 0
    count: int = 1

    @property
    def words(self) -> int:
        """The words of its output."""
        return prod(self.sizes)

    @property
    def shape(self) -> str:
        """The sizes of its output as text, without ranks of one word.

        >>> Node("x", Kind.INPUT, "", (1, 64, 56, 56)).shape
        '64x56x56'
        """
        return "x".join(str(size) for size in self.sizes if size > 1) or "1"


@dataclass(frozen=True)
class Totals:
    """The totals of a network."""

    layers: int  # layers, operations, edges and pairs as often as they stand in the graph
    operations: int
    edges: int
    macs: int  # of all occurrences
    # without edges nothing is known of these:
    pairs: int | None  # of layers that could hand each other tiles
    words_between: int | None  # that layers and operations write and others read, in all occurrences


def inputs_of(network: Network) -> list[Node]:
    """The inputs of a network."""
    return [Node(name, Kind.INPUT, "", sizes) for name, sizes in network.inputs]


def nodes_of(network: Network) -> list[Node]:
    """The layers and operations of a network, in the order of computing."""
    layers = iter(network.layers)  # in that order; without edges several may have one name
    nodes = []
    for name in network.order:
        own = network.by_name[name]
        reads = network.sources(name)
        if isinstance(own, Operation):
            kind = Kind.PASSING if own.operator.moves is Moves.NONE else Kind.OPERATION
            nodes.append(Node(name, kind, own.op, own.sizes, reads, count=own.count))
        else:
            layer, count = next(layers)
            sizes = tuple(layer.size(rank[0].dim) for rank in layer.output.ranks)
            nodes.append(Node(name, Kind.LAYER, layer_text(layer), sizes, reads, layer.macs, count))
    return nodes


def totals(network: Network) -> Totals:
    """Add up the nodes."""
    nodes = nodes_of(network)
    pairs = {(edge.producer, edge.consumer) for edge in network.handed if not edge.whole}
    edges = sum(len(node.reads) for node in nodes)
    between = (len(pairs), _words_between(network, nodes)) if edges else (None, None)
    return Totals(len(network.layers), len(network.operations), edges, network.macs, *between)


def _words_between(network: Network, nodes: list[Node]) -> int:
    """The words of all outputs that another here reads; operations that write none hand on those of others."""
    read, words = set[str](), 0
    for node in reversed(nodes):
        own = network.by_name[node.name]
        operator = own.operator if isinstance(own, Operation) else None
        if node.name in read and (operator is None or operator.writes):
            words += node.words * node.count
        if operator is None or operator.reads or node.name in read:
            read.update(node.reads)
    return words


def layer_text(layer: Workload) -> str:
    """Say what a layer is: its shape, its window with the stride and the dilation, and its groups.

    >>> from ....workloads import load_workload
    >>> layer_text(load_workload("resnet50/conv1")), layer_text(load_workload("matmul_100"))
    ('conv2d 7x7/2', 'matmul')
    """
    windows = list(_windows(layer))
    sizes, strides, dilations = zip(*windows, strict=True) if windows else ((), (), ())
    text = [layer.shape or "nest"]
    if windows:
        over, apart = _along(strides), _along(dilations)
        text.append("x".join(map(str, sizes)) + (f"/{over}" if over else "") + (f" dilation {apart}" if apart else ""))
    groups = f", {layer.size('G')} groups" if windows and layer.size("G") > 1 else ""
    return " ".join(text) + groups


def _along(steps: tuple[int, ...]) -> str:
    """Strides or dilations as text: one where all are equal, none where all are 1."""
    several = steps if len(set(steps)) > 1 else steps[:1]
    return "" if set(steps) == {1} else "x".join(map(str, several))


def _windows(layer: Workload) -> Iterator[tuple[int, int, int]]:
    """Yield the size, the stride and the dilation of each window in turn."""
    outer = layer.output.dims
    ranks = {rank: None for tensor in layer.tensors if not tensor.output for rank in tensor.ranks if len(rank) == 2}
    for one, other in ranks:
        place, inner = (one, other) if one.dim in outer else (other, one)
        if place.dim in outer and inner.dim not in outer:
            yield layer.size(inner.dim), place.coef, inner.coef


def short(words: int) -> str:
    """Write a number in three digits.

    >>> short(301_056), short(1_204_224), short(999_999), short(640)
    ('301 k', '1.2 M', '1 M', '640')
    """
    for size, unit in SHORT:
        if words >= size * 0.9995:
            figure = f"{words / size:.1f}" if words < 99.95 * size else f"{words / size:.0f}"
            return f"{figure.removesuffix('.0')} {unit}"
    return str(words)
