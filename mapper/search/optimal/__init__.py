"""Branch and bound: the best mapping, and the proof that no other is better."""

from .prove import Proof, lower_bound

__all__ = [
    "Proof",
    "lower_bound",
]
