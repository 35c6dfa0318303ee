"""The problem: a machine, a layer, energies, charges and the goal; and the effort of its search."""

from .charges import Charges
from .effort import EFFORTS, STEPS_A_SECOND, Effort, effort_text, read_effort
from .goal import COST_MODEL, EXACT, Goal
from .identity import fingerprint, identity
from .objectives import OBJECTIVES, ROUNDING, Objective, Point, WeightedSum, at_most, first_objective
from .plain import Json, digest, plain
from .problem import Problem

__all__ = [
    "COST_MODEL",
    "Charges",
    "EFFORTS",
    "Effort",
    "Json",
    "EXACT",
    "Goal",
    "OBJECTIVES",
    "Objective",
    "Point",
    "Problem",
    "ROUNDING",
    "STEPS_A_SECOND",
    "WeightedSum",
    "at_most",
    "digest",
    "effort_text",
    "fingerprint",
    "first_objective",
    "identity",
    "plain",
    "read_effort",
]
