"""Checks a certificate by bounds of its own; it shares no code with the search."""

from .problem import Refused
from .verify import Verified, VerifiedStage, verify

__all__ = [
    "Refused",
    "Verified",
    "VerifiedStage",
    "verify",
]
