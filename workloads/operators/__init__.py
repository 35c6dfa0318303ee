"""Operators of networks, and masks: what is done to the words that layers make."""

from .operation import Operation
from .operator import OPERATORS, Causal, Makes, Moves, Operator

__all__ = ["OPERATORS", "Causal", "Makes", "Moves", "Operation", "Operator"]
