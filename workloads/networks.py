"""A network as a value: layers and operators in an order, and what they hand each other."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import prod
from typing import override

from .operators import Causal, Operation
from .spec import Workload


@dataclass(frozen=True)
class Edge:
    """A tensor that a layer reads and another layer, an operation, or nobody in the network makes."""

    producer: str  # the name of the layer or the operation whose output it is, or of an input of the network
    consumer: str  # the name of the layer that reads it,
    tensor: str  # under this name
    # per rank of that tensor the dim of the producer's output along which it runs, None where both have one word there;
    # and the zeros of padding before the first word. Where operations stand between, it is the layer before these
    ranks: tuple[tuple[str | None, int], ...] = ()
    through: str = ""  # the operator on the words between: a key of OPERATORS
    streaming: bool = False  # whether an operator on rows is applied tile by tile, and its results are rescaled
    causal: Causal | None = None
    # whether ranks are joined or split, as 32 groups of 4 channels are read as 128: words are the same, tiles are not
    # matched, and `ranks` is empty. So it is, too, where nothing is known of the dims behind the producer
    whole: bool = field(default=False, metadata={"later": True})


@dataclass(frozen=True, repr=False)
class Network:
    """A graph of layers and operations, each with the number of times it occurs, in an order in which they can be
    computed.

    Where nothing is known of what the layers hand each other there are no edges. Raises ValueError for an edge that
    names nothing that is there, or no input, or that runs against the order; names are then to differ.
    """

    name: str
    layers: tuple[tuple[Workload, int], ...]
    tokens: int | None = None  # of a language model: what a run takes in (prefill) or makes (decode)
    edges: tuple[Edge, ...] = field(default=(), metadata={"later": True})
    operations: tuple[Operation, ...] = field(default=(), metadata={"later": True})
    inputs: tuple[tuple[str, tuple[int, ...]], ...] = field(default=(), metadata={"later": True})  # names, sizes

    def __post_init__(self) -> None:
        names = [*(layer.name for layer, _ in self.layers), *(own.name for own in self.operations)]
        names += [name for name, _ in self.inputs]
        if not (self.edges or self.operations):
            return
        if len(set(names)) < len(names):
            raise ValueError(f"{self.name} has edges, and two layers of one name")
        for edge in self.edges:
            if unknown := {edge.producer, edge.consumer}.difference(names):
                raise ValueError(f"{self.name} has no layer {', '.join(sorted(unknown))}")
            consumer = self.by_name[edge.consumer]
            tensors = () if isinstance(consumer, Operation) else consumer.tensors
            if edge.tensor not in {own.name for own in tensors if not own.output}:
                raise ValueError(f"{edge.consumer} reads no tensor {edge.tensor}")
        for own in self.operations:
            if unknown := set(own.inputs).difference(names):
                raise ValueError(f"{own.name} reads {', '.join(sorted(unknown))}, which {self.name} does not have")
        _ = self.order

    @override
    def __repr__(self) -> str:
        """The fields; without edges the text of before there were any, by which sweeps on disk know networks."""
        later = {attribute.name for attribute in fields(self) if attribute.metadata}
        shown = {
            attribute.name: value
            for attribute in fields(self)
            if (value := getattr(self, attribute.name)) or attribute.name not in later
        }
        return f"Network({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def inputs_of(self, consumer: str) -> tuple[Edge, ...]:
        """The edges by which a layer reads what others make."""
        return self._edges_to.get(consumer, ())

    @cached_property
    def _edges_to(self) -> Mapping[str, tuple[Edge, ...]]:
        edges: dict[str, tuple[Edge, ...]] = {}
        for edge in self.edges:
            edges[edge.consumer] = (*edges.get(edge.consumer, ()), edge)
        return edges

    @cached_property
    def by_name(self) -> Mapping[str, Workload | Operation]:
        """The layers and operations, by their names."""
        return {layer.name: layer for layer, _ in self.layers} | {own.name: own for own in self.operations}

    def sources(self, name: str) -> tuple[str, ...]:
        """What a layer or an operation reads: layers, operations, inputs of the network, each once."""
        own = self.by_name[name]
        if isinstance(own, Operation):
            return tuple(dict.fromkeys(own.inputs))
        return tuple(dict.fromkeys(edge.producer for edge in self.inputs_of(name)))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The names of layers and operations: layers as they stand, each operation after the last that it reads.

        Raises ValueError where there is no such order.
        """
        done, order = {name for name, _ in self.inputs}, list[str]()
        for name in ["", *(layer.name for layer, _ in self.layers)]:
            if name:
                missing = next((own for own in self.sources(name) if own not in done), None)
                if missing is not None:
                    raise ValueError(f"{name} reads what {missing} makes, and does not come after it")
                order.append(name)
                done.add(name)
            order += self._operated(done)
        if waiting := [own.name for own in self.operations if own.name not in done]:
            raise ValueError(f"{waiting[0]} reads itself")
        return tuple(order)

    def _operated(self, done: set[str]) -> Iterator[str]:
        """Yield operations that are not done, and read only what is; each is done then."""
        waiting = [own for own in self.operations if own.name not in done]
        while ready := [own for own in waiting if done.issuperset(own.inputs)]:
            yield from (own.name for own in ready)
            done.update(own.name for own in ready)
            waiting = [own for own in waiting if own not in ready]

    @cached_property
    def readers(self) -> Mapping[str, tuple[str, ...]]:
        """By name what reads the output of a layer, an operation, or an input of the network."""
        readers: dict[str, list[str]] = {name: [] for name in [*self.order, *(name for name, _ in self.inputs)]}
        for name in self.order:
            for source in self.sources(name):
                readers[source].append(name)
        return {name: tuple(own) for name, own in readers.items()}

    def count(self, name: str) -> int:
        """How often a layer or an operation occurs."""
        return self._counts[name]

    @cached_property
    def _counts(self) -> Mapping[str, int]:
        counts = {layer.name: count for layer, count in self.layers}
        return counts | {own.name: own.count for own in self.operations}

    @cached_property
    def handed(self) -> tuple[Edge, ...]:
        """What layers hand each other word by word: edges to layers, with operations between them left out.

        An operation between two layers has one input and an output of the same sizes, and it changes words as they
        pass, or one alone works on rows: `through` of the edge.
        """
        return tuple(own for edge in self.edges if (own := self._handed(edge)) is not None)

    def _handed(self, edge: Edge) -> Edge | None:
        while isinstance(own := self.by_name.get(edge.producer), Operation):
            if not own.between or (own.operator.rows and edge.through):
                return None
            edge = replace(edge, producer=own.inputs[0], through=own.op if own.operator.rows else edge.through)
        return None if own is None else edge

    def outside(self, name: str, inside: Collection[str]) -> list[str]:
        """The layers and operations, none of those inside, that read what a layer makes; operations between layers
        hand it on. Where nobody reads it, that is the last of these."""
        outer, waiting = dict[str, None](), [name]
        while waiting:
            maker = waiting.pop()
            if not self.readers[maker] and maker != name:
                outer[maker] = None
            for reader in self.readers[maker]:
                own = self.by_name[reader]
                if isinstance(own, Operation) and own.between:
                    waiting.append(reader)
                elif reader not in inside:
                    outer[reader] = None
        return list(outer)

    @property
    def macs(self) -> int:
        return sum(layer.macs * count for layer, count in self.layers)


def long(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes of ranks of more than one word.

    >>> long((1, 96, 1, 56, 56))
    (96, 56, 56)
    """
    return tuple(size for size in sizes if size > 1)


def split_alike(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether the ranks of one are those of the other, joined or split: in an array they are the same words in turn.

    >>> split_alike((32, 4, 56, 56), (128, 56, 56)), split_alike((28, 56), (56, 28))
    (True, False)
    """
    ends = [set(_ends(long(sizes))) for sizes in (one, other)]
    return prod(one) == prod(other) and (ends[0] <= ends[1] or ends[1] <= ends[0])


def _ends(sizes: Sequence[int]) -> Iterator[int]:
    words = 1
    for size in sizes:
        words *= size
        yield words
