"""The architecture's constraints that one mapping breaks: bounds, loop orders, remainders, keep and bypass."""

from collections.abc import Iterator

from ..mapping import MappingBatch
from .constraints import Limit, limits


def violations(batch: MappingBatch) -> list[str]:
    """What the one mapping of `batch` does that its architecture's constraints rule out, a line each.

    Loops of bound 1 break no order. Sizes of axes, utilisation and capacity are left to `misfits`.
    """
    return [*_bounds(batch), *_remainders(batch), *_orders(batch), *_kept(batch)]


def _bounds(batch: MappingBatch) -> Iterator[str]:
    factors, dims = batch.factors[0], batch.workload.dims  # (slot, dim)
    for limit in limits(batch.arch, batch.workload):
        bounds = factors[list(limit.slots)]
        if limit.kind == "loops" and limit.hi is not None and (loops := int((bounds > 1).sum())) > limit.hi:
            yield f"{limit.text} are allowed, got {loops}"
        elif limit.kind in ("bound", "product") and limit.dim is not None:
            bound = int(bounds[:, limit.dim].prod())
            if not _within(limit, bound):
                yield f"{limit.text} must hold, got {dims[limit.dim]}={bound}"


def _within(limit: Limit, bound: int) -> bool:
    return limit.lo <= bound and (limit.hi is None or bound <= limit.hi)


def _remainders(batch: MappingBatch) -> Iterator[str]:
    factors, residuals = batch.factors[0], batch.residuals[0]  # (slot, dim)
    for index, slot in enumerate(batch.arch.slots):
        if slot.constraint.remainders is False:
            pairs = zip(batch.workload.dims, factors[index], residuals[index], strict=True)
            ragged = ", ".join(f"{dim}={bound},{last}" for dim, bound, last in pairs if bound != last)
            if ragged:
                yield f"no remainders are allowed at {slot.name}, got {ragged}"


def _orders(batch: MappingBatch) -> Iterator[str]:
    dims = batch.workload.dims
    for index, slot in enumerate(batch.arch.slots):
        if slot.spatial:
            continue
        bounds = batch.factors[0, index]
        loops = [dims[d] for d in batch.order[0, slot.level] if bounds[d] > 1]
        first = [dim for dim in slot.constraint.outermost if dim in loops]
        last = [dim for dim in slot.constraint.innermost if dim in loops]
        if loops[: len(first)] != first:
            yield f"{slot.name}: the outermost loops must be {' '.join(first)}, got {' '.join(loops)}, outermost first"
        if loops[len(loops) - len(last) :] != last:
            yield f"{slot.name}: the innermost loops must be {' '.join(last)}, got {' '.join(loops)}, outermost first"


def _kept(batch: MappingBatch) -> Iterator[str]:
    for levels in batch.arch.stacks:
        level = batch.arch.levels[levels[0]]
        name, row = level.of_memory, batch.keep[0, levels.start : levels.stop].any(axis=0)
        for tensor, keeps in zip(batch.workload.tensors, row, strict=True):
            if keeps and tensor.name in level.bypass:
                yield f"{name} must bypass {tensor.name}, and the mapping keeps it there"
            elif not keeps and batch.arch.levels[levels[-1]].must_keep(tensor.name):
                yield f"{name} must keep {tensor.name}, and the mapping bypasses it there"
