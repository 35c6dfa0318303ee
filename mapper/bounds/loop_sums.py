"""What the words of some charges cost at least, and what the innermost loop of a level adds to that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Self

import numpy as np

from ..mapping import Floats
from .charge_bounds import ChargeBound, Chosen
from .products import Shape, Value

# what the innermost loop of a level may be, that of a dim or none: 0 where some mapping of a set has it, inf where not
Allowed = dict[int | None, Floats]


@dataclass(frozen=True, eq=False)
class LoopSum:
    """A sum over charges, for some sets of chains."""

    costs: Sequence[Floats]  # of each charge in any order # (set,)
    added: dict[tuple[int, int | None], Floats]  # by a level and the dim of its innermost loop # (set,)
    least_added: dict[int, Floats]  # by level, whatever its innermost loop # (set,)

    @classmethod
    def of(
        cls,
        charges: Sequence[ChargeBound],
        allowed: Callable[[int], Allowed],
        value: Value,
        n: Shape,
        chosen: Chosen | None = None,
    ) -> Self:
        """Add up charges, for `n` sets, whose levels may have the `allowed` innermost loops; `chosen`: they have."""
        costs, added = list[Floats](), dict[tuple[int, int | None], Floats]()
        for charge in charges:
            least, additions = charge.energy(value, n, chosen)
            costs.append(least)
            for level, d, more in additions:
                if more.any():
                    added[level, d] = added[level, d] + more if (level, d) in added else more
        least_added = {
            level: reduce(np.minimum, (added.get((level, d), 0.0) + absent for d, absent in allowed(level).items()))
            for level in sorted({level for level, _ in added})
        }
        return cls(costs, added, least_added)

    def total(self, start: Floats) -> Floats:
        """Add all to `start`, the least over innermost loops. # (set,)"""
        return sum([*self.costs, *self.least_added.values()], start)

    def with_loop(self, start: Floats, level: int, d: int | None) -> Floats:
        """Add all to `start`, where the innermost loop of a level is that of dim d; None: it has none. # (set,)"""
        elsewhere = (least for other, least in self.least_added.items() if other != level)
        total = sum([*self.costs, *elsewhere], start)
        return total + self.added[level, d] if (level, d) in self.added else total
