"""The innermost part of a program: a tile of the output in registers, its sums, every statement written out."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from itertools import product

from ..data_types import DataType
from .layouts import Layout, name
from .plan import Lanes, Plan
from .text import Lines


@dataclass(eq=False)
class Tile:
    """Writes the sums of one tile, for each case of remainders."""

    plan: Plan
    layouts: Sequence[Layout]  # of each tensor, where the tile finds it
    kind: DataType
    out: Lines
    widths: set[int] = field(default_factory=set)  # of the vectors that were written

    def write(self) -> None:
        """Write the tile, and the loops of its sums."""
        plan = self.plan
        summed = {loop.dim for loop in plan.nest.loops[plan.sums : plan.tile]}
        outside = [d for d in plan.choices(plan.tile) if d not in summed]
        self._cases(outside, [d for d in plan.choices(plan.tile) if d in summed], {})

    def _cases(self, outside: list[int], inside: list[int], chosen: dict[int, bool]) -> None:
        """Write the case of each combination of whole tiles and remainders that is known before the sums."""
        if not outside:
            self._sums(inside, chosen)
            return
        with self.out.block(f"if ({self._is_whole(outside[0])})"):
            self._cases(outside[1:], inside, chosen | {outside[0]: True})
        with self.out.block("else"):
            self._cases(outside[1:], inside, chosen | {outside[0]: False})

    def _is_whole(self, d: int) -> str:
        plan = self.plan
        last = plan.last(d, plan.tile)
        assert last is not None
        return f"{name(plan, last)} + {plan.nest.tile(d, plan.tile)} <= {plan.nest.workload.sizes[d]}"

    def _sums(self, inside: list[int], chosen: dict[int, bool]) -> None:
        """Load the output, add up, store it."""
        plan, out, output = self.plan, self.out, self.layouts[self.plan.nest.output]
        sums = self._places(inside, chosen)
        at = output.offset(plan, plan.sums)
        out.add(f"{self.kind.output} *const restrict z = {output.array} + {at};")
        for (offset, lanes), variable in sums.items():
            out.add(f"{self._type('out', lanes.width)} {variable} = {self._loaded(offset, lanes.width)};")
        with ExitStack() as stack:
            for place in range(plan.sums, plan.tile):
                stack.enter_context(loop_block(out, plan, place))
            self._remainders(inside, chosen, sums)
        for (offset, lanes), variable in sums.items():
            self._store(offset, lanes.width, variable)

    def _remainders(self, inside: list[int], chosen: dict[int, bool], sums: dict[tuple[int, Lanes], str]) -> None:
        """Write the statements for each case of remainders that changes during the sums."""
        if not inside:
            self._statements(chosen, sums)
            return
        with self.out.block(f"if ({self._is_whole(inside[0])})"):
            self._remainders(inside[1:], chosen | {inside[0]: True}, sums)
        with self.out.block("else"):
            self._remainders(inside[1:], chosen | {inside[0]: False}, sums)

    def _place(self, v: int, at: dict[int, int], lanes: Lanes) -> int:
        """The offset of a word of tensor `v` within the tile, of the first of some lanes."""
        inside = self.layouts[v].inside
        return sum(inside[d] * offset for d, offset in at.items() if d in inside) + lanes.start * self._step(v)

    def _step(self, v: int) -> int:
        """The words from one lane to the next; 0: all lanes have the same word."""
        if self.plan.lanes is None:
            return 0
        return self.layouts[v].inside.get(self.plan.nest.loops[self.plan.lanes].dim, 0)

    def _places(self, inside: list[int], chosen: dict[int, bool]) -> dict[tuple[int, Lanes], str]:
        """A variable for each sum of the tile, in any case of `inside`: by the offset in the output, and the lanes."""
        plan, v = self.plan, self.plan.nest.output
        variables: dict[tuple[int, Lanes], str] = {}
        for cases in product((True, False), repeat=len(inside)):
            extents = plan.extents(plan.tile, chosen | dict(zip(inside, cases, strict=True)))
            for at, lanes in plan.points(extents):
                variables.setdefault(self._sum_key(self._place(v, at, lanes), lanes), f"z{len(variables)}")
        return variables

    def _sum_key(self, offset: int, lanes: Lanes) -> tuple[int, Lanes]:
        """Lanes that add up one word share a vector with the others of their width."""
        return offset, Lanes(lanes.start if self._step(self.plan.nest.output) else 0, lanes.width)

    def _statements(self, chosen: dict[int, bool], sums: dict[tuple[int, Lanes], str]) -> None:
        """Write a product, added to its sum, for each step of the tile; each operand is loaded once."""
        plan, nest, out = self.plan, self.plan.nest, self.out
        inputs = [v for v in range(len(nest.relevant)) if v != nest.output]
        for number, v in enumerate(inputs):
            layout = self.layouts[v]
            out.add(f"const {self.kind.operand} *const p{number} = {layout.array} + {layout.offset(plan, plan.tile)};")
        loaded: dict[tuple[int, int, int], str] = {}
        for at, lanes in plan.points(plan.extents(plan.tile, chosen)):
            factors = []
            for number, v in enumerate(inputs):
                width = lanes.width if self._step(v) else 1
                key = number, self._place(v, at, lanes), width
                if key not in loaded:
                    loaded[key] = f"x{len(loaded)}"
                    out.add(f"const {self._type('out', width)} {loaded[key]} = {self._operand(*key, self._step(v))};")
                factors.append((width, loaded[key]))
            value = " * ".join(text for _, text in sorted(factors)) or "1"
            where = self._sum_key(self._place(nest.output, at, lanes), lanes)
            out.add(f"{sums[where]} += {value};")

    def _operand(self, number: int, offset: int, width: int, step: int) -> str:
        """One word, or a vector of words, of an operand, in the type of the sums."""
        if width == 1:
            return f"({self.kind.output})p{number}[{offset}]"
        narrow = self.kind.operand != self.kind.output
        self._type("in", width)
        if step == 1:
            vector = f"*(const in{width}u *)(p{number} + {offset})"
        else:
            words = ", ".join(f"p{number}[{offset + lane * step}]" for lane in range(width))
            vector = f"(in{width}){{{words}}}"
        return f"__builtin_convertvector({vector}, out{width})" if narrow else vector

    def _loaded(self, offset: int, width: int) -> str:
        step = self._step(self.plan.nest.output)
        if width == 1:
            return "0" if self._spread else f"z[{offset}]"
        if step == 0:
            return "{0}"
        if step == 1:
            return f"*(const out{width}u *)(z + {offset})"
        return "{" + ", ".join(f"z[{offset + lane * step}]" for lane in range(width)) + "}"

    @property
    def _spread(self) -> bool:
        """Whether lanes add up one word of the output: then each vector is a part of its sum."""
        return self.plan.lanes is not None and self._step(self.plan.nest.output) == 0

    def _store(self, offset: int, width: int, variable: str) -> None:
        step, out = self._step(self.plan.nest.output), self.out
        if width == 1:
            out.add(f"z[{offset}] {'+=' if self._spread else '='} {variable};")
        elif step == 0:
            out.add(f"z[{offset}] += {' + '.join(f'{variable}[{lane}]' for lane in range(width))};")
        elif step == 1:
            out.add(f"*(out{width}u *)(z + {offset}) = {variable};")
        else:
            out.add(*(f"z[{offset + lane * step}] = {variable}[{lane}];" for lane in range(width)))

    def _type(self, side: str, width: int) -> str:
        """The name of a type of the sums (out) or of the operands (in)."""
        if width == 1:
            return self.kind.output if side == "out" else self.kind.operand
        self.widths.add(width)
        return f"{side}{width}"


def end_of(plan: Plan, place: int) -> str:
    """Where the steps of a loop end, as C: with the tile of the next loop outside, cut off by the size of the dim."""
    d = plan.nest.loops[place].dim
    size, outer = plan.nest.workload.sizes[d], plan.outer(place)
    if outer is None:
        return str(size)
    end = f"{name(plan, outer)} + {plan.nest.loops[outer].stride}"
    return f"MIN({end}, {size})" if plan.cut(d, outer + 1) else end


def start_of(plan: Plan, place: int) -> str:
    """Where the steps of a loop start, as C: with the tile of the next loop outside."""
    outer = plan.outer(place)
    return "0" if outer is None else name(plan, outer)


def loop_block(out: Lines, plan: Plan, place: int, before: str = "") -> AbstractContextManager[None]:
    """Write a loop, its end computed before it; `before`: a line between."""
    end, variable = hoisted_end(out, plan, place), name(plan, place)
    if before:
        out.add(before)
    head = f"for (long {variable} = {start_of(plan, place)}; {variable} < {end}; "
    return out.block(f"{head}{variable} += {plan.nest.loops[place].stride})")


def hoisted_end(out: Lines, plan: Plan, place: int) -> str:
    """Write where a loop ends as a variable, unless it is a number; return it."""
    end = end_of(plan, place)
    if end.isdigit():
        return end
    out.add(f"const long {name(plan, place)}_end = {end};")
    return f"{name(plan, place)}_end"
