"""One shot: prime factors assigned to slots by mixed-integer programmes, after CoSA (Huang et al., ISCA 2021)."""

from .one_shot import OneShot

__all__ = [
    "OneShot",
]
