"""Checks properties of operators by execution: on all tensors up to some sizes, and on types of all kinds.

Sizes are enumerated (TASO, section 3, has sizes to 4 x 4 x 4 x 4, too), words are random whole numbers: two polynomials
that differ agree at few of them. A property speaks of all tensors, so where its two terms cannot both be computed it
has to say so: an unguarded one has both, or none, and of equal types, however its inputs were joined.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ..equation import close, random_words
from ..evaluate import types_of, values_of
from ..match import Match, filled
from ..operators import NONE, RELU, SAME, VALID
from ..types import Extent, Type
from .properties import ALIKE, LEFT, NO, RIGHT, Property

KERNELS = ((1, 1), (1, 3), (3, 1), (3, 3))
VALUES: Mapping[str, Sequence[Any]] = {  # of parameters, that properties are tried with
    "stride": ((1, 1), (1, 2), (2, 1), (2, 2)),
    "pad": (SAME, VALID),
    "act": (NONE, RELU),
    "kernel": KERNELS,
    "k": KERNELS,
}
WINDOWS = {"r": (1, 3), "s": (1, 3)}  # sizes of kernels
AXES = ("axis", "e", "f")
EXTENTS: tuple[Extent, ...] = (1, 2, 3, (1, 1), (1, 2), (2, 1))
Values = Mapping[str, Any]


def executed(own: Property, most: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what is wrong with a property on tensors of all sizes up to `most`; nothing: it holds."""
    for params in _params(own, most):
        letters = own.letters(params)
        names = sorted({letter for sizes in letters.values() for letter in sizes})
        ranges = [WINDOWS.get(letter[0], range(1, most + 1)) for letter in names]
        for values in product(*ranges):
            of = dict(zip(names, values, strict=True))
            types = {name: tuple(of[letter] for letter in sizes) for name, sizes in letters.items()}
            yield from _wrong(own, params, types, rng)


def typed(own: Property, samples: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield what is wrong with a property on inputs of random types: joined, of other ranks, of unfit sizes."""
    every = list(_params(own, 3))
    for _ in range(samples if every else 0):
        params = every[rng.integers(len(every))]
        yield from _wrong(own, params, _random_types(own.letters(params), rng), rng)


def _wrong(own: Property, params: Values, inputs: Mapping[str, Type], rng: np.random.Generator) -> Iterator[str]:
    left, right = filled((own.left, own.right), Match({}, params))
    types = types_of((left, right), inputs)
    of_left, of_right = types[left], types[right]
    said = f"{own.name}: {dict(params)}, inputs {dict(inputs)}"
    if of_left is None or of_right is None:
        needed = {NO: of_left is not of_right, LEFT: of_left is not None, RIGHT: of_right is not None}
        if needed.get(own.guard, False):
            yield f"{said}: one side is {of_left}, the other {of_right}"
        return
    if of_left != of_right:
        if own.guard == ALIKE:
            return
        yield f"{said}: one side is {of_left}, the other {of_right}"
        return
    words = {name: random_words(made, rng) for name, made in inputs.items()}
    values = values_of((left, right), words, types)
    if not close(values[left], values[right]):
        yield f"{said}: the two sides differ"


def _params(own: Property, most: int) -> Iterator[Values]:
    """Yield the values of a property's parameters."""
    names = own.params
    for values in product(*(_values(name, most) for name in names)):
        params = dict(zip(names, values, strict=True))
        if not own.distinct or len({params[name] for name in own.distinct}) == len(own.distinct):
            yield params


def _values(name: str, most: int) -> Sequence[Hashable]:
    if name in AXES:
        return range(4)
    if name == "sizes":
        return [made for rank in (1, 2, 4) for made in product(range(1, min(most, 3) + 1), repeat=rank)]
    return range(1, most + 1) if name in ("size", "n") else VALUES[name]


def _random_types(letters: Mapping[str, Sequence[str]], rng: np.random.Generator) -> dict[str, Type]:
    """Return random types of inputs: sizes that fit, some joined; half of the times one of them is something else."""
    of: dict[str, Extent] = {}
    for letter in sorted({letter for sizes in letters.values() for letter in sizes}):
        of[letter] = EXTENTS[rng.integers(len(EXTENTS))]
        if letter[0] in "hwrs" and rng.random() < 0.8:
            of[letter] = (1, 3)[rng.integers(2)]
    types: dict[str, Type] = {name: tuple(of[letter] for letter in sizes) for name, sizes in letters.items()}
    if types and rng.random() < 0.5:
        name = list(types)[rng.integers(len(types))]
        types[name] = _other(types[name], rng)
    return types


def _other(made: Type, rng: np.random.Generator) -> Type:
    """Return another type: of one extent that differs, or of another rank."""
    if made and rng.random() < 0.7:
        at = int(rng.integers(len(made)))
        return (*made[:at], EXTENTS[rng.integers(len(EXTENTS))], *made[at + 1 :])
    return tuple(EXTENTS[rng.integers(len(EXTENTS))] for _ in range(rng.integers(5)))
