"""Workloads: dimensions, tensors, layers, networks, and the library of them."""

from .spec import Network, Rank, Tensor, Term, Workload

__all__ = ["Network", "Rank", "Tensor", "Term", "Workload"]
