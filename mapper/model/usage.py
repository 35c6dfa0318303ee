"""How well a mapping uses the array: which MAC units work when."""

from math import prod

import numpy as np

from ...arch import Architecture, Axis
from ..mapping import ChainTable, Floats, Ints, MappingBatch


def array_usage(batch: MappingBatch) -> Floats:
    """The share of the steps in which the MAC units at each coordinate of the array are active. # (Y, X)

    Of one mapping, exact: its mean times the units times the steps is the number of MACs. A coordinate runs over all
    axes of its mesh direction, outer axis slowest; where all are in one direction, X is the outermost alone. Where
    several dims are spread over one axis, the last dim of the workload runs fastest, as in the nest. A step is one of
    the innermost temporal loop; a level that is too slow adds cycles without steps.
    """
    if len(batch) != 1:
        raise ValueError(f"the usage of one mapping is asked for, got a batch of {len(batch)}")
    spatial = [s for s, slot in enumerate(batch.arch.slots) if slot.spatial]
    if not spatial:
        return np.ones((1, 1))
    share: Floats = np.ones((1,) * len(spatial))
    for table, row in zip(batch.tables, batch.rows[0], strict=True):
        steps = active_steps(table, int(row), spatial)
        # one axis per slot: what the dims before have, times what this dim adds, the new one fastest
        share = np.asarray(np.kron(share, steps / steps.flat[0]), np.float64)
    down, across = _sides(batch.arch)
    sizes = [axis.size for axis in _axes(batch.arch)]
    share = np.pad(share, [(0, max(0, size - used)) for size, used in zip(sizes, share.shape, strict=True)])
    return share.transpose(down + across).reshape(prod(share.shape[i] for i in down), -1)


def sides(arch: Architecture) -> tuple[list[Axis], list[Axis]]:
    """The fanout axes that run down (Y) and those that run across (X) a map of the array, outer first."""
    axes = _axes(arch)
    down, across = _sides(arch)
    return [axes[i] for i in down], [axes[i] for i in across]


def _axes(arch: Architecture) -> list[Axis]:
    """All fanout axes, outermost first."""
    return [slot.axis for slot in arch.slots if slot.axis]


def _sides(arch: Architecture) -> tuple[list[int], list[int]]:
    """The two sides of `sides` by places in `_axes`."""
    axes = _axes(arch)
    if len(axes) > 1 and len({axis.mesh for axis in axes}) == 1:
        return list(range(1, len(axes))), [0]
    return [i for i, axis in enumerate(axes) if axis.mesh == "Y"], [
        i for i, axis in enumerate(axes) if axis.mesh == "X"
    ]


def active_steps(table: ChainTable, row: int, spatial: list[int]) -> Ints:
    """Of one dim, how many combinations of its temporal loops reach an element, at each place in the spatial slots.

    # (bound of the first spatial slot, of the second, ...)

    Slots are taken from the outermost in: `last` marks the places that have been on the last path so far, `inside`
    counts the combinations that left it below its end, and may run every loop in full.
    """
    inside, last = np.zeros((), np.int64), np.ones((), np.int64)
    for slot, (bound, digit) in enumerate(zip(table.bounds[row], table.digits[row], strict=True)):
        if slot in spatial:
            places = np.arange(bound)
            inside = inside[..., None] + last[..., None] * (places < digit)
            last = last[..., None] * (places == digit)
        else:
            inside = inside * bound + last * digit
    return np.asarray(inside + last, np.int64)
