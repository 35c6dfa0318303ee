"""Operators that multiply and add up: matrix products, convolutions, and pooling windows."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..types import Extent, Type, divided, size, sizes
from .operator import Array, Operator, Params

SAME, VALID = "same", "valid"  # zeros around so that a stride of 1 keeps the sizes; none
NONE, RELU = "none", "relu"


def _product(_: Params, operands: Sequence[Type]) -> Type | None:
    one, other = operands
    fits = len(one) == len(other) == 2 and one[1] == other[0]
    return (one[0], other[1]) if fits else None


def _windows(own: Type, kernel: Sequence[int], stride: Sequence[int], pad: str) -> tuple[int, ...] | None:
    """The numbers of windows along rows and columns; None where there are none, or zeros cannot be centred."""
    made = []
    for extent, window, step in zip(own[2:], kernel, stride, strict=True):
        if not isinstance(extent, int) or (pad == SAME and window % 2 == 0):
            return None
        number = (extent + (window - 1 if pad == SAME else 0) - window) // step + 1
        if number < 1:
            return None
        made.append(number)
    return tuple(made)


def _kernel(weights: Type) -> tuple[int, ...] | None:
    rows, columns = weights[2:]
    return (rows, columns) if isinstance(rows, int) and isinstance(columns, int) else None


def _convolved(params: Params, operands: Sequence[Type]) -> Type | None:
    """Each output channel adds up over all channels."""
    (stride, pad, _), (own, weights) = params, operands
    if len(own) != 4 or len(weights) != 4 or own[1] != weights[1] or (kernel := _kernel(weights)) is None:
        return None
    windows = _windows(own, kernel, stride, pad)
    return None if windows is None else (own[0], weights[0], *windows)


def _grouped(params: Params, operands: Sequence[Type]) -> Type | None:
    """Each output channel adds up over the channels of its group; groups are joined as the kernels are."""
    (stride, pad, _), (own, weights) = params, operands
    if len(own) != 4 or len(weights) != 4 or not isinstance(weights[1], int) or (kernel := _kernel(weights)) is None:
        return None
    if _groups(own[1], weights) is None:
        return None
    windows = _windows(own, kernel, stride, pad)
    return None if windows is None else (own[0], weights[0], *windows)


def _groups(channels: Extent, weights: Type) -> int | None:
    """The number of groups; None where channels and kernels are not joined of the same groups."""
    of_group = size(weights[1])
    of_inputs = divided(channels, of_group)
    number = None if of_inputs is None else size(of_inputs)
    if number is None or size(weights[0]) % number:
        return None
    return number if divided(weights[0], size(weights[0]) // number) == of_inputs else None


def convolution(params: Params, operands: Sequence[Array], groups: int) -> Array:
    """Return the convolution of (N, C, H, W) with (M, C / groups, R, S): (N, M, P, Q)."""
    (stride, pad, act), (own, weights) = params, operands
    number, (outputs, of_group) = own.shape[0], weights.shape[:2]
    windows = _windows_of(own, weights.shape[2:], stride, pad, 0.0)  # N, C, P, Q, R, S
    rows, columns = windows.shape[2:4]
    patches = windows.reshape(number, groups, of_group, rows, columns, *weights.shape[2:])
    patches = patches.transpose(1, 0, 3, 4, 2, 5, 6).reshape(groups, number * rows * columns, -1)
    made = patches @ weights.reshape(groups, outputs // groups, -1).transpose(0, 2, 1)
    made = made.reshape(groups, number, rows, columns, -1).transpose(1, 0, 4, 2, 3)
    made = made.reshape(number, outputs, rows, columns)
    return np.maximum(made, 0.0) if act == RELU else made


def _windows_of(own: Array, kernel: Sequence[int], stride: Sequence[int], pad: str, fill: float) -> Array:
    if pad == SAME:
        around = [((window - 1) // 2,) * 2 for window in kernel]
        own = np.pad(own, ((0, 0), (0, 0), *around), constant_values=fill)
    return sliding_window_view(own, tuple(kernel), (2, 3))[:, :, :: stride[0], :: stride[1]]


def _pooled(params: Params, operands: Sequence[Type]) -> Type | None:
    (kernel, stride, pad), (own,) = params, operands
    windows = _windows(own, kernel, stride, pad) if len(own) == 4 else None
    return None if windows is None else (*own[:2], *windows)


def _average(params: Params, operands: Sequence[Array], _: Sequence[Type]) -> Array:
    """Zeros of padding count as words."""
    kernel, stride, pad = params
    return np.asarray(_windows_of(operands[0], kernel, stride, pad, 0.0).sum(axis=(4, 5)) / prod(kernel))


def _most(params: Params, operands: Sequence[Array], _: Sequence[Type]) -> Array:
    """Words of padding do not count."""
    kernel, stride, pad = params
    return np.asarray(_windows_of(operands[0], kernel, stride, pad, -np.inf).max(axis=(4, 5)))


def _in_groups(params: Params, operands: Sequence[Array], types: Sequence[Type]) -> Array:
    return convolution(params, operands, sizes(types[0])[1] // sizes(types[1])[1])


CONVOLUTION, POOLING = ("stride", "pad", "act"), ("kernel", "stride", "pad")
OPERATORS: Mapping[str, Operator] = {
    "matmul": Operator((), 2, _product, lambda _, of, __: of[0] @ of[1]),
    "conv": Operator(CONVOLUTION, 2, _convolved, lambda params, of, _: convolution(params, of, 1)),
    "gconv": Operator(CONVOLUTION, 2, _grouped, _in_groups),
    "pool_avg": Operator(POOLING, 1, _pooled, _average),
    "pool_max": Operator(POOLING, 1, _pooled, _most),
}
