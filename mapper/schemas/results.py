"""The objects of results: `ruby-map --json`, stats.json, and what other commands add to them."""

from .fits import PredictedCosts
from .network_plans import NetworkPlan, PlanTotals
from .values import (
    Amount,
    Answered,
    Change,
    Combinations,
    Count,
    DramFigures,
    Energy,
    Entry,
    Ideal,
    Interconnect,
    LayoutChoice,
    LevelFigures,
    Number,
    Output,
    Proof,
    Search,
    Stage,
    Stored,
)


class Member(Output):
    """A mapping of the Pareto front."""

    cycles: Amount
    """Cycles."""
    energy_pj: Amount | None
    """pJ."""
    edp: Amount | None
    """pJ * cycles."""
    mapping: list[Entry]
    """Its entries."""


class MemberProof(Output):
    """What is proven of a mapping of the front."""

    energy_lower_bound_pj: Amount | None
    """No mapping with at most its cycles needs less, pJ."""
    optimal: bool
    """Whether no mapping dominates it."""


class Totals(Output):
    """Figures of a layer, or of a network with the counts of its layers. Costs are null without a mapping."""

    arch: str
    """The machine's name."""
    workload: str
    """The name of the layer or the network."""
    transformations: list[str] | None = None
    """What changed the layer, or layers, before the search: im2col, pad; left out where nothing did."""
    mapspace: str | None
    """The mapspace; null for a mapping that was given."""
    objective: str | None
    """What the search minimised."""
    seed: int | None
    """Of the search."""
    cycles: Count | None
    """Cycles, bandwidths counted."""
    energy_pj: Amount | None
    """pJ; null where energies are not known."""
    edp: Amount | None
    """pJ * cycles."""
    utilization: Amount | None
    """MACs over cycles times MAC units."""
    macs: Count
    """MACs, those on the zeros of padding included."""
    ineffectual_macs: Count
    """MACs on the zeros of padding."""
    area_um2: Amount | None
    """Square micrometres of the machine."""
    network: Interconnect | None
    """The wires between levels."""
    ideal: Ideal
    """Compulsory words at least energy, and peak compute: no mapping is below."""
    fill_drain_cycles: Count | None = None
    """Cycles in which a systolic array fills and drains."""
    start_cycles: Count | None = None
    """Cycles in which tiles begin, on a machine whose tiles take cycles to."""
    dram: DramFigures | None = None
    """Bursts and rows of the outermost memory, on a machine that counts them."""
    drain_reads: bool | None = None
    """Whether reads of outputs that move up are charged."""
    clock_ns: Amount | None = None
    """Nanoseconds of a cycle, where the machine has a clock."""
    milliseconds: Amount | None = None
    """Latency of a run at that clock."""
    watts: Amount | None = None
    """Energy over that time."""
    tops: Amount | None = None
    """10^12 operations per second, 2 for each MAC that is not on zeros of padding."""
    tops_per_watt: Amount | None = None
    """These operations per energy."""
    predicted: PredictedCosts | None = None
    """What the machine's calibration predicts."""
    search: Search
    """How the search went."""
    optimal: bool | None = None
    """Whether no mapping has a lower objective."""
    lower_bound: Number | None = None
    """No mapping has a lower objective."""
    gap: Amount | None = None
    """The share by which the best may be lower."""
    without_proof: str | None = None
    """Where a file chose a search that proves nothing: which key of it."""


class Layer(Totals):
    """The result of a layer: the object of `ruby-map --json`, and stats.json of its folder."""

    count: Count | None = None
    """Of a layer of a network: how often it occurs."""
    sizes: dict[str, Count] | None = None
    """Of the dims, where a transformation changed the layer."""
    alike: list[str] | None = None
    """Of a layer of a network: the names of all layers that are equal."""
    bound_by: str | None = None
    """What sets the cycles: compute, or bandwidths, as `read bandwidth of DRAM`."""
    remainders: list[str]
    """The slots that may have remainders."""
    reason: str | None
    """Why these."""
    compute: Energy | None
    """The MAC units."""
    levels: dict[str, LevelFigures] | None
    """The storage levels, the outermost first."""
    mapping: list[Entry] | None
    """The best mapping."""
    warnings: list[str] | None = None
    """What to know before using the figures."""
    origin: str | None = None
    """With a store or given mappings: where the mapping comes from."""
    store: Stored | None = None
    """What the store knew."""
    cost_model: Answered | None = None
    """The user's own cost model."""
    front: list[Member] | None = None
    """The Pareto front of the mappings looked at."""
    attained: bool | None = None
    """Whether the bound is reached by this mapping."""
    searched: Number | None = None
    """What the search had found, where the proof found a better mapping."""
    alone: Number | None = None
    """In a network: the objective of the layer's own best mapping, where another is better for the network."""
    combinations: Combinations | None = None
    """How the proof went."""
    stages: list[Stage] | None = None
    """The proof by each of several objectives."""
    front_optimal: bool | None = None
    """Whether the front is that of the whole mapspace."""
    front_gap: Amount | None = None
    """The largest share by which a mapping of it may be lower."""
    front_proof: list[MemberProof] | None = None
    """What is proven of each of its mappings."""
    layouts: LayoutChoice | None = None
    """The layout of a DRAM that was chosen with the mapping."""
    why: list[Change] | None = None
    """What holds the mapping back."""
    hint: str | None = None
    """Why there is no valid mapping, or what is wrong with the given one."""


class Network(Totals):
    """The result of a network."""

    tokens_per_second: Amount | None = None
    """The `tokens` of the network's file over the latency."""
    joules_per_token: Amount | None = None
    """The energy over the `tokens` of the network's file."""
    missing: Count | None = None
    """Layers that an interrupted search did not reach."""
    plan: NetworkPlan | None = None
    """The best plan, where plans were searched; the figures of the network are its own."""
    layer_by_layer: PlanTotals | None = None
    """What the layers cost one by one, operations among them."""
    saved: Number | None = None
    """The share of the objective of the layers one by one that the plan saves."""
    no_plan: str | None = None
    """Why plans were asked for and not searched."""
    layers: list[Layer]
    """Each layer once; figures are of one occurrence."""


class Simulated(Output):
    """What the executor counted, step by step."""

    cycles: Count
    """Cycles, without bandwidths."""
    levels: dict[str, dict[str, dict[str, Count]]]
    """Words by level, tensor and figure."""
    equal: bool
    """Whether every figure is the model's."""


class Beside(Output):
    """A word count or a number of cycles of Timeloop's statistics beside ours."""

    level: str
    """The level; empty for the whole."""
    tensor: str
    """The tensor; empty for figures of no tensor."""
    figure: str
    """What is counted."""
    ours: Number
    """By our model."""
    timeloop: Number
    """By the statistics."""
    rules: list[str]
    """Timeloop's rules that make the difference."""


class BesideEnergy(Output):
    """The energy of a component by both, and what the difference is made of; pJ."""

    component: str
    """A level, the MAC units, the network."""
    ours_pj: Number | None
    """By our model."""
    timeloop_pj: Number | None
    """By the statistics."""
    counts_pj: Number | None = None
    """Of other counts."""
    vectors_pj: Number | None = None
    """Of whole vectors and clusters."""
    leakage_pj: Number | None = None
    """Of leakage."""
    other_pj: Number | None = None
    """Of other energies per access."""


class BesideTimeloop(Output):
    """Timeloop's statistics of the same mapping."""

    source: str
    """The file."""
    figures: list[Beside]
    """Each figure of both."""
    rules: dict[str, str]
    """The rules that are named, with what they say."""
    not_explained: str
    """Why the rules were not looked for; empty where they were."""
    energies: list[BesideEnergy]
    """Each component."""


class Model(Layer):
    """The object of `ruby-model --json`."""

    invalid: list[str] | None = None
    """The limits that the mapping breaks."""
    predicted_seconds: Amount | None = None
    """Of a program of it, by the machine's calibration."""
    simulated: Simulated | None = None
    """With --simulate."""
    explanation: list[str] | None = None
    """With --explain: a line each."""
    timeloop: BesideTimeloop | None = None
    """With --beside."""


class Origin(Output):
    """Where a mapping came from."""

    date: str
    """When it first did."""
    name: str
    """The search or file."""
    mapspace: str
    """Its mapspace; empty where there is none."""


class Best(Layer):
    """The object of `ruby-store FILE best --json`."""

    problem: str
    """The digest of the problem."""
    date: str
    """Since when the mapping is held."""
    origins: list[Origin]
    """Where it came from."""
    proofs: list[Proof]
    """What is said to be proven."""
