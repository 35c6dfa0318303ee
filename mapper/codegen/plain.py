"""The plain algorithm of a workload as Python text: names, sizes and indices, for back ends that schedule it."""

import builtins
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from .c import C_WORDS, linear
from .data_types import DataType
from .nest import Nest, extents

LINE = 100  # characters of a line

# Names that no loop or array may have: those of Python, of C, and of the schedules themselves.
_OWN = """
    DRAM T arrays block compare compiled ctxt divide_loop expected f32 f64 i32 i8 index inputs layer loops measure np os
    output p parallelize_loop path plain proc rename reorder_loops sch scheduled seconds seq size stride sys time tvm
    wrong"""
_TAKEN = re.compile(rf"{'|'.join({*_OWN.split(), *C_WORDS, *dir(builtins)})}|v_.*|_.*|.*_\d*")


def title(nest: Nest, kind: DataType) -> str:
    """The layer, machine and data type in the words of a docstring, whatever their names hold."""
    text = f"{nest.workload.name} on {nest.arch.name}, in {kind.name}"
    return json.dumps(text, ensure_ascii=False)[1:-1]


@dataclass(frozen=True, eq=False)
class Plain:
    """A loop for each dim of more than one step, and the words of the tensors that a step uses."""

    nest: Nest

    @property
    def dims(self) -> list[int]:
        """The dims that have a loop; where all are of size 1 the first, as TVM's blocks need one."""
        return [d for d, size in enumerate(self.nest.workload.sizes) if size > 1] or [0]

    @cached_property
    def loops(self) -> dict[int, str]:
        """The name of the loop of each such dim; scheduled loops add a number."""
        dims = self.nest.workload.dims
        return dict(zip(self.dims, _free((dims[d] for d in self.dims), "Loop", ()), strict=True))

    @cached_property
    def arrays(self) -> list[str]:
        """The name of the array of each tensor."""
        return _free((tensor.name for tensor in self.nest.workload.tensors), "Array", self.loops.values())

    @property
    def inputs(self) -> list[int]:
        """The tensors that are read, by number."""
        return [v for v in range(len(self.arrays)) if v != self.nest.output]

    def sizes(self, v: int) -> tuple[int, ...]:
        """The words of a tensor along each rank; a single word is an array of one rank, too."""
        return extents(self.nest.workload.tensors[v], self.nest.workload) or (1,)

    def word(self, v: int, prefix: str = "") -> str:
        """The word of a tensor that a step uses; `prefix`: before the name of each loop."""
        names = {self.nest.workload.dims[d]: prefix + name for d, name in self.loops.items()}
        ranks = [
            linear((term.coef, names[term.dim]) for term in rank if term.dim in names)
            for rank in self.nest.workload.tensors[v].ranks
        ]
        return f"{self.arrays[v]}[{', '.join(ranks) or '0'}]"

    def statement(self, value: str, factors: Sequence[str], depth: int) -> str:
        """A product, set (`value` ends with =) or added (+=), at a depth of indentation; a long one is a line each."""
        indent = "    " * depth
        line = f"{indent}{value} {' * '.join(factors)}"
        if len(line) <= LINE:
            return line
        return f"\n{indent}    ".join([f"{indent}{value} (", *_times(factors)]) + f"\n{indent})"

    def places(self, d: int) -> list[int]:
        """The places of the loops over dim d in the nest."""
        return [place for place, loop in enumerate(self.nest.loops) if loop.dim == d]


def _times(factors: Sequence[str]) -> list[str]:
    return [f"* {factor}" if place else factor for place, factor in enumerate(factors)]


def _free(names: Iterable[str], ending: str, used: Iterable[str]) -> list[str]:
    """The names, each with `ending` behind as often as needed to be free.

    >>> _free(["M", "int", "M_1", "p", "_m"], "Loop", ["M"])
    ['MLoop', 'intLoop', 'M_1Loop', 'pLoop', 'a_m']
    """
    free_names, used = list[str](), set(used)
    for name in names:
        name = f"a{name}" if name.startswith(("_", "v_")) else name  # no ending makes such a name free
        while name in chain(free_names, used) or _TAKEN.fullmatch(name):
            name += ending
        free_names.append(name)
    return free_names
