"""Transformations of workloads into others that compute the same."""

from .registry import TRANSFORMATIONS, transformed

__all__ = [
    "TRANSFORMATIONS",
    "transformed",
]
