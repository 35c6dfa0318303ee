"""Machines as parts that designs share, and on which parameters each part depends."""

from .dependences import Dependences, Groups
from .machine import Parts

__all__ = [
    "Dependences",
    "Groups",
    "Parts",
]
