"""The objects of the answer of a sweep: the best design, the frontier, what is beside the best, what is proven."""

from typing import Any, Literal

from pydantic import Field

from .values import Amount, Count, Number, Output


class Bounded(Output):
    """The objective of mappings on a workload."""

    value: Number
    """Of the best mapping known."""
    lower_bound: Number
    """No mapping is below it."""


class Design(Output):
    """A design of an answer."""

    design: Count
    """Its number."""
    parameters: dict[str, Any]
    """The values of its parameters."""
    mapspace: str
    """Its mapspace."""
    lower_bound: Number
    """Of the best: no design is below it. Of a design of a frontier: none of its mappings is, on the first axis that
    mappings decide."""
    gap: Amount
    """The share by which the figure may be lower."""


class Best(Design):
    """The best design."""

    value: Number
    """What is minimised."""
    workloads: dict[str, Bounded]
    """By workload."""


class Member(Design):
    """A design of a frontier."""

    values: dict[str, Number]
    """By axis."""


class Beside(Output):
    """A design one step from the best, all else equal."""

    parameters: list[str]
    """What changes: a parameter, or those that vary together."""
    step: Literal[-1, 0, 1]
    """1: more, -1: less, 0: another value, of values that have no order."""
    before: dict[str, Any] = Field(alias="from")
    """The values of the best, by parameter."""
    to: dict[str, Any]
    """Its own."""
    design: Count
    """Its number."""
    value: Number | None
    """What is minimised; null where no mapping is known."""
    lower_bound: Number | None
    """No mapping of it is below; null where nothing is proven."""
    factor: Amount | None
    """Its value over that of the best."""
    factor_at_least: Amount | None
    """That of the best mappings of both is not lower, by what is proven."""
    factor_at_most: Amount | None
    """Nor is it higher."""
    verdict: Literal["better", "worse", "equal", "undecided"] | None
    """What these limits say."""
    area_mm2: Amount | None
    """Square millimetres."""
    broken_limits: list[str]
    """The limits that it breaks, as `area_mm2 4.2 > 4`; none: it is within them."""
    message: str
    """Why there is no value."""


class Changed(Output):
    """The value of a parameter."""

    before: Any = Field(alias="from")
    """Of the best."""
    to: Any
    """Of the change."""


class CheapestChange(Output):
    """The design with the least area that is a tenth better than the best; it may break limits of a design alone."""

    proof: Literal["certified", "none", "undecided"]
    """certified: it is the one; none: proven, there is none; undecided: others may be."""
    open: Count
    """Designs with less area that may be so good."""
    design: Count | None
    """Its number; null where none is known."""
    mapspace: str | None
    """Its mapspace."""
    changes: dict[str, Changed]
    """By parameter."""
    area_mm2: Amount | None
    """Square millimetres."""
    more_mm2: Number | None
    """So much more than the best has."""
    value: Number | None
    """What is minimised."""
    lower: Amount | None
    """The share by which that is lower."""


class Bottleneck(Output):
    """What binds a layer, or a part of a plan, on the best design."""

    workload: str
    """Its workload."""
    layer: str
    """Its name; of a part its layers and operations."""
    count: Count
    """How often it occurs."""
    bound_by: str
    """What sets its cycles: compute, or bandwidths, as `read bandwidth of DRAM`; empty of a part."""
    utilization: Amount | None
    """Share of the MAC units that are busy; null of a part without MACs."""
    cycles_share: Amount
    """Its share of the cycles of the workload."""
    energy_share: Amount | None
    """Its share of the energy; null where energies are not known, as are the next two."""
    largest: str | None
    """The level, or MACs, network, leakage, that takes most of its energy."""
    largest_share: Amount | None
    """The share of its energy that this takes."""


class Proofs(Output):
    """How many proofs an answer took."""

    made: Count
    """Of designs and of sets of designs."""
    of: Count
    """As many as all designs have that keep the limits that a design alone decides."""
    sensitivity: Count | None
    """Made beside these for `sensitivity` and `cheapest_change`; null where not asked."""


class Designs(Output):
    """What became of the designs."""

    searched: Count
    """By themselves."""
    open: Count
    """They may still change the answer."""
    failed: Count
    """They cannot be made, or not be judged by what is asked: the answer is about the others."""
    within_limits: Count
    """They can be made, and keep the limits that a design alone decides."""
    of: Count
    """All."""
