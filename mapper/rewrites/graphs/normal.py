"""One form of what places say: parts of parts, parts of joined tensors, joined parts.

Terms of networks are made by `made`. Two terms that differ in such places alone are one, and so their readers share it.
"""

from collections.abc import Hashable, Sequence
from typing import Any

from ..terms import PART, Term, below, term
from .source import Source
from .table import CONCAT


def made(source: Source, op: str, params: tuple[Hashable, ...], operands: tuple[Term, ...]) -> Term:
    """Return the term of an operator in its one form. Raises ValueError for places that a tensor does not have."""
    places: Any = params
    if op == PART:
        return part(source, operands[0], *places)
    if op == CONCAT:
        return joined(source, places[0], *operands)
    return term(op, params, operands)


def normal(source: Source, roots: Sequence[Term]) -> tuple[Term, ...]:
    """Return terms with all that stands in them in its one form."""
    become: dict[Term, Term] = {}
    for own in below(roots):
        become[own] = made(source, own.op, own.params, tuple(become[operand] for operand in own.operands))
    return tuple(become[root] for root in roots)


def part(source: Source, whole: Term, axis: int, begin: int, end: int) -> Term:
    """Return a slice of a tensor along an axis, from the place `begin` to that before `end`.

    A part that is everything is the tensor itself. A part of a part is a part of the same tensor. A part of joined
    tensors that lies within one of them is a part of that. Raises ValueError for places that the tensor does not have.
    """
    size = source.sizes(whole)[axis]
    if not 0 <= begin < end <= size:
        raise ValueError(f"places {begin} to {end} of {size}")
    while end - begin < source.sizes(whole)[axis]:
        places: Any = whole.params
        if whole.op == PART and places[0] == axis:
            begin, end, whole = begin + places[1], end + places[1], whole.operands[0]
            continue
        if whole.op != CONCAT or places[0] != axis:
            return term(PART, (axis, begin, end), (whole,))
        cut = source.sizes(whole.operands[0])[axis]
        if begin < cut < end:
            return term(PART, (axis, begin, end), (whole,))
        whole = whole.operands[int(begin >= cut)]
        begin, end = (begin - cut, end - cut) if begin >= cut else (begin, end)
    return whole


def joined(source: Source, axis: int, one: Term, other: Term) -> Term:
    """Return two tensors joined along an axis. Adjacent parts of one tensor, also last and first among those that were
    joined before, are one part of it."""
    if (whole := _adjacent(axis, one, other)) is not None:
        return part(source, *whole)
    if one.op == CONCAT and one.params == (axis,) and (whole := _adjacent(axis, one.operands[1], other)) is not None:
        return joined(source, axis, one.operands[0], part(source, *whole))
    if other.op == CONCAT and other.params == (axis,) and (whole := _adjacent(axis, one, other.operands[0])):
        return joined(source, axis, part(source, *whole), other.operands[1])
    return term(CONCAT, (axis,), (one, other))


def _adjacent(axis: int, one: Term, other: Term) -> tuple[Term, int, int, int] | None:
    """The tensor of which two are parts one after the other, with the axis and the places of both."""
    if one.op != PART or other.op != PART or one.operands != other.operands:
        return None
    first, second = _places(one), _places(other)
    fits = first[0] == second[0] == axis and first[2] == second[1]
    return (one.operands[0], axis, first[1], second[2]) if fits else None


def _places(own: Term) -> tuple[int, int, int]:
    axis, begin, end = own.params
    return int(str(axis)), int(str(begin)), int(str(end))
