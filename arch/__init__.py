"""Architectures: storage levels, fanout, compute, constraints, and the library of them."""

from .spec import FREE, Architecture, Axis, Component, Compute, FactorRule, LoopConstraint, Slot, Storage

__all__ = [
    "FREE",
    "Architecture",
    "Axis",
    "Component",
    "Compute",
    "FactorRule",
    "LoopConstraint",
    "Slot",
    "Storage",
]
