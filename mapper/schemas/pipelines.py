"""The object of `ruby-map --pipeline --json`."""

from .values import Amount, Count, Entry, Number, Output


class Totals(Output):
    """What all items take."""

    edp: Amount
    """pJ * cycles."""
    energy_pj: Amount
    """pJ, leakage among it."""
    cycles: Count
    """Cycles."""


class PipelinePart(Output):
    """What a stage does at once: a layer, or an operation; and operations applied to its words as they pass."""

    layers: list[str]
    """Its layer; empty for an operation alone."""
    operations: list[str]
    """The operations, in turn."""
    energy_pj: Amount
    """Of an item, pJ, without leakage."""
    cycles: Count
    """Of an item."""
    mapping: list[Entry]
    """The mapping of its layer on the cores of the stage: entries, the outermost level first; empty without a layer."""
    nest: list[str]
    """The mapping as a loop nest, line by line."""


class PipelineStage(Output):
    """Parts that take turns on some of the cores."""

    cores: Count
    """So many."""
    energy_pj: Amount
    """Of an item, pJ, without leakage."""
    cycles: Count
    """Of an item."""
    parts: list[PipelinePart]
    """In turn."""


class PipelineWork(Output):
    """The search of layers and pipelines."""

    seconds: Amount
    """Of the layers on all cores and of the pipelines."""
    steps: Count
    """Of proofs."""
    searched: Count
    """Prices of parts on numbers of cores that were bounded or searched."""
    stopped_by: str
    """Why it ended."""


class Pipeline(Output):
    """The best pipeline of a chain of layers on equal cores."""

    arch: str
    """The machine."""
    network: str
    """The network."""
    mapspace: str
    """Its name."""
    objective: str
    """What is minimised."""
    seed: int
    """Of the search."""
    axis: str
    """The axis along which the cores stand."""
    cores: Count
    """All of them."""
    items: Count
    """How many follow each other."""
    edp: Amount | None
    """Of all items, pJ * cycles; null where some layer has no mapping on all cores, as are all figures."""
    energy_pj: Amount | None
    """Of all items, leakage among it, pJ."""
    cycles: Count | None
    """Of all items."""
    fill_cycles: Count | None
    """Until the first item is done."""
    item_cycles: Count | None
    """From one item to the next: those of the slowest stage."""
    leakage_pj: Amount | None
    """Of the whole machine in all cycles; 0 where it is not charged."""
    optimal: bool
    """Whether it is proven that no pipeline is lower by the objective."""
    lower_bound: Number | None
    """No pipeline is below it by the objective."""
    gap: Number | None
    """The share of the objective by which some pipeline may be lower."""
    in_turn: Totals | None
    """All layers in turn on all cores, item after item."""
    saved: Number | None
    """The share of their objective that the pipeline saves."""
    stages: list[PipelineStage]
    """In turn."""
    search: PipelineWork
    """How it was searched."""
