"""The objects of the smaller outputs, each named by what writes it."""

from typing import Annotated, Any

from pydantic import Field

from .results import Origin
from .values import Amount, Count, Entry, Number, Output, Proof


class Size(Output):
    """The number of mappings: a product."""

    factorization: Count
    """Bounds of all loops."""
    permutation: Count
    """Orders of the temporal loops."""
    axes: Count
    """Always 1: how dims are spread is part of the factorization."""
    bypass: Count
    """Which tensors each level keeps."""
    total: Count
    """All mappings; where `least` is less, at most so many, and factorization too."""
    least: Count
    """At least so many mappings; equal to `total` where they are counted exactly."""


class MapspaceSize(Output):
    """The object of `ruby-map --size --json` for a layer."""

    workload: str
    """The layer."""
    size: Size
    """The number of mappings."""
    log10: Number
    """Its logarithm."""
    human: str
    """It as a reader is shown it."""
    remainders: list[str]
    """The slots that may have remainders."""
    reason: str
    """Why these."""


class MapspaceSizes(Output):
    """The same of a network."""

    layers: list[MapspaceSize]
    """Its layers."""


class Library(Output):
    """The object of `ruby-map --list --json`."""

    archs: list[str]
    """The architectures."""
    workloads: dict[str, list[str]]
    """The layers of each network; none of a layer."""


class LevelEnergies(Output):
    """A storage level: energies per access of the full width, area of an instance."""

    read_pj: Amount
    """pJ per read."""
    write_pj: Amount
    """pJ per write."""
    update_pj: Amount
    """pJ per update."""
    leak_pj_per_cycle: Amount
    """pJ per cycle and instance."""
    area_um2: Amount
    """Square micrometres per instance."""
    source: str
    """Where the figures come from."""


class Bits(Output):
    """The energy of a MAC by its bits."""

    word_bits: Count
    """Of tensors that have no width of their own."""
    adder_pj: Amount
    """pJ per bit of the sum."""
    multiplier_pj: Amount
    """pJ per bit of one factor and bit of the other."""


class ComputeEnergies(Output):
    """MAC units."""

    name: str
    """Their name."""
    compute_pj: Amount
    """pJ per MAC."""
    leak_pj_per_cycle: Amount
    """pJ per cycle and unit."""
    area_um2: Amount
    """Square micrometres per unit."""
    source: str
    """Where the figures come from."""
    by_bits: Bits | None
    """Where it depends on the widths of a layer's words."""


class Energies(Output):
    """The object of `ruby-energy --json`."""

    levels: dict[str, LevelEnergies]
    """The storage levels."""
    compute: ComputeEnergies
    """The MAC units."""


class VerifiedStage(Output):
    """What is verified by one objective."""

    objective: str
    """Its name."""
    value: Number
    """Of the best."""
    lower_bound: Number
    """No mapping is lower."""
    optimal: bool
    """Whether both are equal."""


class Verified(VerifiedStage):
    """What is verified of a layer."""

    workload: str
    """The layer."""
    remainders: list[str]
    """The slots that may have remainders."""
    points: Count
    """Best mappings: one, or those of a front."""
    stages: list[VerifiedStage]
    """By each objective in turn."""
    transformations: list[str]
    """What changed the layer, in turn: im2col, pad."""
    pad: bool
    """Whether dims are rounded up first."""
    im2col: bool
    """Whether convolutions are made matrix products first."""
    sizes: dict[str, Count]
    """Of each dim."""
    costs: dict[str, Any]
    """What is charged beside the actions."""
    combinations: Count
    """Of chains and kept tensors, all accounted for."""
    evaluated: Count
    """Of these, evaluated in every loop order."""
    sets: Count
    """Sets of chains checked."""


class Checked(Output):
    """The object of `ruby-check --json` for a proof that holds."""

    verified: bool
    """true."""
    arch: str
    """The machine."""
    layers: list[Verified]
    """What is verified."""
    seconds: Amount
    """Of the check."""


class Refused(Output):
    """The object of `ruby-check --json` for a proof that does not hold."""

    verified: bool
    """false."""
    layer: str
    """The layer of the first reason."""
    reason: str
    """Why it is refused."""


class Held(Output):
    """A mapping that a store holds."""

    values: list[Number]
    """By the objectives."""
    energy_pj: Amount
    """pJ."""
    cycles: Amount
    """Cycles."""
    date: str
    """Since when."""
    origins: list[Origin]
    """Where it came from."""
    mapping: Any
    """Its loops, by names."""


class Problem(Output):
    """A problem of a store: a machine, a layer, energies, an objective."""

    problem: str
    """Its digest."""
    arch: str
    """The machine."""
    workload: str
    """The layer."""
    title: str
    """Its name, and what transformations made of it."""
    objective: str
    """What is minimised."""
    mappings: Count
    """How many are held."""
    best: Held | None
    """The best of them."""
    proofs: list[Proof]
    """What is said to be proven."""


class Problems(Output):
    """The object of `ruby-store FILE list --json`."""

    problems: list[Problem]
    """All that match."""


class Imported(Output):
    """The object of `ruby-store FILE import --json`."""

    imported: Count
    """Mappings."""


class Removed(Output):
    """The object of `ruby-store FILE prune --json`."""

    removed: Count
    """Mappings."""


class Predicted(Output):
    """What is expected of a program."""

    cycles: Amount
    """Cycles of the mapping."""
    seconds: Amount | None
    """By the machine's calibration; null without one."""


class Program(Output):
    """The object of `ruby-code --json`; what was measured is there with --run."""

    arch: str
    """The machine."""
    workload: str
    """The layer."""
    backend: str
    """What compiles it."""
    dtype: str
    """The type of the words."""
    folder: str
    """Where the files are."""
    files: list[str]
    """Their names."""
    predicted: Predicted
    """What is expected."""
    correct: bool | None = None
    """Whether every word is what NumPy computes; null where the program failed."""
    failure: str | None = None
    """Why it failed."""
    seconds: Amount | None = None
    """The least of all runs."""
    runs: Count | None = None
    """Runs."""
    words: Count | None = None
    """Words of the output."""
    wrong: Count | None = None
    """Of these, wrong ones."""
    macs: Count | None = None
    """MACs."""
    gflops: Amount | None = None
    """GFLOP/s."""
    share_of_peak: Amount | None = None
    """Of the machine's highest rate."""


class Mapping(Output):
    """A mapping file that is written."""

    mapping: Annotated[list[Entry], Field(min_length=1)]
    """Its entries, the outermost level first."""
