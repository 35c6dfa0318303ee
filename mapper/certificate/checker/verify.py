"""Verifies a certificate: follows its sets, recomputes its bounds, counts its mappings.

The checker trusts nothing in the certificate. It relies on the readers of the architecture, the workload and the
energies, on the exact counts of single mappings (mapper/model/counts.py, compared with the executor in the tests), and
on floating-point arithmetic to 1e-12.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....arch import Architecture, Storage
from ....energy import EnergyTable
from ....workloads import Workload
from ...mapping import MappingBatch
from ...model import OBJECTIVES, CostOptions, Counts, TooLarge, evaluate, figures_exact, recount, simulate, validity
from ..format import FRONT, TOLERANCE, CertifiedMapping, Choice, Layer, certified_energies
from .claim import Claim
from .columns import Columns
from .cover import Cover, Tally
from .problem import Problem, Refused

EXECUTED = 100_000  # a mapping of at most so many (step, MAC) pairs is executed


@dataclass(frozen=True)
class Verified:
    """The verified facts about a layer."""

    workload: str
    remainders: tuple[str, ...]  # the slots that may have them
    objective: str
    points: int  # best mappings: a single one, or a front
    value: float  # of the best; of a front 0
    lower_bound: float
    optimal: bool
    pad: bool  # whether the proof is about the layer with dims rounded up
    sizes: dict[str, int]  # per dim
    costs: CostOptions
    combinations: int  # of chains and kept tensors, all accounted for
    evaluated: int  # combinations evaluated in every loop order
    sets: int  # sets of chains checked


def verify(layer: Layer, arch: Architecture, workload: Workload, table: EnergyTable) -> Verified:
    """Check the proof of a layer. Raises Refused with the first reason against it."""
    with np.errstate(all="ignore"):  # inf minus inf and the like give NaN, which never reaches a claimed bound
        return _verify(layer, arch, workload, table)


def _verify(layer: Layer, arch: Architecture, workload: Workload, table: EnergyTable) -> Verified:
    if layer.objective not in (FRONT, *OBJECTIVES):
        raise Refused(f"it is of the objective {layer.objective}, which has no proofs")
    problem = _problem(layer, arch, workload, table)
    powers = None if layer.objective == FRONT else OBJECTIVES[layer.objective].powers
    _check_fields(layer)
    points = [_worth(problem, claimed) for claimed in layer.best]
    value = 0.0 if powers is None else points[0][0] ** powers[1] * points[0][1] ** powers[0]
    if not np.isfinite(value):
        raise Refused(f"its mapping has a value of {value}")
    if powers is None:
        points = _front(points)
    elif layer.lower_bound > value:
        raise Refused(f"the lower bound {layer.lower_bound:.9g} is above the mapping's own {value:.9g}")
    tally = Tally()
    claim = Claim(powers, layer.lower_bound, (*points, *layer.corners) if powers is None else ())
    for keep, choice in zip(problem.every_keep(), _choices(problem, layer.choices), strict=True):
        Cover(Columns(problem, keep), choice, claim, tally).check()
    every = problem.combinations * 2 ** len(problem.free)
    if tally.combinations != every:
        raise Refused(f"{tally.combinations:,} combinations of chains are accounted for, of {every:,}")
    optimal = not layer.corners if powers is None else layer.lower_bound >= value * (1 - TOLERANCE)
    return Verified(
        workload.name,
        tuple(layer.remainders),
        layer.objective,
        len(points),
        value,
        layer.lower_bound,
        optimal,
        layer.pad,
        layer.sizes,
        problem.costs,
        every,
        tally.evaluated,
        tally.sets,
    )


def _check_fields(layer: Layer) -> None:
    """Check that the fields of a front, or of a single objective, are set and no others. Raises Refused."""
    front = layer.objective == FRONT
    if not layer.best or (not front and len(layer.best) > 1):
        raise Refused(f"{len(layer.best)} mappings are said to be the best")
    if layer.corners and not front:
        raise Refused("it has points below a front, and is of no front")
    if layer.lower_bound < 0 or (layer.lower_bound and front):
        raise Refused(f"it has a lower bound of {layer.lower_bound:.9g}")


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


def _problem(layer: Layer, arch: Architecture, workload: Workload, table: EnergyTable) -> Problem:
    """Make the problem. Raises Refused where the certificate is about a different one."""
    sizes = dict(zip(workload.dims, workload.sizes, strict=True))
    if not figures_exact(arch, workload):
        raise Refused("figures of this layer may pass 2^53, where float64 rounds them")
    if sizes != layer.sizes:
        raise Refused(f"it is of sizes {layer.sizes}, and {workload.name} has {sizes}")
    if set(layer.energies) != set(energies := certified_energies(table)):
        raise Refused("it is of other levels")
    for name, figures in energies.items():
        if layer.energies[name] != figures:
            raise Refused(f"it is of other energies at {name}: {layer.energies[name]}, and not {figures}")
    if len(set(layer.remainders)) != len(layer.remainders):
        raise Refused("it names a slot with remainders twice")
    unknown = set(layer.remainders) - {slot.name for slot in arch.slots}
    if unknown:
        raise Refused(f"it speaks of remainders at {', '.join(sorted(unknown))}, which {arch.name} has not")
    for slot in arch.slots:
        if slot.constraint.remainders not in (None, slot.name in layer.remainders):
            raise Refused(f"it is of other remainders at {slot.name}")
    costs = CostOptions(layer.leakage, layer.wire_pj_per_bit_mm, layer.tile_mm, layer.hop_pj)
    if costs.faults():
        raise Refused(f"it counts the network in a way that there is not: {costs.faults()[0]}")
    return Problem(arch, workload, table, [slot.name in layer.remainders for slot in arch.slots], costs)


def _choices(problem: Problem, choices: Sequence[Choice]) -> list[Choice]:
    """Sort the choices of kept tensors in the order of `every_keep`. Raises Refused unless each is there once."""
    levels, tensors = problem.arch.levels, problem.workload.tensors
    by_names: dict[tuple[tuple[str, ...], ...], Choice] = {}
    for choice in choices:
        if set(choice.keep) != {level.name for level in levels}:
            raise Refused("a choice of what is kept names other levels")
        key = tuple(tuple(sorted(choice.keep[level.name])) for level in levels)
        if key in by_names:
            raise Refused(f"a choice of what is kept is there twice: {choice.keep}")
        by_names[key] = choice
    ordered = []
    for keep in problem.every_keep():
        names = [[tensor.name for v, tensor in enumerate(tensors) if row[v]] for row in keep]
        key = tuple(tuple(sorted(each)) for each in names)
        if key not in by_names:
            missing = dict(zip((level.name for level in levels), names, strict=True))
            raise Refused(f"nothing is said of the choice to keep {missing}")
        ordered.append(by_names.pop(key))
    if by_names:
        raise Refused(f"a choice of what is kept is none of the mapspace: {next(iter(by_names.values())).keep}")
    return ordered


def _worth(problem: Problem, claimed: CertifiedMapping) -> tuple[float, float]:
    """Count cycles and energy of a mapping.

    Raises Refused unless it is in the mapspace, valid, and costs what the certificate claims.
    """
    batch = _mapping(problem, claimed)
    if reason := _invalid(problem, batch):
        raise Refused(f"its mapping is not valid: {reason}")
    costs = evaluate(batch, problem.table, problem.costs, _counts(batch))
    cycles, energy_pj = float(costs.cycles[0]), float(costs.energy_pj[0])
    for name, counted, claim in (("cycles", cycles, claimed.cycles), ("pJ", energy_pj, claimed.energy_pj)):
        if not (np.isfinite(counted) and abs(counted - claim) <= TOLERANCE * abs(counted)):
            raise Refused(f"its mapping takes {counted:.12g} {name}, and not {claim:.12g}")
    return cycles, energy_pj


def _counts(batch: MappingBatch) -> Counts:
    """Count a mapping: execute it where that is quick, else use the model."""
    try:
        return simulate(batch, EXECUTED)
    except TooLarge:
        return recount(batch)


def _mapping(problem: Problem, claimed: CertifiedMapping) -> MappingBatch:
    """Make the mapping. Raises Refused unless its chains, orders and kept tensors are in the mapspace."""
    workload, levels = problem.workload, problem.arch.levels
    names = {level.name for level in levels}
    if set(claimed.bounds) != set(workload.dims) or set(claimed.orders) != names or set(claimed.keep) != names:
        raise Refused("its mapping is of other dims or levels")
    chains = []
    for dim, known in zip(workload.dims, problem.chains, strict=True):
        bounds = claimed.bounds.get(dim, [])
        if len(bounds) != known.bounds.shape[1] or not (known.bounds == bounds).all(axis=1).any():
            raise Refused(f"its mapping's bounds {bounds} of {dim} are not of the mapspace")
        chains.append(bounds)
    order = [_order(workload, level, claimed.orders.get(level.name, [])) for level in levels]
    keep = np.array(
        [[tensor.name in claimed.keep.get(level.name, []) for tensor in workload.tensors] for level in levels]
    )
    if not any((keep == each).all() for each in problem.every_keep()):
        raise Refused("what its mapping keeps is not of the mapspace")
    factors = np.array(chains, np.int64).T[None]
    return MappingBatch.of(problem.arch, workload, factors, np.array([order], np.int8), keep[None])


def _order(workload: Workload, level: Storage, dims: list[str]) -> list[int]:
    """Read a loop order as numbers of dims. Raises Refused where the level does not allow it."""
    front = [dim for dim in level.temporal.outermost if dim in workload.dims]
    back = [dim for dim in level.temporal.innermost if dim in workload.dims]
    ends = dims[: len(front)] == front and dims[len(dims) - len(back) :] == back
    if sorted(dims) != sorted(workload.dims) or not ends:
        raise Refused(f"its mapping's loop order {dims} at {level.name} is not of the mapspace")
    return [workload.dims.index(dim) for dim in dims]


def _invalid(problem: Problem, batch: MappingBatch) -> str:
    """Name the limit that the single mapping of `batch` exceeds; an empty text if it is valid."""
    bounds, workload = batch.factors[0].astype(object), problem.workload  # (slot, dim), as Python integers
    for s, slot in enumerate(problem.arch.slots):
        spread, loops = int(np.prod(bounds[s])), sum(int(bound) > 1 for bound in bounds[s])
        if slot.axis is not None and not slot.least <= spread <= slot.axis.size:
            return f"{slot.name} is spread over {spread} of {slot.axis.size} places"
        if slot.axis is None and slot.constraint.max_loops is not None and loops > slot.constraint.max_loops:
            return f"{slot.name} has {loops} loops"
    for i, level in enumerate(problem.arch.levels):
        inside = [s for s, slot in enumerate(problem.arch.slots) if slot.level >= i]
        extent = {dim: min(int(np.prod(bounds[inside, d])), workload.sizes[d]) for d, dim in enumerate(workload.dims)}
        bits = 0
        for v, tensor in enumerate(workload.tensors):
            words = 1
            for rank in tensor.ranks:
                words *= 1 + sum(term.coef * (extent[term.dim] - 1) for term in rank)
            bits += words * level.bits(tensor.name, tensor.word_bits) if batch.keep[0, i, v] else 0
        if level.capacity_bits is not None and bits * level.multiple_buffering > level.capacity_bits:
            return f"{level.name} would hold {bits:,} bits"
    return "" if validity(batch)[0] == 0 else "the model says so"
