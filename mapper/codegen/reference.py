"""What a workload computes, by NumPy: the judge of programs."""

from collections.abc import Mapping
from math import prod
from string import ascii_letters

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ...workloads import Tensor, Workload
from .data_types import DataType
from .nest import extents, separate_dims

Array = NDArray[np.generic]


def operands(workload: Workload, kind: DataType, seed: int = 0) -> dict[str, Array]:
    """Draw the inputs of a workload, by tensor: whole numbers, none of them 0, so small that no sum is rounded.

    A product too few or too many then shows, however many there are, and sums in any order are equal.
    """
    random = np.random.default_rng(seed)
    inputs = [tensor for tensor in workload.tensors if not tensor.output]
    most = largest(workload, kind)
    arrays: dict[str, Array] = {}
    for tensor in inputs:
        drawn = random.integers(1, most + 1, extents(tensor, workload))
        arrays[tensor.name] = (drawn * random.choice([-1, 1], drawn.shape)).astype(kind.numpy)
    return arrays


def largest(workload: Workload, kind: DataType) -> int:
    """The largest magnitude of operands whose sums are exact: of n products of k factors n m**k is below 2**bits.

    1 where no magnitude is small enough: sums of so many signs drawn at random stay far below n.
    """
    factors = sum(not tensor.output for tensor in workload.tensors)
    terms = workload.macs // prod(workload.size(dim) for dim in workload.output.dims)
    return next((most for most in (8, 4, 2) if terms * most**factors < 2**kind.exact_bits), 1)


def expected(workload: Workload, arrays: Mapping[str, Array]) -> NDArray[np.float64]:
    """The output, by an einsum in float64 over views of the inputs that have an axis for each dim.

    Whole numbers up to 2**53 are exact.
    """
    letters = dict(zip(workload.dims, ascii_letters, strict=False))
    inputs = [tensor for tensor in workload.tensors if not tensor.output]
    views = [_by_dim(tensor, workload, arrays[tensor.name].astype(np.float64)) for tensor in inputs]
    terms = ["".join(letters[dim] for dim in _dims(tensor, workload)) for tensor in inputs]
    for dim, size in zip(workload.dims, workload.sizes, strict=True):
        if not any(dim in tensor.dims for tensor in inputs):  # each of its steps adds the same product
            views, terms = [*views, np.ones(size)], [*terms, letters[dim]]
    rule = f"{','.join(terms)}->{''.join(letters[dim] for dim in _dims(workload.output, workload))}"
    return _by_rank(workload, np.einsum(rule, *views, optimize="greedy"))


def _dims(tensor: Tensor, workload: Workload) -> list[str]:
    return [dim for dim in workload.dims if dim in tensor.dims]


def _by_dim(tensor: Tensor, workload: Workload, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """A view of a tensor with an axis for each of its dims; words of windows appear several times."""
    strides = dict.fromkeys(_dims(tensor, workload), 0)
    for rank, step in zip(tensor.ranks, array.strides, strict=True):
        for term in rank:
            strides[term.dim] += step * term.coef
    return as_strided(array, [workload.size(dim) for dim in strides], list(strides.values()), writeable=False)


def _by_rank(workload: Workload, by_dim: NDArray[np.float64]) -> NDArray[np.float64]:
    """The output from its sums by dim: steps that reach the same word are added up."""
    output = workload.output
    dims = _dims(output, workload)
    steps = dict(zip(dims, np.ix_(*(np.arange(workload.size(dim)) for dim in dims)), strict=True))
    words = np.zeros(extents(output, workload))
    index = tuple(sum((term.coef * steps[term.dim] for term in rank), np.zeros((), np.int64)) for rank in output.ranks)
    if all(d in separate_dims(workload) for d, dim in enumerate(workload.dims) if dim in dims):
        words[index] = by_dim
    else:
        np.add.at(words, index, by_dim)
    return words
