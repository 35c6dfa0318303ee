"""Tiles copied to and from buffers."""

from contextlib import ExitStack

from .layouts import Layout, name
from .plan import Copy, Plan
from .registers import loop_block
from .text import Lines, linear


def write_copy(out: Lines, plan: Plan, copy: Copy, source: Layout, target: Layout, *, back: bool = False) -> None:
    """Write the loops that copy a tile from `source` to the buffer `target`, or `back`."""
    with out.block(""):
        if target.ranks:
            _box(out, plan, copy, (source, target), back)
        else:
            _packed(out, plan, copy, (source, target), back)


def _box(out: Lines, plan: Plan, copy: Copy, layouts: tuple[Layout, Layout], back: bool) -> None:
    """Copy the words between the ends of each rank; the last rank is contiguous on both sides."""
    nest, (source, target) = plan.nest, layouts
    first = nest.first_of(copy.level)
    ranks = nest.workload.tensors[copy.tensor].ranks
    number = nest.workload.dims.index
    for r, rank in enumerate(ranks):
        words = [_length(plan, number(term.dim), first) for term in rank]
        terms = [f"{term.coef} * ({length} - 1)" for term, length in zip(rank, words, strict=True)]
        out.add(f"const long words{r} = {' + '.join([*terms, '1'])};")
    with ExitStack() as stack:
        for r in range(len(ranks)):
            stack.enter_context(out.block(f"for (long r{r} = 0; r{r} < words{r}; ++r{r})"))
        steps = [(f"r{r}", words) for r, words in enumerate(source.ranks)]
        at = f"{source.offset(plan, first)} + {linear((words, r) for r, words in steps)}"
        to = linear((words, f"r{r}") for r, words in enumerate(target.ranks))
        _assign(out, (source.array, at), (target.array, to), back)


def _length(plan: Plan, d: int, first: int) -> str:
    """The steps along a dim of the tile that the loops from `first` on run through, as C."""
    tile, size, last = plan.nest.tile(d, first), plan.nest.workload.sizes[d], plan.last(d, first)
    if last is None:
        return str(min(tile, size))
    return f"MIN({tile}, {size} - {name(plan, last)})" if plan.cut(d, first) else str(tile)


def _packed(out: Lines, plan: Plan, copy: Copy, layouts: tuple[Layout, Layout], back: bool) -> None:
    """Copy in the order of the loops, whose variables have the names that they have outside this block."""
    nest, (source, target) = plan.nest, layouts
    sizes, dims = nest.workload.sizes, nest.workload.dims
    with ExitStack() as stack:
        for place in target.loops:
            stack.enter_context(loop_block(out, plan, place))
        inner_source, inner_target = [], []
        for d, words in reversed(target.inside.items()):
            last, tile = plan.last(d, plan.tile), nest.tile(d, plan.tile)
            start = "0" if last is None else name(plan, last)
            end = str(min(tile, sizes[d])) if last is None else f"{start} + {tile}"
            if last is not None and plan.cut(d, plan.tile):
                end = f"MIN({end}, {sizes[d]})"
            out.add(f"const long {dims[d]}_end = {end};")
            stack.enter_context(out.block(f"for (long {dims[d]}_ = {start}; {dims[d]}_ < {dims[d]}_end; ++{dims[d]}_)"))
            inner_source += [(source.inside[d], f"{dims[d]}_"), (-source.inside[d], start)]
            inner_target += [(words, f"{dims[d]}_"), (-words, start)]
        at = f"{source.offset(plan, plan.tile)} + {linear(inner_source)}"
        to = f"{target.offset(plan, plan.tile)} + {linear(inner_target)}"
        _assign(out, (source.array, at), (target.array, to), back)


def _assign(out: Lines, source: tuple[str, str], target: tuple[str, str], back: bool) -> None:
    left, right = (source, target) if back else (target, source)
    out.add(f"{left[0]}[{left[1]}] = {right[0]}[{right[1]}];")
