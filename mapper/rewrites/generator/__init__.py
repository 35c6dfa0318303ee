"""Generates equations between small graphs of tensor operators (TASO, section 2)."""

from .alphabet import CONVOLUTIONS, STANDARD, Alphabet
from .derive import Deriver
from .generate import Generated, generated
from .graphs import Graphs
from .pool import Pool
from .prune import Pruner, renamed

__all__ = [
    "CONVOLUTIONS",
    "STANDARD",
    "Alphabet",
    "Deriver",
    "Generated",
    "Graphs",
    "Pool",
    "Pruner",
    "generated",
    "renamed",
]
