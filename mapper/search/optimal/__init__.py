"""Branch and bound finds the best mapping and proves that no other is better."""

from .prove import Proof, lower_bound

__all__ = [
    "Proof",
    "lower_bound",
]
