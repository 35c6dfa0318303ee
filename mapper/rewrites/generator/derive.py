"""Finds out whether an equation follows from smaller ones by few steps, none to a larger graph than its own two.

A search that follows prices takes no step to what costs much more, so no graph between multiplies more than both sides.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ..apply import Rule, Rules, applied
from ..equation import Equation, operators_of
from ..evaluate import types_of
from ..match import Match
from ..terms import Term, below, names_in
from ..types import Type, sizes

Graph = tuple[Term, ...]


class Deriver:
    """Applies proven equations in both directions."""

    def __init__(self) -> None:
        self._rules = Rules()

    def add(self, equation: Equation) -> None:
        """Add a proven equation."""
        for source, target in (equation.sides, equation.sides[::-1]):
            self._rules.add(Rule("", source, target))

    def derives(self, equation: Equation) -> bool:
        """Return whether one side becomes the other in at most three steps."""
        left, right = equation.sides
        products = [multiplications(side, types_of(side, equation.inputs)) for side in equation.sides]
        most = _Most(equation.inputs, max(equation.operators), min(products), frozenset(equation.sides))
        near_left, near_right = (set(self._steps(side, most)) for side in (left, right))
        if right in near_left or left in near_right or near_left & near_right:
            return True
        return any(not near_right.isdisjoint(self._steps(own, most)) for own in near_left)

    def _steps(self, roots: Graph, most: "_Most") -> Iterator[Graph]:
        """Yield the graphs that one step makes of a graph."""
        inputs = most.inputs
        types = types_of(roots, inputs)
        known = {own: made for own, made in types.items() if made is not None}
        used = names_in(roots)

        def choices(name: str, match: Match) -> Iterable[Hashable]:
            return _values(name.rstrip("_"), [known[own] for own in match.inputs.values()])

        for place in self._rules.places(roots, choices):
            made = applied(roots, place)
            if operators_of(made) > most.operators or not names_in(made) <= used:
                continue
            after = types_of(made, inputs)
            same = all(after[one] == types[other] for one, other in zip(made, roots, strict=True))
            if same and (made in most.sides or multiplications(made, after) <= most.products):
                yield made


@dataclass(frozen=True)
class _Most:
    """What graphs between two sides may be."""

    inputs: Mapping[str, Type]
    operators: int
    products: int
    sides: frozenset[Graph]


def multiplications(roots: Graph, types: Mapping[Term, Type | None]) -> int:
    """Return how often words are multiplied and added up."""
    number = 0
    for own in below(roots):
        made, weights = types[own], types[own.operands[1]] if len(own.operands) == 2 else None
        if own.op in ("conv", "gconv", "matmul") and made is not None and weights is not None:
            summed = sizes(weights)[1:] if own.op != "matmul" else sizes(weights)[:1]
            number += prod(sizes(made)) * prod(summed)
    return number


def _values(name: str, types: Sequence[Type]) -> Iterable[Hashable]:
    """Return values of a parameter that nothing binds: sizes of what is read, and of the kernels of the alphabets."""
    if name == "size":
        return dict.fromkeys(size for made in types for size in sizes(made))
    if name == "sizes":
        return dict.fromkeys(sizes(made) for made in types)
    if name == "kernel":
        return ((3, 3),)
    return ()
