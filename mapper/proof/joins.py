"""Lists the combinations of a small set that its weighted products do not rule out, and bounds each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..bounds import Ascended, Bounding, InnermostLoops, Relaxation
from ..mapping import Floats, Ints
from .incumbents import BestIncumbent

ADMISSIBLE = 1e5  # combinations that weights leave, by an estimate: a set with more is halved
MOST_LISTED = 2_000_000  # at once
MOST_LEFT = 50_000  # combinations that are below the limit one by one: more of them are not evaluated
BINS = 128  # of a histogram of scores
JOIN_STEPS, ROWS_A_STEP = 500, 1  # steps of a proof: for a join, and for so many combinations bounded one


@dataclass(frozen=True, eq=False)
class Tables:
    """The entries of all rows of each group, as bounds need them: of mappings with some innermost loops, and of all."""

    loops: InnermostLoops
    by_loops: Bounding
    packed: Sequence[Floats]  # per group # (row, column)
    of_all: Bounding
    packed_of_all: Sequence[Floats]
    known: dict[tuple[int, ...], Floats] = field(default_factory=dict)  # by innermost loops

    @classmethod
    def of(cls, relaxed: Relaxation, rows: Sequence[Ints], incumbents: BestIncumbent) -> "Tables":
        """Pack those of some rows of each group."""
        by_loops = relaxed.bounding_by_loops(incumbents.bound_value, incumbents.valued_by)
        of_all = relaxed.bounding(incumbents.bound_value, incumbents.valued_by)
        columns = [[column[own] for column in of_group] for of_group, own in zip(relaxed.columns, rows, strict=True)]
        packed, packed_of_all = (
            [bounding.packed(g, own) for g, own in enumerate(columns)] for bounding in (by_loops, of_all)
        )
        return cls(InnermostLoops(relaxed), by_loops, packed, of_all, packed_of_all)

    def of_loops(self, loops: Sequence[int]) -> tuple[Bounding, list[Floats]]:
        """What bounds mappings with some innermost loops, per level, and its tables: those of rows, then perhaps that
        of these loops # (1, column)."""
        key = tuple(loops)
        if not InnermostLoops.fixed(key):
            return self.of_all, list(self.packed_of_all)
        if key not in self.known:
            self.known[key] = self.by_loops.packed(len(self.packed), self.loops.entries(np.array([loops])))
        return self.by_loops, [*self.packed, self.known[key]]

    def whole(self, rows: Sequence[Ints], loops: Sequence[int]) -> float:
        """Bound all combinations of some rows with innermost loops together, by the least entry of each column."""
        bounding, tables = self.of_loops(loops)
        least = [table[own].min(axis=0, keepdims=True) for table, own in zip(tables, rows, strict=False)]
        return float(bounding.run([*least, *tables[len(rows) :]], np.zeros((1, len(tables)), np.int64))[0, 0])

    def bounds(self, places: Ints) -> Floats:
        """Bound combinations # (combination, group) with any innermost loops. # (combination,)"""
        return self.of_all.run(self.packed_of_all, places)[:, 0]


def admissible(ascended: Ascended, limit: float) -> float:
    """Estimate how many combinations of a set weights leave below a limit: by histograms of the rows' scores."""
    room = limit - ascended.bound
    number = np.zeros(BINS)
    number[0] = 1.0
    for score in ascended.scores:
        place = np.minimum((score - score.min()) / room * BINS, BINS).astype(np.int64)
        number = np.convolve(number, np.bincount(place, minlength=BINS + 1)[:BINS])[:BINS]
    return float(number.sum())


def joined(
    rows: Sequence[Ints],
    loops: Sequence[int],
    ascended: Ascended,
    limit: float,
    tables: Tables,
    check: Callable[[int], None],
) -> Ints | None:
    """List the combinations of `rows` that may be below a limit (a logarithm) with some innermost loops, per level:
    their rows # (combination, group), by ascending bounds; None where they are too many. `check` counts steps, and may
    raise TimeUp.

    Group by group, those with few rows first: what is listed so far is bounded with the best of the other groups.
    """
    bounding, of_loops = tables.of_loops(loops)
    packed = [np.concatenate([table[own], table[own].min(axis=0, keepdims=True)])
              for table, own in zip(of_loops, rows, strict=False)] + of_loops[len(rows) :]  # fmt: skip
    # of the groups not yet joined: the least entries
    places = np.array([[*map(len, rows), *[0] * (len(packed) - len(rows))]])
    above, bounds, value = np.zeros(1), np.zeros(1), np.exp(limit)
    room = limit - ascended.bound
    for g in sorted(range(len(rows)), key=lambda g: len(rows[g])):
        score = ascended.scores[g] - ascended.scores[g].min()
        order = np.argsort(score, kind="stable")
        number = np.searchsorted(score[order], room - above)
        total = int(number.sum())
        check(JOIN_STEPS + total // ROWS_A_STEP)
        if total > MOST_LISTED:
            return None
        owner = np.repeat(np.arange(len(places)), number)
        place = order[np.arange(total) - np.repeat(np.cumsum(number) - number, number)]
        places, above = places[owner], above[owner] + score[place]
        places[:, g] = place
        bounds = bounding.run(packed, places)[:, 0]
        stay = bounds < value
        places, above, bounds = places[stay], above[stay], bounds[stay]
    if len(places) > MOST_LEFT:
        return None
    chosen = places[np.argsort(bounds, kind="stable")]
    return np.stack([own[chosen[:, g]] for g, own in enumerate(rows)], axis=1)
