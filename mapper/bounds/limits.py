"""Limits on objectives: where several are minimised in turn, a later stage must not lose what an earlier one won."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..mapping import Bools, Floats
from ..problem import ROUNDING, Objective


@dataclass(frozen=True)
class ObjectiveLimit:
    """The most that an objective of a mapping may be."""

    objective: Objective
    most: float

    @classmethod
    def equal_to(cls, objective: Objective, value: float) -> Self:
        """Allow what equals `value`: whole numbers exactly, others up to rounding."""
        return cls(objective, value if objective.whole else value * (1 + ROUNDING))


def exceeds(limits: Sequence[ObjectiveLimit], energy_pj: Floats, cycles: Floats, slack: float = 0.0) -> Bools:
    """Test which costs are above some limit by more than a relative `slack`. # (mapping,)"""
    over = np.zeros(np.shape(energy_pj), bool)
    for limit in limits:
        over |= limit.objective.value(energy_pj, cycles) > limit.most * (1 + slack)
    return over
