"""A plan of a network made again from what was stored of it: its file, and what the object of `--json` says."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import Any

from ...workloads import InputError, Network, parse_yaml
from ..bounds.sums import Envelope, LeastSum, Limits
from ..networks import Graph
from ..plan_search import one_by_one
from ..problem import Json, Point
from ..report import NetworkResult
from ..report.plan_files import CountedPlan
from ..report.plans import NetworkPlan
from ..search.outcome import Statistics
from .plan import evaluate_plan
from .plans import plan_machine
from .time_slices import Study


def stored_plan(study: Study, layers: NetworkResult, file: str, said: Json, lower_bound: float) -> NetworkPlan:
    """Make the plan of a network; `layers` are its layers one by one, `said` the key `plan` of `--json`.

    Raises InputError where the file is none.
    """
    assert isinstance(study.work, Network), "it has a plan"
    known: dict[str, Any] = said
    problem = study.problems[0]
    document = parse_yaml(file, "the plan that was stored")
    counted = evaluate_plan(study.work, document, (study.arch, problem.energies, problem.charges))
    if not isinstance(counted, CountedPlan):
        raise InputError(document.fault((), "is no plan of a network"))
    mapped = {name: layer.mapped for name, layer in layers.by_name if layer.mapped is not None}
    keeper = plan_machine(study, counted.costs.plan.keeper)
    limits = {name: inf if limit is None else limit for name, limit in known["limits"].items()}
    return NetworkPlan(
        counted.costs,
        one_by_one(Graph.of(study.work), keeper, mapped),
        problem.goal.minimised[0],
        lower_bound,
        Statistics(seconds=known["seconds"]),
        known["searched"],
        known["most_held"],
        known["in_turn"],
        known["groups_tried"],
        tuple(part["gap"] for part in known["groups"]),
        Limits(**limits),
        _envelope([(cycles, energy_pj) for cycles, energy_pj in known["below"]]),
        tuple((cycles, energy_pj) for cycles, energy_pj in known["front"]),
    )


def _envelope(corners: Sequence[Point]) -> Envelope:
    """Make what is proven of all plans from its corners, from the fewest cycles to the most."""
    sums = []
    for (fewer, more_pj), (more, fewer_pj) in pairwise(corners):
        slope = (more_pj - fewer_pj) / (more - fewer)
        sums.append(LeastSum(slope, more_pj + slope * fewer))
    return Envelope(corners[-1][1], corners[0][0], sorted(sums))
