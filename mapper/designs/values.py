"""The values of a sweep's parameters: lists, ranges, single values, linked parameters, and their expressions."""

from collections.abc import Sequence
from math import floor
from typing import Annotated, Any

from pydantic import Field

from ...workloads import Document, Fault, FloatExpr, InputError, Keys, Section, check, collect
from .expressions import solved
from .linked import MAX_VALUES, LinkedParameters, SteppedRange


class _Range(Section):
    """Numbers from `start` to `to`, both included where they are met."""

    start: FloatExpr = Field(alias="from")
    to: FloatExpr
    step: Annotated[FloatExpr, Field(gt=0)] | None = None
    times: Annotated[FloatExpr, Field(gt=1)] | None = None


def read_groups(document: Document, places: Sequence[Sequence[Keys]], faults: list[Fault]) -> list[LinkedParameters]:
    """The parameters that vary together, for each of `places`: where the values of each of them stand.

    A group with faults is left out; expressions are tried only where no group is.
    """
    read = [_group(document, ways, faults) for ways in places]
    groups = [group for group in read if group is not None]
    if len(groups) == len(read):
        faults += _expression_faults(document, {at[-1]: at for ways in places for at in ways}, groups)
    return groups


def _group(document: Document, ways: Sequence[Keys], faults: list[Fault]) -> LinkedParameters | None:
    columns = [collect(faults, lambda at=at: _column(document, at)) for at in ways]  # type: ignore[misc]
    good = [column for column in columns if column is not None]
    if len(good) < len(columns):
        return None
    names = tuple(str(at[-1]) for at in ways)
    sizes = [LinkedParameters((name,), (column,)).size for name, column in zip(names, good, strict=True)]
    if len(set(sizes)) > 1:
        lengths = ", ".join(f"{name} {size:,}" for name, size in zip(names, sizes, strict=True))
        faults.append(document.fault(ways[0][:-1], f"linked parameters must have as many values each; got {lengths}"))
        return None
    return LinkedParameters(names, tuple(good))


def _column(document: Document, at: Keys) -> SteppedRange | tuple[Any, ...]:
    """The values at `at`: a list, a range, or one value; of a level as a whole a list of levels."""
    written = document.get(at)
    if str(at[-1]).startswith("levels.") and str(at[-1]).count(".") == 1:
        return _levels(document, at, written)
    if isinstance(written, dict):
        return _range(document, check(document, _Range, at), at)
    values = written if isinstance(written, list) else [written]
    wrong = [value for value in values if value is None or isinstance(value, dict)]
    if wrong or not values:
        what = "the list is empty" if not values else f"got {wrong[0]!r}"
        rule = "must be a list of values, a range {from, to, step} or {from, to, times}, or one value"
        raise InputError(document.fault(at, f"{rule}; {what}"))
    return tuple(values)


def _levels(document: Document, at: Keys, written: Any) -> tuple[Any, ...]:
    """What may stand in the place of a level: its keys, or nothing."""
    if not isinstance(written, list) or not written or not all(isinstance(value, dict | None) for value in written):
        rule = "must be a list of what may stand in the place of this level, each the keys of a level, or null for none"
        raise InputError(document.fault(at, f"{rule}; got {written!r}"))
    return tuple(written)


def _range(document: Document, given: _Range, at: Keys) -> SteppedRange | tuple[Any, ...]:
    if (given.step is None) == (given.times is None):
        raise InputError(document.fault(at, "a range has one of step (added) and times (multiplied)"))
    if given.to < given.start or (given.times and given.start <= 0):
        rule = "a range is empty unless from <= to" if given.to < given.start else "from must be above 0 with times"
        raise InputError(document.fault(at, f"{rule}; got from {given.start:g} to {given.to:g}"))
    if given.step is not None:
        count = floor((given.to - given.start) / given.step + 1e-9) + 1  # 0.1 + 0.1 + 0.1 reaches 0.3
        return SteppedRange(_whole(given.start), _whole(given.step), count)
    assert given.times is not None
    values = [given.start]
    while (following := values[-1] * given.times) <= given.to * (1 + 1e-9):
        values.append(following)
        if len(values) > MAX_VALUES:
            raise InputError(document.fault(at, f"at most {MAX_VALUES:,} values in a range with times"))
    return tuple(map(_whole, values))


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _expression_faults(
    document: Document, places: dict[str | int, Keys], groups: list[LinkedParameters]
) -> list[Fault]:
    """Faults of each expression, the other parameters having their first values."""
    first = {name: value for group in groups for name, value in group.values(0).items()}
    faults, together = [], dict[str, str]()  # of those computed from each other the first has the fault
    for group in groups:
        for name, column in zip(group.names, group.columns, strict=True):
            for value in column if isinstance(column, tuple) else ():
                reason = solved(first | {name: value})[1].get(name)
                if reason and together.setdefault(reason, name) == name:
                    faults.append(document.fault(places[name], reason))
    return faults
