"""Checks the mappings of a certificate: that each is of the mapspace, valid, and costs what is claimed."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ....arch import Storage
from ....workloads import Workload
from ...mapping import Bools, Ints, MappingBatch
from ...model import Counts, TooLarge, evaluate, recount, simulate, validity
from ..format import TOLERANCE, CertifiedMapping
from .memories import Memory
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
    names, memories = {level.name for level in levels}, {memory.name for memory in problem.memories}
    if set(claimed.bounds) != set(workload.dims) or set(claimed.orders) != names or set(claimed.keep) != memories:
        raise Refused("its mapping is of other dims or levels")
    chains = []
    for dim, known in zip(workload.dims, problem.chains, strict=True):
        bounds = claimed.bounds.get(dim, [])
        if len(bounds) != known.bounds.shape[1] or not (known.bounds == bounds).all(axis=1).any():
            raise Refused(f"its mapping's bounds {bounds} of {dim} are not of the mapspace")
        chains.append(bounds)
    order = [_order(workload, level, claimed.orders.get(level.name, [])) for level in levels]
    said = problem.kept(claimed.keep)
    keep = next((keep for names, keep in problem.every_keep() if names == said), None)
    if keep is None:
        raise Refused("what its mapping keeps is not of the mapspace")
    factors = np.array(chains, np.int64).T[None]
    _check_placement(problem, factors[0], keep)
    return MappingBatch.of(problem.arch, workload, factors, np.array([order], np.int8), keep[None])


def _check_placement(problem: Problem, factors: Ints, keep: Bools) -> None:
    """Check where loops stand in memories with several levels; `factors` # (slot, dim), `keep` # (level, tensor).

    None may stand in a level that keeps nothing, but in the last, and tensors with none between them are in the order
    of the workload. Raises Refused.
    """
    temporal = [s for s, slot in enumerate(problem.arch.slots) if slot.axis is None]
    names = [tensor.name for tensor in problem.workload.tensors]
    keep = keep & [[name not in level.resident for name in names] for level in problem.arch.levels]
    for memory in problem.memories:
        for level, inner in pairwise(memory.levels):
            loops = (factors[temporal[level]] > 1).any()
            if loops and not keep[level].any():
                raise Refused(f"its mapping has loops in {memory.name} outside all tensors kept there")
            descend = keep[level].any() and keep[level].argmax() > keep[inner].argmax()
            if descend and not loops:
                raise Refused(f"its mapping has tensors of {memory.name} that no loop divides, and not in order")


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
    bounds, loops_of = batch.factors[0].astype(object), dict[int, int]()  # (slot, dim), as Python integers
    for s, slot in enumerate(problem.arch.slots):
        spread, loops = int(np.prod(bounds[s])), sum(int(bound) > 1 for bound in bounds[s])
        if slot.axis is not None and not slot.least <= spread <= slot.axis.size:
            return f"{slot.name} is spread over {spread} of {slot.axis.size} places"
        if slot.axis is None:
            loops_of[slot.level] = loops
    in_all, most_in_all = sum(loops_of.values()), problem.arch.max_loops
    if most_in_all is not None and in_all > most_in_all:
        return f"it has {in_all} temporal loops"
    for memory in problem.memories:
        if exceeded := _exceeded(memory, batch, loops_of):
            return exceeded
    return "" if validity(batch)[0] == 0 else "the model says so"


def _exceeded(memory: Memory, batch: MappingBatch, loops_of: Mapping[int, int]) -> str:
    """Name the limit of a memory that the single mapping of `batch`, with so many loops per level, exceeds."""
    storage, levels = memory.storage, memory.levels
    loops, most = sum(loops_of[level] for level in levels), storage.temporal.max_loops
    if most is not None and loops > most:
        return f"{memory.name} has {loops} loops"
    bits = sum(_kept_bits(batch, level) for level in levels)
    if storage.capacity_bits is not None and bits * storage.multiple_buffering > storage.capacity_bits:
        return f"{memory.name} would hold {bits:,} bits"
    return ""


def _kept_bits(batch: MappingBatch, level: int) -> int:
    """Add up the bits of the largest tiles that the single mapping of `batch` keeps at a level."""
    bounds, workload, bits = batch.factors[0].astype(object), batch.workload, 0
    inside = [s for s, slot in enumerate(batch.arch.slots) if slot.level >= level]
    extent = {dim: min(int(np.prod(bounds[inside, d])), workload.sizes[d]) for d, dim in enumerate(workload.dims)}
    whole = dict(zip(workload.dims, workload.sizes, strict=True))
    for v, tensor in enumerate(workload.tensors):
        words, extents = 1, whole if tensor.name in batch.arch.levels[level].resident else extent
        for rank in tensor.ranks:
            words *= 1 + sum(term.coef * (extents[term.dim] - 1) for term in rank)
        bits += words * batch.arch.levels[level].bits(tensor.name, tensor.word_bits) if batch.keep[0, level, v] else 0
    return bits
