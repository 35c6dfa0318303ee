"""Figures of mappings as reports and cost models get them: by memory, and as plain values."""

from .bound_by import COMPUTE, Binding, binding, bound_text
from .by_memory import by_memory, counts_by_memory
from .component_energies import LEAKAGE, NETWORK, component_energies
from .dram_use import DramUse, TensorUse
from .mapped import Mapped
from .plain import RATES, Figures, level_figures, plain, short, total_figures

__all__ = [
    "COMPUTE",
    "DramUse",
    "Binding",
    "Figures",
    "LEAKAGE",
    "Mapped",
    "NETWORK",
    "RATES",
    "TensorUse",
    "binding",
    "bound_text",
    "by_memory",
    "component_energies",
    "counts_by_memory",
    "level_figures",
    "plain",
    "short",
    "total_figures",
]
