"""Explains a result: why no mapping is valid, and why few MAC units are busy.

The first names the constraints that invalid mappings violate, the second the dims that no axis holds.
"""

from collections.abc import Iterator
from math import prod

import numpy as np

from ...arch import Slot
from ...workloads import Tensor
from ..mapping import Bools, Floats, Ints, MappingBatch
from ..mapspace import Mapspace, can_hold, violations
from ..model import REASONS, validity
from ..model.figures import Mapped
from ..model.nests import NestAnalysis, TileSizes

FEW = 0.1  # of the MAC units


def idle_hint(space: Mapspace, mapped: Mapped) -> str:
    """Name the dims that no axis can hold, and for each axis how much of it a mapping uses.

    A line where fewer than FEW of the MAC units are busy, or where no axis can hold the groups of a convolution, as of
    a depthwise layer; else empty. What an axis can hold follows from sizes and constraints alone, not from capacities.
    """
    dims, sizes = space.workload.dims, space.workload.sizes
    axes = [index for index, slot in enumerate(space.arch.slots) if slot.axis is not None and slot.axis.size > 1]
    used, groups = float(mapped.costs.utilization[0]), _groups(space)
    if not axes or not (used < FEW or groups):
        return ""
    holders = _holders(space, axes)
    nowhere = [d for d, places in holders.items() if not places]
    if used >= FEW and not groups.intersection(nowhere):
        return ""
    parts = [f"no axis can hold {', '.join(f'{dims[d]}={sizes[d]}' for d in nowhere)}"] if nowhere else []
    parts += [_use(space, mapped.batch, index, holders) for index in axes]
    return f"{used:.1%} of the MAC units busy: {'; '.join(parts)}"


def _holders(space: Mapspace, axes: list[int]) -> dict[int, list[int]]:
    """Which of `axes` can hold each dim of size over 1."""
    sizes = space.workload.sizes
    return {d: [index for index in axes if can_hold(space, index, d)] for d, size in enumerate(sizes) if size > 1}


def _use(space: Mapspace, batch: MappingBatch, index: int, holders: dict[int, list[int]]) -> str:
    """How many places of an axis the mapping uses, and which dims it could hold."""
    slot = space.arch.slots[index]
    assert slot.axis is not None
    used = prod(batch.factors[0, index].tolist())
    dims = ", ".join(space.workload.dims[d] for d, places in holders.items() if index in places)
    return f"{slot.axis.name} uses {used} of {slot.axis.size} (can hold {dims or 'no dim of this layer'})"


def _groups(space: Mapspace) -> set[int]:
    """The dims of size over 1 that every tensor of a convolution has: its groups."""
    work = space.workload
    if not any(len(rank) > 1 for tensor in work.tensors for rank in tensor.ranks):
        return set()
    everywhere = set.intersection(*(set(tensor.dims) for tensor in work.tensors))
    return {
        d for d, (dim, size) in enumerate(zip(work.dims, work.sizes, strict=True)) if size > 1 and dim in everywhere
    }


def hint(batch: MappingBatch, longer: str) -> str:
    """Explain which limits the mappings of `batch` exceed, and how near the nearest comes: a line per reason, the
    commonest first, with an indented line for each further level. If some mappings are valid, the first line says so,
    and names the option that makes a search `longer`; if all are, the text is empty."""
    reasons = validity(batch)
    valid, lines = int((reasons == 0).sum()), []
    if valid and valid < len(batch):  # the search ended before it saw them
        valid_text = f"{valid:,} of {len(batch):,} mappings looked at {'are' if valid > 1 else 'is'} valid"
        first = int(np.flatnonzero(reasons == 0)[0]) + 1
        lines.append(f"{valid_text}, the first of them number {first:,}: search longer ({longer})")
    for code in sorted(set(reasons.tolist()) - {0}, key=lambda code: -int((reasons == code).sum())):
        share = float((reasons == code).mean())
        failed = batch.take(np.flatnonzero(reasons == code))
        lines.append(f"{REASONS[code]} ({share:.1%} of {len(batch):,} looked at): {_EXPLAIN[REASONS[code]](failed)}")
    return "\n".join(lines)


def exceeded_limits(batch: MappingBatch) -> list[str]:
    """List the limits that the single mapping of `batch` exceeds: constraints of the architecture, overfull levels with
    their tensors, axes. Empty for a valid mapping."""
    lines = [f"violates the architecture's constraints: {text}" for text in violations(batch)]
    sizes = TileSizes(NestAnalysis(batch))
    for stack in batch.arch.stacks:
        level = batch.arch.levels[stack[0]]
        if level.capacity_bits is None:
            continue
        usable = level.capacity_bits // level.multiple_buffering
        over = int(sizes.memory_bits(stack)[0]) - usable
        if over > 0:
            kept_tensors = list(_kept(batch, stack, 0))
            tiles = " + ".join(f"{t.name} {int(sizes.words(i, t)[0]):,} words" for i, t in kept_tensors)
            width = max(level.bits(t.name, t.word_bits) for _, t in kept_tensors)
            words = -(-over // width)
            lines.append(
                f"{level.of_memory}: {tiles} overflow its {usable // width:,} words by {words:,} word{'s'[: words > 1]}"
            )
    for slot, size, used in _axes(batch):
        if used[0] > size:
            lines.append(f"{slot.name}: bounds multiply to {used[0]}, it has {size} instances")
        elif used[0] < slot.least:
            asked = slot.constraint.min_utilization
            lines.append(f"{slot.name}: {used[0]} of {size} instances used, at least {asked:.0%} are asked for")
    return lines


def _kept(batch: MappingBatch, stack: range, mapping: int) -> Iterator[tuple[int, Tensor]]:
    """Yield the tensors that a memory keeps in one of the mappings, each with the level that has its tile."""
    for level in stack:
        yield from ((level, t) for v, t in enumerate(batch.workload.tensors) if batch.keep[mapping, level, v])


def _capacity(batch: MappingBatch) -> str:
    """Describe each memory that overflows, the commonest first: how often, how often alone, and by how little.

    If there are several, describe also the mapping nearest to fit, whose worst level overflows by the least share.
    """
    sizes = TileSizes(NestAnalysis(batch))
    outermost = [(stack, batch.arch.levels[stack[0]]) for stack in batch.arch.stacks]
    limits = {stack: level.capacity_bits // level.multiple_buffering
              for stack, level in outermost if level.capacity_bits is not None}  # fmt: skip
    bits = {stack: sizes.memory_bits(stack) for stack in limits}
    over = {i: bits[i] > usable for i, usable in limits.items()}  # (mapping,)
    full = sorted((i for i in limits if over[i].any()), key=lambda i: -int(over[i].sum()))
    levels = sum(over[i].astype(int) for i in full)  # (mapping,) how many overflow
    lines = []
    for i in full:
        nearest = int(np.where(over[i], bits[i], np.inf).argmin())
        tiles = ", ".join(f"{t.name} {sizes.words(at, t)[nearest]:,.0f}" for at, t in _kept(batch, i, nearest))
        need = f"it holds {limits[i]:,} bits, and the nearest needs {bits[i][nearest]:,.0f} (tile words: {tiles})"
        alone = f", alone in {(over[i] & (levels == 1)).mean():.1%}" if len(full) > 1 else ""
        lines.append(f"{batch.arch.levels[i[0]].of_memory} overflows in {over[i].mean():.1%} of these{alone}; {need}")
    if len(full) > 1:
        lines.append(_nearest_to_fit(batch, {i: bits[i] / limits[i] - 1 for i in full}, over))
    return "\n  ".join(lines)


def _nearest_to_fit(batch: MappingBatch, excess: dict[range, Floats], over: dict[range, Bools]) -> str:
    """Describe the mapping whose worst level overflows least, given by how much of its capacity each memory has too
    much # (mapping,) and whether it is `over` at all # (mapping,)."""
    worst = np.max(list(excess.values()), axis=0)
    best = int(worst.argmin())
    missing = (f"{batch.arch.levels[i[0]].of_memory} by {own[best]:.1%}" for i, own in excess.items() if over[i][best])
    return f"nearest to fit is a mapping that overflows {', '.join(missing)}"


def _fanout(batch: MappingBatch) -> str:
    """Describe the axis that is most often too small, and by how little."""
    axes = [((used > size).mean(), slot.name, size, used) for slot, size, used in _axes(batch) if (used > size).any()]
    share, name, size, used = max(axes, key=lambda axis: axis[0])
    return f"{name} has {size} instances, and {share:.1%} of these want more, the nearest {used[used > size].min()}"


def _utilization(batch: MappingBatch) -> str:
    """Describe the axis that is most often used too little, and its best use."""
    axes = [((used < slot.least).mean(), slot, size, used) for slot, size, used in _axes(batch)]
    share, slot, size, used = max(axes, key=lambda axis: axis[0])
    asked, best = slot.constraint.min_utilization, used[used < slot.least].max(initial=0)
    less = f"{share:.1%} of these use less, at best {best} of {size} instances"
    return f"{slot.name} must be used to {asked:.0%}, and {less}"


def _axes(batch: MappingBatch) -> Iterator[tuple[Slot, int, Ints]]:
    """Yield each fanout axis: its slot, its size, the instances used # (mapping,)."""
    factors = batch.factors  # (mapping, slot, dim)
    for s, slot in enumerate(batch.arch.slots):
        if slot.axis:
            yield slot, slot.axis.size, factors[:, s].prod(axis=1)


_EXPLAIN = {"capacity": _capacity, "fanout": _fanout, "utilization": _utilization}
