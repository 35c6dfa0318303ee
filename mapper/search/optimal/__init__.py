"""Branch and bound finds the best mapping and proves that no other is better."""

from .prove import Proof, least_sum, lower_bound

__all__ = [
    "Proof",
    "least_sum",
    "lower_bound",
]
