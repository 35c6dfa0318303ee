"""Plans of networks as values: parts in an order, and which tensors stay in one memory between them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ...arch import Architecture
from ...workloads.operators import Moves
from ..fusion import Group
from .graph import Graph, Read


@dataclass(frozen=True)
class Part:
    """What is executed at once: a layer, a fused group of layers, or an operation; and what ends it.

    An operation that ends a part is applied to its words as they pass, in turn.
    """

    layers: tuple[str, ...] = ()  # in turn
    between: tuple[str, ...] = ()  # operations on rows, on words that stand between these layers
    operations: tuple[str, ...] = ()  # without layers the first makes the words that the others are applied to
    # of the layers: what is shared, and what stays; its stages are the layers, and nothing of it lasts longer
    group: Group | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All that is computed."""
        return (*self.layers, *self.between, *self.operations)

    @property
    def last(self) -> str:
        """The name of the tensor that it makes; empty where it has neither layers nor operations, which is a fault."""
        return next(reversed((*self.layers, *self.operations)), "")


@dataclass(frozen=True)
class Resident:
    """A tensor that stays in the memory of the plan, from the part that makes it to one that reads it."""

    tensor: str  # the name of what makes it
    until: str  # the last layer or operation that reads it there
    copied: bool = False  # whether it leaves the chip, too, for those that read it later


@dataclass(frozen=True)
class PlanFault:
    """What is wrong with a plan, and where: a part or a resident tensor by its number, and what it names."""

    message: str
    part: int | None = None
    resident: int | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class PlacedPart:
    """A part, and the tensors that are in the memory while it is executed."""

    graph: Graph
    keeper: str
    part: Part
    held: frozenset[str]  # by what makes them; that of the part is among them if it stays
    copied: bool = False  # whether the tensor of the part leaves the chip, too, if it stays

    @property
    def stays(self) -> bool:
        """Whether the tensor of the part stays."""
        return self.part.last in self.held

    @property
    def leaves(self) -> bool:
        """Whether the tensor of the part leaves the chip."""
        return not self.stays or self.copied

    def inside(self, read: Read) -> bool:
        """Whether all words of a read are in the memory."""
        return bool(read.makers) and not read.outside and self.held.issuperset(read.makers)

    def read_off_chip(self) -> Iterator[tuple[str, str]]:
        """Yield each tensor in the memory that is read off chip all the same, and what reads it: it is joined with
        others that are not there."""
        for name in self.part.names:
            for read in self.graph.nodes[name].reads if name in self.graph.nodes else ():
                if not self.inside(read):
                    yield from ((own, name) for own in read.makers if own in self.held and own not in self.part.names)

    def room_bits(self, arch: Architecture, layer: str = "") -> int:
        """The bits of all that is in the memory while the part is executed, or one of its layers.

        A tensor takes the room of all its words. While a layer reads it, the zeros of padding are there, too.
        """
        level = arch.levels[arch.number_of(self.keeper)]
        bits = sum(self.graph.room_bits(level, name) for name in self.held)
        node = self.graph.nodes.get(layer)
        if node is None or node.layer is None:
            return bits
        for read in node.reads:
            if self.inside(read):
                tensor = next(own for own in node.layer.tensors if own.name == read.tensor)
                bits += read.zeros * level.bits(tensor.name, tensor.word_bits)
        return bits

    def group(self, arch: Architecture) -> Group:
        """Return the group of its layers with the tensors that last longer, and the room of all that does."""
        own = self.part
        assert own.group is not None, "it has layers"
        lasting = {
            (stage, read.tensor)
            for stage, name in enumerate(own.layers)
            for read in self.graph.nodes[name].reads
            if self.inside(read)
        }
        if self.stays:
            lasting.add((len(own.layers) - 1, own.group.stages[-1].output.name))
        reserved = tuple(self.room_bits(arch, layer) for layer in own.layers)
        return replace(own.group, lasting=frozenset(lasting), reserved=reserved if any(reserved) else ())


@dataclass(frozen=True, eq=False)
class Plan:
    """Parts in the order in which they are executed, each as often as its layers occur."""

    graph: Graph
    keeper: str  # the memory in which tensors stay
    parts: tuple[Part, ...]
    residents: tuple[Resident, ...] = ()

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The number of the part that computes a node; the first where several do, which is a fault."""
        return {name: number for number, part in reversed([*enumerate(self.parts)]) for name in part.names}

    def placed(self, number: int) -> PlacedPart:
        """Return a part with what is in the memory: tensors stay from the part that makes them to that of the last
        reader there."""
        part, place = self.parts[number], self.place
        # what names no part, which is a fault, is not there
        known = [own for own in self.residents if {own.tensor, own.until} <= place.keys()]
        held = {own for own in known if place[own.tensor] <= number <= place[own.until]}
        copied = any(own.copied for own in held if own.tensor == part.last)
        return PlacedPart(self.graph, self.keeper, part, frozenset(own.tensor for own in held), copied)

    def faults(self) -> list[str]:
        """List what is wrong: nodes left out or computed twice, tensors read before they are made, and so on."""
        return list(dict.fromkeys(own.message for own in self.placed_faults()))

    def placed_faults(self) -> Iterator[PlanFault]:
        """Yield the same, each with its place."""
        yield from (PlanFault(f"{name} is in no part") for name in self.graph.nodes if name not in self.place)
        for number, part in enumerate(self.parts):
            yield from _part_faults(self, number, part)
        for number, own in enumerate(self.residents):
            yield from _resident_faults(self, number, own)


def _resident_faults(plan: Plan, number: int, own: Resident) -> Iterator[PlanFault]:
    """Yield what is wrong with a tensor that stays."""
    readers, place = plan.graph.readers.get(own.tensor), plan.place
    if own.tensor in (before.tensor for before in plan.residents[:number]):
        yield PlanFault(f"{own.tensor} stays twice", resident=number, name=own.tensor)
    elif readers is None or (own.tensor in place and plan.parts[place[own.tensor]].last != own.tensor):
        message = f"{own.tensor} is no tensor that a part makes: it cannot stay"
        yield PlanFault(message, resident=number, name=own.tensor)
    elif own.until not in readers:
        yield PlanFault(f"{own.until} {_why_no_reader(plan, own)}", resident=number, name=own.until)
    elif not own.copied and own.until in place:
        rule = f"reads {own.tensor}, which stays until {own.until} and has no copy"
        late = [name for name in readers if place.get(name, -1) > place[own.until]]
        yield from (PlanFault(f"{name} {rule}", resident=number, name=own.until) for name in late)
        yield from _joined_faults(plan, number, own)


def _why_no_reader(plan: Plan, own: Resident) -> str:
    """Say why a tensor cannot stay until what it is said to."""
    if own.until not in plan.graph.nodes and own.tensor in plan.graph.behind.get(own.until, ()):
        return f"moves no words: name a layer or an operation that reads {own.tensor}"
    return f"does not read {own.tensor}"


def _joined_faults(plan: Plan, number: int, own: Resident) -> Iterator[PlanFault]:
    """Yield where a tensor that stays without a copy is read off chip, with others that are not in the memory."""
    for part in sorted({plan.place[name] for name in plan.graph.readers[own.tensor] if name in plan.place}):
        for tensor, name in plan.placed(part).read_off_chip():
            if tensor == own.tensor:
                rule = f"reads {tensor} joined with others that are not all in {plan.keeper}: it needs a copy"
                yield PlanFault(f"{name} {rule}", resident=number, name=own.tensor)


def _part_faults(plan: Plan, number: int, part: Part) -> Iterator[PlanFault]:
    """Yield what is wrong with a part."""
    graph, known = plan.graph, [name for name in part.names if name in plan.graph.nodes]
    if not part.last:
        yield PlanFault(f"part {number + 1} has neither layers nor operations", number)
        return
    for name in part.names:
        if name not in graph.nodes:
            yield PlanFault(f"{name} is nothing of {graph.network.name}", number, name=name)
        elif plan.place[name] < number or part.names.count(name) > 1:
            yield PlanFault(f"{name} is in two parts", number, name=name)
    for name in known:
        for maker in graph.nodes[name].makers:
            if plan.place.get(maker, -1) > number:
                yield PlanFault(f"{name} is before {maker}, whose words it reads", number, name=name)
    counts = {graph.nodes[name].count for name in known}
    if len(counts) > 1:
        yield PlanFault(f"{', '.join(known)} occur {' and '.join(map(str, sorted(counts)))} times", number)
    if bool(part.layers) != (part.group is not None):
        yield PlanFault(f"{part.last} has layers without a group, or a group without layers", number)
    yield from (PlanFault(message, number, name=name) for name, message in _inner_faults(graph, part, known))


def _inner_faults(graph: Graph, part: Part, known: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what does not go together within a part, each with a node."""
    for name in known:
        if (graph.nodes[name].layer is None) == (name in part.layers):
            yield name, f"{name} is no {'layer' if name in part.layers else 'operation'}"
        outer = [reader for reader in graph.readers[name] if reader not in part.names]
        if name != part.last and outer:
            yield name, f"{outer[0]} reads what {name} makes, which is not the last of its part"
    passing = (*part.layers[-1:], *part.operations)  # the first makes the words
    for before, name in pairwise(passing):
        if {before, name} <= graph.nodes.keys() and not applies(graph, name, before):
            yield name, f"{name} is not applied to the words of {before} as they pass"


def applies(graph: Graph, name: str, before: str) -> bool:
    """Whether an operation can be applied to the words that another node makes as they pass: to each of them once."""
    node, own = graph.nodes[name], [read for read in graph.nodes[name].reads if before in read.makers]
    if node.operator is None or node.operator.moves is not Moves.OTHERS or len(own) != 1:
        return False
    alone = graph.readers[before] == (name,) and own[0].makers == (before,) and not own[0].outside
    return alone and graph.nodes[before].words == own[0].words == node.words
