"""Tiles copied to and from buffers."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from .layouts import Layout, name
from .plan import Copy, Plan
from .registers import end_of, loop_block
from .text import Lines, dim_name, linear

ENOUGH = 8  # steps of a loop that threads share


Layouts = tuple[Layout, Layout]  # where words come from and where they go


@dataclass(frozen=True)
class Copies:
    """Writes the loops that copy tiles to buffers and back."""

    out: Lines
    plan: Plan

    def write(self, copy: Copy, layouts: Layouts, *, back: bool = False) -> None:
        """Write a copy from the first of `layouts` to the buffer, the second; or back.

        Threads that copy a tile together wait for each other before, as one may still use what the buffer held, and
        after. A tile of its own a thread copies if it is inside the layer.
        """
        together = self._shared(copy)
        if together:
            self.out.add("#pragma omp barrier")
        inside = " && ".join(self._inside(copy))
        with self.out.block(f"if ({inside})" if inside else ""):
            if layouts[1].ranks:
                self._box(copy, layouts, back=back)
            else:
                self._packed(copy, layouts, back=back)
        if together:
            self.out.add("#pragma omp barrier")

    def _shared(self, copy: Copy) -> bool:
        return self.plan.threads > 1 and not self.plan.private(copy)

    def _inside(self, copy: Copy) -> Iterator[str]:
        """Whether the tile of a thread is inside the layer, as C, where loops of threads begin after the copy."""
        plan = self.plan
        later = plan.later(copy)
        known = [place for place in later if plan.known_from(place) <= copy.place]
        if plan.parallel and plan.parallel[0] in later and plan.parallel[0] not in known:
            yield f"thread < {plan.threads}"  # in the last round there may be more threads than are left to do
        yield from (f"{name(plan, place)} < {end_of(plan, place)}" for place in known)

    def _box(self, copy: Copy, layouts: Layouts, *, back: bool) -> None:
        """Copy the words between the ends of each rank; the last rank is contiguous on both sides."""
        out, plan, nest, (source, target) = self.out, self.plan, self.plan.nest, layouts
        shared = self._shared(copy)
        first = nest.first_of(copy.level)
        ranks = nest.workload.tensors[copy.tensor].ranks
        number = nest.workload.dims.index
        for r, rank in enumerate(ranks):
            words = [_length(plan, number(term.dim), first) for term in rank]
            terms = [f"{term.coef} * ({length} - 1)" for term, length in zip(rank, words, strict=True)]
            out.add(f"const long words{r} = {' + '.join([*terms, '1'])};")
        tiles = {dim: min(nest.tile(d, first), nest.workload.sizes[d]) for d, dim in enumerate(nest.workload.dims)}
        steps = [sum(term.coef * (tiles[term.dim] - 1) for term in rank) + 1 for rank in ranks]
        with ExitStack() as stack:
            for r, before in enumerate(_share(steps, shared)):
                if before:
                    out.add(before)
                stack.enter_context(out.block(f"for (long r{r} = 0; r{r} < words{r}; ++r{r})"))
            offsets = [(f"r{r}", words) for r, words in enumerate(source.ranks)]
            if shared and not steps:
                out.add("#pragma omp single nowait")
            at = f"{source.offset(plan, first)} + {linear((words, r) for r, words in offsets)}"
            to = linear((words, f"r{r}") for r, words in enumerate(target.ranks))
            _assign(out, (source.array, at), (target.array, to), back)

    def _packed(self, copy: Copy, layouts: Layouts, *, back: bool) -> None:
        """Copy in the order of the loops, whose variables have the names that they have outside this block."""
        out, plan, nest, (source, target) = self.out, self.plan, self.plan.nest, layouts
        sizes, dims = nest.workload.sizes, [dim_name(dim) for dim in nest.workload.dims]
        inside = [*reversed(target.inside.items())]
        steps = [nest.loops[place].bound for place in target.loops]
        lines = _share([*steps, *(min(nest.tile(d, plan.tile), sizes[d]) for d, _ in inside)], self._shared(copy))
        with ExitStack() as stack:
            for place, before in zip(target.loops, lines, strict=False):
                stack.enter_context(loop_block(out, plan, place, before))
            inner_source, inner_target = [], []
            for (d, words), before in zip(inside, lines[len(steps) :], strict=True):
                last, tile = plan.last(d, plan.tile), nest.tile(d, plan.tile)
                start = "0" if last is None else name(plan, last)
                end = str(min(tile, sizes[d])) if last is None else f"{start} + {tile}"
                if last is not None and plan.cut(d, plan.tile):
                    end = f"MIN({end}, {sizes[d]})"
                out.add(f"const long {dims[d]}_end = {end};")
                if before:
                    out.add(before)
                stack.enter_context(
                    out.block(f"for (long {dims[d]}_ = {start}; {dims[d]}_ < {dims[d]}_end; ++{dims[d]}_)")
                )
                inner_source += [(source.inside[d], f"{dims[d]}_"), (-source.inside[d], start)]
                inner_target += [(words, f"{dims[d]}_"), (-words, start)]
            at = f"{source.offset(plan, plan.tile)} + {linear(inner_source)}"
            to = f"{target.offset(plan, plan.tile)} + {linear(inner_target)}"
            _assign(out, (source.array, at), (target.array, to), back)


def _share(steps: list[int], shared: bool) -> list[str]:
    """The lines before the loops of a copy: threads share the first with steps enough, else the longest."""
    lines = [""] * len(steps)
    if shared and steps:
        enough = next((i for i, number in enumerate(steps) if number >= ENOUGH), steps.index(max(steps)))
        lines[enough] = "#pragma omp for nowait"
    return lines


def _length(plan: Plan, d: int, first: int) -> str:
    """The steps along a dim of the tile that the loops from `first` on run through, as C."""
    tile, size, last = plan.nest.tile(d, first), plan.nest.workload.sizes[d], plan.last(d, first)
    if last is None:
        return str(min(tile, size))
    return f"MIN({tile}, {size} - {name(plan, last)})" if plan.cut(d, first) else str(tile)


def _assign(out: Lines, source: tuple[str, str], target: tuple[str, str], back: bool) -> None:
    left, right = (source, target) if back else (target, source)
    out.add(f"{left[0]}[{left[1]}] = {right[0]}[{right[1]}];")
