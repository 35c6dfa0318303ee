"""Why a count is what it is: per keeper pair and tensor, the sums of docs/model.md in the mapping's own factors.

Symbols: a dim's size by its name (`M`), a bound by dim and slot (`M@shared_glb`), its residual with a prime
(`M'@shared_glb`) where it differs. Expressions are built as sympy objects, never parsed from text, and each is
evaluated and compared with the model before it is shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import mul
from typing import Any, override

import numpy as np
import sympy

from ...workloads import Tensor
from ..mapping import MappingBatch, keeper_pairs
from ..runtime import InternalError
from .nests import DataMovement, NestAnalysis, Prefixes, RankColumns

Expr = Any  # sympy has no types


@dataclass(frozen=True)
class Term:
    """A summand of a count: what it is, its expression, its value."""

    what: str
    expression: Expr
    value: int


@dataclass(frozen=True)
class Explanation:
    """One count of one tensor: `name` of `level`, as a first sum less what stayed in place."""

    tensor: str
    level: str
    name: str
    terms: tuple[Term, ...]

    @property
    def value(self) -> int:
        return sum(term.value for term in self.terms)

    @override
    def __str__(self) -> str:
        lines = [f"{self.tensor}: {self.name} of {self.level} = {self.value:,}"]
        for i, term in enumerate(self.terms):
            sign = " " if not i else "+" if term.value >= 0 else "-"
            expression = term.expression if term.value >= 0 or not i else -term.expression
            lines.append(f"  {sign} {expression} = {abs(term.value):,}   ({term.what})")
        return "\n".join(lines)


def explain(batch: MappingBatch, *, drain_reads: bool = False) -> list[Explanation]:
    """The counts of the one mapping of `batch`, per tensor and keeper, each with its symbolic terms.

    With `drain_reads` words of an output that move up are reads of the level that they leave.
    """
    # tables of its own chains alone: those of a search have rows that other chains share where only a part is looked at
    batch = batch.own()
    explanations = []
    for v, tensor in enumerate(batch.workload.tensors):
        drained: tuple[Term, ...] = ()  # of the parent: the words between it and the keeper outside it
        for parent, child, _ in keeper_pairs(batch.keep[:, :, v]):
            pair = _Pair(batch, tensor, parent, child)
            explanations += list(pair.explanations(drained))
            drained = pair.drained() if drain_reads else ()
    return explanations


class _Pair:
    """One tensor between two neighbouring keepers."""

    def __init__(self, batch: MappingBatch, tensor: Tensor, parent: int, child: int) -> None:
        self.batch, self.tensor, self.parent, self.child = batch, tensor, parent, child
        self.nest = NestAnalysis(batch)
        self.values: dict[Expr, int] = {}  # of every symbol used
        self.names = [level.of_memory for level in batch.arch.levels]

    def drained(self) -> tuple[Term, ...]:
        """List the terms of the words of an output that leave the child."""
        if not self.tensor.output or self.child == self.nest.levels:
            return ()
        terms = self._moved(DataMovement(self.nest, self.tensor, self.child))
        return tuple(replace(term, what=f"moved up: {term.what}") for term in terms)

    def explanations(self, drained: tuple[Term, ...]) -> Iterator[Explanation]:
        """Yield the counts of the parent and the child; `drained` are reads of the parent."""
        moved = self._moved(DataMovement(self.nest, self.tensor, self.child, parent=self.parent))
        outer = self.names[self.parent]
        if self.tensor.output:
            yield Explanation(self.tensor.name, outer, "updates", moved)
            first = (self._distinct(self.parent),) if self.tensor.begins_empty else ()
            yield Explanation(self.tensor.name, outer, "reads", (*moved, *first, *drained))
        else:
            yield Explanation(self.tensor.name, outer, "reads", moved)
        if self.child < self.nest.levels:
            filled = self._moved(DataMovement(self.nest, self.tensor, self.child))
            first = (self._distinct(self.child),) if self.tensor.begins_empty else ()
            yield Explanation(self.tensor.name, self.names[self.child], "fills", (*filled, *first))

    def _moved(self, flow: DataMovement) -> tuple[Term, ...]:
        numbers = [self._number(d, view, self.child) for d, view in flow.irrelevant]
        sizes = [self._sizes(rank) for rank in flow.ranks]
        terms = [self._term("sizes of all tiles moved in", reduce(mul, [*numbers, *sizes], sympy.Integer(1)))]
        if self.child < self.nest.levels:
            for level in range(self.child):
                for d in self.nest.loops(level):
                    kept = self._kept(flow, level, d)
                    if kept is not None:
                        dim, where = self.batch.workload.dims[d], _loops_of(self.batch, level)
                        terms.append(self._term(f"in place when {dim} steps at {where}", -kept))
        total, model = sum(term.value for term in terms), int(flow.words()[0])
        if total != model:
            raise InternalError(f"internal error: the explanation gives {total:,} words, the model {model:,}")
        return tuple(terms)

    def _kept(self, flow: DataMovement, level: int, d: int) -> Expr | None:
        """Words in place at the steps of dim d's loop at `level`; None where there are none."""
        value = int(np.sum(flow.stays(level, d)))
        if not value:
            return None
        own = next((rank for rank in flow.ranks if d in rank.dims), None)
        if any(rank.view.shared for rank in flow.ranks):
            return sympy.Integer(value)  # a sum over classes of diagonals has no short form
        factors = []
        for e, view in flow.irrelevant:
            cut = level + int(self.nest.positions.before(level, e, d)[0])
            if e == d:
                factors.append(self._number(e, view, level + 1) - self._number(e, view, level))
            else:
                factors.append(self._number(e, view, cut))
        for rank in flow.ranks:
            words = int(rank.words(self.nest, level, d)[0])
            whole = len(rank.dims) == 1 and rank is not own and words == self.batch.workload.sizes[rank.dims[0]]
            factors.append(self._size(rank.dims[0]) if whole else sympy.Integer(words))
        return reduce(mul, factors, sympy.Integer(1))

    def _sizes(self, rank: RankColumns) -> Expr:
        """Summed tile lengths of one rank: linear in the extents of its dims."""
        view = rank.view
        if view.shared:
            return sympy.Integer(int(view.sizes[rank.row[0]]))
        numbers = [self._number(d, part, self.child) for d, part in zip(rank.dims, view.parts, strict=True)]
        if len(rank.dims) == 1 and view.coefs == (1,):
            return self._size(rank.dims[0])
        everything = reduce(mul, numbers)
        total = everything
        for i, (coef, d) in enumerate(zip(view.coefs, rank.dims, strict=True)):
            rest = reduce(mul, [n for k, n in enumerate(numbers) if k != i], sympy.Integer(1))
            total += coef * (self._size(d) - numbers[i]) * rest
        return total

    def _distinct(self, level: int) -> Term:
        """First touches of the output's words at `level`."""
        factors = []
        for d in self.nest.dims:
            if self.batch.workload.dims[d] in self.tensor.dims:
                factors.append(self._size(d))
            else:
                factors.append(self._number(d, self.nest.view(d, level, 0, level), 0))
        return self._term("first touch of a word", -reduce(mul, factors, sympy.Integer(1)))

    def _number(self, d: int, view: Prefixes, cut: int) -> Expr:
        """N(cut) of one dim: the walk of Prefixes.number, with symbols (docs/model.md, section 2)."""
        counted_all = cut == view.c and view.lo == 0 and view.hi == view.c
        if counted_all and view.tile[self.batch.rows[0, d]] == 1:
            return self._size(d)  # every tile is one element
        loose, tight = sympy.Integer(0), True
        for s, slot in enumerate(self.batch.arch.slots):
            if slot.level >= view.c:
                break
            counted = view.lo <= slot.level < view.hi if slot.spatial else slot.level < cut
            bound, residual = self._bound(d, s), self._residual(d, s)
            if counted:
                loose = loose * bound + (residual - 1 if tight else 0)
            elif tight and self._digit(d, s) > 0:
                loose, tight = loose + 1, False
        return sympy.factor(loose + (1 if tight else 0))

    def _digit(self, d: int, s: int) -> int:
        return int(self.batch.tables[d].digits[self.batch.rows[0, d], s])

    def _bound(self, d: int, s: int) -> Expr:
        value = int(self.batch.tables[d].bounds[self.batch.rows[0, d], s])
        return sympy.Integer(1) if value == 1 else self._symbol(f"{self._at(d, s)}", value)

    def _residual(self, d: int, s: int) -> Expr:
        value = self._digit(d, s) + 1
        bound = int(self.batch.tables[d].bounds[self.batch.rows[0, d], s])
        if value == bound:
            return self._bound(d, s)
        return sympy.Integer(1) if value == 1 else self._symbol(self._at(d, s).replace("@", "'@"), value)

    def _at(self, d: int, s: int) -> str:
        return f"{self.batch.workload.dims[d]}@{_place(self.batch, s)}"

    def _size(self, d: int) -> Expr:
        return self._symbol(self.batch.workload.dims[d], self.batch.workload.sizes[d])

    def _symbol(self, name: str, value: int) -> Expr:
        symbol = sympy.Symbol(name, positive=True, integer=True)
        self.values[symbol] = value
        return symbol

    def _term(self, what: str, expression: Expr) -> Term:
        return Term(what, expression, int(expression.subs(self.values)))


def _place(batch: MappingBatch, s: int) -> str:
    """The name of a slot: with uneven placement of the loops below a tensor, as `RF(Weights)`."""
    slot = batch.arch.slots[s]
    return slot.name if slot.spatial else _loops_of(batch, slot.level)


def _loops_of(batch: MappingBatch, level: int) -> str:
    """The name of the temporal loops of a level."""
    kept = [tensor.name for v, tensor in enumerate(batch.workload.tensors) if batch.keep[0, level, v]]
    name, several = batch.arch.levels[level].of_memory, batch.arch.levels[level].memory
    return f"{name}({', '.join(kept)})" if several else name


def explanation_text(batch: MappingBatch, *, drain_reads: bool = False) -> str:
    """All explanations, and what the symbols stand for."""
    lines = [str(part) for part in explain(batch, drain_reads=drain_reads)]
    factors, residuals = batch.factors[0], batch.residuals[0]
    stands = [f"{dim} = {size}" for dim, size in zip(batch.workload.dims, batch.workload.sizes, strict=True)]
    for s in range(len(batch.arch.slots)):
        for d, dim in enumerate(batch.workload.dims):
            if factors[s, d] > 1:
                stands.append(f"{dim}@{_place(batch, s)} = {factors[s, d]}")
                if residuals[s, d] not in (1, factors[s, d]):
                    stands.append(f"{dim}'@{_place(batch, s)} = {residuals[s, d]}")
    return "\n".join([*lines, "where " + ", ".join(stands)])
