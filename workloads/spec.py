"""A layer as a value: dims, tensors with their projections, and the loops over them."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import override


@dataclass(frozen=True, slots=True)
class Term:
    """A summand of the index expression of a rank: `coef * dim`, coef >= 1."""

    dim: str
    coef: int = 1

    @override
    def __str__(self) -> str:
        return self.dim if self.coef == 1 else f"{self.dim}*{self.coef}"


# A rank is one index of a tensor: the sum of its terms. A rank of one term with coef 1 is a plain dimension;
# of several, a sliding window (P*stride + R*dilation). Tiles of a window are intervals: gaps that a stride
# leaves inside a tile are counted as words, as in Timeloop (reference model, point sets).
Rank = tuple[Term, ...]


@dataclass(frozen=True)
class Tensor:
    """A tensor (Timeloop: data space) and how the loops index it."""

    name: str
    ranks: tuple[Rank, ...]
    output: bool = False  # read, updated and written back; every workload has exactly one
    word_bits: int | None = None  # None: the word width of the level that holds it
    # of the output: it holds sums before the layer, to which it adds; the first update of a word reads it, too
    accumulates: bool = field(default=False, metadata={"later": True})
    # the tensor whose elements, block by block, share the scales that this one has (block_scales.py): MACs multiply
    # elements, and scales are no operand whose width they pay for
    scale_of: str = field(default="", metadata={"later": True})

    @property
    def begins_empty(self) -> bool:
        """Whether it is an output whose words need no read before their first update."""
        return self.output and not self.accumulates

    @cached_property
    def dims(self) -> frozenset[str]:
        """The relevant dimensions: those that appear in a rank."""
        return frozenset(term.dim for rank in self.ranks for term in rank)

    @property
    def projection(self) -> str:
        """The index expressions as text: `[N, C, P*2 + R, Q*2 + S]`."""
        return "[" + ", ".join(" + ".join(map(str, rank)) for rank in self.ranks) + "]"


# Transformations of layers into others that compute the same, by the name of their options: the word for a layer
TRANSFORMED = {"pad": "padded", "im2col": "im2col"}


def variant(transformations: Collection[str]) -> str:
    """Return the words for a layer that transformations changed.

    >>> variant(("im2col", "pad"))
    'padded im2col'
    """
    return " ".join(word for name, word in TRANSFORMED.items() if name in transformations)


@dataclass(frozen=True, repr=False)
class Workload:
    """A layer: an einsum-like loop nest over `dims` of `sizes`, with a MAC per point."""

    name: str
    dims: tuple[str, ...]
    sizes: tuple[int, ...]  # parallel to dims, each >= 1
    tensors: tuple[Tensor, ...]
    shape: str = ""  # the name of the shape it came from (conv2d, matmul...), for reports
    ineffectual_macs: int = 0  # MACs on the zeros of padding; `macs` includes them
    transformations: tuple[str, ...] = field(default=(), metadata={"later": True})  # that changed the layer, in turn

    @override
    def __repr__(self) -> str:
        """The layer in a line: its shape, sizes and MACs."""
        sizes = " ".join(f"{dim}={size}" for dim, size in zip(self.dims, self.sizes, strict=True))
        return f"<Workload {self.name}: {f'{self.shape} ' if self.shape else ''}{sizes}, {self.macs:,} MACs>"

    @property
    def macs(self) -> int:
        return prod(self.sizes)

    @property
    def variant(self) -> str:
        """What transformations made of the layer as it was written: `padded im2col`; empty where nothing changed it."""
        return variant(self.transformations)

    @property
    def title(self) -> str:
        """The name, and what transformations made of the layer: `conv, im2col`."""
        return f"{self.name}, {self.variant}" if self.variant else self.name

    @property
    def nameless(self) -> "Workload":
        """The same without a name and a shape: layers that cost the same are equal."""
        return replace(self, name="", shape="")

    def transformed(self, name: str) -> "Workload":
        """Return the same, marked as changed by the transformation `name`."""
        return replace(self, transformations=tuple(dict.fromkeys((*self.transformations, name))))

    def size(self, dim: str) -> int:
        """The size of `dim`; 1 when the workload has no such dimension."""
        return self.sizes[self.dims.index(dim)] if dim in self.dims else 1

    @property
    def output(self) -> Tensor:
        return next(tensor for tensor in self.tensors if tensor.output)

    @cached_property
    def factors(self) -> tuple[Tensor, ...]:
        """The inputs that a MAC multiplies: all but scales."""
        return tuple(tensor for tensor in self.tensors if not (tensor.output or tensor.scale_of))

    @cached_property
    def block_dims(self) -> frozenset[str]:
        """The dims that count the elements of a block with one scale."""
        dims = {tensor.name: tensor.dims for tensor in self.tensors}
        return frozenset(dim for own in self.tensors if own.scale_of for dim in dims[own.scale_of] - own.dims)

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """The sizes of the output, rank by rank."""
        return tuple(self.size(rank[0].dim) for rank in self.output.ranks)

    def length(self, rank: Rank) -> int:
        """The words along a rank; a window counts as its bounding interval."""
        return sum(term.coef * (self.size(term.dim) - 1) for term in rank) + 1

    def tensor_words(self, tensor: Tensor) -> int:
        """The words of a whole tensor."""
        return prod(map(self.length, tensor.ranks))
