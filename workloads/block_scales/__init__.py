"""Tensors in block-scaled formats: elements of few bits, and a tensor of scales beside them."""

from .tensors import (
    FORMATS,
    BlockScaled,
    block_scaled,
    blocks_of,
    joined_ranks,
    scaled,
    scaled_by_default,
    scales_of,
    unused_default,
)

__all__ = [
    "FORMATS",
    "BlockScaled",
    "block_scaled",
    "blocks_of",
    "joined_ranks",
    "scaled",
    "scaled_by_default",
    "scales_of",
    "unused_default",
]
