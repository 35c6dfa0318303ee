"""The objects of fused groups: `ruby-map --group --json`, plans, certificates."""

from typing import Any

from .values import Amount, Count, Entry, Number, Output


class Alone(Output):
    """The layers of a group one by one, each at its best in the sum of all."""

    edp: Amount
    """pJ * cycles."""
    energy_pj: Amount
    """pJ."""
    cycles: Count
    """Cycles."""
    lower_bound: Amount | None
    """No mappings of the layers are below it by the objective; null where nothing is proven."""


class Shape(Output):
    """How the layers are executed together."""

    stages: list[str]
    """The layers, in turn."""
    shared: list[tuple[str, Count]]
    """The shared loops, the outermost first: a dim of the last layer, and its tile."""
    keeper: str
    """The memory in which the tensors between layers stand."""
    halo: dict[str, str]
    """By shared dim: retain or recompute what later tiles need again."""
    life: dict[str, str]
    """By layer.tensor, of others: stage (it does not stay), group (it stays), or the dim inside whose loop it stays."""
    held_words: dict[str, Count]
    """By the layer that makes them, the most words that stand in the keeper."""


class GroupLayer(Output):
    """What a stage is in some of the steps of the shared loops."""

    steps: Count
    """So many steps."""
    sizes: dict[str, Count]
    """The size of each dim."""
    accumulates: bool
    """Whether its output holds sums before it."""
    energy_pj: Amount
    """Of one step, pJ."""
    cycles: Count
    """Of one step."""
    mapping: list[Entry]
    """Its mapping: entries, the outermost level first."""
    nest: list[str]
    """The mapping as a loop nest, line by line."""


class GroupStage(Output):
    """A layer of a group."""

    name: str
    """Its name."""
    layers: list[GroupLayer]
    """What it is in steps, the most frequent first."""


class Transfers(Output):
    """What moves for tensors that stay in the keeper beside those between layers."""

    energy_pj: Amount
    """pJ, of all steps."""
    cycles: Count
    """Cycles, of all steps."""


class Operators(Output):
    """What operators on words between layers take: a softmax, and the rescaling of one that streams."""

    energy_pj: Amount
    """pJ, of all steps."""
    cycles: Count
    """Cycles, of all steps."""


class OuterWords(Output):
    """The words of a tensor that the outermost level reads and takes."""

    fused: Count
    """In the group."""
    alone: Count | None
    """By the layers one by one; null where one has no mapping."""


class Tried(Output):
    """The tiles of a shared dim that were tried."""

    size: Count
    """The size of the dim."""
    tiles: Count
    """How many tiles."""


class GroupSearched(Output):
    """The search."""

    seconds: Amount
    """Seconds."""
    steps: Count
    """Steps of proofs."""
    groups: Count
    """Groups whose layers were solved."""
    tiles: Count
    """Combinations of tiles, with choices of retained dims, that were bounded."""
    tried: dict[str, Tried]
    """The tiles tried, by shared dim."""
    stopped_by: str
    """Why it ended."""


class Group(Output):
    """The best group of some layers; figures are null where none fits."""

    arch: str
    """The machine."""
    group: Shape | None
    """The group."""
    mapspace: str
    """The mapspace of its layers."""
    objective: str
    """What was minimised."""
    seed: int
    """The seed."""
    edp: Amount | None
    """pJ * cycles."""
    energy_pj: Amount | None
    """pJ."""
    cycles: Count | None
    """Cycles."""
    optimal: bool
    """Whether it is proven that no group that was tried is better."""
    lower_bound: Amount | None
    """No group that was tried is below it by the objective."""
    gap: Amount | None
    """The share by which one may be below."""
    alone: Alone | None
    """The layers one by one; null where one has no mapping."""
    saved: Number | None
    """The share of the objective that fusing saves; below 0 where it costs more."""
    verdict: str
    """fuse: the group is better than the layers one by one; alone: no group over the dims tried is, in any tile;
    undecided: neither is proven."""
    outer_words: dict[str, OuterWords]
    """By layer.tensor the words at the outermost level; empty where no group fits."""
    transfers: Transfers | None
    """What moves for other tensors that stay."""
    operators: Operators | None
    """What operators on words between layers take."""
    stages: list[GroupStage]
    """The layers with their mappings."""
    search: GroupSearched
    """How it was searched for."""


class LevelWords(Output):
    """The words of a tensor at a level, in all steps."""

    reads: Count
    """Read there."""
    fills: Count
    """Written there from outside."""
    updates: Count
    """Written there from inside."""


class GroupFigure(Output):
    """A figure of the executor."""

    place: str
    """A layer, or a level."""
    of: str
    """The sizes of a layer, or layer.tensor."""
    figure: str
    """What is counted."""
    value: Count
    """The count."""


class GroupSimulated(Output):
    """What executing the group word by word counts."""

    figures: list[GroupFigure]
    """Every figure."""
    equal: bool
    """Whether those of the model are the same."""
    values_equal: bool
    """Whether the values computed are those of the layers one by one."""


class GroupModel(Output):
    """A group of a plan, counted: `ruby-model ARCH NETWORK PLAN --json`."""

    arch: str
    """The machine."""
    group: Shape
    """The group."""
    edp: Amount
    """pJ * cycles."""
    energy_pj: Amount
    """pJ."""
    cycles: Count
    """Cycles."""
    levels: dict[str, dict[str, LevelWords]]
    """By level and layer.tensor the words of all steps."""
    transfers: Transfers
    """What moves for other tensors that stay."""
    operators: Operators
    """What operators on words between layers take."""
    stages: list[GroupStage]
    """The layers with their mappings."""
    invalid: list[str] | None = None
    """The limits of the machine that it exceeds; left out where it is valid."""
    simulated: GroupSimulated | None = None
    """With --simulate."""
    explanation: list[str] | None = None
    """With --explain, line by line."""


class VerifiedGroup(Output):
    """What is verified of the groups of some layers."""

    stages: list[str]
    """The layers, in turn."""
    keepers: list[str]
    """Every memory that may be the keeper."""
    objective: str
    """Its name."""
    value: Number
    """Of the best group."""
    lower_bound: Number
    """No group that shares the dims of `tiles` is lower."""
    optimal: bool
    """Whether both are equal."""
    tiles: dict[str, tuple[Count, Count]]
    """By shared dim its size, and how many of its tiles the proof is about."""
    remainders: list[str]
    """The slots that may have remainders."""
    costs: dict[str, Any]
    """What is charged beside the actions."""
    bounded: Count
    """Combinations of tiles and kept tensors that were bounded."""
    summed: Count
    """Groups that sums of proofs of layers rule out."""
    layers: Count
    """Proofs of layers that were verified."""


class CheckedGroup(Output):
    """The object of `ruby-check --json` for a proof about groups that holds."""

    verified: bool
    """true."""
    arch: str
    """The machine."""
    group: VerifiedGroup
    """What is verified."""
    seconds: Amount
    """Of the check."""
