"""The best plan of a network on a machine, within limits of energy and cycles.

What is proven of plans on one machine is not of another: which tiles of groups are tried depends on the machine, so no
bound holds for a set of machines.
"""

import warnings
from collections.abc import Sequence
from math import floor, inf

from ...report import NetworkResult
from ...runtime import one_thread
from ..api import Request, explored
from ..time_slices import Study
from .limited import Limited, PowerLimit, kept_by, sum_limits


@one_thread()
def explore_plans(study: Study, fuse: str, limits: Sequence[PowerLimit] = ()) -> Limited:
    """Search plans of the network of a study, of which there are some, for the best that keeps all limits.

    The search goes by limits of cycles and of energy; others are tried on what it finds. `fuse` as of `explore`.
    Raises KeyboardInterrupt where Ctrl-C ended it.
    """
    within = sum_limits(limits)
    cycles = _given(floor(within.cycles) if 1 <= within.cycles < inf else within.cycles)  # they are whole numbers
    request = Request(fuse=fuse, deadline=cycles, energy_limit=_given(within.energy_pj))
    result = explored(study, request)
    assert isinstance(result, NetworkResult), "plans are of networks"
    plan = result.plan
    if result.statistics.interrupted or (plan is not None and plan.statistics.interrupted):
        raise KeyboardInterrupt
    if result.no_plan:
        warnings.warn(f"no plan, layer by layer: {result.no_plan}", stacklevel=2)
    if plan is None or not result.found:
        kept = result.found and kept_by(limits, result.energy_pj, result.cycles)
        return Limited(result, kept, 0.0, result)
    return Limited(result, kept_by(limits, result.energy_pj, result.cycles), plan.lower_bound, result)


def _given(limit: float) -> float | None:
    return limit if limit < inf else None
