"""Transformations of workloads into others that compute the same."""

from .registry import TRANSFORMATIONS, chosen, transformed

__all__ = [
    "TRANSFORMATIONS",
    "chosen",
    "transformed",
]
