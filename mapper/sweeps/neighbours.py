"""The designs beside a design: one step more or less of one parameter, or another of values that have no order."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..designs import LinkedParameters, Values
from .candidates import Candidates
from .plan import Plan, design_values

Size = tuple[float, ...]


@dataclass(frozen=True)
class Neighbour:
    """A design beside another one, in a group of parameters that vary together."""

    group: LinkedParameters
    step: int  # 1: more, -1: less, 0: another value
    design: int


def neighbours_of(plan: Plan, design: int) -> Iterator[Neighbour]:
    """The designs beside one: by parameter, all else equal."""
    for at, group in enumerate(plan.groups):
        for step, index in _steps(plan, design, at):
            yield Neighbour(group, step, plan.design_with(design, at, index))


def neighbour_row(candidates: Candidates, row: int, neighbour: Neighbour) -> int | None:
    """The candidate of a neighbour with the mapspace of `row`; None: a limit on points left the design out."""
    plan = candidates.plan
    place = plan.places.get(neighbour.design)
    return None if place is None else place * len(plan.mapspaces) + row % len(plan.mapspaces)


def _steps(plan: Plan, design: int, at: int) -> Iterator[tuple[int, int]]:
    """The steps of a group, and the number of the value of each: the next numbers by size, or all other values."""
    group, own = plan.groups[at], plan.indices(design)[at]
    if group.stepped:
        yield from ((step, own + step) for step in (-1, 1) if 0 <= own + step < group.size)
        return
    every = range(group.size)
    sizes = _sizes(plan, design, at)
    smaller = (index for index in every if sizes[index] < sizes[own])
    larger = (index for index in every if sizes[index] > sizes[own])
    if (less := max(smaller, key=lambda index: (sizes[index], -index), default=None)) is not None:
        yield -1, less
    if (more := min(larger, key=lambda index: (sizes[index], index), default=None)) is not None:
        yield 1, more
    equal = (index for index in every if sizes[index] == sizes[own])
    yield from ((0, index) for index in equal if group.values(index) != group.values(own))


def _sizes(plan: Plan, design: int, at: int) -> list[Size]:
    """The size of each value of a group; all the same where one has none."""
    sizes = [_size(plan, design, at, index) for index in range(plan.groups[at].size)]
    return sizes if all(sizes) else [()] * len(sizes)


def _size(plan: Plan, design: int, at: int, index: int) -> Size:
    """The numbers among the values of a group, computed where they are expressions; none: the first is no number."""
    group = plan.groups[at]
    values: Values = group.values(index)
    if any(isinstance(value, str) for value in values.values()):
        values = design_values(plan, plan.design_with(design, at, index))
    numbers = [_number(values.get(name)) for name in group.names]
    return () if numbers[0] is None else tuple(number for number in numbers if number is not None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
