"""A chain table as the levels see it: the slots of each level, and the chains that a boundary can tell apart.

Both are derived once per table and kept in its cache.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....arch import Architecture
from ...mapping import ChainTable, Ints, unique_rows


@dataclass(frozen=True, eq=False)
class LevelSlots:
    """One level's slots of a chain table: its temporal loop, and its fanout axes merged into one group."""

    bound: Ints  # (chain,) temporal bound
    digit: Ints
    stride: Ints
    fanout: Ints | None  # (chain,) bound of all axes together; None: the level has no axes
    fanout_digit: Ints
    fanout_stride: Ints

    @cached_property
    def repeats(self) -> bool:
        """Whether any chain has a temporal loop here at all."""
        return bool((self.bound > 1).any())


def level_slots(table: ChainTable, arch: Architecture) -> list[LevelSlots]:
    """The slots of `table` by level, outermost first."""
    key = ("levels", arch.axes)
    if key not in table.cache:
        table.cache[key] = [_level_slots(table, arch, level) for level in range(len(arch.levels))]
    return table.cache[key]  # type: ignore[return-value]


def _level_slots(table: ChainTable, arch: Architecture, level: int) -> LevelSlots:
    own = [s for s, slot in enumerate(arch.slots) if slot.level == level]
    temporal, axes = own[0], own[1:]
    fanout = np.ones(len(table.bounds), np.int64)
    digit = np.zeros(len(table.bounds), np.int64)
    for s in axes:
        fanout = fanout * table.bounds[:, s]
        digit = digit * table.bounds[:, s] + table.digits[:, s]
    return LevelSlots(
        table.bounds[:, temporal],
        table.digits[:, temporal],
        table.strides[:, temporal],
        fanout if axes else None,
        digit,
        table.strides[:, axes[-1]] if axes else np.ones(len(table.bounds), np.int64),
    )


def outside(table: ChainTable, arch: Architecture, c: int) -> tuple[ChainTable, Ints]:
    """The chains of `table` as boundary `c` sees them, and which of those each chain is. # (chain,)

    Slots of level c and inside matter to c by the product of their bounds alone, so chains that differ only there
    become one: the table of a window's pairs of chains stays small.
    """
    key = ("outside", arch.axes, c)
    if key not in table.cache:
        first = next((s for s, slot in enumerate(arch.slots) if slot.level == c), None)
        merged = table.bounds.copy()
        if first is not None:
            merged[:, first] = table.bounds[:, first:].prod(axis=1)
            merged[:, first + 1 :] = 1
        if isinstance(table.size, int):
            chains, which = unique_rows(merged)
            table.cache[key] = ChainTable(table.size, chains, table.numbers), which
        else:  # of layers of many sizes
            rows, which = unique_rows(np.column_stack([table.size, merged]))
            table.cache[key] = ChainTable(rows[:, 0], rows[:, 1:], table.numbers), which
    return table.cache[key]  # type: ignore[return-value]
