"""Operators between layers, and masks: what is done to the words that one layer hands another."""

from .operator import OPERATORS, Causal, Operator

__all__ = ["OPERATORS", "Causal", "Operator"]
