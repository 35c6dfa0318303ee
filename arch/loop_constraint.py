"""Constraints on the loops of a slot, as values: rules on bounds, dims, orders."""

from dataclasses import dataclass
from typing import Literal, override


@dataclass(frozen=True, slots=True)
class FactorRule:
    """A rule on the bound P of one dim at one slot: `P op value`; value None means the dim's full size."""

    dim: str
    op: Literal["=", "<=", ">="]
    value: int | None

    @override
    def __str__(self) -> str:
        return f"{self.dim}{self.op}{'full' if self.value is None else self.value}"


@dataclass(frozen=True)
class LoopConstraint:
    """A constraint on the loops of a slot: the temporal loops of a level, or a fanout axis.

    Names of dims that the workload lacks stand for dims of size 1.
    """

    factors: tuple[FactorRule, ...] = ()
    dims: tuple[str, ...] | None = None  # only these may have a bound over 1; None: all
    remainders: bool | None = None  # None: as the mapspace preset says for slots of this kind
    # temporal slots only
    outermost: tuple[str, ...] = ()  # the loop order begins with these, outermost first
    innermost: tuple[str, ...] = ()  # and ends with these; the last is the innermost loop
    max_loops: int | None = None  # at most so many loops with a bound over 1
    # fanout axes only
    min_utilization: float = 0.0  # product of the bounds over the axis size, at least


FREE = LoopConstraint()
