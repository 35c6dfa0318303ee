"""Checks the mappings of a certificate: that each is of the mapspace, valid, and costs what is claimed."""

import numpy as np

from ....arch import Storage
from ....workloads import Workload
from ...mapping import MappingBatch
from ...model import Counts, TooLarge, evaluate, recount, simulate, validity
from ..format import TOLERANCE, CertifiedMapping
from .problem import Problem, Refused

EXECUTED = 100_000  # a mapping of at most so many (step, MAC) pairs is executed


def worth(problem: Problem, claimed: CertifiedMapping) -> tuple[float, float]:
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
