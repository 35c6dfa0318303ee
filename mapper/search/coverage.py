"""What became of all combinations of chains in a proof, as exact integers: nothing may leave it uncounted."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Coverage:
    """How many combinations (a chain per dim, a choice of what is kept) became of what.

    A branch and bound may let go of a set of combinations in three ways alone: each was evaluated, or a bound rules
    the set out, or parts that cover the set take its place. So at any time the four numbers add up to all combinations
    there are; a proof in which they do not is none.
    """

    evaluated: int = 0  # given their best loop orders and counted
    invalid: int = 0  # the same, with nothing valid to count
    ruled_out: int = 0  # by a bound, or because nothing in the set fits
    open: int = 0

    @property
    def total(self) -> int:
        return self.evaluated + self.invalid + self.ruled_out + self.open

    def __add__(self, other: "Coverage") -> "Coverage":
        return Coverage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def closed(self) -> "Coverage":
        """With all that is open ruled out."""
        return Coverage(self.evaluated, self.invalid, self.ruled_out + self.open)
