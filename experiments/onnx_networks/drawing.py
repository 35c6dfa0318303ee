"""What a random graph has so far: its tensors with the ranges of their words, and which of them are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto

from .building import Builder, Floats, Options, Sizes, Tensor

MOST_WORDS = 600  # of a tensor
EXACT = 2**24  # float32 holds all whole numbers up to this
LARGEST = 2**10  # of words that are not exact
READ_AGAIN, UNREAD = 0.25, 0.8  # how often an operand is the last one, or else one that no node reads yet


Constant = Floats | Sequence[int]  # of the model


@dataclass(frozen=True)
class RandomOptions:
    """`exact`: words are multiples of powers of two, and float32 rounds no sum of them. `nodes`: least, most."""

    exact: bool = True
    nodes: tuple[int, int] = (5, 25)


@dataclass(frozen=True)
class Range:
    """Words up to `bound` on either side of 0, multiples of `step` where the graph is exact."""

    bound: float
    step: float = 1.0

    @classmethod
    def of(cls, words: Floats, step: float = 1.0) -> "Range":
        return cls(float(np.abs(words).max()), step)

    def plus(self, *more: "Range") -> "Range":
        """The range of sums."""
        every = [self, *more]
        return Range(sum(own.bound for own in every), min(own.step for own in every))

    def times(self, other: "Range") -> "Range":
        """The range of products."""
        return Range(self.bound * other.bound, self.step * other.step)

    def joined(self, *more: "Range") -> "Range":
        """The range of words of either."""
        every = [self, *more]
        return Range(max(own.bound for own in every), min(own.step for own in every))


@dataclass(frozen=True)
class Value:
    """A tensor of the graph and the range of its words."""

    tensor: Tensor
    range: Range

    @property
    def sizes(self) -> Sizes:
        return self.tensor.sizes


class Drawing:
    """Adds random tensors, constants and nodes to a graph."""

    def __init__(self, seed: int, options: RandomOptions) -> None:
        self.exact = options.exact
        self.rng = np.random.default_rng(seed)
        self.builder = Builder(f"random_{seed}", Options(seed=seed))
        self._inputs: list[Value] = []  # that no node reads yet
        self._values: list[Value] = []
        self._made: list[Value] = []  # by nodes
        self._read: set[str] = set()
        self._last: Value | None = None

    def input(self, name: str) -> None:
        """Add an input: images or a matrix."""
        rows, columns = self.number(2, 6), self.number(2, 6)
        sizes = (self.number(1, 2), self.number(2, 4), rows + 1, columns + 1) if self.chance(0.7) else (rows, columns)
        value = Value(self.builder.input(name, sizes), Range(3.0 if self.exact else 1.0))
        self._inputs.append(value)
        self._values.append(value)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def number(self, least: int, most: int) -> int:
        """A whole number, `most` among them."""
        return int(self.rng.integers(least, most + 1))

    def one_of[T](self, choices: Sequence[T]) -> T:
        return choices[self.number(0, len(choices) - 1)]

    def operand(self) -> Value:
        """A tensor to read: inputs come first; the last operand comes often, so that branches share it."""
        if self._inputs:
            return self._inputs[0]
        if self._last is not None and self.chance(READ_AGAIN):
            return self._last
        return self._any_of(self._values)

    def partner(self, x: Value, sizes: Sequence[int | None]) -> Value | None:
        """A second operand beside `x`, of these sizes, of any where one is None; `x` itself now and then."""
        fitting = [
            value
            for value in self._values
            if len(value.sizes) == len(sizes)
            and all(size in (None, own) for own, size in zip(value.sizes, sizes, strict=True))
        ]
        besides = [value for value in fitting if value is not x]
        if besides and not self.chance(0.1):
            return self._any_of(besides)
        return self.one_of(fitting) if fitting else None

    def _any_of(self, values: Sequence[Value]) -> Value:
        """Most often one that no node reads yet, so that graphs are deep."""
        unread = [value for value in values if value.tensor.name not in self._read]
        return self.one_of(unread if unread and self.chance(UNREAD) else values)

    def words(self, sizes: Sizes, added: int = 1) -> Floats:
        """Random words of the model: small whole numbers, or such that a sum of `added` products stays near 1."""
        if self.exact:
            return self.rng.integers(-2, 3, sizes).astype(np.float32)
        return np.asarray(self.rng.uniform(-1, 1, sizes) / np.sqrt(added), np.float32)

    def node(
        self,
        op: str,
        operands: Sequence[Value | Constant],
        every: Sequence[Sizes],
        own: Range,
        **attributes: Any,
    ) -> list[Value]:
        """Add a node on tensors and constants, with outputs of these sizes whose words are in a range.

        Nothing is added where a range or a size is too large, or an output would be empty.
        """
        inexact = own.bound / own.step > EXACT if self.exact else own.bound > LARGEST
        if inexact or any(min(sizes) < 1 or np.prod(sizes) > MOST_WORDS for sizes in every):
            return []
        read = [one for one in operands if isinstance(one, Value)]
        names = [one.tensor if isinstance(one, Value) else self.builder.constant("constant", one) for one in operands]
        made = [Value(tensor, own) for tensor in self.builder.several(op, names, every, "", **attributes)]
        self._read.update(value.tensor.name for value in read)
        self._inputs = [value for value in self._inputs if value not in read]
        self._last = read[0]
        self._values += made
        self._made += made
        return made

    def model(self, more: int) -> ModelProto:
        """Return the model: its outputs are what no node reads, and up to so many more of what nodes make."""
        outputs = [value for value in self._made if value.tensor.name not in self._read]
        inner = [value for value in self._made if value.tensor.name in self._read]
        count = min(self.number(0, more), len(inner))
        outputs += [inner[int(at)] for at in self.rng.choice(len(inner), count, replace=False)] if count else []
        return self.builder.model([value.tensor for value in outputs])
