"""Architectures: storage levels, fanout, compute, constraints, and the library of them."""

from .base import library_archs
from .fit import check_fit
from .load import load_arch, parse_arch
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
    "check_fit",
    "library_archs",
    "load_arch",
    "parse_arch",
]
