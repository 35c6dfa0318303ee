"""Memories in which whole tensors of a plan may stay."""

from .keepers import keepers, plan_keepers

__all__ = ["keepers", "plan_keepers"]
