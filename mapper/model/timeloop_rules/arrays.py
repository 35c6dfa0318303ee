"""An array as Timeloop serves it: elements that need the same words share a read, or pass whole tiles to neighbours."""

from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np

from ...mapping import Bools, Ints, unique_rows
from .nest import Block, Box


def served(offsets: Ints, size: int) -> dict[tuple[int, int], float]:
    """The words read for elements at `offsets` # (element, rank), `size` for each place, by (multicast, scatter)."""
    if not len(offsets):
        return {}
    groups = np.unique(np.bincount(unique_rows(offsets)[1]), return_counts=True)
    return {(int(m), int(scatter)): float(size * int(scatter)) for m, scatter in zip(*groups, strict=True)}


@dataclass(frozen=True, eq=False)
class Delivery:
    """The words that the elements of an array get in one step."""

    numbers: Ints  # (element,)
    places: Ints  # (element, rank): the lowest corner of its words
    shape: list[Box]  # of the words, from that corner

    @classmethod
    def of(cls, numbers: Ints, offsets: Ints, news: list[Box]) -> Self:
        """The first element gets `news`, the others the same at their `offsets`."""
        corner = [min(box[rank][0] for box in news) for rank in range(offsets.shape[1])]
        shape = [tuple((low - at, high - at) for (low, high), at in zip(box, corner, strict=True)) for box in news]
        return cls(numbers, np.array(corner, np.int64) + offsets, sorted(shape))

    def linked(self, before: "Delivery | None", block: Block) -> Bools:
        """Which elements get what one of four neighbours had got `before`. # (element,)

        Elements are numbered along X first, as if they stood without gaps.
        """
        found = np.zeros(len(self.numbers), bool)
        if before is None or before.shape != self.shape:
            return found
        wide = max(block.size_x, prod(loop.bound for loop in block.spatial if loop.mesh == "X"))
        high = max(block.size_y, prod(loop.bound for loop in block.spatial if loop.mesh == "Y"))
        order = np.argsort(before.numbers, kind="stable")  # of equal numbers the last stands
        known = before.numbers[order]
        x, y = self.numbers % wide, self.numbers // wide
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            inside = (x + dx >= 0) & (x + dx < wide) & (y + dy >= 0) & (y + dy < high)
            asked = self.numbers + dx + wide * dy
            at = np.maximum(np.searchsorted(known, asked, side="right") - 1, 0)
            same = (self.places == before.places[order[at]]).all(axis=1)
            found |= inside & (known[at] == asked) & same
        return found
