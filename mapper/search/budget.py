"""A budget of mappings or seconds, and how the layers of a network share it.

Mappings: half of the budget is shared evenly. The rest goes, slice by slice, where it may be expected to bring most:
to the layer with the largest weight / mappings^1.5. Its weight is its part of the network's objective: of an EDP its
share of the energy plus its share of the cycles, with counts. For the best of n random mappings nears the best there
is about as n^-0.5. What the last slices brought is mostly luck and no guide (docs/decisions/060-budget.md). Only counts
decide, so the shares do not depend on the number of processes. Seconds are shared evenly: what a layer leaves is shared
by those after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from ...workloads import Fault, InputError
from ..model import OBJECTIVES

DECAY = 1.5  # the expected gain of one more mapping falls as this power of those seen
SLICES = 100  # of an even share: how finely the rest is given out


class Budget(NamedTuple):
    """How much there is in all, of one of both."""

    samples: int | None = None  # mappings looked at
    seconds: float | None = None


def read_budget(text: str) -> Budget:
    """`1000000` as mappings, `60s` as seconds. Raises InputError."""
    try:
        budget = Budget(None, float(text[:-1])) if text.endswith("s") else Budget(int(text))
    except ValueError:
        budget = Budget(0)
    if not 0 < (budget.samples or budget.seconds or 0) < inf:
        rule = f'must be a number of mappings, as 1000000, or of seconds, as 60s, more than 0; got "{text}"'
        raise InputError(Fault("budget", None, "", rule))
    return budget


class Mark(NamedTuple):
    """What a layer had found when so many of its mappings had been looked at."""

    seen: int
    energy_pj: float = inf  # of one occurrence; inf: nothing valid yet
    cycles: float = inf


@dataclass(eq=False)
class Share:
    """What one layer has been given of a budget of mappings, and what it found by then."""

    number: int
    count: int  # occurrences
    target: int = 0  # mappings that it has been given
    ended: int | None = None  # after so many mappings it ended by itself
    marks: list[Mark] = field(default_factory=list)  # ascending; after a resumption also some beyond the target

    @property
    def over(self) -> bool:
        """Whether more mappings would bring nothing."""
        return self.ended is not None and self.ended <= self.target

    @property
    def used(self) -> int:
        """Mappings looked at of those given."""
        return self.target if self.ended is None else min(self.target, self.ended)

    @property
    def reached(self) -> list[Mark]:
        """The marks up to the target."""
        return [mark for mark in self.marks if mark.seen <= self.target]


def spend(
    shares: Sequence[Share], samples: int, chunk: int, objective: str, bring: Callable[[Sequence[Share]], bool]
) -> None:
    """Give out `samples` mappings, in chunks of `chunk`, until all are used or all layers are over.

    `bring` takes some shares to their targets, marks what they found, and says whether to go on.
    """
    if samples < chunk * len(shares):
        for share in shares:
            share.target = samples // len(shares) + (share.number < samples % len(shares))
    else:
        for share in shares:
            share.target = chunk * max(1, samples // chunk // (2 * len(shares)))
    some = [share for share in shares if share.target]
    while some and bring(some):
        some = deal(shares, samples - sum(share.used for share in shares), chunk, objective)


def deal(shares: Sequence[Share], samples: int, chunk: int, objective: str) -> list[Share]:
    """Give `samples` more mappings to layers that are not over: raise their targets. Those that got some."""
    # part of a chunk can only be the last of a search
    left = [share for share in shares if not share.over and share.target % chunk == 0]
    weight, got = weights(shares, objective), set[int]()
    slice_ = chunk * max(1, samples // chunk // (SLICES * len(shares)))
    while samples and left:
        neediest = max(left, key=lambda share: (weight[share.number] / share.target**DECAY, -share.number))
        size = min(slice_, samples // chunk * chunk or samples)
        neediest.target += size
        samples -= size
        got.add(neediest.number)
    return [share for share in shares if share.number in got]


def weights(shares: Sequence[Share], objective: str) -> dict[int, float]:
    """By how much of itself the network's objective changes with the layer's; where nothing is found, the most."""
    marks = [(share.number, share.count, share.reached[-1]) for share in shares if share.reached]
    marks = [(number, count, mark) for number, count, mark in marks if mark.energy_pj < inf]
    energy = sum(count * mark.energy_pj for _, count, mark in marks)
    cycles = sum(count * mark.cycles for _, count, mark in marks)
    by = OBJECTIVES[objective].powers
    known = {
        number: count * (by[0] * mark.energy_pj / energy + by[1] * mark.cycles / cycles)
        for number, count, mark in marks
    }
    most = max(known.values(), default=1.0)
    return {share.number: known.get(share.number, most) for share in shares}
