"""Mappings as lists of transforms, after Matmap: each a decision by level and dim."""

from .applied import applied
from .fixed import fixed
from .transforms import ROOT, Keep, Pad, Reorder, Spread, Tile, Transform, Transforms, read_transforms, transforms_of

__all__ = [
    "Keep",
    "Pad",
    "ROOT",
    "Reorder",
    "Spread",
    "Tile",
    "Transform",
    "Transforms",
    "applied",
    "fixed",
    "read_transforms",
    "transforms_of",
]
