"""Operators that arrange words: transposes, joins, splits, and kernels with zeros around them."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..types import Extent, Type, size
from .operator import Array, Operator, Params


def _transposed(_: Params, operands: Sequence[Type]) -> Type | None:
    own = operands[0]
    return (own[1], own[0]) if len(own) == 2 else None


def _joined(params: Params, operands: Sequence[Type]) -> Type | None:
    """Two tensors that are alike but along an axis."""
    (axis,), (one, other) = params, operands
    if len(one) != len(other) or axis >= len(one):
        return None
    across = one[:axis] + one[axis + 1 :]
    if across != other[:axis] + other[axis + 1 :]:
        return None
    return (*one[:axis], (one[axis], other[axis]), *one[axis + 1 :])


def _join(params: Params, operands: Sequence[Array], _: Sequence[Type]) -> Array:
    return np.concatenate(operands, axis=params[0])


def _part(number: int, params: Params, operands: Sequence[Type]) -> Type | None:
    (axis,), (own,) = params, operands
    if axis >= len(own):
        return None
    extent: Extent = own[axis]
    return None if isinstance(extent, int) else (*own[:axis], extent[number], *own[axis + 1 :])


def _split(number: int, params: Params, operands: Sequence[Array], types: Sequence[Type]) -> Array:
    (axis,), extent = params, types[0][params[0]]
    assert not isinstance(extent, int), "it was joined"
    whole = [slice(None)] * operands[0].ndim
    whole[axis] = slice(0, size(extent[0])) if number == 0 else slice(size(extent[0]), None)
    return operands[0][tuple(whole)]


def _enlarged(params: Params, operands: Sequence[Type]) -> Type | None:
    """A kernel that is centred among zeros: both sizes odd."""
    (kernel,), (own,) = params, operands
    if len(own) != 4:
        return None
    windows = own[2:]
    fits = all(
        isinstance(one, int) and one % 2 == 1 and whole % 2 == 1 and one <= whole
        for one, whole in zip(windows, kernel, strict=True)
    )
    return (*own[:2], *kernel) if fits and windows != tuple(kernel) else None


def _enlarge(params: Params, operands: Sequence[Array], _: Sequence[Type]) -> Array:
    rows, columns = ((whole - one) // 2 for one, whole in zip(operands[0].shape[2:], params[0], strict=True))
    return np.pad(operands[0], ((0, 0), (0, 0), (rows, rows), (columns, columns)))


OPERATORS: Mapping[str, Operator] = {
    "transpose": Operator((), 1, _transposed, lambda _, of, __: of[0].T),
    "concat": Operator(("axis",), 2, _joined, _join),
    "split0": Operator(
        ("axis",),
        1,
        lambda params, of: _part(0, params, of),
        lambda params, of, types: _split(0, params, of, types),
    ),
    "split1": Operator(
        ("axis",),
        1,
        lambda params, of: _part(1, params, of),
        lambda params, of, types: _split(1, params, of, types),
    ),
    "enlarge": Operator(("kernel",), 1, _enlarged, _enlarge),
}
