"""The object of two folders compared: `ruby-report --json`."""

from typing import Any

from .values import Number, Output


class Sides(Output):
    """A figure of each folder."""

    a: Number | None
    """Of the first."""
    b: Number | None = None
    """Of the second."""
    ratio: Number | None = None
    """b over a."""


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
    """Share of the MAC units at work."""


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
    """Share of the MAC units at work."""
    parts_pj: dict[str, Sides]
    """Energy by level, MAC units, network and leakage, pJ."""
    layers: list[ComparedLayer]
    """The layers of both."""
    left_out: list[str]
    """The layers of one alone."""


class Compared(Output):
    """The object of `ruby-report --json`."""

    a: str
    """The first folder."""
    b: str | None = None
    """The second."""
    cases: list[ComparedCase]
    """The cases of both."""
    left_out: list[str]
    """What one folder alone has."""
