"""The object of the graph of a network: `ruby-map --graph --json`."""

from typing import Literal

from .values import Count, Output


class GraphInput(Output):
    """A tensor that nobody in the network makes."""

    name: str
    """Its name."""
    sizes: list[Count]
    """Its sizes."""
    words: Count
    """Its words."""


class GraphNode(Output):
    """A layer or an operation; figures are of one occurrence."""

    name: str
    """Its name."""
    kind: Literal["layer", "operation", "passing"]
    """A layer, an operation that moves words, or one that moves none."""
    what: str
    """The shape of a layer with its window, stride and groups; the operator of an operation."""
    sizes: list[Count]
    """Of its output."""
    words: Count
    """Of its output."""
    macs: Count
    """MACs; 0 of an operation."""
    reads: list[str]
    """The layers, operations and inputs whose words it reads, as far as is known."""
    count: Count
    """How often it occurs."""


class GraphTotals(Output):
    """Of the whole network."""

    layers: Count
    """Layers, as they stand in the graph."""
    operations: Count
    """Operations, as they stand in the graph."""
    edges: Count
    """From layers, operations and inputs to their readers."""
    macs: Count
    """MACs of all occurrences."""
    pairs: Count | None
    """Pairs of layers that could hand each other tiles; null where nothing is known of what they hand each other."""
    words_between: Count | None
    """Words, in all occurrences, of what layers and operations write and others read; null likewise."""


class Graph(Output):
    """The graph of a network."""

    network: str
    """Its name."""
    inputs: list[GraphInput]
    """Its inputs."""
    nodes: list[GraphNode]
    """Its layers and operations, in the order of computing."""
    totals: GraphTotals
    """All of them together."""
