"""Counts, as exact integers, what a proof did with every combination of chains."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Coverage:
    """Numbers of combinations (a chain per dim, and kept tensors) by what a proof did with them.

    A branch and bound may drop a set of combinations in three ways only: it evaluates each, or a bound rules the set
    out, or parts that cover the set replace it. So the four numbers always add up to all combinations; a proof in
    which they do not is void.
    """

    evaluated: int = 0  # counted in their best loop orders
    invalid: int = 0  # evaluated, but without a valid mapping
    ruled_out: int = 0  # by a bound, or because no mapping of the set fits
    open: int = 0

    @property
    def total(self) -> int:
        return self.evaluated + self.invalid + self.ruled_out + self.open

    def __add__(self, other: "Coverage") -> "Coverage":
        return Coverage(*(own + theirs for own, theirs in zip(astuple(self), astuple(other), strict=True)))

    def closed(self) -> "Coverage":
        """Return the same with all open combinations ruled out."""
        return Coverage(self.evaluated, self.invalid, self.ruled_out + self.open)
