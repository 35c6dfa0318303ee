"""Searches plans of networks: all partitions, orders and tensors that stay, with what is proven of them."""

from .assemble import one_by_one, plan_one_by_one
from .at_slope import bounded_plan
from .candidates import MOST_STAGES
from .goal import PlanGoal, PlanOutcome
from .plans import Progress, search_plans, unsearched
from .prices import Floor, Prices, Slope
from .search import AtSlope, KnownLayer, PlanSearch
from .slope_search import SlopeSearch
from .slopes import front_of
from .states import Machine, TooManyError

__all__ = [
    "MOST_STAGES",
    "AtSlope",
    "Floor",
    "KnownLayer",
    "Machine",
    "PlanGoal",
    "PlanOutcome",
    "PlanSearch",
    "Prices",
    "Progress",
    "Slope",
    "SlopeSearch",
    "TooManyError",
    "bounded_plan",
    "front_of",
    "one_by_one",
    "plan_one_by_one",
    "search_plans",
    "unsearched",
]
