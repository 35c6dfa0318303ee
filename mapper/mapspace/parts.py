"""The parts of a mapspace: for each pattern of what is kept, the combinations of chains that go with it.

Without stacks of levels (uneven placement) there is one part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ..mapping import Bools, Ints
from .coupling import Joint
from .integers import SAFE, BigInts, below, divide
from .keep_choices import KeepChoices


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts, numbered one after the other: within each the combinations of chains, for each what is kept."""

    joints: Sequence[Joint]
    choices: Sequence[KeepChoices]

    @classmethod
    def of(cls, joints: Sequence[Joint], choices: Sequence[KeepChoices]) -> Self:
        """Make them of the combinations of chains and what is kept in each pattern, without those that have none."""
        pairs = [(joint, own) for joint, own in zip(joints, choices, strict=True) if joint.total]
        return cls([joint for joint, _ in pairs], [own for _, own in pairs])

    @property
    def total(self) -> int:
        """The number of mappings."""
        return sum(self._sizes)

    @cached_property
    def _sizes(self) -> list[int]:
        return [joint.total * choices.number for joint, choices in zip(self.joints, self.choices, strict=True)]

    @cached_property
    def _ends(self) -> BigInts:
        """The number after the last of each part. # (part,)"""
        dtype = np.int64 if self.total < SAFE else object
        return np.cumsum(np.array(self._sizes, dtype=object)).astype(dtype)

    def unrank(self, numbers: BigInts) -> tuple[Ints, list[BigInts], BigInts, Bools]:
        """Of mappings by number: the groups of their chains # (mapping, dim), the chain in each group, the loop order,
        what is kept # (mapping, level, tensor)."""
        if len(self.joints) == 1 or not len(numbers):
            return self._unrank(0, numbers)
        part = np.searchsorted(self._ends, numbers, side="right")
        by_part = {
            p: self._unrank(p, numbers[part == p] - (self._ends[p - 1] if p else 0)) for p in np.unique(part).tolist()
        }
        return _joined(part, by_part)

    def _unrank(self, part: int, numbers: BigInts) -> tuple[Ints, list[BigInts], BigInts, Bools]:
        rest, keep = divide(numbers, self.choices[part].number)
        groups, ranks, order = self.joints[part].unrank(rest)
        return groups, ranks, order, self.choices[part].unrank(keep)

    def rank(self, groups: Ints, ranks: Sequence[BigInts], order: BigInts, keep: Bools) -> BigInts:
        """The number of each mapping; ValueError for one that is in no part."""
        if len(self.joints) == 1 or not len(keep):
            return self._rank(0, groups, ranks, order, keep)
        part = self.part_of(keep)
        numbers = np.zeros(len(keep), dtype=object)
        for p in np.unique(part).tolist():
            rows = np.flatnonzero(part == p)
            own = self._rank(p, groups[rows], [rank[rows] for rank in ranks], order[rows], keep[rows])
            numbers[rows] = own + (self._ends[p - 1] if p else 0)
        return numbers

    def _rank(self, part: int, groups: Ints, ranks: Sequence[BigInts], order: BigInts, keep: Bools) -> BigInts:
        own = self.choices[part]
        number = self.joints[part].rank(groups, ranks, order).astype(object)
        ranked: BigInts = number * own.number + own.rank(keep).astype(object)
        return ranked

    def part_of(self, keep: Bools) -> Ints:
        """The part of what each mapping keeps # (mapping, level, tensor). # (mapping,)

        Raises ValueError where it is in none.
        """
        part = np.full(len(keep), -1)
        for p, choices in enumerate(self.choices):
            own = [stack.places(keep) >= 0 for stack in choices.stacks]
            part[np.logical_and.reduce(own)] = p
        if (part < 0).any():
            raise ValueError("a choice of kept tensors is not in the mapspace")
        return part

    def sample(
        self, rng: np.random.Generator, n: int, *, one_part: bool = False, part: int | None = None
    ) -> tuple[Ints, Ints]:
        """The groups of the chains of `n` mappings # (mapping, dim), and the part of each # (mapping,).

        `one_part`: all of one part; `part`: of this one.
        """
        if len(self.joints) == 1:
            return self.joints[0].sample(rng, n), np.zeros(n, np.int64)
        if part is not None:
            return self.joints[part].sample(rng, n), np.full(n, part)
        drawn = np.repeat(
            below(rng, np.full(1 if one_part else n, self.total, dtype=self._ends.dtype)), n if one_part else 1
        )
        parts = np.searchsorted(self._ends, drawn, side="right")
        groups = np.empty((n, len(self.joints[0].spaces)), np.int64, order="F")
        for p in np.unique(parts).tolist():
            rows = np.flatnonzero(parts == p)
            groups[rows] = self.joints[p].sample(rng, len(rows))
        return groups, parts

    def sample_keep(self, rng: np.random.Generator, part: Ints, *, same_keep: bool = False) -> Bools:
        """What mappings of these parts keep # (mapping, level, tensor); `same_keep`: all the same."""
        if same_keep and len(part):
            return np.repeat(self.choices[int(part[0])].sample(rng, 1), len(part), axis=0)
        if len(self.joints) == 1 or not len(part):
            return self.choices[0].sample(rng, len(part))
        own = {p: self.choices[p].sample(rng, int((part == p).sum())) for p in np.unique(part).tolist()}
        return _placed(part, own)


def _joined(
    part: Ints, by_part: dict[int, tuple[Ints, list[BigInts], BigInts, Bools]]
) -> tuple[Ints, list[BigInts], BigInts, Bools]:
    """Put what was found for each part in the places of its mappings."""
    dims = range(len(next(iter(by_part.values()))[1]))
    ranks = [_placed(part, {p: result[1][d] for p, result in by_part.items()}) for d in dims]
    groups = _placed(part, {p: result[0] for p, result in by_part.items()})
    order = _placed(part, {p: result[2] for p, result in by_part.items()})
    keep = _placed(part, {p: result[3] for p, result in by_part.items()})
    return groups, ranks, order, keep


def _placed(part: Ints, by_part: dict[int, BigInts]) -> BigInts:
    first = next(iter(by_part.values()))
    wide = any(block.dtype == object for block in by_part.values())
    whole = np.empty((len(part), *first.shape[1:]), object if wide else first.dtype)
    for p, block in by_part.items():
        whole[part == p] = block
    return whole
