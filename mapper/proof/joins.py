"""Lists the combinations of a small set that its weighted products do not rule out, and bounds each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..bounds import Ascended, Bounding
from ..mapping import Floats, Ints

ADMISSIBLE = 1e5  # combinations that weights leave, by an estimate: a set with more is halved
MOST_LISTED = 2_000_000  # at once
MOST_LEFT = 50_000  # combinations that are below the limit one by one: more of them are not evaluated
BINS = 128  # of a histogram of scores
JOIN_STEPS, ROWS_A_STEP = 500, 1  # steps of a proof: for a join, and for so many combinations bounded one


@dataclass(frozen=True, eq=False)
class Tables:
    """The entries of all rows of each group, as a bound needs them."""

    bounding: Bounding
    packed: Sequence[Floats]  # per group # (row, column)

    def whole(self, rows: Sequence[Ints]) -> float:
        """Bound all combinations of some rows together, by the least entry of each column."""
        least = [packed[own].min(axis=0, keepdims=True) for packed, own in zip(self.packed, rows, strict=True)]
        return float(self.bounding.run(least, np.zeros((1, len(rows)), np.int64))[0, 0])


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
    rows: Sequence[Ints], ascended: Ascended, limit: float, tables: Tables, check: Callable[[int], None]
) -> tuple[Ints, Floats] | None:
    """List the combinations of `rows` that may be below a limit (a logarithm): their rows # (combination, group), by
    ascending bounds, and these; None where they are too many. `check` counts steps, and may raise TimeUp.

    Group by group, those with few rows first: what is listed so far is bounded with the best of the other groups.
    """
    packed = [
        np.concatenate([own[r], own[r].min(axis=0, keepdims=True)]) for own, r in zip(tables.packed, rows, strict=True)
    ]
    places = np.array([[len(own) for own in rows]])  # of the groups not yet joined: the least entries
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
        bounds = tables.bounding.run(packed, places)[:, 0]
        stay = bounds < value
        places, above, bounds = places[stay], above[stay], bounds[stay]
    if len(places) > MOST_LEFT:
        return None
    least_first = np.argsort(bounds, kind="stable")
    chosen = places[least_first]
    return np.stack([own[chosen[:, g]] for g, own in enumerate(rows)], axis=1), bounds[least_first]
