"""Steps from a network to others: a rule at one place, or at all places that are alike, as in blocks that repeat."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from ..rewrites import Rewrite, Rules, TensorGraph, Term, rewrites, rewritten

Kind = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class Step:
    """A rule at some places of a network, and the network after it."""

    rule: str
    places: tuple[tuple[Term, ...], ...]  # of the network before it: the tensors that are computed in another way
    graph: TensorGraph


def steps(graph: TensorGraph, rules: Rules, *, single: bool = False) -> Iterator[Step]:
    """Yield the steps from a network: each rule at all places of one kind; `single`: at each place, too.

    Places are of one kind where a rule has the same operators on tensors of the same sizes there.
    """
    kinds: dict[Kind, list[Rewrite]] = {}
    for own in rewrites(graph, rules):
        kinds.setdefault(kind_of(graph, own), []).append(own)
    for kind, places in kinds.items():
        if single and len(places) > 1:
            yield from (Step(own.rule.name, (own.before,), rewritten(graph, own)) for own in places)
        yield _at_all(graph, kind, places)


def _at_all(graph: TensorGraph, kind: Kind, places: list[Rewrite]) -> Step:
    """Use a rule at all places of a kind, one after the other: what it makes of one may be read at the next."""
    rule = Rules([places[0].rule])
    after, done = rewritten(graph, places[0]), [places[0].before]
    for _ in places[1:]:
        again = next((own for own in rewrites(after, rule) if kind_of(after, own) == kind), None)
        if again is None:
            break
        done.append(again.before)
        after = rewritten(after, again)
    return Step(places[0].rule.name, tuple(done), after)


def kind_of(graph: TensorGraph, own: Rewrite) -> Kind:
    """Return what places of one kind have in common."""
    return own.rule.name, *(_shape(graph, term) for term in own.before), *(_shape(graph, term) for term in own.after)


def _shape(graph: TensorGraph, term: Term) -> Hashable:
    """Return the operator of a tensor, its sizes, and those of what it reads."""
    operands = tuple((operand.op, graph.source.tensor(operand)) for operand in term.operands)
    return term.op, term.params if term.op != "weight" else (), graph.source.tensor(term), operands
