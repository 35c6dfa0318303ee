"""Architectures: storage levels, fanout, compute, constraints, and the library of them."""

from .bandwidth import Bandwidth
from .base import library_archs, with_base
from .components import component_classes
from .fit import check_fit
from .load import arch_documents, load_arch, parse_arch
from .loop_constraint import FREE, FactorRule, LoopConstraint
from .roles import one_core, with_roles
from .schema import CAPACITIES, ComputeUnit, Level
from .spec import (
    LARGEST,
    Architecture,
    Axis,
    Component,
    ComponentClass,
    ComponentPart,
    Compute,
    Slot,
    Storage,
    Written,
)
from .stacks import of_stacks, placed, stacked, unstacked

__all__ = [
    "Architecture",
    "Axis",
    "Bandwidth",
    "CAPACITIES",
    "Component",
    "ComponentClass",
    "ComponentPart",
    "Compute",
    "ComputeUnit",
    "FREE",
    "FactorRule",
    "LARGEST",
    "Level",
    "LoopConstraint",
    "Slot",
    "Storage",
    "Written",
    "arch_documents",
    "check_fit",
    "component_classes",
    "library_archs",
    "load_arch",
    "of_stacks",
    "one_core",
    "parse_arch",
    "placed",
    "stacked",
    "unstacked",
    "with_base",
    "with_roles",
]
