"""The best mapping or front, with a proof: branch and bound over chains."""

from .prove import SEEN_ALL, lower_bound, optimal

__all__ = [
    "SEEN_ALL",
    "lower_bound",
    "optimal",
]
