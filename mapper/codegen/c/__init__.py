"""Programs in C."""

from .backend import CBackend, compile_c
from .files import check_files
from .kernel import Kernel, packed_layouts
from .layouts import Layout
from .plan import Plan
from .text import C_WORDS, linear

__all__ = ["C_WORDS", "CBackend", "Kernel", "Layout", "Plan", "check_files", "compile_c", "linear", "packed_layouts"]
