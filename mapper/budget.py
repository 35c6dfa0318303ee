"""A budget of mappings or seconds, and how the layers of a network share it.

Mappings: half of the budget is shared evenly. The rest is given out in rounds: a slice each to that quarter of the
layers which last brought most. What a layer brings is by how much it lowered the network's objective since it had seen
half of what it has seen by now, per mapping: over a doubling, because improvements of a random search get rarer as
one over what was seen, and the last slice alone is mostly luck. Only counts decide, so the shares do not depend on the
number of processes. Seconds are shared evenly: what a layer leaves is shared by those after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from ..workloads import Fault, InputError

STEPS = 4  # in which the even half is given out
SLICES = 8  # slices of a round that make an even share
PART = 4  # the layers that a round is for: one of so many


class Budget(NamedTuple):
    """How much there is in all, of one of both."""

    samples: int | None = None  # mappings looked at
    seconds: float | None = None


def read_budget(text: str) -> Budget:
    """`1000000` as mappings, `60s` as seconds. Raises InputError."""
    try:
        found = Budget(None, float(text[:-1])) if text.endswith("s") else Budget(int(text))
    except ValueError:
        found = Budget(0)
    if not 0 < (found.samples or found.seconds or 0) < inf:
        rule = f'must be a number of mappings, as 1000000, or of seconds, as 60s, more than 0; got "{text}"'
        raise InputError(Fault("budget", None, "", rule))
    return found


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
    """Give out `samples` mappings in chunks of `chunk` until all are used or all layers are over.

    `bring` takes some shares to their targets, marks what they found, and says whether to go on.
    """
    if samples < chunk * len(shares):
        for share in shares:
            share.target = samples // len(shares) + (share.number < samples % len(shares))
        bring([share for share in shares if share.target])
        return
    for target in _even_targets(samples // chunk, len(shares)):
        for share in shares:
            share.target = target * chunk
        if not bring(shares):
            return
    part = max(1, samples // chunk // (SLICES * len(shares))) * chunk
    while (left := samples - sum(share.used for share in shares)) and not all(share.over for share in shares):
        chosen = next_round(shares, objective)
        parts = [part] * (left // part) + [left // chunk * chunk - left // part * part]
        parts = [size for size in parts if size] or [left]  # less than a chunk in the end
        for share, size in zip(chosen, parts, strict=False):
            share.target += size
        if not bring(chosen[: len(parts)]):
            return


def _even_targets(chunks: int, layers: int) -> list[int]:
    """The even half of a budget, step by step: chunks of each layer, one at least."""
    half = max(1, chunks // (2 * layers))
    return sorted({max(1, half * step // STEPS) for step in range(1, STEPS + 1)})


def next_round(shares: Sequence[Share], objective: str) -> list[Share]:
    """The layers that get a slice now, first those that last brought most; among equals, those that had least."""
    energy = sum(share.count * share.reached[-1].energy_pj for share in shares if _found(share))
    cycles = sum(share.count * share.reached[-1].cycles for share in shares if _found(share))
    left = [share for share in shares if not share.over]
    left.sort(key=lambda share: (-gain(share, energy, cycles, objective), share.target, share.number))
    return left[: -(-len(left) // PART)]


def _found(share: Share) -> bool:
    return bool(share.reached) and share.reached[-1].energy_pj < inf


def gain(share: Share, energy_pj: float, cycles: float, objective: str) -> float:
    """By how much the layer lowered the objective of a network of now `energy_pj` and `cycles`, per mapping, since it
    had seen half of what it has seen now; inf where nothing is known or found."""
    if not _found(share):
        return inf
    now = share.reached[-1]
    before = next((mark for mark in reversed(share.reached[:-1]) if 2 * mark.seen <= now.seen), Mark(0))
    if before.energy_pj == inf:
        return inf
    more_pj, more_cycles = share.count * (before.energy_pj - now.energy_pj), share.count * (before.cycles - now.cycles)
    was = _value(objective, energy_pj + more_pj, cycles + more_cycles)
    return (was - _value(objective, energy_pj, cycles)) / (now.seen - before.seen)


def _value(objective: str, energy_pj: float, cycles: float) -> float:
    return {"edp": energy_pj * cycles, "energy": energy_pj, "delay": cycles}[objective]
