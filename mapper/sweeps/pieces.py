"""The pieces of work of a sweep: a point, or the layers of a workload on the machine of a set of designs."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

from ...arch import Architecture
from ...energy import EnergyTable, area_um2
from ...workloads import Fault, InputError
from ..designs import ExpressionError
from ..exploration import explored, load
from ..exploration.sets import (
    NONE,
    KnownLayer,
    KnownStudy,
    Limited,
    PowerLimit,
    explore_plans,
    explore_within,
    has_graph,
    proven_empty,
    why_no_plan,
)
from ..exploration.transforms import transformed
from ..mapspace import Preset
from ..problem import Problem, digest, plain
from ..report import Json, NetworkResult, Result, result_json
from ..report.plan_files import plan_yaml
from ..runtime import InternalError
from ..searchers import stop_rules
from .inputs import PointInputs, inputs_of, machine_of
from .plan import Plan, Point, design_values
from .store import FAILED, FOUND, NOTHING_VALID, PointOutcome

SHARE = 0.5  # of the gap of a sweep that the proof of a layer may leave; what bounds of networks leave adds to it


@dataclass(frozen=True)
class PointPiece:
    """A point of a sweep, and what is known of its layers."""

    point: Point
    known: Mapping[str, KnownLayer] = field(default_factory=dict)


@dataclass(frozen=True)
class SetPiece:
    """The layers of a workload on the machine of a set of designs, and what is known of a larger set that holds it."""

    machine: Architecture
    table: EnergyTable
    workload: str
    preset: Preset
    transformation: str
    known: Mapping[str, KnownLayer]
    limits: tuple[PowerLimit, ...] = ()  # the loosest of all designs of the set

    @cached_property
    def key(self) -> str:
        """What its bounds depend on but for the workload and the search, as a hash."""
        levels = [[own.read_pj, own.write_pj, own.update_pj, own.leak_pj_per_cycle] for own in self.table.levels]
        own = replace(self.machine, name="", components=(), calibration=None)
        known = {name: [layer.lower_bound, layer.mapping] for name, layer in self.known.items()}
        return digest([plain(own), levels, plain(replace(self.table.compute, source="", area_um2=0.0)),
                       self.preset, self.transformation, known, *map(plain, self.limits)])  # fmt: skip


def search_piece(plan: Plan, piece: PointPiece | SetPiece) -> PointOutcome | Json:
    """Search a piece."""
    if isinstance(piece, PointPiece):
        return search_point(plan, piece)
    return search_set(plan, piece)


def search_set(plan: Plan, piece: SetPiece) -> Json:
    """Bound the objective of all mappings on the machine of a set: `lower_bound`, null where nothing is proven, and
    the same of each layer with the best mapping; `empty` where it is proven that a layer has no valid mapping."""
    with warnings.catch_warnings(action="ignore"):  # points say what is to be known of figures
        try:
            machine, work = load(piece.machine, plan.workloads[piece.workload])
            work = transformed(machine, work, [piece.transformation] if piece.transformation else [])
            inputs = PointInputs(machine, work, piece.table, piece.preset)
            limited = explore_within(_study(plan, inputs, plan.seeds[0], piece.known), piece.limits, sums=False)
        except InputError:  # a design of it may have mappings all the same: there is no bound of the set
            return {"lower_bound": None, "empty": False, "layers": []}
    layers, empty = [layer for layer, _ in limited.unlimited.layers], limited.lower_bound == inf
    rows = [
        {
            "workload": layer.workload.name,
            "lower_bound": own["lower_bound"],
            "mapping": own["mapping"],
            "steps": layer.statistics.steps,
        }
        for layer in layers
        if (own := result_json(layer)).get("lower_bound") is not None
    ]
    return {"lower_bound": None if empty else limited.lower_bound, "empty": empty, "layers": rows}


def search_point(plan: Plan, piece: PointPiece) -> PointOutcome:
    """Search a point. Whatever goes wrong is its outcome, so that the others go on."""
    point = piece.point
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            inputs = inputs_of(plan, point)
            study, limits = _study(plan, inputs, point.seed, piece.known), _limits(plan, inputs, point)
            within = _within(plan, study, limits)
            result = explored(study, {}) if within is None else within.result
        except InputError as error:
            return PointOutcome(FAILED, message="; ".join(dict.fromkeys(map(str, error.faults))))
        except (ExpressionError, InternalError) as error:
            return PointOutcome(FAILED, message=str(error))
        except Exception as error:  # a fault of ours in one point must not take the others with it
            return PointOutcome(FAILED, message=f"{type(error).__name__}: {error}")
    if result.statistics.interrupted:
        raise KeyboardInterrupt
    texts = _texts([*machine_of(plan, point.design)[2], *caught])
    if not result.found:
        return PointOutcome(NOTHING_VALID, result_json(result), _hint(result), texts, none_keeps=proven_empty(result))
    outcome = PointOutcome(FOUND, result_json(result), "", texts, result.energy_pj / result.cycles)
    if isinstance(result, NetworkResult) and result.plan is not None:
        outcome = replace(outcome, plan_file=plan_yaml(result.plan.costs))
    if within is None:
        return outcome
    empty = within.lower_bound == inf
    return replace(outcome, kept=within.kept, least=None if empty else within.lower_bound, none_keeps=empty)


def _within(plan: Plan, study: KnownStudy, limits: Sequence[PowerLimit]) -> Limited | None:
    """Search a point within limits, plans where they are asked for; None where all of a grid is to be searched."""
    if plan.fuse != NONE:
        if has_graph(study.work):
            return explore_plans(study, plan.fuse, limits)
        warnings.warn(f"no plan, layer by layer: {why_no_plan(study)}", stacklevel=2)
    if limits or not plan.grid:
        return explore_within(study, limits, close=plan.question.gap)
    return None


def _limits(plan: Plan, inputs: PointInputs, point: Point) -> tuple[PowerLimit, ...]:
    """The limits that are asked of the mappings of a point. Raises InputError where they cannot be computed."""
    if not plan.question.other_limits:
        return ()
    values, area = design_values(plan, point.design), area_um2(inputs.machine, inputs.table)
    try:
        limits = plan.question.limits_of(plan.known(point.workload, values, area, inputs.machine.clock_ns))
    except ValueError as error:
        raise InputError(Fault(plan.name, None, "subject_to", str(error))) from None
    return tuple(PowerLimit(powers, most) for powers, most in limits if most < inf)


def _study(plan: Plan, inputs: PointInputs, seed: int, known: Mapping[str, KnownLayer]) -> KnownStudy:
    """Make the study of a machine. Raises InputError where a layer does not fit it."""
    options, costs = replace(plan.options, seed=seed), plan.energies.costs
    if not plan.grid and plan.question.gap:
        limits = replace(stop_rules(options).effort, gap=SHARE * plan.question.gap)
        options = replace(options, effort=limits, time_limit=None)
    study = KnownStudy.of(
        inputs.work,
        lambda layer: Problem(inputs.machine, layer, inputs.table, costs, options.goal),
        inputs.preset,
        plan.distinct,
        options,
    )
    return replace(study, known=known)


def _texts(caught: Iterable[warnings.WarningMessage]) -> tuple[str, ...]:
    """What was warned of, each once."""
    return tuple(dict.fromkeys(str(warning.message) for warning in caught))


def _hint(result: Result | NetworkResult) -> str:
    hints = {layer.workload.name: layer.hint.splitlines() for layer, _ in result.layers if not layer.found}
    return "; ".join(f"{name}: {'; '.join(map(str.strip, lines))}" for name, lines in hints.items())
