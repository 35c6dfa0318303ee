"""What the innermost loops of levels may be, and bounds of mappings with some of them.

Sets of mappings are divided by their chains; they can also be divided by the innermost loop of a level, which is that
of a dim, or none. With it words move that other mappings of the same chains do not move. docs/optimal.md, section 3.
"""

from collections.abc import Sequence

import numpy as np

from ..mapping import Bools, Floats, Ints
from .relaxation import Relaxation


class InnermostLoops:
    """The innermost loops that mappings may have: of a set, per level a dim, NONE or ANY. # (set, level)"""

    ANY, NONE = -1, -2  # in place of a dim: it may be any; there is no loop

    @classmethod
    def fixed(cls, loops: Sequence[int]) -> bool:
        """Whether a set has an innermost loop, or none, at some level."""
        return any(d != cls.ANY for d in loops)

    def __init__(self, relaxed: Relaxation) -> None:
        self.relaxed, self.levels = relaxed, len(relaxed.loops)
        self._choices = [(level, self.NONE if d is None else d) for level, d in relaxed.innermost_loops]

    def choices(self, level: int) -> list[int]:
        """What the innermost loop of a level may be: NONE, or a dim."""
        return [d for of, d in self._choices if of == level]

    def allowing(self, rows: Sequence[Ints], level: int, d: int) -> list[Bools]:
        """Which `rows` of each group allow an innermost loop of a level. # (row,) per group"""
        relaxed = self.relaxed
        product = relaxed.still[level] if d == self.NONE else relaxed.loops[level][d]
        return [
            np.isfinite(columns[column][own])
            for columns, column, own in zip(relaxed.columns, product, rows, strict=True)
        ]

    def entries(self, loops: Ints) -> list[Floats]:
        """What a bound needs of some sets: the columns of the last table of `Relaxation.bounding_by_loops`."""
        own = [(loops[:, level], d) for level, d in self._choices]
        absent = [np.where((of == self.ANY) | (of == d), 0.0, np.inf) for of, d in own]
        return [*absent, *((of == d).astype(float) for of, d in own)]
