"""The objects of plans of networks: what `ruby-map --fuse auto --json` adds to a network, and plans of files."""

from .groups import GroupSimulated, GroupStage, LevelWords
from .values import Amount, Count, Number, Output

Components = dict[str, Number] | None  # pJ by level, the outermost first; null where energies are not known


class PlanTotals(Output):
    """Energy, cycles and their product."""

    edp: Number | None
    """pJ * cycles; null where energies are not known."""
    energy_pj: Number | None
    """The energy; null where energies are not known."""
    cycles: Count
    """The cycles."""
    component_pj: Components
    """The energy by level, the outermost first, of the MACs, and of network and leakage where they are charged."""


class PlanAlone(Output):
    """What the layers and operations of a part cost one by one, once."""

    energy_pj: Number | None
    """The energy; null where energies are not known."""
    cycles: Count
    """The cycles."""


class PlanCost(Output):
    """What a layer of a part costs in all steps, or what moves beside the layers."""

    kind: str
    """`layer`, `kept tensors` or `operators` of a fused group, `operation`, or `copy` of a tensor that stays."""
    name: str
    """Of the layer or operation; of a copy what makes the tensor."""
    energy_pj: Number | None
    """The energy; null where energies are not known."""
    component_pj: Components
    """The same by level, the outermost first, of the MACs, and of network and leakage where they are charged."""
    cycles: Count
    """The cycles."""


class PartFigures(Output):
    """A part of a plan; figures are of one execution."""

    layers: list[str]
    """Its layers, in turn."""
    operations: list[str]
    """Its operations: on rows between the layers, then those that end it, in turn."""
    count: Count
    """How often it is executed."""
    shared: list[tuple[str, Count]]
    """The shared loops of a fused group, the outermost first: dim of the last layer, tile."""
    halo: dict[str, str]
    """By shared dim whether words that later tiles need again are retained or computed again."""
    held: list[str]
    """The tensors that are in the keeper meanwhile, by what makes them."""
    held_bits: Count
    """Their room."""
    energy_pj: Number | None
    """The energy; null where energies are not known."""
    cycles: Count
    """The cycles."""
    costs: list[PlanCost]
    """What adds up to both: its layers, and what moves beside them."""


class PlanPart(PartFigures):
    """A part of a plan that was searched for; figures are of one execution."""

    alone: PlanAlone
    """What its layers and operations cost one by one."""
    saved: Number
    """The share of the objective of the layers one by one that all its executions save; they add up."""
    gap: Amount | None
    """By how much less the plan may cost, within the limits, with another choice for it alone, as a share of the
    objective of the plan; null: not known."""


class PlanResident(Output):
    """A tensor that stays in the keeper between parts."""

    tensor: str
    """What makes it."""
    until: str
    """The last layer or operation that reads it there."""
    copied: bool
    """Whether it leaves the chip, too, for later readers."""


class PlanLimits(Output):
    """What a plan may take at most; null: no limit."""

    cycles: Number | None
    """Cycles."""
    energy_pj: Number | None
    """The energy."""


class NetworkPlan(Output):
    """A plan of a network."""

    keeper: str
    """The memory in which tensors stay."""
    groups: list[PlanPart]
    """The parts in the order in which they are executed."""
    resident: list[PlanResident]
    """The tensors that stay between parts."""
    order: list[str]
    """All layers and operations in the order in which they are computed."""
    component_pj: Components
    """The energy of the plan by level, the outermost first, of the MACs, and of network and leakage as charged."""
    limits: PlanLimits
    """The limits that were given."""
    within: bool
    """Whether the plan is within them; else it is the known plan that is least beyond."""
    impossible: bool
    """Whether it is proven that no plan is within them."""
    front: list[tuple[Number, Number]]
    """Cycles and pJ of known plans that no other known beats, from the fewest cycles on; empty without --front."""
    below: list[tuple[Number, Number]]
    """Cycles and pJ of the corners of a chain of lines, from the fewest cycles on: no plan is below it."""
    groups_tried: bool
    """Whether fused groups were among the parts: of these some shared dims and tiles, and proofs are about them."""
    most_held: Count | None
    """The most tensors between parts that were tried; null: as many as there was room for."""
    in_turn: bool
    """Whether only parts in the order of the network were tried."""
    searched: Count
    """Prices of parts that were bounded or searched."""
    seconds: Amount
    """Of the search of plans."""
    ended_by: str | None
    """Why it ended."""


class MovedWords(Output):
    """Words of one tensor that are read or written at a level."""

    level: str
    """The level."""
    written: bool
    """Whether they are written; else they are read."""
    words: Count
    """So many."""
    bits: Count
    """Of a word."""


class PlanMovement(Output):
    """Words that move at once beside the layers of a part; nothing else goes on meanwhile."""

    name: str
    """The operation, or the tensor that leaves the chip, too."""
    words: list[MovedWords]
    """What moves."""
    energy_pj: Number
    """The energy."""
    cycles: Count
    """The cycles."""


class CountedPart(PartFigures):
    """A part of a plan that is counted; figures are of one execution."""

    room_bits: Count
    """The most that stands in the keeper at once, for the part or longer."""
    levels: dict[str, dict[str, LevelWords]]
    """By level and layer.tensor the words of its layers, in all steps."""
    moved: list[PlanMovement]
    """What moves beside the layers."""
    stages: list[GroupStage]
    """The layers with their mappings."""


class PlanModel(Output):
    """A plan of a network, counted: `ruby-model ARCH NETWORK PLAN --json`."""

    arch: str
    """The machine."""
    network: str
    """The network."""
    edp: Number
    """pJ * cycles."""
    energy_pj: Number
    """The energy."""
    cycles: Count
    """The cycles."""
    keeper: str
    """The memory in which tensors stay."""
    parts: list[CountedPart]
    """The parts in the order in which they are executed."""
    resident: list[PlanResident]
    """The tensors that stay between parts."""
    invalid: list[str] | None = None
    """The limits of the machine that it exceeds; left out where it is valid."""
    simulated: GroupSimulated | None = None
    """With --simulate."""
    explanation: list[str] | None = None
    """With --explain, line by line."""
