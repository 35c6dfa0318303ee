"""Divides a budget of mappings or seconds among the layers of a network.

Mappings: the layers share half of the budget evenly. The rest goes, slice by slice, to the layer with the largest
expected gain, weight / mappings^1.5: the best of n random mappings approaches the optimum about as n^-0.5. A layer's
weight is its part of the network's objective; for EDP its share of the energy plus its share of the cycles, times its
occurrences. The gain of the last slices is mostly luck and no guide (docs/decisions/060-budget.md). Only counts decide,
so the shares do not depend on the number of processes. Seconds: the layers share them evenly; later layers share what
an earlier layer leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from ....workloads import Fault, InputError
from ...problem import OBJECTIVES
from ...runtime import seconds_in

DECAY = 1.5  # the expected gain of a further mapping falls as this power of the mappings seen
SLICES = 100  # an even share of the rest is given out in so many slices


class Budget(NamedTuple):
    """The total budget: mappings or seconds."""

    samples: int | None = None  # mappings seen
    seconds: float | None = None


def read_budget(text: str) -> Budget:
    """Read `1000000` as mappings, `60s`, `1m`, `1h30m` as seconds. Raises InputError."""
    try:
        budget = Budget(int(text))
    except ValueError:
        budget = Budget(None, seconds_in(text) or 0.0)
    if not 0 < (budget.samples or budget.seconds or 0) < inf:
        rule = f'must be a number of mappings, as 1000000, or a time, as 60s or 5m, more than 0; got "{text}"'
        raise InputError(Fault("budget", None, "", rule))
    return budget


class BudgetMark(NamedTuple):
    """A layer's best energy and cycles after it had seen a number of mappings."""

    seen: int
    energy_pj: float = inf  # per occurrence of the layer; inf: no valid mapping yet
    cycles: float = inf


@dataclass(eq=False)
class LayerShare:
    """A layer's share of a budget of mappings, and its progress within it."""

    number: int
    count: int  # occurrences
    target: int = 0  # mappings granted so far
    ended: int | None = None  # mappings after which the search ended by itself
    marks: list[BudgetMark] = field(default_factory=list)  # ascending; after a resumption some may be beyond the target

    @property
    def over(self) -> bool:
        """Whether the search has ended, so that more mappings are of no use."""
        return self.ended is not None and self.ended <= self.target

    @property
    def used(self) -> int:
        """The number of granted mappings that the search has used."""
        return self.target if self.ended is None else min(self.target, self.ended)

    @property
    def reached(self) -> list[BudgetMark]:
        """The marks up to the target."""
        return [mark for mark in self.marks if mark.seen <= self.target]


def spend(
    shares: Sequence[LayerShare],
    samples: int,
    chunk: int,
    objective: str,
    bring: Callable[[Sequence[LayerShare]], bool],
) -> None:
    """Grant `samples` mappings, in multiples of `chunk`, until all are used or all layers are over.

    `bring` searches some layers up to their targets, adds their marks, and returns whether to go on.
    """
    if samples < chunk * len(shares):
        for share in shares:
            share.target = samples // len(shares) + (share.number < samples % len(shares))
    else:
        for share in shares:
            share.target = chunk * max(1, samples // chunk // (2 * len(shares)))
    granted = [share for share in shares if share.target]
    while granted and bring(granted):
        granted = deal(shares, samples - sum(share.used for share in shares), chunk, objective)


def deal(shares: Sequence[LayerShare], samples: int, chunk: int, objective: str) -> list[LayerShare]:
    """Grant `samples` more mappings to layers that are not over, by raising their targets. Returns these shares."""
    # a search cannot go on after part of a chunk
    open_shares = [share for share in shares if not share.over and share.target % chunk == 0]
    weight, got = weights(shares, objective), set[int]()
    slice_ = chunk * max(1, samples // chunk // (SLICES * len(shares)))
    while samples and open_shares:
        neediest = max(open_shares, key=lambda share: (weight[share.number] / share.target**DECAY, -share.number))
        size = min(slice_, samples // chunk * chunk or samples)
        neediest.target += size
        samples -= size
        got.add(neediest.number)
    return [share for share in shares if share.number in got]


def weights(shares: Sequence[LayerShare], objective: str) -> dict[int, float]:
    """Compute the weight of each layer: the relative change of the network's objective per relative change of its own.

    A layer without a valid mapping gets the largest weight of the others.
    """
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
