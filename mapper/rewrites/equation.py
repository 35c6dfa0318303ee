"""Equations: two lists of terms that compute the same tensors, whatever the inputs are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product

import numpy as np

from .evaluate import types_of, values_of
from .operators import Array
from .terms import COMMUTING, INPUT, Term, below, given, names_in, operators_in, term
from .text import texts_of
from .types import Type, sizes

TOLERANCE = 1e-9  # of words, relative to the largest: sums in another order
Side = tuple[Term, ...]


@dataclass(frozen=True)
class Equation:
    """Left and right have as many outputs, equal one by one. `inputs` has the types that it was found with."""

    left: Side
    right: Side
    inputs: Mapping[str, Type]

    @classmethod
    def of(cls, left: Side, right: Side, types: Mapping[str, Type]) -> "Equation":
        """Return an equation with the types of those inputs alone that stand in it."""
        names = names_in((*left, *right))
        return cls(left, right, {name: made for name, made in types.items() if name in names})

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right

    @cached_property
    def operators(self) -> tuple[int, int]:
        """The numbers of operators on both sides; both parts of a split are one."""
        return operators_of(self.left), operators_of(self.right)

    def texts(self) -> tuple[list[str], list[str]]:
        """Return both sides as texts."""
        return texts_of(self.left), texts_of(self.right)

    def swapped(self) -> "Equation":
        """Return the equation with its sides in each other's place."""
        return Equation(self.right, self.left, self.inputs)


def operators_of(side: Sequence[Term]) -> int:
    """Return how many operators stand in terms; both parts of a split are one."""
    return len(operators_in(side))


def holds(equation: Equation, rng: np.random.Generator, rounds: int = 2) -> bool:
    """Return whether both sides can be computed, have equal types, and compute the same of random whole numbers."""
    roots = (*equation.left, *equation.right)
    types = types_of(roots, equation.inputs)
    if None in types.values():
        return False
    for _ in range(rounds):
        inputs = {name: random_words(made, rng) for name, made in equation.inputs.items()}
        values = values_of(roots, inputs, types)
        for one, other in zip(equation.left, equation.right, strict=True):
            if types[one] != types[other] or not close(values[one], values[other]):
                return False
    return True


def random_words(made: Type, rng: np.random.Generator) -> Array:
    """Return a tensor of small whole numbers."""
    return rng.integers(-4, 5, sizes(made)).astype(np.float64)


def close(one: Array, other: Array) -> bool:
    """Return whether words are equal but for rounding."""
    return one.shape == other.shape and bool(
        np.all(np.abs(one - other) <= TOLERANCE * (1.0 + np.maximum(np.abs(one), np.abs(other))))
    )


def canonical(equation: Equation) -> Equation:
    """Return the same for all equations that differ in names of inputs, and in orders of outputs, of sides and of
    operands that may change places."""
    return min(_variants(equation), key=lambda own: own.texts())


def _variants(equation: Equation) -> Iterator[Equation]:
    for left, right in (equation.sides, equation.sides[::-1]):
        for order in permutations(range(len(left))):
            yield from _named([left[at] for at in order], [right[at] for at in order], equation.inputs)


def _named(left: Sequence[Term], right: Sequence[Term], types: Mapping[str, Type]) -> Iterator[Equation]:
    roots = (*left, *right)
    turned = [own for own in below(roots) if own.op in COMMUTING]
    for turns in product((False, True), repeat=len(turned)):
        turn = {own for own, whether in zip(turned, turns, strict=True) if whether}
        names: dict[str, str] = {}
        for own in _met(roots, turn):
            names.setdefault(own.name, f"x{len(names) + 1}")  # whatever its rank: properties hold for all
        made = _renamed(roots, turn, names)
        inputs = {new: types[old] for old, new in names.items()}
        yield Equation(made[: len(left)], made[len(left) :], inputs)


def _met(roots: Sequence[Term], turn: set[Term]) -> Iterator[Term]:
    """Yield inputs in the order in which terms are read from left to right."""
    waiting = list(reversed(roots))
    while waiting:
        own = waiting.pop()
        if own.op == INPUT:
            yield own
        waiting += own.operands if own in turn else own.operands[::-1]


def _renamed(roots: Sequence[Term], turn: set[Term], names: Mapping[str, str]) -> Side:
    made: dict[Term, Term] = {}
    for own in below(roots):
        if own.op == INPUT:
            made[own] = given(names[own.name])
        else:
            operands = tuple(made[operand] for operand in own.operands)
            made[own] = term(own.op, own.params, operands[::-1] if own in turn else operands)
    return tuple(made[root] for root in roots)


def bound(equation: Equation) -> bool:
    """Return whether the left side has all inputs of the right: it can be replaced by it."""
    return names_in(equation.right) <= names_in(equation.left)
