"""The program of a nest: a function in C that adds the product of the inputs to the output."""

from math import prod

from ..data_types import DataType
from ..nest import Nest, separate_dims
from .copies import write_copy
from .layouts import LINE, Layout, tile, whole
from .plan import Copy, Plan
from .registers import Tile, hoisted_end, loop_block, loop_head
from .text import Lines, array_names


class Kernel:
    """Writes kernel.c."""

    def __init__(self, nest: Nest, kind: DataType) -> None:
        self.nest, self.kind, self.plan = nest, kind, Plan(nest)
        self.arrays = array_names(tensor.name for tensor in nest.workload.tensors)
        self._out = Lines()

    def source(self) -> str:
        """The text of kernel.c."""
        plan, out = self.plan, self._out
        layouts = {v: whole(plan, v, array) for v, array in enumerate(self.arrays)}
        buffers = {copy: self.buffer(copy) for copy in plan.copies}
        with out.block(self.signature()):
            for copy, layout in buffers.items():
                self._allocate(copy, layout, list(buffers.values()))
            tiles = Tile(plan, (), self.kind, out)
            self._run(0, layouts, buffers, tiles)
            out.add(*(f"free({layout.array}All);" for layout in buffers.values()), "return 0;")
        return "\n".join([*self._beginning(tiles.widths), str(out)])

    def copies_in_rows(self, copy: Copy) -> bool:
        """Whether the words that a copy reads in turn lie side by side, as those that it writes do."""
        target, source = self.buffer(copy), whole(self.plan, copy.tensor, "")
        if target.ranks or not target.inside:
            return True
        innermost = next(iter(target.inside))
        return source.inside[innermost] == 1 or self.nest.tile(innermost, self.plan.tile) == 1

    def signature(self) -> str:
        """The head of the function."""
        parameters = [
            f"{self.kind.output} *restrict {array}" if tensor.output else f"const {self.kind.operand} *restrict {array}"
            for tensor, array in zip(self.nest.workload.tensors, self.arrays, strict=True)
        ]
        return f"int kernel({', '.join(parameters)})"

    @property
    def threads(self) -> int:
        """The threads that run it."""
        return prod(loop.bound for place, loop in enumerate(self.nest.loops) if self._parallel(place))

    def _parallel(self, place: int) -> bool:
        """Whether a loop's steps go to threads: they make different outputs."""
        loop = self.nest.loops[place]
        return loop.code == "threads" and loop.dim in separate_dims(self.nest.workload) and place < self.plan.sums

    def _private(self, copy: Copy) -> bool:
        """Whether each thread copies a tile of its own."""
        return any(self._parallel(place) for place in range(copy.place))

    def _beginning(self, widths: set[int]) -> list[str]:
        """The lines before the function: headers, and the types of vectors."""
        kind, nest = self.kind, self.nest
        lines = [
            f"/* {nest.workload.name} on {nest.arch.name}, in {kind.name}. */",
            '#include "kernel.h"',
            "#include <stdint.h>",
            "#include <stdlib.h>",
            *(["#include <omp.h>"] if self.threads > 1 else []),
            "",
            "#define MIN(a, b) ((a) < (b) ? (a) : (b))",
            "",
        ]
        for width in sorted(widths):
            for side, word, size in (("out", kind.output, kind.output_bytes), ("in", kind.operand, kind.operand_bytes)):
                vector = f"typedef {word} {side}{width}"
                lines.append(f"{vector} __attribute__((vector_size({width * size})));")
                lines.append(f"{vector}u __attribute__((vector_size({width * size}), aligned({size}), may_alias));")
        return [*lines, ""] if widths else lines

    def buffer(self, copy: Copy) -> Layout:
        """The layout of a copied tile."""
        return tile(self.plan, copy, f"{self.arrays[copy.tensor]}Tile{copy.level}", self._word(copy)[1])

    def _word(self, copy: Copy) -> tuple[str, int]:
        """The type of a tile's words in C, and its bytes."""
        kind = self.kind
        output = copy.tensor == self.nest.output
        return (kind.output, kind.output_bytes) if output else (kind.operand, kind.operand_bytes)

    def _words(self, copy: Copy, layout: Layout) -> int:
        """The words of a buffer: whole cache lines."""
        line = LINE // self._word(copy)[1]
        return -(-layout.words // line) * line

    @property
    def buffer_bytes(self) -> int:
        """The bytes of all buffers."""
        return sum(
            self._words(copy, self.buffer(copy)) * self._word(copy)[1] * (self.threads if self._private(copy) else 1)
            for copy in self.plan.copies
        )

    def _allocate(self, copy: Copy, layout: Layout, every: list[Layout]) -> None:
        """Write the allocation of a buffer; where there is no memory the function returns 1."""
        out, word = self._out, self._word(copy)[0]
        times = f" * {self.threads}" if self._private(copy) else ""
        out.add(
            f"{word} *{layout.array}All = aligned_alloc({LINE}, sizeof({word}) * {self._words(copy, layout)}L{times});"
        )
        before = " ".join(f"free({each.array}All);" for each in every[: every.index(layout)])
        out.add(f"if (!{layout.array}All) {{ {before} return 1; }}" if before else f"if (!{layout.array}All) return 1;")

    def _run(self, place: int, layouts: dict[int, Layout], buffers: dict[Copy, Layout], tiles: Tile) -> None:
        """Write the loops from `place` on, with the copies before each."""
        plan, out = self.plan, self._out
        here, layouts = [copy for copy in plan.copies if copy.place == place], dict(layouts)
        made = []
        for copy in here:
            layout = buffers[copy]
            thread = f" + omp_get_thread_num() * {self._words(copy, layout)}L" if self._private(copy) else ""
            out.add(f"{self._word(copy)[0]} *const restrict {layout.array} = {layout.array}All{thread};")
            write_copy(out, plan, copy, layouts[copy.tensor], layout)
            made.append((copy, layouts[copy.tensor], layout))
            layouts[copy.tensor] = layout
        if place == plan.sums:
            tiles.layouts = [layouts[v] for v in range(len(layouts))]
            with out.block(""):
                tiles.write()
        elif self._parallel(place):
            self._spread(place, layouts, buffers, tiles)
        else:
            with loop_block(out, plan, place):
                self._run(place + 1, layouts, buffers, tiles)
        for copy, source, layout in reversed(made):
            if copy.tensor == self.nest.output:
                write_copy(out, plan, copy, source, layout, back=True)

    def _spread(self, place: int, layouts: dict[int, Layout], buffers: dict[Copy, Layout], tiles: Tile) -> None:
        """Write the loops of one axis as one loop over threads."""
        plan, out = self.plan, self._out
        last = place + 1
        while last < len(self.nest.loops) and self._parallel(last) and all(c.place != last for c in plan.copies):
            last += 1
        places = range(place, last)
        ends = [hoisted_end(out, plan, each) for each in places]
        threads = prod(self.nest.loops[each].bound for each in places)
        collapse = f" collapse({len(places)})" if len(places) > 1 else ""
        out.add(f"#pragma omp parallel for{collapse} num_threads({threads}) schedule(static, 1)")
        with out.blocks(len(places)):
            for each, end in zip(places, ends, strict=True):
                out.open(loop_head(plan, each, end))
            self._run(last, layouts, buffers, tiles)


def packed_layouts(kernel: Kernel) -> list[Layout]:
    """The layout of each tensor where the innermost tile finds it: its last copy, else the whole."""
    layouts = [whole(kernel.plan, v, array) for v, array in enumerate(kernel.arrays)]
    for copy in kernel.plan.copies:
        layouts[copy.tensor] = kernel.buffer(copy)
    return layouts
