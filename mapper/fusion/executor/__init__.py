"""The executor of groups, word by word, and what it shares with that of plans."""

from .execute import Executed, NoBoxError, execute
from .word_values import Array, drawn_inputs, extents_of, sums_over, tensor_named, whole, with_mask

__all__ = [
    "Array",
    "Executed",
    "NoBoxError",
    "drawn_inputs",
    "execute",
    "extents_of",
    "sums_over",
    "tensor_named",
    "whole",
    "with_mask",
]
