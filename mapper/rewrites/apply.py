"""Applies rules to graphs of terms: every place where the source of a rule stands."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .match import Match, filled, matches
from .terms import INPUT, PART, SPLITS, Term, below, names_in, rebuilt, unknowns


@dataclass(frozen=True)
class Rule:
    """A source and a target that compute the same outputs: where the source stands the target may stand."""

    name: str
    source: tuple[Term, ...]
    target: tuple[Term, ...]
    by: tuple[str, ...] = ()  # the properties that its proof is made of

    @cached_property
    def free(self) -> tuple[str, ...]:
        """Return the unknown parameters of the target that the source does not have."""
        bound = {own.name for own in unknowns(self.source)}
        return tuple(dict.fromkeys(own.name for own in unknowns(self.target) if own.name not in bound))

    @cached_property
    def usable(self) -> bool:
        """Return whether the source has all inputs of the target, and an operator at each output."""
        return names_in(self.target) <= names_in(self.source) and all(own.op != INPUT for own in self.source)


Choices = Callable[[str, Match], Iterable[Hashable]]  # values of a free parameter, by its name


@dataclass(frozen=True)
class Place:
    """Where a source stands: the tensors of the graph that its outputs are, and what its inputs are there."""

    rule: Rule
    outputs: tuple[Term, ...]
    match: Match


@dataclass
class Rules:
    """Rules by the operator at their first output."""

    rules: Sequence[Rule] = ()
    by_op: dict[str, list[Rule]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rule in self.rules:
            self.add(rule)

    def add(self, rule: Rule) -> None:
        """Add a rule, if it can be used."""
        if rule.usable:
            self.by_op.setdefault(rule.source[0].op, []).append(rule)

    def places(self, roots: Sequence[Term], choices: Choices) -> Iterator[Place]:
        """Yield all places of all rules in a graph, in the order of its terms and of the rules."""
        graph = _Graph.of(roots)
        for own in graph.numbers:
            for op in _patterns(own.op):
                for rule in self.by_op.get(op, ()):
                    yield from _places(rule, own, graph, choices)


def _patterns(op: str) -> tuple[str, ...]:
    """Return the operators of patterns that a term may be: a part of a network may be either of a split."""
    return SPLITS if op == PART else (op,)


@dataclass(frozen=True)
class _Graph:
    """The terms of a graph with their numbers, operands first; by the operators of patterns that they may be; and what
    reads them."""

    numbers: Mapping[Term, int]
    by_op: Mapping[str, Sequence[Term]]
    readers: Mapping[Term, Sequence[Term]]

    @classmethod
    def of(cls, roots: Sequence[Term]) -> "_Graph":
        terms = below(roots)
        by_op: dict[str, list[Term]] = {}
        readers: dict[Term, list[Term]] = {}
        for own in terms:
            for op in _patterns(own.op):
                by_op.setdefault(op, []).append(own)
            for operand in dict.fromkeys(own.operands):
                readers.setdefault(operand, []).append(own)
        return cls({own: number for number, own in enumerate(terms)}, by_op, readers)

    @cached_property
    def _below(self) -> Mapping[Term, int]:
        """What stands in each term, itself too, as bits by numbers."""
        made: dict[Term, int] = {}
        for own, number in self.numbers.items():
            made[own] = 1 << number
            for operand in own.operands:
                made[own] |= made[operand]
        return made

    def dependent(self, outputs: Sequence[Term], match: Match) -> bool:
        """Return whether an output is made of what another one makes: both cannot be made at once."""
        return any(self._below[own] >> self.numbers[output] & 1 for own in match.inputs.values() for output in outputs)

    def candidates(self, pattern: Term, match: Match) -> Sequence[Term]:
        """Return the terms, in their order, that a pattern may be: of a large graph few read what is known already."""
        near = self._near(pattern, match)
        return self.by_op.get(pattern.op, ()) if near is None else sorted(near, key=self.numbers.__getitem__)

    def _near(self, pattern: Term, match: Match) -> Iterable[Term] | None:
        """Terms that read what an input in a pattern is known to be; None where no input in it is known."""
        if pattern.op == INPUT:
            known = match.inputs.get(pattern.name)
            return None if known is None else (known,)
        for operand in pattern.operands:
            if (near := self._near(operand, match)) is not None:
                reading = (reader for one in near for reader in self.readers.get(one, ()))
                return dict.fromkeys(reader for reader in reading if pattern.op in _patterns(reader.op))
        return None


def _places(rule: Rule, first: Term, graph: _Graph, choices: Choices) -> Iterator[Place]:
    for outputs, match in _sources(rule.source, (first,), graph, None):
        chosen = list(_chosen(rule.free, match, choices))
        if chosen and (len(outputs) == 1 or not graph.dependent(outputs, match)):
            yield from (Place(rule, outputs, full) for full in chosen)


def _sources(
    source: Sequence[Term], outputs: tuple[Term, ...], graph: _Graph, match: Match | None
) -> Iterator[tuple[tuple[Term, ...], Match]]:
    """Yield the terms that the outputs of a source can be, the last of `outputs` to be matched first."""
    at = len(outputs) - 1
    for one in matches([(source[at], outputs[at])], match):
        if at + 1 == len(source):
            yield outputs, one
            continue
        for after in graph.candidates(source[at + 1], one):
            if after not in outputs:
                yield from _sources(source, (*outputs, after), graph, one)


def _chosen(free: Sequence[str], match: Match, choices: Choices) -> Iterator[Match]:
    """Yield a match with each choice of free parameters."""
    if not free:
        yield match
        return
    for value in choices(free[0], match):
        yield from _chosen(free[1:], Match(match.inputs, {**match.params, free[0]: value}), choices)


def applied(roots: Sequence[Term], place: Place) -> tuple[Term, ...]:
    """Return a graph with the target of a rule where its source stands."""
    target = filled(place.rule.target, place.match)
    return rebuilt(roots, dict(zip(place.outputs, target, strict=True)))
