"""Figures of mappings as reports and cost models get them: by memory, and as plain values."""

from .by_memory import by_memory, counts_by_memory
from .plain import Figures, level_figures, plain, total_figures

__all__ = ["Figures", "by_memory", "counts_by_memory", "level_figures", "plain", "total_figures"]
