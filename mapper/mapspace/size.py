"""The number of mappings of a mapspace, and of the choices that they combine."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from operator import mul
from typing import Self, override

from .keep_choices import KeepChoices


@dataclass(frozen=True, slots=True)
class Size:
    """The number of mappings: total = factorization * permutation * axes * bypass.

    `axes` is 1: every fanout axis is a slot with bounds of its own, so the ways to spread the dims over the axes are
    part of the factorization. When only distinct orders count, their number depends on the chains; factorization is
    then the number of pairs of chains and orders, and permutation is 1. With uneven placement factorization is the sum
    over the patterns of what is kept (parts.py), each with a part of the choices: the total is less than the product.

    Where axes are so large that bounds are counted in classes (bound_classes.py), `factorization` and `total` are upper
    limits, and there are `least` mappings at least; else `least` is `total`.
    """

    factorization: int
    permutation: int
    axes: int
    bypass: int
    total: int
    least: int

    @classmethod
    def of(cls, most: Sequence[int], least: Sequence[int], permutation: int, keep: KeepChoices) -> Self:
        """The size where each pattern of `keep` has so many combinations of chains and orders, at most and at least."""
        choices = [pattern.choices.number for pattern in keep.patterns]
        totals = [sum(map(mul, each, choices)) for each in (most, least)]
        return cls(sum(most) // permutation, permutation, 1, keep.number, *totals)

    @property
    def log10(self) -> float:
        return log10(self.total)

    @override
    def __str__(self) -> str:
        """The total as a person reads it: `9,261`, `1.3e+21` where digits no longer help, or its limits."""
        return short(self.total) if self.exact else f"{short(self.least)} to {short(self.total)}"

    @property
    def exact(self) -> bool:
        """Whether `total` is the number of mappings and not just a limit."""
        return self.least == self.total


def short(number: int) -> str:
    """A number as a person reads it."""
    if number < 10**12:
        return f"{number:,}"
    exponent = len(str(number)) - 1
    return f"{number / 10**exponent:.1f}e+{exponent}"
