"""The program of a nest: a function in C that adds the product of the inputs to the output."""

from contextlib import ExitStack
from math import prod

from ..data_types import DataType
from ..nest import Nest
from .copies import Copies
from .layouts import LINE, Layout, name, tile, whole
from .plan import Copy, Plan
from .registers import Tile, end_of, loop_block, start_of
from .text import Lines, array_names, linear


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
            with ExitStack() as stack:
                if self.plan.threads > 1:  # where fewer run than asked for, they do the work in several rounds
                    out.add(f"#pragma omp parallel num_threads({self.plan.threads})")
                    rounds = f"for (int first = 0; first < {self.plan.threads}; first += omp_get_num_threads())"
                    stack.enter_context(out.block(rounds))
                    out.add("const int thread = first + omp_get_thread_num();")
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

    def _beginning(self, widths: set[int]) -> list[str]:
        """The lines before the function: headers, and the types of vectors."""
        kind, nest = self.kind, self.nest
        shown = nest.workload.name + nest.arch.name
        lines = [
            f"/* {nest.workload.name} on {nest.arch.name}, in {kind.name}. */".replace("*/", "* /", shown.count("*/")),
            '#include "kernel.h"',
            "#include <stdint.h>",
            "#include <stdlib.h>",
            *(["#include <omp.h>"] if self.plan.threads > 1 else []),
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
            self._words(copy, self.buffer(copy))
            * self._word(copy)[1]
            * (self.plan.threads if self.plan.private(copy) else 1)
            for copy in self.plan.copies
        )

    def _allocate(self, copy: Copy, layout: Layout, every: list[Layout]) -> None:
        """Write the allocation of a buffer; where there is no memory the function returns 1."""
        out, word = self._out, self._word(copy)[0]
        times = f" * {self.plan.threads}" if self.plan.private(copy) else ""
        out.add(
            f"{word} *{layout.array}All = aligned_alloc({LINE}, sizeof({word}) * {self._words(copy, layout)}L{times});"
        )
        before = " ".join(f"free({allocated.array}All);" for allocated in every[: every.index(layout)])
        out.add(f"if (!{layout.array}All) {{ {before} return 1; }}" if before else f"if (!{layout.array}All) return 1;")

    def _run(self, place: int, layouts: dict[int, Layout], buffers: dict[Copy, Layout], tiles: Tile) -> None:
        """Write the loops from `place` on, with the copies before each."""
        plan, out = self.plan, self._out
        copies, outside = [copy for copy in plan.copies if copy.place == place], layouts
        layouts = dict(outside)
        self._steps_known(place)
        for copy in copies:
            own = f" + thread * {self._words(copy, buffers[copy])}L" if plan.private(copy) else ""
            array = buffers[copy].array
            out.add(f"{self._word(copy)[0]} *const restrict {array} = {array}All{own};")
            Copies(out, plan).write(copy, (layouts[copy.tensor], buffers[copy]))
            layouts[copy.tensor] = buffers[copy]
        if place == plan.sums:
            tiles.layouts = [layouts[v] for v in range(len(layouts))]
            with out.block(""):
                tiles.write()
        elif place in plan.parallel:
            with out.block(f"if ({name(plan, place)} < {end_of(plan, place)})"):
                self._run(place + 1, layouts, buffers, tiles)
        else:
            with loop_block(out, plan, place):
                self._run(place + 1, layouts, buffers, tiles)
        self._back(copies, outside, buffers)

    def _steps_known(self, place: int) -> None:
        """Write the steps of a thread in the loops of its axis that are known from `place` on.

        All threads run the loops around them, so that none waits for another but to copy a tile together: a word of
        the output is always of the same thread.
        """
        plan, loops = self.plan, self.nest.loops
        for number, thread_place in enumerate(plan.parallel):
            if plan.known_from(thread_place) == place:
                inside = prod(loops[i].bound for i in plan.parallel[number + 1 :])
                step = f"thread / {inside}" if inside > 1 else "thread"
                step = f"({step} % {loops[thread_place].bound})" if number else f"({step})" if inside > 1 else step
                start = [(1, start_of(plan, thread_place))]
                self._out.add(
                    f"const long {name(plan, thread_place)} = {linear([*start, (loops[thread_place].stride, step)])};"
                )

    def _back(self, copies: list[Copy], layouts: dict[int, Layout], buffers: dict[Copy, Layout]) -> None:
        """Write outputs back from their buffers, the innermost first."""
        outputs = [copy for copy in copies if copy.tensor == self.nest.output]
        sources = [layouts[copy.tensor] for copy in outputs[:1]] + [buffers[copy] for copy in outputs[:-1]]
        for copy, source in reversed([*zip(outputs, sources, strict=True)]):
            Copies(self._out, self.plan).write(copy, (source, buffers[copy]), back=True)


def packed_layouts(kernel: Kernel) -> list[Layout]:
    """The layout of each tensor where the innermost tile finds it: its last copy, else the whole."""
    layouts = [whole(kernel.plan, v, array) for v, array in enumerate(kernel.arrays)]
    for copy in kernel.plan.copies:
        layouts[copy.tensor] = kernel.buffer(copy)
    return layouts
