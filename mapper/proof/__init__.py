"""Branch and bound finds the best mapping and proves that no other is better."""

from .auto import Auto
from .best_orders import best_orders
from .certify import certified_mapping
from .prove import Proof, best_within, least_below, least_sum, lower_bound, prove_sum

__all__ = [
    "Auto",
    "Proof",
    "best_orders",
    "best_within",
    "certified_mapping",
    "least_below",
    "least_sum",
    "lower_bound",
    "prove_sum",
]
