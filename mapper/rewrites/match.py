"""Matches terms with patterns: what inputs and unknown parameters of a pattern have to be for it to be a term."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from .equation import Equation
from .operators import OPERATORS
from .terms import INPUT, PART, SPLITS, Term, Unknown, below, term


@dataclass(frozen=True)
class Match:
    """What the inputs of a pattern are, by name, and its unknown parameters."""

    inputs: Mapping[str, Term] = field(default_factory=dict)
    params: Mapping[str, Hashable] = field(default_factory=dict)


def matches(pairs: Sequence[tuple[Term, Term]], match: Match | None = None) -> Iterator[Match]:
    """Yield all ways in which each pattern is its term; operands of commuting operators are tried in both orders."""
    match = match or Match()
    if not pairs:
        yield match
        return
    (pattern, own), rest = pairs[0], pairs[1:]
    if pattern.op == INPUT:
        known = match.inputs.get(pattern.name)
        if known is None:
            yield from matches(rest, Match({**match.inputs, pattern.name: own}, match.params))
        elif known is own:
            yield from matches(rest, match)
        return
    if not _one_operator(pattern.op, own.op) or len(pattern.operands) != len(own.operands):
        return
    params = _params(pattern, own, match.params)
    if params is None:
        return
    inner = Match(match.inputs, params)
    yield from matches([*zip(pattern.operands, own.operands, strict=True), *rest], inner)
    operator = OPERATORS.get(pattern.op)
    if operator is not None and operator.commutes and own.operands[0] is not own.operands[1]:
        yield from matches([*zip(pattern.operands, own.operands[::-1], strict=True), *rest], inner)


def _one_operator(pattern: str, own: str) -> bool:
    """Return whether a term may be what a pattern says: a part of a network that of a split, at whatever place."""
    return pattern == own or (own == PART and pattern in SPLITS)


def _params(pattern: Term, own: Term, known: Mapping[str, Hashable]) -> Mapping[str, Hashable] | None:
    """Return the unknown parameters with those of one term; None where they differ."""
    made = known
    for asked, value in zip(pattern.params, own.params, strict=False):  # a part has places beside its axis
        if isinstance(asked, Unknown):
            if made.get(asked.name, value) != value:
                return None
            if asked.name not in made:
                made = {**made, asked.name: value}
        elif asked != value:
            return None
    return made


def filled(roots: Sequence[Term], match: Match) -> tuple[Term, ...]:
    """Return patterns with inputs and unknown parameters replaced; what has no match stays."""
    made: dict[Term, Term] = {}
    for own in below(roots):
        if own.op == INPUT:
            made[own] = match.inputs.get(own.name, own)
            continue
        params = tuple(
            match.params.get(value.name, value) if isinstance(value, Unknown) else value for value in own.params
        )
        made[own] = term(own.op, params, tuple(made[operand] for operand in own.operands))
    return tuple(made[root] for root in roots)


def contains(wider: Equation, own: Equation) -> bool:
    """Return whether an equation is another one with inputs and unknown parameters replaced."""
    if len(wider.left) != len(own.left):
        return False
    for left, right in (own.sides, own.sides[::-1]):
        for pairs in _orders(wider, left, right):
            if next(matches(pairs), None) is not None:
                return True
    return False


def _orders(wider: Equation, left: Sequence[Term], right: Sequence[Term]) -> Iterator[list[tuple[Term, Term]]]:
    """Yield the patterns of an equation with terms, in any order of outputs."""
    for order in permutations(range(len(left))):
        outputs = list(zip(wider.left, wider.right, order, strict=True))
        if all(_may(one, left[at]) and _may(other, right[at]) for one, other, at in outputs):
            yield [(one, left[at]) for one, _, at in outputs] + [(other, right[at]) for _, other, at in outputs]


def _may(pattern: Term, own: Term) -> bool:
    return pattern.op in (INPUT, own.op)
