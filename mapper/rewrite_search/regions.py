"""Regions of a large network, that are rewritten by themselves: cut where few tensors pass; and which are alike.

TASO (section 5) parts large graphs, too, there by minimum cuts of the rewrites that are lost.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b
from itertools import accumulate, pairwise
from math import inf

from ..rewrites import (
    COMMUTING,
    INPUT,
    OPAQUE,
    WEIGHT,
    Source,
    TensorGraph,
    Term,
    between,
    given,
    made,
    rebuilt,
    with_params,
)

FEWEST = 6  # operators of a region: smaller ones join the next
MOST = 40  # operators of a region, where it can be cut
LEAVES = (INPUT, WEIGHT, OPAQUE)  # terms that have names


@dataclass(frozen=True, eq=False)
class Region:
    """Some operators of a network, as a network of its own."""

    inputs: Mapping[str, Term]  # tensors of the network that it reads, by the names that they have here
    outputs: Mapping[str, Term]  # those that are read after it, or are outputs
    graph: TensorGraph

    @cached_property
    def names(self) -> Mapping[Term, bytes]:
        """The terms that have names, in an order and with marks that do not depend on these."""
        return _named(self.graph)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """A region with those beside it: what stays on chip, and is fused, across its ends counts, too."""

    whole: TensorGraph
    before: tuple[TensorGraph, ...]
    after: tuple[TensorGraph, ...]

    def around(self, graph: TensorGraph) -> TensorGraph:
        """Return the network of all of them, with another graph of the region."""
        known = _joined(self.whole.source, self.whole.inputs, (*self.before, graph, *self.after))
        return self.whole.with_outputs({name: known[name] for name in self.whole.outputs})


class Cuts:
    """A network, cut into regions in an order in which they can be computed; a small one is one region."""

    def __init__(self, graph: TensorGraph) -> None:
        self.graph = graph
        self.order = [own for own in graph.terms if own not in graph.constants and own.op != INPUT]
        self.number = {own: at for at, own in enumerate(self.order)}
        cuts = _cuts(graph, self.order) if len(self.order) > MOST else []
        self.places = [0, *cuts, len(self.order)]
        self.regions = [self._region(*ends) for ends in pairwise(self.places)]

    def neighbours(self, at: int) -> Neighbours:
        """Return a region, by its number, with those before and behind it."""
        first, last = max(0, at - 1), min(at + 2, len(self.regions))
        graphs = [own.graph for own in self.regions]
        whole = self._region(self.places[first], self.places[last])
        return Neighbours(whole.graph, tuple(graphs[first:at]), tuple(graphs[at + 1 : last]))

    def put_together(self, rewritten: Sequence[TensorGraph]) -> TensorGraph:
        """Return the network with its regions rewritten, in their order."""
        known = _joined(self.graph.source, self.graph.inputs, rewritten)
        names = {own: name for region in self.regions for name, own in region.outputs.items()}
        outputs = self.graph.outputs.items()
        return self.graph.with_outputs({name: known[names[own]] if own in names else own for name, own in outputs})

    def _region(self, begin: int, end: int) -> Region:
        graph, order, number = self.graph, self.order, self.number
        inside, later = order[begin:end], order[end:]
        read_later = {operand for own in later for operand in own.operands} | set(graph.outputs.values())
        read = {number[operand] for own in inside for operand in own.operands if number.get(operand, begin) < begin}
        inputs = {_name(graph, at): order[at] for at in sorted(read)}
        outputs = {_name(graph, number[own]): own for own in inside if own in read_later}
        return Region(inputs, outputs, between(graph, inputs, outputs))


def _joined(source: Source, inputs: Iterable[str], graphs: Iterable[TensorGraph]) -> Mapping[str, Term]:
    """Return the outputs of graphs that read each other's by their names, and inputs."""
    known, make = {name: given(name) for name in inputs}, partial(made, source)
    for own in graphs:
        become = {given(name): known[name] for name in own.inputs}
        known |= zip(own.outputs, rebuilt(tuple(own.outputs.values()), become, make), strict=True)
    return known


def _name(graph: TensorGraph, number: int) -> str:
    """A name that nothing in the network has."""
    name = f"cut {number}"
    while name in graph.inputs or name in graph.weights:
        name = f"{name}'"
    return name


def _cuts(graph: TensorGraph, order: Sequence[Term]) -> list[int]:
    """The places between operators where a network is cut, ascending."""
    live = _live(graph, order)
    whole = [0, *(at for at in range(1, len(order)) if live[at] == 1), len(order)]
    cuts, begin = list[int](), 0
    for end in whole[1:]:
        if end - begin >= FEWEST or end == len(order):
            cuts += [*_within(live, begin, end), end]
            begin = end
    if len(cuts) > 1 and cuts[-1] - cuts[-2] < FEWEST:
        del cuts[-2]
    return cuts[:-1]


def _within(live: Sequence[float], begin: int, end: int) -> Iterator[int]:
    """Yield the places where what is too large is cut: about its middle, where fewest tensors pass."""
    if end - begin <= MOST:
        return
    quarter = (end - begin) // 4
    at = min(range(begin + quarter, end - quarter), key=lambda place: (live[place], abs(2 * place - begin - end)))
    if live[at] == inf:
        return
    yield from _within(live, begin, at)
    yield at
    yield from _within(live, at, end)


def _live(graph: TensorGraph, order: Sequence[Term]) -> list[float]:
    """How many tensors pass each place between operators; inf where one has no known type. # (place,)"""
    number = {own: at for at, own in enumerate(order)}
    last = {operand: at for at, own in enumerate(order) for operand in own.operands if operand in number}
    passing, closed = ([0] * (len(order) + 1) for _ in range(2))  # how many more than at the place before
    for own, at in last.items():
        tensor = graph.source.tensor(own)
        counts = passing if tensor is not None and tensor.dtype is not None else closed
        counts[number[own] + 1] += 1
        counts[at + 1] -= 1
    return [inf if inside else many for many, inside in zip(accumulate(passing), accumulate(closed), strict=True)]


Rename = Callable[[Term], Term]


@dataclass(frozen=True, eq=False)
class Alike:
    """Regions that differ in names alone."""

    first: int
    members: tuple[tuple[int, Rename], ...]  # by number, with what makes terms about the first those about it


def classes_of(regions: Sequence[Region]) -> list[Alike]:
    """Part regions into classes of those that are alike, in the order of their first ones."""
    firsts, members = list[int](), list[list[tuple[int, Rename]]]()
    for number, region in enumerate(regions):
        pairs = ((at, renaming(regions[own], region)) for at, own in enumerate(firsts))
        at, rename = next(((at, rename) for at, rename in pairs if rename is not None), (len(firsts), None))
        if rename is None:
            firsts.append(number)
            members.append([])
            rename = partial(_renamed, {})
        members[at].append((number, rename))
    return [Alike(own, tuple(every)) for own, every in zip(firsts, members, strict=True)]


def renaming(one: Region, other: Region) -> Rename | None:
    """Return what makes terms about one region those about another that differs in names alone; None: it differs.

    Two regions may be alike without being found so, where both operands of a sum look alike.
    """
    outputs = [*other.graph.outputs.values()]
    if [*one.names.values()] != [*other.names.values()] or len(one.graph.outputs) != len(outputs):
        return None
    rename = partial(_renamed, dict(zip(one.names, other.names, strict=True)))
    return rename if [*map(rename, one.graph.outputs.values())] == outputs else None


def _renamed(become: Mapping[Term, Term], own: Term) -> Term:
    """Return a term about what other names stand for; `become` has the terms of names."""
    (renamed,) = with_params([own], lambda part: become.get(part, part).params)
    return renamed


def _named(graph: TensorGraph) -> dict[Term, bytes]:
    """List the terms of a network that have names, as `Region.names` says."""
    marks, order = dict[Term, bytes](), dict[Term, bytes]()
    for own in graph.terms:
        marks[own] = _mark(graph, own, sorted if own.op in COMMUTING else list, marks)
    waiting = [*graph.outputs.values()][::-1]
    met = set[Term]()
    while waiting:
        own = waiting.pop()
        if own in met:
            continue
        met.add(own)
        if own.op in LEAVES:
            order[own] = marks[own]
        operands = sorted(own.operands, key=marks.__getitem__) if own.op in COMMUTING else own.operands
        waiting += reversed(operands)
    return order


def _mark(
    graph: TensorGraph, own: Term, ordered: Callable[[Iterable[bytes]], list[bytes]], marks: Mapping[Term, bytes]
) -> bytes:
    """Return what a term has in common with others that differ in names alone."""
    source = graph.source
    params = source.nodes[own.name] if own.op == OPAQUE else source.tensor(own) if own.op in LEAVES else own.params
    mark = blake2b(repr((own.op, params)).encode(), digest_size=12)
    for operand in ordered(marks[operand] for operand in own.operands):
        mark.update(operand)
    return mark.digest()
