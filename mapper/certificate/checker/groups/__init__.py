"""Checks a certificate of fused groups by steps, rooms and bounds of its own."""

from .verify import VerifiedGroup, verify_group

__all__ = ["VerifiedGroup", "verify_group"]
