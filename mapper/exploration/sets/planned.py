"""The best plan of a network on a machine, within limits of energy and cycles.

What is proven of plans on one machine is not of another: which tiles of groups are tried depends on the machine, so no
bound holds for a set of machines.
"""

from collections.abc import Sequence
from math import floor, inf

from ....workloads import Fault, InputError
from ...report import NetworkResult
from ...runtime import one_thread
from ..api import Request, explored
from ..plans import why_no_plan
from ..time_slices import Study
from .limited import Limited, PowerLimit, kept_by, proven_empty, sum_limits


@one_thread()
def explore_plans(study: Study, fuse: str, limits: Sequence[PowerLimit] = ()) -> Limited:
    """Search plans of the network of a study, whose file has a graph, for the best that keeps all limits.

    The search goes by limits of cycles and of energy; others are tried on what it finds. `fuse` as of `explore`.
    Raises InputError where there is none on this machine, KeyboardInterrupt where Ctrl-C ended it.
    """
    if why := why_no_plan(study):
        raise InputError(Fault(study.arch.name, None, "", f"no plan: {why}"))
    within = sum_limits(limits)
    cycles = _given(floor(within.cycles) if 1 <= within.cycles < inf else within.cycles)  # they are whole numbers
    request = Request(fuse=fuse, deadline=cycles, energy_limit=_given(within.energy_pj))
    result = explored(study, request)
    assert isinstance(result, NetworkResult), "plans are of networks"
    plan = result.plan
    if result.statistics.interrupted or (plan is not None and plan.statistics.interrupted):
        raise KeyboardInterrupt
    if result.found and plan is None:
        raise InputError(Fault(study.arch.name, None, "", f"no plan: {result.no_plan}"))
    if plan is None:
        return Limited(result, False, inf if proven_empty(result) else 0.0, result)
    return Limited(result, kept_by(limits, result.energy_pj, result.cycles), plan.lower_bound, result)


def _given(limit: float) -> float | None:
    return limit if limit < inf else None
