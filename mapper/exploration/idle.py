"""Says in a line which dims no axis holds and how far the axes are used, where few MAC units are busy."""

from math import prod

from ..mapping import MappingBatch
from ..mapspace import Mapspace, can_hold
from ..model import Costs

FEW = 0.1  # of the MAC units


def idle_hint(space: Mapspace, batch: MappingBatch, costs: Costs) -> str:
    """Name the dims that no axis can hold, and for each axis how much of it the single mapping of `batch` uses.

    A line where fewer than FEW of the MAC units are busy, or where no axis can hold the groups of a convolution, as of
    a depthwise layer; else empty. What an axis can hold follows from sizes and constraints alone, not from capacities.
    """
    dims, sizes = space.workload.dims, space.workload.sizes
    axes = [index for index, slot in enumerate(space.arch.slots) if slot.axis is not None and slot.axis.size > 1]
    used, groups = float(costs.utilization[0]), _groups(space)
    if not axes or not (used < FEW or groups):
        return ""
    holders = {d: [index for index in axes if can_hold(space, index, d)] for d, size in enumerate(sizes) if size > 1}
    nowhere = [d for d, places in holders.items() if not places]
    if used >= FEW and not groups.intersection(nowhere):
        return ""
    parts = [f"no axis can hold {', '.join(f'{dims[d]}={sizes[d]}' for d in nowhere)}"] if nowhere else []
    for index in axes:
        here = ", ".join(dims[d] for d, places in holders.items() if index in places)
        parts.append(
            _use(space, batch, index) + (f" (can hold {here})" if here else " (can hold no dim of this layer)")
        )
    return f"{used:.1%} of the MAC units busy: {'; '.join(parts)}"


def _use(space: Mapspace, batch: MappingBatch, index: int) -> str:
    """How many places of an axis the mapping uses."""
    slot = space.arch.slots[index]
    assert slot.axis is not None
    return f"{slot.axis.name} uses {prod(batch.factors[0, index].tolist())} of {slot.axis.size}"


def _groups(space: Mapspace) -> set[int]:
    """The dims of size over 1 that every tensor of a convolution has: its groups."""
    work = space.workload
    if not any(len(rank) > 1 for tensor in work.tensors for rank in tensor.ranks):
        return set()
    everywhere = set.intersection(*(set(tensor.dims) for tensor in work.tensors))
    return {
        d for d, (dim, size) in enumerate(zip(work.dims, work.sizes, strict=True)) if size > 1 and dim in everywhere
    }
