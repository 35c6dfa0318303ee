"""Prunes equations that are others with inputs renamed, or smaller ones inside (TASO, section 2.3)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..equation import Equation, Side, bound, canonical, holds
from ..evaluate import types_of
from ..terms import COMMUTING, INPUT, Term, below, given, operators_in, rebuilt
from ..types import sizes


@dataclass
class Pruner:
    """Makes the smallest equations that others contain."""

    rng: np.random.Generator

    def smallest(self, equation: Equation) -> list[Equation]:
        """Return what is left of an equation without what both sides have in common: none, one or several."""
        waiting, made = [equation], []
        while waiting:
            own = waiting.pop()
            parts = self._step(own)
            if parts is None:
                made.append(own)
            else:
                waiting += parts
        return made

    def _step(self, own: Equation) -> list[Equation] | None:
        """Return smaller equations that imply one; None where there are none."""
        return self._same_output(own) or self._apart(own) or self._common(own) or self._last(own)

    def _same_output(self, own: Equation) -> list[Equation] | None:
        """Both sides make an output in the same way."""
        pairs = list(zip(own.left, own.right, strict=True))
        kept = [pair for pair in pairs if pair[0] is not pair[1]]
        return None if len(kept) == len(pairs) or not kept else [_of(kept, own)]

    def _apart(self, own: Equation) -> list[Equation] | None:
        """Outputs that share no operator with the others, on either side, are equations of their own."""
        pairs = list(zip(own.left, own.right, strict=True))
        operators = [operators_in(pair).keys() for pair in pairs]
        for at, pair in enumerate(pairs if len(pairs) > 1 else ()):
            elsewhere = set().union(*operators[:at], *operators[at + 1 :])
            parts = [_of([pair], own), _of(pairs[:at] + pairs[at + 1 :], own)]
            if not operators[at] & elsewhere and all(bound(part) or bound(part.swapped()) for part in parts):
                return parts
        return None

    def _common(self, own: Equation) -> list[Equation] | None:
        """A term that stands on both sides may be anything."""
        left, right = (below(side) for side in own.sides)
        shared = [one for one in left if one.op != INPUT and one in set(right)]
        for one in reversed(shared):  # the largest first
            types = types_of([one], own.inputs)[one]
            assert types is not None, "both sides can be computed"
            name = _free(own)
            parts = [rebuilt(side, {one: given(name)}) for side in own.sides]
            for made in dict.fromkeys((types, sizes(types))):
                wider = Equation.of(parts[0], parts[1], {**own.inputs, name: made})
                if holds(wider, self.rng):
                    return [wider]
        return None

    def _last(self, own: Equation) -> list[Equation] | None:
        """Both sides end with one operator, on operands that are equal one by one."""
        pairs = list(zip(own.left, own.right, strict=True))
        for at, (one, other) in enumerate(pairs):
            rest = pairs[:at] + pairs[at + 1 :]
            if one.op == INPUT or (one.op, one.params) != (other.op, other.params) or _read(one, other, rest):
                continue
            for operands in (other.operands, other.operands[::-1])[: 2 if other.op in COMMUTING else 1]:
                inner = [pair for pair in zip(one.operands, operands, strict=True) if pair[0] is not pair[1]]
                smaller = _of(list(dict.fromkeys(rest + inner)), own)
                if smaller.left and holds(smaller, self.rng):
                    return [smaller]
        return None


def _read(one: Term, other: Term, rest: Sequence[tuple[Term, Term]]) -> bool:
    """Return whether a term stands in other outputs of its side."""
    return any(one in below(pair[:1]) or other in below(pair[1:]) for pair in rest)


def _of(pairs: Sequence[tuple[Term, Term]], own: Equation) -> Equation:
    return Equation.of(tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs), own.inputs)


def _free(own: Equation) -> str:
    return next(name for number in range(100) if (name := f"v{number}") not in own.inputs)


def renamed(equations: Iterable[Equation]) -> Iterator[Equation]:
    """Yield equations but those that are others with inputs renamed."""
    known: set[tuple[Side, Side]] = set()
    for own in equations:
        same = canonical(own)
        if same.sides not in known:
            known.add(same.sides)
            yield same
