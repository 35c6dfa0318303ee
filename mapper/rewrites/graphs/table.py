"""The operators of the terms of networks: those of rules, parts of tensors by their places, and the leaves."""

from collections.abc import Mapping, Sequence

from ..operators import OPERATORS, Array, Operator, Params
from ..terms import PART
from ..types import Type, size

WEIGHT = "weight"  # a constant of the model: its parameter is a name
OPAQUE = "opaque"  # a node without an operator in the table, on what it reads: its parameter is a key
OUTPUT = "output"  # a tensor that such a node makes: its parameter is a number, from 0
CONCAT = "concat"


def _cut(params: Params, operands: Sequence[Type]) -> Type | None:
    (axis, begin, end), own = params, tuple(map(size, operands[0]))
    fits = axis < len(own) and 0 <= begin < end <= own[axis]
    return (*own[:axis], end - begin, *own[axis + 1 :]) if fits else None


def _taken(params: Params, operands: Sequence[Array], _: Sequence[Type]) -> Array:
    axis, begin, end = params
    kept: Array = operands[0][(slice(None),) * axis + (slice(begin, end),)]
    return kept


NETWORK_OPERATORS: Mapping[str, Operator] = {
    **OPERATORS,
    PART: Operator(("axis", "begin", "end"), 1, _cut, _taken),
}
