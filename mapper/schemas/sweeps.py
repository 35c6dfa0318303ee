"""The objects of sweeps: `ruby-sweep --json`, pareto.json, results.json."""

from typing import Any

from .best_designs import Beside, Best, Bottleneck, CheapestChange, Designs, Member, Proofs
from .results import Layer, Network
from .values import Amount, Count, Number, Output


class Spread(Output):
    """A measure of a design over its seeds."""

    median: Number
    """The median."""
    low: Number
    """The least."""
    high: Number
    """The most."""
    at_least: Number | None
    """The best mapping is not lower, by what is proven; null where nothing limits it."""
    at_most: Number | None
    """Nor is it higher."""


class Candidate(Output):
    """A design on a frontier. Each axis of the sweep is a further key: its values over the seeds."""

    model_config = {"extra": "allow"}
    __pydantic_extra__: dict[str, Spread]

    design: Count
    """Its number."""
    parameters: dict[str, Any]
    """The values of its parameters."""
    mapspace: str
    """Its mapspace."""
    seeds: Count
    """How many seeds were searched."""
    on_frontier: Amount
    """The share of the seeds in which it is on the frontier."""
    gap: Amount | None
    """The share by which its objective may be lower; null where nothing is proven."""
    may_be_dominated: bool
    """Whether another may dominate it, wherever the gaps leave the best mappings."""


class Joining(Output):
    """A design that may join a frontier, by the gaps."""

    design: Count
    """Its number."""
    mapspace: str
    """Its mapspace."""


class Frontier(Output):
    """The designs that no other dominates."""

    hypervolume: Number
    """Of the frontier, ideal 1."""
    hypervolume_at_least: Number
    """That of the best mappings is not lower, by what is proven."""
    hypervolume_at_most: Number
    """Nor is it higher."""
    knee: Count
    """The design at its knee."""
    may_be_knee: list[Joining]
    """The designs that may be the knee of the best mappings."""
    points: list[Candidate]
    """Its designs."""
    may_join: list[Joining]
    """Others that may belong to it."""


class Fronts(Output):
    """The frontiers of a workload."""

    ideal: dict[str, Number]
    """The least of each axis."""
    reference: dict[str, Number]
    """The most of each axis."""
    fronts: dict[str, Frontier]
    """By mapspace; all: of all together."""


class Pareto(Output):
    """pareto.json of a sweep."""

    sweep: str
    """The sweep's name."""
    axes: list[str]
    """The axes, by their columns."""
    workloads: dict[str, Fronts]
    """By workload."""


class Summary(Output):
    """The object of `ruby-sweep --json`."""

    sweep: str
    """The sweep's name."""
    points: Count
    """All points."""
    found: Count
    """Points with a mapping."""
    nothing_valid: Count
    """Points without a valid mapping."""
    failed: Count
    """Points that failed."""
    missing: Count
    """Points that an interrupted sweep did not reach."""
    pareto: Pareto
    """The frontiers."""
    best: Best | None
    """The best design by what is minimised; null where no design keeps all limits, or nothing is minimised."""
    frontier: list[Member]
    """Where a designer was asked for a frontier: its designs, by the first axis."""
    sensitivity: list[Beside] | None
    """Designs one step from the best, those with the largest effect first; null where not asked."""
    cheapest_change: CheapestChange | None
    """Null where not asked, or where there is no best design."""
    bottlenecks: list[Bottleneck] | None
    """By layer what binds the best design; null where not asked."""
    proofs: Proofs
    """Proofs of layers."""
    designs: Designs
    """Designs, each with each mapspace."""


class Point(Output):
    """A point of a sweep; figures are null without a mapping."""

    design: Count
    """The number of its design."""
    parameters: dict[str, Any]
    """Their values."""
    workload: str
    """Its workload."""
    mapspace: str
    """Its mapspace."""
    seed: Count
    """Its seed."""
    status: str
    """found, nothing valid, failed."""
    area_um2: Amount | None
    """Square micrometres."""
    energy_pj: Amount | None
    """pJ."""
    cycles: Amount | None
    """Cycles."""
    edp: Amount | None
    """pJ * cycles."""
    power_pj_per_cycle: Amount | None
    """pJ per cycle: mW at 1 GHz."""
    milliseconds: Amount | None
    """Latency, where the machine has a clock; so are the next four."""
    watts: Amount | None
    """Energy over that time."""
    tops: Amount | None
    """10^12 operations per second, 2 for each MAC that is not on zeros of padding."""
    tops_per_watt: Amount | None
    """These operations per energy."""
    tokens_per_second: Amount | None
    """Of a network whose file names its tokens."""
    joules_per_token: Amount | None
    """Of a network whose file names its tokens."""
    lower_bound: Number | None
    """Of the objective."""
    gap: Amount | None
    """The share by which the objective may be lower."""
    utilization: Amount | None
    """Share of the MAC units that are busy."""
    macs: Count | None
    """MACs."""
    evaluated: Count | None
    """Mappings looked at."""
    valid: Count | None
    """Of these, valid ones."""
    seconds: Amount | None
    """Of the search."""
    origin: str | None
    """Whether mappings are of another design, which are better than what the search of this one found."""
    message: str
    """Why there is no mapping."""
    warnings: list[str]
    """What to know before using the figures."""
    result: Network | Layer | None
    """The object of `ruby-map --json`."""
    plan_file: str = ""
    """Of a network with a plan: the plan with all mappings, as the text of a file that `ruby-model` reads."""


class Results(Output):
    """results.json of a sweep."""

    sweep: str
    """The sweep's name."""
    points: list[Point]
    """Its points."""
