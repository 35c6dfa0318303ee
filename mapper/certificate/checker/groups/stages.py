"""The stages of a group and what they hand each other, read from the network for the checker."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .....arch import Architecture
from .....workloads import Network, Rank, Tensor, Workload
from .....workloads.operators import OPERATORS, Causal, Operator
from ..problem import Refused


@dataclass(frozen=True)
class Read:
    """How a stage reads what an earlier one makes."""

    producer: int
    consumer: int
    tensor: str
    ranks: tuple[tuple[str | None, int], ...]  # per rank the dim of the producer's output, and the zeros before it
    through: str  # the operator between both, or none
    streaming: bool
    causal: Causal | None

    @property
    def operator(self) -> Operator | None:
        """The operator on its words."""
        return OPERATORS[self.through] if self.through else None

    @property
    def mask(self) -> Causal | None:
        """The causal mask, where it hides anything: a query alone sees all keys."""
        return self.causal if self.causal is not None and self.causal.queries > 1 else None


@dataclass(frozen=True, eq=False)
class Stages:
    """Layers in turn, of which those before the last hand all that they make to later ones."""

    layers: tuple[Workload, ...]
    reads: tuple[Read, ...]
    _moved: dict[str | None, tuple[frozenset[str], ...]] = field(default_factory=dict)  # by loop, those asked for

    @classmethod
    def of(cls, network: Network, names: Sequence[str]) -> "Stages":
        """Take the layers of these names. Raises Refused where they are no stages of a group."""
        layers = {layer.name: layer for layer, _ in network.layers}
        if len(set(names)) < len(names) or not set(names) <= set(layers):
            raise Refused("it names stages that the network has not, or one twice")
        if list(names) != [name for name in layers if name in names]:
            raise Refused("its stages are not in the order of the network")
        reads = tuple(_reads_within(network, names))
        if missing := sorted(set(range(len(names) - 1)) - {read.producer for read in reads}):
            raise Refused(f"no stage reads what {names[missing[0]]} makes")
        stages = cls(tuple(layers[name] for name in names), reads)
        for producer in range(len(names) - 1):
            if len({stages._done_to(read) for read in stages.consumers(producer)}) > 1:
                raise Refused(f"an operator changes what {names[producer]} makes, which is read in two ways")
        return stages

    def _done_to(self, read: Read) -> tuple[str, bool, int, frozenset[str | None]]:
        """What is done to words before a stage reads them: the operator, whether it streams, the queries of its mask,
        and the dims of what was made along which it has rows."""
        rows = set(self.row_dims(read.consumer, read.tensor, adds=True)) if read.through else set[str]()
        ranks = self.tensor(read.consumer, read.tensor).ranks
        along = {dim for (dim, _), rank in zip(read.ranks, ranks, strict=True) if rows & {term.dim for term in rank}}
        return read.through, read.streaming, read.mask.queries if read.mask else 0, frozenset(along)

    @property
    def last(self) -> Workload:
        """The stage that makes the output of the group."""
        return self.layers[-1]

    def tensor(self, stage: int, name: str) -> Tensor:
        """A tensor of a stage. Raises Refused where it has none of this name."""
        for tensor in self.layers[stage].tensors:
            if tensor.name == name:
                return tensor
        raise Refused(f"{self.layers[stage].name} has no tensor {name}")

    @cached_property
    def between(self) -> tuple[frozenset[str], ...]:
        """Per stage the tensors between stages: what it reads of others, and what it makes for them."""
        names = []
        for stage, layer in enumerate(self.layers):
            made = {layer.output.name} if stage < len(self.layers) - 1 else set()
            names.append(frozenset(made | {read.tensor for read in self.reads if read.consumer == stage}))
        return tuple(names)

    def consumers(self, producer: int) -> list[Read]:
        """How later stages read what a stage makes."""
        return [read for read in self.reads if read.producer == producer]

    def inputs(self, consumer: int) -> list[Read]:
        """How a stage reads what earlier stages make."""
        return [read for read in self.reads if read.consumer == consumer]

    def row_dims(self, stage: int, name: str, *, adds: bool) -> list[str]:
        """The dims of a tensor that a stage adds up over, or those that its output has: along and across its rows."""
        layer = self.layers[stage]
        dims = [term.dim for rank in self.tensor(stage, name).ranks for term in rank]
        return [dim for dim in dims if (dim not in layer.output.dims) == adds]

    def moved(self, loop: str | None) -> tuple[frozenset[str], ...]:
        """Per stage the dims that a shared loop moves: of an earlier stage those along which it moves what every stage
        reads; and keys with the queries of a causal mask."""
        if loop not in self._moved:
            self._moved[loop] = self._moved_by(loop)
        return self._moved[loop]

    def _moved_by(self, loop: str | None) -> tuple[frozenset[str], ...]:
        moved = [frozenset[str]() for _ in self.layers]
        for stage in reversed(range(len(self.layers))):
            if stage == len(self.layers) - 1:
                own = frozenset() if loop is None else frozenset({loop})
            else:
                own = frozenset(dim for dim in self.layers[stage].output.dims if self._moves(stage, dim, moved))
            masks = [read.mask for read in self.inputs(stage) if read.mask is not None]
            moved[stage] = own | {mask.key for mask in masks if mask.query in own}
        return tuple(moved)

    def _moves(self, stage: int, dim: str, moved: Sequence[frozenset[str]]) -> bool:
        """Whether a loop that moves these dims of later stages moves all that they read along a dim of a stage."""
        ranks = list(self.along(stage, dim))
        return bool(ranks) and all(any(term.dim in moved[consumer] for term in rank) for consumer, rank, _ in ranks)

    def along(self, producer: int, dim: str) -> Iterator[tuple[int, Rank, int]]:
        """Yield how later stages read what a stage makes along one of its dims: the stage, its rank, the zeros."""
        for read in self.consumers(producer):
            for rank, (own, zeros) in zip(self.tensor(read.consumer, read.tensor).ranks, read.ranks, strict=True):
                if own == dim:
                    yield read.consumer, rank, zeros

    @property
    def sizes(self) -> list[dict[str, int]]:
        """The sizes of each stage, by dim."""
        return [dict(zip(layer.dims, layer.sizes, strict=True)) for layer in self.layers]

    def keepers(self, arch: Architecture) -> list[str]:
        """List the memories that may hold all tensors between stages."""
        return [level.name for i, level in enumerate(arch.levels) if i and self.may_keep(arch, i)]

    def may_keep(self, arch: Architecture, level: int) -> bool:
        """Whether a level may hold all tensors between stages."""
        try:
            for names in self.between:
                arch.with_resident(level, names)
        except ValueError:
            return False
        return True

    def keepable(self, arch: Architecture, level: int) -> list[tuple[int, str]]:
        """List the other tensors that a level may hold, too, as (stage, tensor)."""
        pairs = []
        for stage, layer in enumerate(self.layers):
            for tensor in layer.tensors:
                if tensor.name not in self.between[stage]:
                    try:
                        arch.with_resident(level, {tensor.name})
                    except ValueError:
                        continue
                    pairs.append((stage, tensor.name))
        return pairs

    def layer(self, stage: int, sizes: Sequence[int], *, accumulates: bool) -> Workload:
        """A stage as a layer of other sizes, whose output may hold sums before."""
        own = self.layers[stage]
        tensors = tuple(
            replace(tensor, accumulates=accumulates or tensor.accumulates) if tensor.output else tensor
            for tensor in own.tensors
        )
        return replace(own, sizes=tuple(sizes), tensors=tensors)


def _reads_within(network: Network, names: Sequence[str]) -> Iterator[Read]:
    """Yield what stages read of other stages. Raises Refused where other layers read what a stage makes."""
    for name in names[:-1]:
        for reader in network.outside(name, names) if network.edges else ():
            raise Refused(f"{reader}, which is no stage, reads what {name} makes")
    for edge in network.handed:
        if edge.producer in names and edge.consumer in names:
            if edge.whole:
                raise Refused(f"{edge.consumer} reads {edge.tensor} with ranks joined or split")
            producer, consumer = names.index(edge.producer), names.index(edge.consumer)
            yield Read(producer, consumer, edge.tensor, edge.ranks, edge.through, edge.streaming, edge.causal)
