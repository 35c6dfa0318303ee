"""What the objects of several outputs have in common: figures with their units, mappings, proofs."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[float, Field(allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class Output(BaseModel):
    """An object that is written: no other keys, a word on each."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Entry(Output):
    """An entry of a mapping, as Timeloop's files have it."""

    target: str
    """The level, or the axis."""
    type: Literal["temporal", "spatial", "bypass"]
    """Loops in time, loops spread over instances, or what the level keeps."""
    tensor: str | None = None
    """Of a memory with uneven placement: the tensor above these loops."""
    factors: str | None = None
    """The bound of each dim, as M=4,2 where the last round is 2."""
    permutation: str | list[str] | None = None
    """The dims, innermost first."""
    split: Count | None = None
    """So many dims of the permutation are spread over mesh X, the others over mesh Y."""
    keep: list[str] | None = None
    """The tensors that the level keeps."""
    bypass: list[str] | None = None
    """The tensors that go past it."""


class TensorFigures(Output):
    """What a level does for a tensor."""

    tile_words: Count
    """Words of the largest tile that an instance holds."""
    reads: Count
    """Words read, over all instances."""
    fills: Count
    """Words written from the level above, over all instances."""
    updates: Count
    """Words of partial sums written, over all instances."""
    energy_pj: Amount | None
    """pJ; null where energies are not known."""


class LaidTensor(Output):
    """How a tensor lies in a DRAM, and what moves of it."""

    burst: dict[str, Count]
    """Of each rank, so many indices lie in a burst; of others one."""
    row: dict[str, Count] | None
    """The same of a row; null where rows are not counted."""
    burst_reads: Count
    """Bursts read."""
    burst_updates: Count
    """Bursts of partial sums written."""
    rows: Count | None
    """Rows opened."""


class DramFigures(Output):
    """Bursts and rows of a DRAM."""

    burst_bits: Count
    """Bits that a burst moves."""
    bursts: Count
    """Bursts read and written."""
    words_of_use: Amount | None
    """Share of the words of these bursts that are of use; null without bursts."""
    rows: Count | None
    """Rows opened; null where they are not counted."""
    row_pj: Amount
    """pJ of opening them."""
    tensors: dict[str, LaidTensor] | None = None
    """The tensors of a layer."""


class LevelFigures(Output):
    """A storage level."""

    instances: Count
    """Instances that the mapping uses."""
    cycles: Count
    """Cycles that its bandwidths need; 0 without any."""
    energy_pj: Amount | None
    """pJ of all tensors; null where energies are not known."""
    tensors: dict[str, TensorFigures]
    """The tensors that it keeps."""


class Energy(Output):
    """Of all MAC units."""

    energy_pj: Amount | None
    """pJ; null where energies are not known."""


class Interconnect(Output):
    """The wires between levels."""

    counted: bool
    """Whether their energy is part of the total."""
    wire_pj_per_bit_mm: Amount
    """pJ per bit and millimetre."""
    tile_mm: Amount
    """Millimetres of a hop."""
    hop_pj: Amount
    """pJ per word and hop, in place of both."""
    energy_pj: Amount | None
    """pJ of all hops."""
    levels: dict[str, Amount | None]
    """pJ of the hops below each level with a fan-out."""


class Ideal(Output):
    """The ideal: what no mapping on this machine can beat, by simple arguments; perhaps none reaches it."""

    cycles: Amount
    """Cycles, all MAC units busy."""
    energy_pj: Amount | None
    """pJ, each word moved once."""
    edp: Amount | None
    """pJ * cycles."""


class Search(Output):
    """A search."""

    strategy: str | None
    """The search; null for a mapping that was given."""
    evaluated: Count
    """Mappings looked at."""
    valid: Count
    """Of these, valid ones."""
    invalid: dict[str, Count]
    """The others by the limit that they break."""
    steps: Count
    """Steps of its proofs, counted."""
    seconds: Amount
    """Seconds of the search; of a network the sum over its layers."""
    bounds: Literal["compiled", "plain"]
    """How the bounds of proofs are computed here: compiled, or plainly by NumPy; both give the same."""
    ended_by: str | None
    """The rule that ended it."""


class Combinations(Output):
    """What a proof did with all combinations of chains and kept tensors."""

    all: Count
    """All of them: the sum of the others."""
    evaluated: Count
    """Counted in their best loop orders."""
    invalid: Count
    """Evaluated, without a valid mapping."""
    ruled_out: Count
    """By a bound, or as nothing of them fits."""
    open: Count
    """Not decided."""


class Stage(Output):
    """What is proven by one of several objectives, about the best by those before."""

    objective: str
    """Its name."""
    optimal: bool
    """Whether none is lower."""
    lower_bound: Number | None
    """No mapping is lower; null where its proof has not begun."""
    gap: Amount | None
    """The share by which the best may be lower."""
    combinations: Combinations | None
    """How the proof went."""
    searched: Number | None = None
    """What the search had found, where the proof found a better mapping."""


class Proof(Output):
    """A claim of a store: what some run has proven."""

    mapspace: str
    """Of which mapspace."""
    remainders: list[str]
    """The slots that may have remainders."""
    lower_bound: Number
    """Of the first objective."""
    optimal: bool
    """Whether the best mapping was found."""
    origin: str
    """Who proved it."""
    date: str
    """When, as 2026-11-24T10:00:00Z."""


class Stored(Output):
    """What a store knew of a layer."""

    known: Count
    """Mappings that it held."""
    since: str | None
    """Since when it holds the answer; null where the answer is new."""
    proof: Proof | None
    """What it says is proven."""


class Answered(Output):
    """A cost model of the user's own."""

    command: str
    """The command that was asked."""
    value: Number | None
    """Its answer for the best mapping."""
    failure: str | None = None
    """Why it ended the search."""


class LayoutChoice(Output):
    """A layout that was chosen with the mapping; what is proven is about all of them."""

    layout: dict[str, list[str]]
    """Of each tensor that has one, the dims whose ranks lie innermost, as a section `dram` has them."""
    number: Count
    """Layouts that differ."""
    searched: Count
    """Of them, those searched."""
    given: Amount
    """The objective of the best mapping found in the layout of the machine's file."""


class Change(Output):
    """A change of the machine or the mapspace, and the best mapping then."""

    change: str
    """What is changed."""
    value: Number | None
    """The objective of the best mapping then; null where none was found or it was not tried."""
    ratio: Number | None
    """That over the value without the change."""
    optimal: bool
    """Whether it is proven."""
    lower_bound: Number | None
    """No mapping is lower then."""
    gap: Amount | None
    """The share by which the best may be lower."""
    reason: str | None = None
    """Why there is no value."""
