"""Rules out most chains of long lists by a bound with few columns, before all columns are computed for the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ...mapping import Ints
from ...model.bounds import DimGroup, Geometric, Relaxation
from .chain_groups import rows_of
from .incumbents import BestIncumbent
from .narrowing import narrowed

LONG = 2**14  # chains of a group: with more, columns of all of them take longer than a sketch


@dataclass(frozen=True, eq=False)
class Sketch:
    """The chains of each group that a sketch leaves, and the weights that ruled the others out, in turn."""

    rows: tuple[Ints, ...]  # per group # (row left,)
    looks: tuple[dict[str, float], ...]
    ruled_out: int  # combinations

    @property
    def most(self) -> int:
        """The number of rows of the largest group."""
        return max(map(len, self.rows))

    def take(self, groups: Sequence[DimGroup]) -> list[DimGroup]:
        """Take the chains left of each group."""
        return [group.take(rows) if len(rows) < len(group) else group
                for group, rows in zip(groups, self.rows, strict=True)]  # fmt: skip


def sketched(sketch: Relaxation, incumbent: BestIncumbent) -> Sketch:
    """Rule out chains by weighted products of a sketch; those of the best mapping stay. May raise TimeUp."""
    groups = sketch.groups
    geometric = Geometric(sketch, incumbent.objectives[0].powers, incumbent.limits)
    left = narrowed([np.arange(len(group)) for group in groups], geometric, incumbent.cutoff)
    rows = left.rows
    if incumbent.best is not None:
        best = rows_of(groups, incumbent.best)
        assert best is not None, "all chains are there"
        rows = tuple(np.union1d(mine, [own]) for mine, own in zip(rows, best.tolist(), strict=True))
    ruled_out = prod(map(len, groups)) - prod(map(len, rows))
    return Sketch(rows, left.looks, ruled_out)
