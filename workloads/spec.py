"""The workload as a value: dims, tensors with their projections, layers, networks."""

from dataclasses import dataclass
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

    @cached_property
    def dims(self) -> frozenset[str]:
        """The relevant dimensions: those that appear in a rank."""
        return frozenset(term.dim for rank in self.ranks for term in rank)

    @property
    def projection(self) -> str:
        """The index expressions as text: `[N, C, P*2 + R, Q*2 + S]`."""
        return "[" + ", ".join(" + ".join(map(str, rank)) for rank in self.ranks) + "]"


@dataclass(frozen=True)
class Workload:
    """A layer: an einsum-like loop nest over `dims` of `sizes`, with a MAC per point."""

    name: str
    dims: tuple[str, ...]
    sizes: tuple[int, ...]  # parallel to dims, each >= 1
    tensors: tuple[Tensor, ...]
    shape: str = ""  # the name of the shape it came from (conv2d, matmul...), for reports
    ineffectual_macs: int = 0  # MACs on the zeros of padding; `macs` includes them

    @property
    def macs(self) -> int:
        return prod(self.sizes)

    def size(self, dim: str) -> int:
        """The size of `dim`; 1 when the workload has no such dimension."""
        return self.sizes[self.dims.index(dim)] if dim in self.dims else 1

    @property
    def output(self) -> Tensor:
        return next(tensor for tensor in self.tensors if tensor.output)

    def tensor_words(self, tensor: Tensor) -> int:
        """The words of a whole tensor; a window counts as its bounding interval."""
        return prod(sum(term.coef * (self.size(term.dim) - 1) for term in rank) + 1 for rank in tensor.ranks)


@dataclass(frozen=True)
class Network:
    """A list of layers, each with the number of times it occurs."""

    name: str
    layers: tuple[tuple[Workload, int], ...]

    @property
    def macs(self) -> int:
        return sum(layer.macs * count for layer, count in self.layers)
