"""Transformations of workloads into others that compute the same."""

from .registry import TRANSFORMATIONS, Transformation, transformed

__all__ = [
    "TRANSFORMATIONS",
    "Transformation",
    "transformed",
]
