"""The object of two folders compared: `ruby-report --json`."""

from typing import Any, Literal

from .values import Count, Number, Output


class Sides(Output):
    """A figure of each folder."""

    a: Number | None
    """Of the first."""
    b: Number | None = None
    """Of the second."""
    ratio: Number | None = None
    """b over a."""
    at_least: Number | None = None
    """Of the best mappings the ratio is not lower, by what is proven; null where nothing limits it."""
    at_most: Number | None = None
    """Nor is it higher."""
    verdict: Literal["better", "worse", "equal", "undecided"] | None = None
    """What that says of b against a."""


class ComparedLayer(Output):
    """A layer of both folders, one occurrence."""

    layer: str
    """Its name, with how often it occurs."""
    edp: Sides
    """pJ * cycles."""
    energy_pj: Sides
    """pJ."""
    cycles: Sides
    """Cycles."""
    utilization: Sides
    """Share of the MAC units that are busy."""


class ComparedCase(Output):
    """A layer, a network, or a point of a sweep."""

    case: str
    """What tells it from the others."""
    workload: str
    """Its workload."""
    mapspace: str | None
    """Its mapspace in the first folder."""
    parameters: dict[str, Any]
    """Its parameters."""
    found: list[bool]
    """Whether each folder has a mapping."""
    edp: Sides
    """pJ * cycles."""
    energy_pj: Sides
    """pJ."""
    cycles: Sides
    """Cycles."""
    utilization: Sides
    """Share of the MAC units that are busy."""
    parts_pj: dict[str, Sides]
    """Energy by level, MAC units, network and leakage, pJ."""
    layers: list[ComparedLayer]
    """The layers of both."""
    left_out: list[str]
    """The layers of one alone."""


class Mean(Output):
    """The geometric mean of the ratios of all cases."""

    figure: str
    """The figure that is compared."""
    ratio: Number
    """b over a."""
    at_least: Number | None
    """Of the best mappings it is not lower, by what is proven; null where nothing limits it."""
    at_most: Number | None
    """Nor is it higher."""
    verdict: Literal["better", "worse", "equal", "undecided"]
    """What that says of b against a."""
    cases: dict[str, Count]
    """How many cases have each verdict."""


class PropertySides(Output):
    """A property of each folder."""

    a: str
    """Of the first."""
    b: str | None = None
    """Of the second."""


class Compared(Output):
    """The object of `ruby-report --json`."""

    a: str
    """The first folder."""
    b: str | None = None
    """The second."""
    properties: dict[str, PropertySides]
    """What each holds: machine, levels, transformations of layers, mapspace, objective, search, seed."""
    cases: list[ComparedCase]
    """The cases of both."""
    left_out: list[str]
    """What one folder alone has."""
    mean: Mean | None = None
    """Of two folders: their ratio as a whole; null where no case has one."""
