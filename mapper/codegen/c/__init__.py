"""Programs in C."""

from .backend import CBackend, compile_c
from .kernel import Kernel, packed_layouts
from .layouts import Layout
from .plan import Plan

__all__ = ["CBackend", "Kernel", "Layout", "Plan", "compile_c", "packed_layouts"]
