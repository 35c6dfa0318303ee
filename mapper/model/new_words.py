"""The new words of children, rank by rank: which sets of them differ, and how many words those have together.

- A child needs the tile T, a product over ranks of intervals T_r, and still holds O, the product of the overlaps O_r.
  Its new words are T - O. They are a product of one set per rank in two cases: T itself where some O_r is empty,
  and (T_h - O_h) x the other T_r where h is the only rank with O_h != T_h. With two or more such ranks they are no
  product, and T and O can be read off them: T - O projects onto all of T_r, as a point of another rank's T - O can
  stand beside any point of T_r.
- So two children have identical new words just when these sets per rank (or, in the third case, T_r and O_r) are
  identical in every rank. Which of the three cases holds is decided rank by rank too, from a few properties of each
  set. Sums of products over ranks are products of sums, so it is enough to know per rank, added up over all parent
  instances and outer loop indices, how many words there are in the different sets of each combination of properties.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from ..mapping import Ints
from .nests import hidden, touches

# Properties of one set of words along a rank, among the children of one parent instance in one step.
TILE = 1  # some child's T_r
FRESH = 2  # some child's T_r while its O_r is empty
HELD = 4  # some child's T_r while its O_r is all of it
REST = 8  # some child's T_r - O_r, neither empty nor all of T_r


@dataclass(frozen=True, eq=False)
class Tiles:
    """Tiles of children as intervals, ends included; of one dim, or of a rank. # (child,) each"""

    group: Ints  # the step and parent instance: children of one group are served together
    first: Ints
    last: Ints
    held_first: Ints
    held_last: Ints

    def joined(self, other: "Tiles", coef: int) -> "Tiles":
        """Every child of this dim with every one of `other`, whose indices count `coef` times. # (child x other)"""

        def add(own: Ints, theirs: Ints) -> Ints:
            return np.add.outer(own, theirs).ravel()

        return Tiles(
            add(self.group * (other.group.max(initial=0) + 1), other.group),
            add(self.first, coef * other.first),
            add(self.last, coef * other.last),
            add(self.held_first, coef * other.held_first),
            add(self.held_last, coef * other.held_last),
        )


@dataclass(frozen=True)
class NewWords:
    """Words in the different sets along one rank, summed over groups."""

    words: dict[int, int]  # by properties of the set (TILE, FRESH, HELD, REST)
    tile: int  # |T_r| summed over different (T_r, O_r) with O_r neither empty nor T_r
    kept: int  # |O_r| summed over the same

    @property
    def held(self) -> int:
        """|T_r| summed over different T_r with O_r = T_r."""
        return sum(words for properties, words in self.words.items() if properties & HELD)


def new_words(tiles: Tiles, held: bool, block: int = 1) -> NewWords:
    """Tell the sets of the children of each group apart. Without `held` nothing was held before.

    With a `block` of more than one index, words are the blocks that a set touches, and of what is held those that
    nothing else of the tile touches: what a child does not hold then touches the others.

    A set is written as an interval and the hole in it; (0, -1) is no hole.
    """
    group, first, last = tiles.group, tiles.first, tiles.last
    left, right = np.maximum(first, tiles.held_first), np.minimum(last, tiles.held_last)
    fresh = (left > right) | (not held)
    same = ~fresh & (left == first) & (right == last)
    part = ~fresh & ~same
    at_start, at_end = left == first, right == last
    hole = ~at_start & ~at_end
    rest = (
        group,
        np.where(at_start, right + 1, first),
        np.where(at_end, left - 1, last),
        np.where(hole, left, 0),
        np.where(hole, right, -1),
    )
    whole = (group, first, last, np.zeros_like(first), np.full_like(first, -1))
    columns = [np.concatenate([w, r[part]]) for w, r in zip(whole, rest, strict=True)]
    tags = np.concatenate([TILE + FRESH * fresh + HELD * same, np.full(part.sum(), REST)])
    order, starts = _runs(columns)
    _, low, high, hole_low, hole_high = (column[order][starts] for column in columns)
    properties = np.bitwise_or.reduceat(tags[order], starts)
    sizes = touches(low, high, block) - hidden(low, high, hole_low, hole_high, block)
    pairs = [column[part] for column in (group, first, last, left, right)]
    order, starts = _runs(pairs)
    _, first, last, left, right = (column[order][starts] for column in pairs)
    return NewWords(
        {p: total(sizes[properties == p]) for p in np.unique(properties).tolist()},
        total(touches(first, last, block)),
        total(hidden(first, last, left, right, block)),
    )


def total(words: Ints) -> int:
    """The sum of `words`, also where int64 does not hold it."""
    high, low = np.divmod(words, 1 << 32)
    return (int(high.sum()) << 32) + int(low.sum())


def _runs(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """An order that brings equal rows together, and where in it each different row starts."""
    order = np.lexsort(columns)
    new = np.ones(len(order), bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    return order, np.flatnonzero(new)


def distinct_words(ranks: Sequence[NewWords]) -> int:
    """Words in the different sets of new words of children, over all groups of all ranks."""
    one_product = 0
    for choice in product(*(rank.words.items() for rank in ranks)):
        if _needed([properties for properties, _ in choice]):
            one_product += prod(words for _, words in choice)
    held = [rank.held for rank in ranks]
    several = _of_several(held, [rank.tile for rank in ranks]) - _of_several(held, [rank.kept for rank in ranks])
    return one_product + several


def _needed(properties: Sequence[int]) -> bool:
    """Whether a product of sets with these properties, one per rank, is the new words of some child."""
    if all(p & TILE for p in properties) and any(p & FRESH for p in properties):
        return True
    not_held = [p for p in properties if not p & HELD]
    if len(not_held) == 1:
        return bool(not_held[0] & REST)
    return not not_held and any(p & REST for p in properties)


def _of_several(held: Sequence[int], changed: Sequence[int]) -> int:
    """Sum of the products with two factors or more from `changed` and the others from `held`."""
    one = sum(c * prod([*held[:r], *held[r + 1 :]]) for r, c in enumerate(changed))
    return prod(h + c for h, c in zip(held, changed, strict=True)) - one - prod(held)
