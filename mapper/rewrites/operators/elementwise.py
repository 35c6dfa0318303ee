"""Operators that go word by word: sums, products, rectifiers, factors and biases along an axis."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..types import Type
from .operator import Array, Operator, Params


def _both_same(_: Params, operands: Sequence[Type]) -> Type | None:
    """Two tensors that are joined alike."""
    return operands[0] if operands[0] == operands[1] and operands[0] else None


def _same(_: Params, operands: Sequence[Type]) -> Type | None:
    return operands[0] or None


def _scaled(_: Params, operands: Sequence[Type]) -> Type | None:
    """A tensor and a scalar."""
    return operands[0] if operands[0] and operands[1] == () else None


def _along(params: Params, operands: Sequence[Type]) -> Type | None:
    """A tensor and a vector with a word for each place along an axis."""
    (axis,), (own, vector) = params, operands
    fits = len(own) > 1 and axis < len(own) and vector == (own[axis],)
    return own if fits else None


def _column(params: Params, operands: Sequence[Array]) -> Array:
    (axis,), (own, vector) = params, operands
    return vector.reshape([-1 if at == axis else 1 for at in range(own.ndim)])


OPERATORS: Mapping[str, Operator] = {
    "ewadd": Operator((), 2, _both_same, lambda _, of, __: of[0] + of[1], commutes=True),
    "ewmul": Operator((), 2, _both_same, lambda _, of, __: of[0] * of[1], commutes=True),
    "smul": Operator((), 2, _scaled, lambda _, of, __: of[0] * of[1]),
    "relu": Operator((), 1, _same, lambda _, of, __: np.maximum(of[0], 0.0)),
    "scale": Operator(("axis",), 2, _along, lambda params, of, _: of[0] * _column(params, of)),
    "bias": Operator(("axis",), 2, _along, lambda params, of, _: of[0] + _column(params, of)),
}
