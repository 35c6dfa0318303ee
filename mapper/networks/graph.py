"""The graph of a network as plans see it: what is computed, and whose words each tensor has.

Operations that move no words are none of its nodes: what reads their output reads the words behind them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from ...arch import Storage
from ...workloads import Network, Workload
from ...workloads.operators import Moves, Operation, Operator

# of what stands before: the nodes whose words a name stands for, its sizes, and the nodes
Before = tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[int, ...]], Mapping[str, "Node"]]


@dataclass(frozen=True)
class Read:
    """Words that a node reads."""

    tensor: str  # of a layer: the name; of an operation: the number of the input, from 1
    makers: tuple[str, ...]  # the nodes whose output they are, or some of it
    outside: bool  # whether there are words among them that no node makes
    words: int  # of a layer with the zeros of padding
    zeros: int = 0  # of these words, those of padding; and those that a view has several times


@dataclass(frozen=True)
class Node:
    """A layer, or an operation that moves words."""

    name: str
    work: Workload | Operator
    reads: tuple[Read, ...]
    sizes: tuple[int, ...]  # of its output
    count: int = 1

    @property
    def layer(self) -> Workload | None:
        """The layer, if it is one."""
        return self.work if isinstance(self.work, Workload) else None

    @property
    def operator(self) -> Operator | None:
        """The operator, if it is one."""
        return None if isinstance(self.work, Workload) else self.work

    @property
    def words(self) -> int:
        """The words that it makes."""
        return prod(self.sizes)

    @property
    def makers(self) -> tuple[str, ...]:
        """The nodes whose words it reads, each once."""
        return tuple(dict.fromkeys(maker for read in self.reads for maker in read.makers))


@dataclass(frozen=True, eq=False)
class Graph:
    """The nodes of a network in an order in which they can be computed."""

    network: Network
    nodes: Mapping[str, Node]
    behind: Mapping[str, tuple[str, ...]]  # by name of the network the nodes whose words it stands for

    @classmethod
    def of(cls, network: Network) -> "Graph":
        """Make it of a network; an operator that is said of an edge is a node, once for all that read it so."""
        network = _with_operations(network)
        behind: dict[str, tuple[str, ...]] = {name: () for name, _ in network.inputs}
        open_ended = {name for name, _ in network.inputs}  # names with words that no node makes
        sizes = dict(network.inputs)
        nodes: dict[str, Node] = {}
        for name in network.order:
            own = network.by_name[name]
            if isinstance(own, Operation):
                sizes[name] = own.sizes
                if own.operator.moves is Moves.NONE:
                    behind[name] = tuple(dict.fromkeys(maker for source in own.inputs for maker in behind[source]))
                    open_ended |= {name} if open_ended.intersection(own.inputs) else set()
                    continue
                sources = dict.fromkeys(own.inputs)
                reads = tuple(
                    Read(str(place), behind[source], source in open_ended, prod(sizes[source]))
                    for place, source in enumerate(sources, 1)
                )
                nodes[name] = Node(name, own.operator, reads, own.sizes, own.count)
            else:
                sizes[name] = own.output_sizes
                own_reads = tuple(_layer_reads(network, own, (behind, sizes, nodes), open_ended))
                nodes[name] = Node(name, own, own_reads, sizes[name], network.count(name))
            behind[name] = (name,)
        return cls(network, nodes, behind)

    @cached_property
    def readers(self) -> Mapping[str, tuple[str, ...]]:
        """By name the nodes that read what a node makes, in turn."""
        readers: dict[str, list[str]] = {name: [] for name in self.nodes}
        for node in self.nodes.values():
            for maker in node.makers:
                readers[maker].append(node.name)
        return {name: tuple(own) for name, own in readers.items()}

    @cached_property
    def components(self) -> tuple[tuple[str, ...], ...]:
        """The nodes that hand each other something, directly or through others; each in order."""
        parent = {name: name for name in self.nodes}

        def root(name: str) -> str:
            while parent[name] != name:
                name = parent[name]
            return name

        for name, readers in self.readers.items():
            for reader in readers:
                parent[root(reader)] = root(name)
        members: dict[str, list[str]] = {}
        for name in self.nodes:
            members.setdefault(root(name), []).append(name)
        return tuple(map(tuple, members.values()))

    def bits(self, level: Storage, name: str) -> int:
        """The bits of a word that a node makes, at a level: the most that it has for layers that make or read it."""
        node = self.nodes[name]
        tensors = [node.layer.output] if node.layer is not None else []
        for reader in self.readers[name]:
            layer = self.nodes[reader].layer
            names = {read.tensor for read in self.nodes[reader].reads if name in read.makers}
            tensors += [own for own in layer.tensors if own.name in names] if layer is not None else []
        return max((level.bits(own.name, own.word_bits) for own in tensors), default=level.bits("", None))

    def room_bits(self, level: Storage, name: str) -> int:
        """The bits of all words that a node makes, at a level."""
        return self.nodes[name].words * self.bits(level, name)


def _layer_reads(network: Network, layer: Workload, before: Before, open_ended: set[str]) -> Iterator[Read]:
    """Yield what a layer reads of others; weights that nobody makes are no reads."""
    behind, sizes, nodes = before
    for edge in network.inputs_of(layer.name):
        tensor, makers = next(own for own in layer.tensors if own.name == edge.tensor), behind[edge.producer]
        words = layer.tensor_words(tensor)
        own = min(prod(sizes[edge.producer]), sum(nodes[maker].words for maker in makers))
        yield Read(edge.tensor, makers, edge.producer in open_ended, words, max(0, words - own))


def _with_operations(network: Network) -> Network:
    """Put an operation in the place of each operator that an edge has."""
    taken = {*network.by_name, *(name for name, _ in network.inputs)}
    said: dict[tuple[str, str], str] = {}
    for edge in network.edges:
        if edge.through and (edge.producer, edge.through) not in said:
            name = f"{edge.through}({edge.producer})"
            while name in taken:
                name += "'"
            taken.add(name)
            said[edge.producer, edge.through] = name
    counts = {edge.producer: network.count(edge.consumer) for edge in network.edges}
    if not said:
        return network
    sizes = dict(network.inputs)
    for name, own in network.by_name.items():
        sizes[name] = own.sizes if isinstance(own, Operation) else own.output_sizes
    more = tuple(
        Operation(name, operator, (producer,), sizes[producer], counts[producer])
        for (producer, operator), name in said.items()
    )
    edges = tuple(
        replace(edge, producer=said[edge.producer, edge.through], through="") if edge.through else edge
        for edge in network.edges
    )
    return replace(network, edges=edges, operations=(*network.operations, *more))
