"""The steps of the dynamic programme that counts chains: what the bound at one slot may be, and what it leaves."""

from dataclasses import dataclass
from math import isqrt
from typing import Literal

import numpy as np

from ..mapping import Ints
from .bound_classes import class_of
from .quotients import MOST_EDGES, ceil_values, different, divisors, within

MOST_VALUES = 2**18  # that reach one slot: seconds

Steps = tuple[Ints, Ints, Ints, Ints]  # (edge,) each: label, first P, number of P, ceil(n/P)


@dataclass(frozen=True, slots=True)
class SlotRule:
    """What the bound P of one dim may be at one slot: lo <= P <= hi, and a divisor of N unless `remainders`.

    `tell` says what the signature of a chain tells about this slot: nothing, whether P > 1, or P itself. Of bounds in
    classes, which begin with `starts`, it tells the smallest of P's class.
    """

    lo: int
    hi: int
    remainders: bool
    tell: Literal["nothing", "loop", "bound"] = "nothing"
    starts: tuple[int, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether the signature tells P itself."""
        return self.tell == "bound" and not self.starts


def _steps(n: int, rule: SlotRule, outermost: bool) -> Steps:
    """The edges from `n`: label, first P, number of P, ceil(n/P)."""
    if outermost or rule.alone or not rule.remainders:
        first = _listed(n, rule, outermost)
        first = first[(first >= rule.lo) & (first <= rule.hi)]
        last, outer = first, -(-n // first)
    else:
        first = -(-n // ceil_values(n))
        if rule.tell == "bound":
            first = different(np.concatenate([first, [start for start in rule.starts if start <= n]]))
        first = np.sort(first)
        last = np.minimum(np.append(first[1:] - 1, n), rule.hi)
        first, outer = np.maximum(first, rule.lo), -(-n // first)
        outer, first, last = (column[first <= last] for column in (outer, first, last))
    return label_of(first, rule), first, last - first + 1, outer


def label_of(bounds: Ints, rule: SlotRule) -> Ints:
    """What a signature tells of each bound; bounds with the same ceil(N/P) may be over 1 or not, never both."""
    if rule.tell == "bound":
        return class_of(bounds, rule.starts)
    return (bounds > 1).astype(np.int64) if rule.tell == "loop" else 0 * bounds


def _listed(n: int, rule: SlotRule, outermost: bool) -> Ints:
    """The bounds that `n` leaves a slot, one by one."""
    if outermost:
        return np.array([n])
    return np.arange(1, min(n, rule.hi) + 1) if rule.remainders else divisors(n, rule.hi)


def every_step(values: Ints, rule: SlotRule, outermost: bool) -> list[Steps]:
    """The edges from each of `values`. Raises TooLargeError."""
    within("numbers of tiles", len(values), MOST_VALUES)
    most = int(values.max(initial=1))
    if rule.remainders and not outermost:
        within("bounds", min(most, rule.hi) if rule.alone else isqrt(most), MOST_EDGES)
    steps, edges = [], 0
    for n in values:
        steps.append(_steps(int(n), rule, outermost))
        edges += len(steps[-1][0])
        within("steps", edges, MOST_EDGES)
    return steps
