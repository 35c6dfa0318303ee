"""A plan that is near the best at one slope, of what is known once each part on the way is bounded: a quick search."""

from ..networks import PlanCosts
from .assemble import assembled, choices_at
from .prices import Slope
from .search import PlanSearch
from .work import BOUNDED


def bounded_plan(search: PlanSearch, slope: Slope) -> tuple[PlanCosts, float]:
    """Return a plan, of little energy + slope x cycles, and what that sum of no plan is below.

    Parts are bounded, and layers are mapped as they are without other tensors in the memory; no group is searched.
    Raises KeyboardInterrupt after Ctrl-C.
    """
    try:
        at = search.at(slope, BOUNDED)
    finally:
        search.leave()
    return assembled(search, choices_at(search, at)), at.least
