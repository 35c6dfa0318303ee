"""Applies rules to networks: every place where a rule may be used, and the network after it."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..apply import Place, Rule, Rules
from ..match import Match, filled
from ..operators import OPERATORS
from ..terms import INPUT, PART, SPLITS, Term, below, rebuilt
from ..types import Type, size, sizes
from .graph import TensorGraph
from .normal import made
from .source import Source

CONVOLUTIONS = ("conv", "gconv")


@dataclass(frozen=True)
class Rewrite:
    """A rule at a place of a network: the tensors that are computed in another way, before and after."""

    rule: Rule
    before: tuple[Term, ...]
    after: tuple[Term, ...]


def rewrites(graph: TensorGraph, rules: Rules) -> Iterator[Rewrite]:
    """Yield all rewrites of a network, in the order of its terms and of the rules, each once.

    A rule is used where all its tensors can be computed, none of them is empty, and its outputs have the sizes, the
    places where they were joined, and the dtype that they had; what is made of weights alone stays as it is.
    """
    known: set[tuple[tuple[Term, ...], tuple[Term, ...]]] = set()
    roots = tuple(graph.outputs.values())
    readers = _readers(graph)
    for place in rules.places(roots, lambda name, match: _choices(graph, readers, name.rstrip("_"), match)):
        if all(own in graph.constants for own in place.outputs):
            continue
        after = _after(graph.source, place)
        if after is not None and after != place.outputs and (place.outputs, after) not in known:
            known.add((place.outputs, after))
            yield Rewrite(place.rule, place.outputs, after)


def rewritten(graph: TensorGraph, rewrite: Rewrite) -> TensorGraph:
    """Return a network after a rewrite."""
    become = dict(zip(rewrite.before, rewrite.after, strict=True))
    roots = rebuilt(tuple(graph.outputs.values()), become, partial(made, graph.source))
    return graph.with_outputs(dict(zip(graph.outputs, roots, strict=True)))


def _after(source: Source, place: Place) -> tuple[Term, ...] | None:
    """Return the terms of a network that the target of a rule is at a place; None where it does not hold there."""
    before = _placed(source, place.rule.source, place.match)
    if before is None or before.terms != place.outputs:  # a part of a joined tensor that is not the one that was joined
        return None
    after = _placed(source, place.rule.target, place.match)
    if after is None or after.types != before.types:  # proofs are of outputs that are joined alike
        return None
    known = [(source.tensor(own), source.tensor(other)) for own, other in zip(before.terms, after.terms, strict=True)]
    return after.terms if all(one is not None and one == other for one, other in known) else None


@dataclass(frozen=True)
class _Placed:
    """The outputs of a side of a rule at a place of a network."""

    terms: tuple[Term, ...]
    types: tuple[Type, ...]


def _placed(source: Source, roots: Sequence[Term], match: Match) -> _Placed | None:
    """Return the terms of a network that those of a rule are, each split at the place where its tensor was joined; None
    where one cannot be computed."""
    kind: Type | None
    types: dict[Term, Type] = {}
    terms: dict[Term, Term] = {}
    for pattern, own in zip(below(roots), filled(below(roots), Match({}, match.params)), strict=True):
        if own.op == INPUT:
            terms[pattern] = match.inputs[own.name]
            tensor = source.tensor(terms[pattern])
            kind = None if tensor is None else tensor.sizes
        else:
            kind = OPERATORS[own.op].types(own.params, [types[operand] for operand in pattern.operands])
        if kind is None or 0 in sizes(kind):  # there are no parts of no words
            return None
        types[pattern] = kind
        if own.op != INPUT:
            operands = tuple(terms[operand] for operand in pattern.operands)
            terms[pattern] = _term(source, own, operands, types[pattern.operands[0]] if pattern.operands else ())
    return _Placed(tuple(terms[root] for root in roots), tuple(types[root] for root in roots))


def _term(source: Source, own: Term, operands: tuple[Term, ...], read: Type) -> Term:
    if own.op not in SPLITS:
        return made(source, own.op, own.params, operands)
    (axis,) = own.params
    assert isinstance(axis, int)
    extent = read[axis]
    assert not isinstance(extent, int), "it was joined"
    first, both = size(extent[0]), size(extent)
    places = (0, first) if own.op == "split0" else (first, both)
    return made(source, PART, (axis, *places), operands)


def _readers(graph: TensorGraph) -> Mapping[Term, Sequence[Term]]:
    """Return the convolutions of each tensor."""
    readers: dict[Term, list[Term]] = {}
    for own in graph.terms:
        if own.op in CONVOLUTIONS:
            readers.setdefault(own.operands[0], []).append(own)
    return readers


def _choices(graph: TensorGraph, readers: Mapping[Term, Sequence[Term]], name: str, match: Match) -> Iterable[Hashable]:
    """Return values of a parameter that the source of a rule leaves open: sizes of what is read, and of the kernels
    that read it."""
    tensors = [own for own in match.inputs.values() if graph.source.tensor(own) is not None]
    of = [graph.source.sizes(own) for own in tensors]
    if name == "size":
        return dict.fromkeys(number for own in of for number in own[:2])
    if name == "sizes":
        return dict.fromkeys(own for own in of if own)
    if name == "kernel":
        reading = [reader for own in tensors for reader in readers.get(own, ())]
        return dict.fromkeys(graph.source.sizes(reader.operands[1])[2:] for reader in reading)
    return ()
