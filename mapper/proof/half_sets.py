"""Sets of combinations of chains, with the innermost loops of their mappings, and the ways in which they are divided.

A set is divided by its rows, in halves, or by the innermost loop of a level, into those that may be there. What a way
brings is learned from what it has brought, as in integer programming: Achterberg, Koch and Martin, Branching rules
revisited (Operations Research Letters, 2005). Decision 131 says what it brings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..bounds import ABSENT, Ascended, InnermostLoops, WeightedTerms
from ..mapping import Bools, Floats, Ints
from .chain_tree import FAR
from .joins import ADMISSIBLE

ROWS = -1  # the way that halves rows; others are levels, by their numbers
TRIES, AGAIN = 8, 200  # sets divided in all ways: so many at first for each way, then one of so many
KEPT = 0.95  # what the gains of a way count after each further one
LEAST_GAIN = 0.02  # of a level, to be chosen: its parts have nearly all rows, which have to be halved all the same
ZERO, LITTLE = 0.02, 0.005  # tuned: what a column counts for that is 0 for some rows, and any other, beside its weights
HALVINGS, RATES = 30, (1e-4, 10.0)  # of an interval of rates, and the interval


@dataclass(frozen=True, eq=False)
class Divided:
    """A part of a set, not bounded yet."""

    rows: tuple[Ints, ...]  # of each group, by their places among those of the whole
    loops: tuple[int, ...]  # per level the innermost loop of its mappings, as in InnermostLoops

    @property
    def fixed(self) -> bool:
        """Whether it has an innermost loop at some level."""
        return InnermostLoops.fixed(self.loops)

    @property
    def combinations(self) -> int:
        """The number of combinations."""
        return prod(map(len, self.rows))


@dataclass(frozen=True, eq=False)
class HalfSet(Divided):
    """A set of combinations with innermost loops."""

    bound: float  # the logarithm of what no mapping of it is below
    ascended: Ascended | None = None  # its own weights; none: the whole, which has not ascended yet
    joinable: float = ADMISSIBLE  # combinations that its weights may leave for it to be joined


class Divisions:
    """How sets of some rows of each group are divided."""

    def __init__(self, loops: InnermostLoops, rows: Sequence[Ints]) -> None:
        self.loops, self.rows = loops, rows
        self.choices = [loops.choices(level) for level in range(loops.levels)]

    @property
    def whole(self) -> HalfSet:
        """The set of all rows."""
        every = tuple(np.arange(len(own)) for own in self.rows)
        return HalfSet(every, (InnermostLoops.ANY,) * self.loops.levels, -np.inf)

    @property
    def pairs_each(self) -> int:
        """The number of innermost loops that each combination is counted with."""
        return prod(map(len, self.choices))

    def pairs(self, own: HalfSet) -> int:
        """The number of combinations with innermost loops in a set; combinations need not have those loops."""
        any_of = (len(choices) for choices, d in zip(self.choices, own.loops, strict=True) if d == InnermostLoops.ANY)
        return own.combinations * prod(any_of)

    def ways(self, own: HalfSet) -> list[int]:
        """The ways in which a set can be divided."""
        rows = [ROWS] if any(len(of_group) > 1 for of_group in own.rows) else []
        open_levels = (level for level, d in enumerate(own.loops) if d == InnermostLoops.ANY)
        return rows + [level for level in open_levels if len(self.choices[level]) > 1]

    def divided(self, own: HalfSet, way: int, terms: WeightedTerms) -> list[Divided]:
        """Divide a set; parts without a mapping are left out."""
        if own.ascended is None:
            return [Divided(own.rows, own.loops)]
        return self._halves(own, own.ascended, terms) if way == ROWS else self.by_loop(own, way)

    def by_loop(self, own: HalfSet, level: int) -> list[Divided]:
        """Divide a set by the innermost loop of a level; parts without a mapping are left out."""
        parts = []
        rows = [every[of_group] for every, of_group in zip(self.rows, own.rows, strict=True)]
        for d in self.choices[level]:
            allowing = self.loops.allowing(rows, level, d)
            left = tuple(of_group[mask] for of_group, mask in zip(own.rows, allowing, strict=True))
            if all(map(len, left)):
                parts.append(Divided(left, (*own.loops[:level], d, *own.loops[level + 1 :])))
        return parts

    def _halves(self, own: HalfSet, ascended: Ascended, terms: WeightedTerms) -> list[Divided]:
        """Halve the rows of the group and by the column where the most is to be won."""
        highest, chosen = -1.0, (0, np.zeros(0, bool))
        weights, any_order = terms.weights(ascended.log_weights), not own.fixed
        for g, (every, of_group, members) in enumerate(zip(terms.logs, own.rows, terms.members, strict=True)):
            if len(of_group) < 2:
                continue
            columns = slice(terms.columns(g, any_order=any_order))
            score, first = _widest(every[:, columns][of_group], weights @ members[:, columns])
            if score > highest:
                highest, chosen = score, (g, first)
        g, first = chosen
        return [Divided((*own.rows[:g], own.rows[g][mask], *own.rows[g + 1 :]), own.loops) for mask in (first, ~first)]


def _widest(columns: Floats, weights: Floats) -> tuple[float, Bools]:
    """The column # (row, column) with the largest weighted range: this, and the rows of its lower half."""
    most, least = columns.max(axis=0), columns.min(axis=0)
    mixed = (least == ABSENT) & (most > ABSENT)
    if mixed.any():
        own = columns[:, mixed]
        least[mixed] = np.where(own == ABSENT, np.inf, own).min(axis=0)
    spread = most - least + np.log(FAR) * mixed
    score = spread * (weights + LITTLE + ZERO * mixed)
    widest = int(score.argmax())
    limit = ABSENT if mixed[widest] else (most[widest] + least[widest]) / 2
    first = columns[:, widest] <= limit
    if not 0 < first.sum() < len(first):
        first = np.arange(len(first)) < len(first) // 2
    return float(score[widest]), first


class Gains:
    """What each way of dividing has brought."""

    def __init__(self) -> None:
        self._asked, self._tries = 0, dict[int, int]()
        self._sums: dict[int, tuple[float, float]] = {}  # by way: its rates and their number, later ones counting more

    def worth_trying(self, ways: Sequence[int]) -> list[int]:
        """The ways in which to divide the next set: the best, or all, to learn what they bring."""
        self._asked += 1
        if len(ways) > 1 and (self._asked % AGAIN == 0 or any(self._tries.get(way, 0) < TRIES for way in ways)):
            for way in ways:
                self._tries[way] = self._tries.get(way, 0) + 1
            return list(ways)
        return [best_way({way: self._mean(way) for way in ways})]

    def _mean(self, way: int) -> float:
        total, number = self._sums.get(way, (0.0, 1.0))
        return total / number

    def add(self, way: int, rate: float) -> None:
        """Count what a way has brought for a set."""
        total, number = self._sums.get(way, (0.0, 0.0))
        self._sums[way] = KEPT * total + rate, KEPT * number + 1.0


def best_way(rates: dict[int, float]) -> int:
    """The way with the highest rate; a level only where it brings much."""
    if ROWS not in rates:
        return max(rates, key=lambda way: rates[way])
    return max(rates, key=lambda way: rates[way] if way == ROWS or rates[way] >= LEAST_GAIN else -1.0)


def rates(gains: Sequence[Sequence[float]]) -> Floats:
    """How fast dividing in a way closes sets, by the gains of the parts of each: what they are nearer to the limit, as
    a share of the distance before. # (set,)

    The rate s has sum over parts exp(-gain / s) = 1: where each division gains that much, a set at distance 1 has
    exp(1 / s) parts in the end (Le Bodic and Nemhauser, An abstract model for the branch-and-bound tree, Mathematical
    Programming 2017).
    """
    table = np.full((len(gains), max(map(len, gains), default=0)), np.inf)
    for row, own in zip(table, gains, strict=True):
        row[: len(own)] = own
    low, high = (np.full(len(gains), rate) for rate in RATES)
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        slow = np.exp(-table / middle[:, None]).sum(axis=1) > 1
        low, high = np.where(slow, low, middle), np.where(slow, middle, high)
    return low
