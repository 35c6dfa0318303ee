"""Rules out combinations of chains whose mappings are not good enough with any innermost loops."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..bounds import InnermostLoops, Relaxation
from ..mapping import Bools, Ints
from .incumbents import Incumbents

CHOICE_STEPS, CHOICES_A_STEP = 2_000, 1  # steps of a proof: for itself, and for so many innermost loops tried
MOST_TRIED = 200_000  # combinations with innermost loops at once; where more are left further levels say nothing


@dataclass(frozen=True, eq=False)
class LoopChoices:
    """The combinations of a choice of kept tensors, bounded with each of the innermost loops they may have."""

    relaxed: Relaxation
    incumbents: Incumbents  # whose bound values depend on bounds alone

    def promising(self, rows: Ints, loops: Sequence[int] | None, value: float, count: Callable[[int], None]) -> Bools:
        """Which combinations `rows` # (combination, group) have innermost loops that may bring less than a value.

        `loops`, per level: those of interest. Level by level, those that cannot bring less go no further.
        """
        innermost = InnermostLoops(self.relaxed)
        bounding = self.relaxed.bounding_by_loops(self.incumbents.bound_value, self.incumbents.valued_by)
        packed = [
            bounding.packed(g, [column[rows[:, g]] for column in columns])
            for g, columns in enumerate(self.relaxed.columns)
        ]
        every = np.array([[InnermostLoops.ANY] * innermost.levels if loops is None else loops])
        owner, which = np.arange(len(rows)), np.zeros(len(rows), np.int64)
        count(CHOICE_STEPS)
        for level in np.flatnonzero(every[0] == InnermostLoops.ANY).tolist():
            choices = innermost.choices(level)
            if len(choices) == 1:
                continue
            number = len(choices)
            if len(owner) * number > MOST_TRIED:
                break
            every = np.repeat(every, number, axis=0)
            every[:, level] = np.resize(choices, len(every))
            owner = np.repeat(owner, number)
            which = (which[:, None] * number + np.arange(number)).ravel()
            count(len(owner) // CHOICES_A_STEP)
            table = bounding.packed(len(packed), innermost.entries(every))
            places = np.stack([*[owner] * len(packed), which], axis=1)
            stay = bounding.run([*packed, table], places)[:, 0] < value
            owner, used = owner[stay], which[stay]
            used, which = np.unique(used, return_inverse=True)
            every = every[used]
        promising = np.zeros(len(rows), bool)
        promising[owner] = True
        return promising
