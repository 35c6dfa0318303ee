"""Entries of network files that are operations: what they make of what they read."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from .checking import IntExpr, Section
from .networks import long, split_alike
from .operators import Makes, Operator
from .shapes import Name, Size

Sizes = tuple[int, ...]


def _one_or_more(value: object) -> object:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


class OperationEntry(Section):
    """An operation of a network."""

    name: Name | None = None
    op: str
    source: Annotated[tuple[str, ...], BeforeValidator(_one_or_more), Field(alias="from", min_length=1)]
    sizes: Annotated[tuple[Size, ...], Field(min_length=1)] | None = None  # of its output
    count: Annotated[IntExpr, Field(ge=1, lt=2**31)] = 1


class SizesError(ValueError):
    """An operator cannot make these sizes of what it reads."""


def output_sizes(operator: Operator, inputs: Sequence[Sizes], given: Sizes | None) -> Sizes:
    """Return the sizes of what an operator makes of these inputs. Raises SizesError."""
    if not operator.several and len(inputs) > 1:
        raise SizesError(f"reads one tensor, got {len(inputs)}")
    own, sizes = _MADE[operator.makes](inputs, given), given
    if own is None and sizes is None:
        raise SizesError("needs sizes: those of its output do not follow from what it reads")
    if own is None or sizes is None:
        return own or sizes or ()
    if not split_alike(own, sizes):
        raise SizesError(f"makes {_text(own)} of what it reads, and sizes says {_text(sizes)}")
    return sizes


def _same(inputs: Sequence[Sizes], given: Sizes | None) -> Sizes | None:
    return inputs[0]


def _largest(inputs: Sequence[Sizes], given: Sizes | None) -> Sizes | None:
    """The largest of the inputs; each other has some of its ranks, or all of them joined or split."""
    largest = max(inputs, key=prod)
    for other in inputs:
        if not (split_alike(other, largest) or _repeated(other, largest)):
            raise SizesError(f"reads {_text(other)} beside {_text(largest)}: these are no sizes of one tensor")
    return largest


def _repeated(sizes: Sizes, largest: Sizes) -> bool:
    """Whether a tensor is repeated along some ranks of the largest: its own are among them, in turn."""
    ranks = iter(long(largest))
    return all(size in ranks for size in long(sizes))


def _as_many(inputs: Sequence[Sizes], given: Sizes | None) -> Sizes | None:
    words = sum(map(prod, inputs))
    if given is not None and prod(given) != words:
        raise SizesError(f"reads {words:,} words, and sizes {_text(given)} are {prod(given):,}")
    return None


def _fewer(inputs: Sequence[Sizes], given: Sizes | None) -> Sizes | None:
    words = sum(map(prod, inputs))
    if given is not None and prod(given) > words:
        raise SizesError(f"reads {words:,} words, and sizes {_text(given)} are {prod(given):,}: it makes no more")
    return None


def _any(inputs: Sequence[Sizes], given: Sizes | None) -> Sizes | None:
    return None


_MADE: dict[Makes, Callable[[Sequence[Sizes], Sizes | None], Sizes | None]] = {
    Makes.SAME: _same,
    Makes.LARGEST: _largest,
    Makes.AS_MANY: _as_many,
    Makes.FEWER: _fewer,
    Makes.ANY: _any,
}


def _text(sizes: Sequence[Any]) -> str:
    return " x ".join(f"{size:,}" for size in sizes)
