"""What a workload computes, by NumPy: the judge of programs."""

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ...workloads import Tensor, Workload
from .data_types import DataType
from .nest import extents, separate_dims

Array = NDArray[np.generic]


def operands(workload: Workload, kind: DataType, seed: int = 0) -> dict[str, Array]:
    """Draw the inputs of a workload: whole numbers from -8 to 7, or floats from -1 to 1, by tensor."""
    random = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for tensor in workload.tensors:
        if not tensor.output:
            shape = extents(tensor, workload)
            drawn = random.integers(-8, 8, shape) if kind.exact else random.uniform(-1, 1, shape)
            found[tensor.name] = drawn.astype(kind.numpy)
    return found


def expected(workload: Workload, arrays: Mapping[str, Array]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The output, and how large the sum of the magnitudes is that it adds up.

    An einsum over views of the inputs that have an axis for each dim, in float64: whole numbers up to 2**53 are exact.
    """
    letters = {dim: chr(ord("a") + d) for d, dim in enumerate(workload.dims)}
    inputs = [tensor for tensor in workload.tensors if not tensor.output]
    views = [_by_dim(tensor, workload, arrays[tensor.name].astype(np.float64)) for tensor in inputs]
    terms = ["".join(letters[dim] for dim in _dims(tensor, workload)) for tensor in inputs]
    for dim, size in zip(workload.dims, workload.sizes, strict=True):
        if not any(dim in tensor.dims for tensor in inputs):  # each of its steps adds the same product
            views, terms = [*views, np.ones(size)], [*terms, letters[dim]]
    rule = f"{','.join(terms)}->{''.join(letters[dim] for dim in _dims(workload.output, workload))}"
    sums, magnitudes = (
        _by_rank(workload, np.einsum(rule, *factors, optimize="greedy"))
        for factors in (views, [np.abs(view) for view in views])
    )
    return sums, magnitudes


def tolerance(workload: Workload, kind: DataType) -> float:
    """The largest error of a sum of n products, in any order, relative to the sum of their magnitudes: n + 1 roundings.

    Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1: gamma of n + 1, doubled
    where the reference rounds as much. 0 for whole numbers.
    """
    if kind.exact:
        return 0.0
    terms = workload.macs // prod(workload.size(dim) for dim in workload.output.dims) + 1
    rounding = terms * float(np.finfo(np.dtype(kind.numpy_output)).eps) / 2
    return 2 * rounding / (1 - rounding)


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
