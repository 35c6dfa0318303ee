"""Where the words of a tensor are in memory: as they come, or packed in the order in which a tile is used."""

from dataclasses import dataclass
from math import prod

from ....workloads import Rank
from ..nest import extents
from .plan import Copy, Plan
from .text import dim_name, linear

LINE = 64  # bytes of a cache line


@dataclass(frozen=True)
class Layout:
    """The offset of each word: linear in the indices of the loops."""

    array: str
    words: int
    first: int  # the place of the first loop that tells words apart here
    loops: dict[int, int]  # words per unit of the dim, by the place of the loop; relevant loops alone
    inside: dict[int, int]  # words per unit, by dim, within the unrolled tile
    ranks: tuple[int, ...] = ()  # words per unit along each rank; empty where tiles are packed

    def offset(self, plan: Plan, end: int) -> str:
        """The offset, as C, of the first word of the tile that the loops before `end` have reached."""
        terms = []
        for place, coef in self.loops.items():
            if place < end:
                outer = plan.outer(place)
                terms += [(coef, name(plan, place)), (-coef, "0" if outer is None else name(plan, outer))]
        return linear(terms)


def name(plan: Plan, place: int) -> str:
    """The variable of a loop: where its step begins, counted from the beginning of the dim."""
    return f"{dim_name(plan.nest.workload.dims[plan.nest.loops[place].dim])}_{place}"


def whole(plan: Plan, v: int, array: str) -> Layout:
    """The layout of a whole tensor: the last rank is contiguous."""
    nest = plan.nest
    sizes = extents(nest.workload.tensors[v], nest.workload)
    strides = _row_major(sizes)
    return _by_rank(plan, v, array, prod(sizes), 0, strides)


def tile(plan: Plan, copy: Copy, array: str, word_bytes: int) -> Layout:
    """The layout of a tile that is copied: packed in the order of the loops, or as a box where windows overlap."""
    nest = plan.nest
    first, relevant = nest.first_of(copy.level), nest.relevant[copy.tensor]
    if not _windows(plan, copy.tensor):
        return _packed(plan, copy.tensor, array, first)
    tiles = {d: min(nest.tile(d, first), nest.workload.sizes[d]) for d in relevant}
    ranks, number = nest.workload.tensors[copy.tensor].ranks, nest.workload.dims.index
    sizes = [sum(term.coef * (tiles[number(term.dim)] - 1) for term in rank) + 1 for rank in ranks]
    line = max(1, LINE // word_bytes)
    padded = (*sizes[:-1], -(-sizes[-1] // line) * line)  # rows begin with a cache line
    return _by_rank(plan, copy.tensor, array, prod(padded), first, _row_major(padded))


def _windows(plan: Plan, v: int) -> bool:
    """Whether two dims of more than one step share a rank: words of neighbouring tiles are then the same."""
    workload = plan.nest.workload

    def moving(rank: Rank) -> int:
        return sum(workload.size(term.dim) > 1 for term in rank)

    ranks = workload.tensors[v].ranks
    dims = [term.dim for rank in ranks for term in rank if workload.size(term.dim) > 1]
    return any(moving(rank) > 1 for rank in ranks) or len(dims) > len(set(dims))


def _row_major(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(sizes[i + 1 :]) for i in range(len(sizes)))


def _by_rank(plan: Plan, v: int, array: str, words: int, first: int, strides: tuple[int, ...]) -> Layout:
    """The layout with the given words per unit along each rank."""
    nest = plan.nest
    per_dim = {
        d: sum(
            stride * term.coef
            for stride, rank in zip(strides, nest.workload.tensors[v].ranks, strict=True)
            for term in rank
            if term.dim == nest.workload.dims[d]
        )
        for d in nest.relevant[v]
    }
    places = range(first, plan.tile)
    loops = {i: per_dim[nest.loops[i].dim] for i in places if nest.loops[i].dim in per_dim}
    return Layout(array, words, first, loops, per_dim, strides)


def _packed(plan: Plan, v: int, array: str, first: int) -> Layout:
    """The layout in the order of the loops from `first` on; of the unrolled tile the lanes lie side by side."""
    nest, words, inside = plan.nest, 1, dict[int, int]()
    order = [loop.dim for loop in reversed(nest.loops[plan.tile :]) if loop.dim in nest.relevant[v]]
    if plan.lanes is not None and nest.loops[plan.lanes].dim in order:
        order.insert(0, nest.loops[plan.lanes].dim)
    for d in dict.fromkeys(order):
        inside[d] = words
        words *= nest.tile(d, plan.tile)
    loops = {}
    for place in range(plan.tile - 1, first - 1, -1):
        loop = nest.loops[place]
        if loop.dim in nest.relevant[v]:
            loops[place] = words // loop.stride
            words *= loop.bound
    return Layout(array, words, first, dict(reversed(loops.items())), inside)
