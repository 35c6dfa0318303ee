"""Programs in C."""

from .backend import CBackend, compile_c
from .kernel import Kernel

__all__ = ["CBackend", "Kernel", "compile_c"]
