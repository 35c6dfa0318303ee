"""Verifies a certificate: follows its sets, recomputes its bounds, counts its mappings.

The checker trusts nothing in the certificate. It relies on the readers of the architecture, the workload and the
energies, on the exact counts of single mappings (mapper/model/counts.py, compared with the executor in the tests), and
on floating-point arithmetic to 1e-12.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....arch import Architecture
from ....energy import EnergyTable
from ....workloads import Workload
from ...model import figures_exact
from ...problem import OBJECTIVES, Charges, Objective
from ..format import FRONT, TOLERANCE, Choice, LayerProof, Stage, certified_energies
from .claim import Claim, ObjectiveLimit
from .compulsory import least_cycles
from .cover import Cover, Tally
from .mapping import worth
from .memories import Kept, expanded
from .problem import Problem, Refused


@dataclass(frozen=True)
class VerifiedStage:
    """The verified facts by one objective, about the mappings that equal the best by those before.

    Of an objective that was asked for and never reached the bound is 0, and the value that of the mapping before.
    """

    objective: str
    value: float  # of the best
    lower_bound: float
    optimal: bool


@dataclass(frozen=True)
class Verified:
    """The verified facts about a layer."""

    workload: str
    remainders: tuple[str, ...]  # the slots that may have them
    objective: str  # the first of several
    points: int  # best mappings: a single one, or a front
    value: float  # of the best, by that objective; of a front 0
    lower_bound: float
    optimal: bool  # by all objectives
    stages: tuple[VerifiedStage, ...]  # by each objective in turn; of a front none
    transformations: tuple[str, ...]  # that changed the layer, in turn: the proof is about what they made of it
    sizes: dict[str, int]  # per dim
    costs: Charges
    combinations: int  # of chains and kept tensors, all accounted for
    evaluated: int  # combinations evaluated in every loop order
    sets: int  # sets of chains checked


def verify(layer: LayerProof, arch: Architecture, workload: Workload, table: EnergyTable) -> Verified:
    """Check the proof of a layer. Raises Refused with the first reason against it."""
    with np.errstate(all="ignore"):  # inf minus inf and the like give NaN, which never reaches a claimed bound
        return _verify(layer, arch, workload, table)


def _verify(layer: LayerProof, arch: Architecture, workload: Workload, table: EnergyTable) -> Verified:
    _check_fields(layer)
    problem, tally = _problem(layer, arch, workload, table), Tally()
    if layer.objective == FRONT:
        stages, points = [VerifiedStage(FRONT, 0.0, 0.0, not layer.corners)], _front_points(problem, layer, tally)
    else:
        stages, points = _stages(problem, layer, tally, arch), 1
    return Verified(
        workload.name,
        tuple(layer.remainders),
        layer.objective,
        points,
        stages[0].value,
        stages[0].lower_bound,
        all(stage.optimal for stage in stages),
        () if layer.objective == FRONT else tuple(stages),
        workload.transformations,
        layer.sizes,
        problem.costs,
        _combinations(problem),
        tally.evaluated,
        tally.sets,
    )


def _front_points(problem: Problem, layer: LayerProof, tally: Tally) -> int:
    """Check a front and return the number of its points. Raises Refused."""
    points = _front([worth(problem, claimed) for claimed in layer.best])
    _cover(problem, Claim(None, 0.0, (*points, *layer.corners)), layer.choices, tally)
    return len(points)


def _stages(problem: Problem, layer: LayerProof, tally: Tally, written: Architecture) -> list[VerifiedStage]:
    """Check the proof by each objective; the values verified by those before are its limits.

    `written` is the machine with one level for each memory. Raises Refused.
    """
    first = Stage(objective=layer.objective, best=layer.best[0], lower_bound=layer.lower_bound, choices=layer.choices)
    verified, limits = list[VerifiedStage](), list[ObjectiveLimit]()
    for stage in (first, *layer.stages):
        objective = OBJECTIVES[stage.objective]
        by_energy, by_cycles = objective.powers
        cycles, energy_pj = worth(problem, stage.best)
        value = cycles**by_cycles * energy_pj**by_energy
        if not np.isfinite(value):
            raise Refused(f"its mapping has a value of {value}")
        if not 0 <= stage.lower_bound <= value:
            raise Refused(f"the lower bound {stage.lower_bound:.9g} is not between 0 and the mapping's own {value:.9g}")
        for limit in limits:
            if limit.exceeded(np.array(energy_pj), np.array(cycles)):
                raise Refused(f"its mapping of the least {objective.title} is not best by {limit.objective.title}")
        if stage.choices:
            _cover(problem, Claim(objective.powers, stage.lower_bound, limits=tuple(limits)), stage.choices, tally)
        else:
            _check_compulsory(problem, objective, stage.lower_bound, written)
        optimal = stage.lower_bound >= value * (1 - TOLERANCE)
        verified.append(VerifiedStage(objective.name, value, stage.lower_bound, optimal))
        limits.append(ObjectiveLimit.equal_to(objective, value))
    for objective in (OBJECTIVES[name] for name in layer.objectives[len(verified) :]):
        by_energy, by_cycles = objective.powers
        verified.append(VerifiedStage(objective.name, cycles**by_cycles * energy_pj**by_energy, 0.0, optimal=False))
    return verified


def _check_compulsory(problem: Problem, objective: Objective, lower_bound: float, written: Architecture) -> None:
    """Check a bound without sets of chains: it is one of cycles, and no more than are compulsory. Raises Refused."""
    if objective.powers != (0, 1):
        raise Refused(f"nothing is said of the choice to keep anything, by {objective.title}")
    least = least_cycles(written, problem.workload, problem.costs.drain_reads)
    if lower_bound > least:
        raise Refused(f"nothing is said of the choice to keep anything: {least:,} cycles are compulsory")


def _cover(problem: Problem, claim: Claim, choices: Sequence[Choice], tally: Tally) -> None:
    """Check the sets of all choices of kept tensors against a claim, and add them to `tally`. Raises Refused."""
    before, every = tally.combinations, _combinations(problem)
    for (_, keep), choice in zip(problem.every_keep(), _choices(problem, choices), strict=True):
        Cover(problem, keep, choice, claim, tally).check()
    if (seen := tally.combinations - before) != every:
        raise Refused(f"{seen:,} combinations of chains are accounted for, of {every:,}")


def _combinations(problem: Problem) -> int:
    """Count the combinations of chains and kept tensors."""
    return problem.combinations * problem.keeps


def _check_fields(layer: LayerProof) -> None:
    """Check that the fields of a front, or of objectives, are set and no others. Raises Refused."""
    front = layer.objective == FRONT
    _check_objectives(layer, front)
    if front and layer.stages:
        raise Refused("it is of a front, and of other objectives after it")
    if not layer.best or (not front and len(layer.best) > 1):
        raise Refused(f"{len(layer.best)} mappings are said to be the best")
    if layer.corners and not front:
        raise Refused("it has points below a front, and is of no front")
    if layer.lower_bound < 0 or (layer.lower_bound and front):
        raise Refused(f"it has a lower bound of {layer.lower_bound:.9g}")


def _check_objectives(layer: LayerProof, front: bool) -> None:
    """Check that the objectives have proofs, each once, and are the first of those asked for. Raises Refused."""
    names = [layer.objective, *(stage.objective for stage in layer.stages)]
    for i, name in enumerate([*names, *layer.objectives[len(names) :]]):
        if name not in OBJECTIVES and not (front and not i):
            raise Refused(f"it is of the objective {name}, which has no proofs")
        if name in names[:i]:
            raise Refused(f"it is of the objective {name} twice")
    if layer.objectives and (front or layer.objectives[: len(names)] != names):
        raise Refused(f"it is of {', '.join(names)}, and {', '.join(layer.objectives)} were asked for")


def _front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Sort the points of a front and merge those equal up to rounding. Raises Refused where a point is beaten."""
    front: list[tuple[float, float]] = []
    for cycles, energy_pj in sorted(points):
        if front and energy_pj >= front[-1][1] * (1 - TOLERANCE):
            if energy_pj > front[-1][1] * (1 + TOLERANCE):
                raise Refused(f"its mapping of {cycles:.12g} cycles and {energy_pj:.12g} pJ is beaten by another of it")
        else:
            front.append((cycles, energy_pj))
    return front


def _problem(layer: LayerProof, arch: Architecture, workload: Workload, table: EnergyTable) -> Problem:
    """Make the problem. Raises Refused where the certificate is about a different one."""
    if not figures_exact(arch, workload):
        raise Refused("figures of this layer may pass 2^53, where float64 rounds them")
    if arch.systolic is not None:
        raise Refused(f"the cycles of {arch.name} depend on loop orders, as it has systolic axes: nothing is certified")
    _check_workload(layer, workload)
    if arch.levels[0].placement != "even":
        raise Refused(f"{arch.levels[0].name}, the outermost level, holds whole tensors, so its placement is even")
    _check_energies(layer, table)
    if len(set(layer.remainders)) != len(layer.remainders):
        raise Refused("it names a slot with remainders twice")
    arch, table = expanded(arch, table, workload)
    _check_remainders(layer, arch)
    costs = Charges(layer.leakage, layer.wire_pj_per_bit_mm, layer.tile_mm, layer.hop_pj, layer.drain_reads)
    if costs.faults():
        raise Refused(f"it counts the network in a way that there is not: {costs.faults()[0]}")
    return Problem(arch, workload, table, [slot.name in layer.remainders for slot in arch.slots], costs)


def _check_workload(layer: LayerProof, workload: Workload) -> None:
    """Check that the certificate is of these sizes, after the same transformations. Raises Refused."""
    missing = [name for name in layer.transformations if name not in workload.transformations]
    if missing:
        raise Refused(f"it is of the layer after {', '.join(missing)}: give --{' --'.join(missing)}")
    more = [name for name in workload.transformations if name not in layer.transformations]
    if more and not layer.pad:
        raise Refused(f"it is of the layer without {', '.join(more)}: leave out --{' --'.join(more)}")
    sizes = dict(zip(workload.dims, workload.sizes, strict=True))
    if sizes != layer.sizes:
        raise Refused(f"it is of sizes {layer.sizes}, and {workload.name} has {sizes}")


def _check_energies(layer: LayerProof, table: EnergyTable) -> None:
    """Check that the certificate is of the energies in `table`. Raises Refused."""
    if set(layer.energies) != set(energies := certified_energies(table)):
        raise Refused("it is of other levels")
    for name, figures in energies.items():
        if layer.energies[name] != figures:
            raise Refused(f"it is of other energies at {name}: {layer.energies[name]}, and not {figures}")


def _check_remainders(layer: LayerProof, arch: Architecture) -> None:
    """Check that the slots with remainders are there, and are those that constraints ask for. Raises Refused."""
    unknown = set(layer.remainders) - {slot.name for slot in arch.slots}
    if unknown:
        raise Refused(f"it speaks of remainders at {', '.join(sorted(unknown))}, which {arch.name} has not")
    for slot in arch.slots:
        if slot.constraint.remainders not in (None, slot.name in layer.remainders):
            raise Refused(f"it is of other remainders at {slot.name}")


def _choices(problem: Problem, choices: Sequence[Choice]) -> list[Choice]:
    """Sort the choices of kept tensors in the order of `every_keep`. Raises Refused unless each is there once."""
    memories = [memory.name for memory in problem.memories]
    by_names: dict[tuple[Kept, ...], Choice] = {}
    for choice in choices:
        if set(choice.keep) != set(memories):
            raise Refused("a choice of what is kept names other levels")
        key = problem.kept(choice.keep)
        if key in by_names:
            raise Refused(f"a choice of what is kept is there twice: {choice.keep}")
        by_names[key] = choice
    ordered = []
    for key, _ in problem.every_keep():
        if key not in by_names:
            missing = {name: list(names) for name, names in zip(memories, key, strict=True)}
            raise Refused(f"nothing is said of the choice to keep {missing}")
        ordered.append(by_names.pop(key))
    if by_names:
        raise Refused(f"a choice of what is kept is none of the mapspace: {next(iter(by_names.values())).keep}")
    return ordered
