"""A point of a sweep takes the mapping of another point where that is better there, after all searches.

Which points there are decides, not the order in which they were searched: the store holds what each search found, and
this pass begins anew from that (docs/decisions/111-transfers-in-sweeps.md).
"""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from ...workloads import InputError
from ..exploration import Entries, Study, Transfer
from ..problem import Charges, Problem
from ..report import Json, with_mappings_of
from ..runtime import in_order
from .inputs import inputs_of
from .plan import Plan, Point, design_values
from .store import FAILED, FOUND, ORIGIN, PointOutcome

MOST = 1000  # points whose mappings a point tries: those of the designs that differ in the fewest parameters


@dataclass(frozen=True)
class SourcePoint:
    """The mappings of a point, by the names of layers."""

    design: int
    mappings: Mapping[str, Entries]


Alike = tuple[str, str, int]  # workload, transformation, seed: points that have the same layers and luck
SharedMappings = tuple[Plan, Mapping[Alike, list[SourcePoint]]]


def with_transfers(plan: Plan, outcomes: Mapping[int, PointOutcome], jobs: int | str) -> dict[int, PointOutcome]:
    """Return the outcomes, with better mappings of other points, adapted where need be, until none is left.

    Points of one seed share their mappings, for seeds are to say what luck does. Lower bounds stay: they are of the
    mapspace.
    """
    current = dict(sorted(outcomes.items()))
    changed = {number for number, outcome in current.items() if outcome.status == FOUND}
    while changed:
        donors = _donors(plan, current, changed)
        open_points = [(number, outcome) for number, outcome in current.items() if _open(plan, number, outcome, donors)]
        changed = set()
        with closing(in_order(try_transfer, (plan, donors), open_points, jobs, most=1)) as results:
            for (number, before), outcome in zip(open_points, results, strict=True):
                current[number] = outcome or before
                if outcome and outcome.result != before.result:
                    changed.add(number)
    return current


def _donors(plan: Plan, outcomes: Mapping[int, PointOutcome], numbers: set[int]) -> dict[Alike, list[SourcePoint]]:
    donors: dict[Alike, list[SourcePoint]] = {}
    for number in sorted(numbers):
        point = plan.point(number)
        donors.setdefault(_transfer_group(point), []).append(
            SourcePoint(point.design, mappings_of(outcomes[number].result))
        )
    return donors


def _transfer_group(point: Point) -> Alike:
    return point.workload, point.mapspace.partition("+")[2], point.seed


def _open(plan: Plan, number: int, outcome: PointOutcome, donors: Mapping[Alike, list[SourcePoint]]) -> bool:
    """Whether another mapping may be better: there are some, and none is proven best."""
    proven = outcome.result is not None and bool(outcome.result.get("optimal"))
    return outcome.status != FAILED and not proven and _transfer_group(plan.point(number)) in donors


def mappings_of(result: Json | None) -> dict[str, Entries]:
    """The mappings of a layer, or of the layers of a network, by name; equal layers have one by each name."""
    whole: Any = result or {}
    layers = whole.get("layers", [whole])
    return {name: layer["mapping"] for layer in layers if layer.get("mapping")
            for name in (layer["workload"], *layer.get("alike", ()))}  # fmt: skip


def try_transfer(shared: SharedMappings, chunk: tuple[int, PointOutcome]) -> PointOutcome | None:
    """The outcome of a point with better mappings of other points; None where none is. A fault is a warning of it."""
    (plan, donors), (number, outcome) = shared, chunk
    point = plan.point(number)
    own = mappings_of(outcome.result)
    donated = _donated(plan, point, own, donors[_transfer_group(point)])
    if not donated:
        return None
    try:
        return _improved(plan, point, outcome, own, donated)
    except InputError as error:
        why = "; ".join(dict.fromkeys(map(str, error.faults)))
    except Exception as error:  # a fault of ours in one point must not take the others with it
        why = f"{type(error).__name__}: {error}"
    return replace(outcome, warnings=(*outcome.warnings, f"mappings of other designs were not tried: {why}"))


def _donated(
    plan: Plan, point: Point, own: Mapping[str, Entries], donors: list[SourcePoint]
) -> dict[str, list[Entries]]:
    """The mappings of others by layer, each once, and not those that the point has."""
    own_values = design_values(plan, point.design)

    def difference(donor: SourcePoint) -> int:
        donor_values = design_values(plan, donor.design)
        return sum(own_values.get(name) != donor_values.get(name) for name in plan.parameters)

    near = sorted(donors, key=difference)[:MOST] if len(donors) > MOST else donors
    distinct: dict[str, dict[str, Entries]] = {}
    for donor in near:
        for name, entries in donor.mappings.items():
            distinct.setdefault(name, {}).setdefault(json.dumps(entries), entries)
    for name, entries in own.items():
        distinct.get(name, {}).pop(json.dumps(entries), None)
    return {name: list(mappings.values()) for name, mappings in distinct.items() if mappings}


def _improved(
    plan: Plan, point: Point, outcome: PointOutcome, own: Mapping[str, Entries], donated: Mapping[str, list[Entries]]
) -> PointOutcome | None:
    better = Transfer(study_of(plan, point), own, donated).result()
    if better is None or outcome.result is None:
        return None
    result = with_mappings_of(outcome.result, better, ORIGIN)
    return replace(outcome, status=FOUND, message="", result=result,
                   power_pj_per_cycle=better.energy_pj / better.cycles)  # fmt: skip


def study_of(plan: Plan, point: Point) -> Study:
    """Make the study of a point. Raises InputError, or ExpressionError."""
    inputs = inputs_of(plan, point)
    costs, options = plan.energies.costs or Charges(), replace(plan.options, seed=point.seed)
    return Study.of(
        inputs.work,
        lambda layer: Problem(inputs.machine, layer, inputs.table, costs, options.goal),
        inputs.preset,
        plan.distinct,
        options,
    )
