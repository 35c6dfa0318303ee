"""Divides a set of combinations of chains into parts, each with weighted products of its own (docs/optimal.md).

Weights of the whole fit no part of it well, and leave out terms that are 0 for some of its chains. A part bounds its
own mappings more tightly, so more of its chains are ruled out.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ..bounds import Geometric, Relaxation
from ..mapping import Bools
from .chain_tree import logarithms
from .incumbents import Incumbents
from .narrowing import Narrowed, narrowed

HALVED = 8  # parts, one after the other, in a division
GAIN = 4.0  # times fewer combinations: a division is worth the nodes opened before it
PATIENCE = 2**17  # nodes of a part that may be opened before the part is divided
MORE = 4  # times as many where a division would bring less,
MOST_PATIENCE = 2**21  # but no more than these
ZERO, LITTLE = 0.02, 0.005  # tuned: what a column counts for that is 0 for some rows, and any other, beside its weights
SMALL = 1_000  # combinations that a branch and bound rules out at once


@dataclass(frozen=True, eq=False)
class Part:
    """A set of combinations of chains."""

    remaining: Narrowed
    known: Mapping[str, float]  # weights that are good for it, by name
    least: float  # the lower bound of all its mappings
    patience: int = 0  # nodes to open before it is divided
    number: int = 0  # among the parts of a choice of kept tensors; 0: the whole

    @property
    def whole(self) -> bool:
        """Whether it is no part of another."""
        return self.number == 0


@dataclass(frozen=True, eq=False)
class Division:
    """Parts that together have all mappings of a part that are below a limit."""

    parts: tuple[Part, ...]
    ruled_out: int  # combinations
    worthwhile: bool  # whether that is most of them


def divided(part: Part, geometric: Geometric, incumbents: Incumbents) -> Division:
    """Divide a part: the largest part is halved each time. May raise TimeUp.

    `geometric` has the relaxation and the objective; what is no better than `incumbents` is ruled out.
    """
    order, ruled_out = count(), 0
    parts = [(-part.remaining.number, next(order), part)]
    for _ in range(HALVED):
        if not parts or -parts[0][0] <= SMALL:
            break
        for half in _halves(heapq.heappop(parts)[2], geometric, incumbents):
            ruled_out += half.remaining.ruled_out
            if half.remaining.number:
                heapq.heappush(parts, (-half.remaining.number, next(order), half))
    worthwhile = (part.remaining.number - ruled_out) * GAIN <= part.remaining.number
    patience = PATIENCE if worthwhile or part.whole else MOST_PATIENCE
    every = sorted(parts, key=lambda entry: entry[1])
    return Division(tuple(replace(new_part, patience=patience) for _, _, new_part in every), ruled_out, worthwhile)


def _halves(part: Part, geometric: Geometric, incumbents: Incumbents) -> list[Part]:
    """Halve a part where its rows differ most in what its weighted products weigh; they may rule out a whole half."""
    g, low = _cut(part, geometric.relaxed)
    parts = []
    for mask in (low, ~low):
        rows = list(part.remaining.rows)
        rows[g] = rows[g][mask]
        own = replace(geometric, known=dict(part.known))
        remaining = narrowed(rows, (own,), incumbents)
        parts.append(Part(remaining, own.known, max(remaining.least, part.least)))
    return parts


def _cut(part: Part, relaxed: Relaxation) -> tuple[int, Bools]:
    """Choose the group to halve, and the rows of its first half # (row,)."""
    best, chosen = -1.0, (0, np.zeros(0, bool))
    for g, rows in enumerate(part.remaining.rows):
        if len(rows) < 2:
            continue
        weights = part.remaining.weights(g, len(relaxed.columns[g]))
        for column, weight in zip(relaxed.columns[g], weights.tolist(), strict=True):
            values = column[rows]
            apart = logarithms(values)
            spread = float(np.ptp(apart))
            zero = (values == 0) & (spread > 0)
            score = spread * (weight + LITTLE + ZERO * bool(zero.any()))
            if score > best:
                low = zero if zero.any() else apart <= (apart.min() + apart.max()) / 2
                best, chosen = score, (g, low if spread else np.arange(len(rows)) < len(rows) // 2)
    return chosen
