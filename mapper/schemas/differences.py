"""The objects of two mappings compared: `ruby-model ARCH LAYER A B --json`."""

from .results import Model
from .values import Number, Output


class Pair(Output):
    """A figure of two mappings."""

    a: Number | None
    """Of A."""
    b: Number | None
    """Of B."""
    difference: Number | None
    """B less A."""
    relative: Number | None
    """That over A; null where A is 0."""


class Words(Pair):
    """Words of two mappings."""

    energy_pj: Number | None
    """What the difference costs, pJ."""


class Kept(Output):
    """Whether a level keeps a tensor."""

    a: bool
    """In A."""
    b: bool
    """In B."""


class Row(Output):
    """A level and a tensor in two mappings; figures that are equal are left out."""

    level: str
    """The level."""
    tensor: str
    """The tensor."""
    kept: Kept
    """Whether it is kept there."""
    energy_pj: Pair
    """pJ."""
    burst_reads: Words | None = None
    """Bursts of a DRAM that are read."""
    burst_updates: Words | None = None
    """Bursts of a DRAM that are updated."""
    activations: Words | None = None
    """Rows of a DRAM that are opened."""
    reads: Words | None = None
    """Words read."""
    fills: Words | None = None
    """Words written from above."""
    updates: Words | None = None
    """Words of partial sums."""


class Differences(Output):
    """What differs between two mappings."""

    cycles: Pair
    """Cycles."""
    energy_pj: Pair
    """pJ."""
    edp: Pair
    """pJ * cycles."""
    utilization: Pair
    """Share of the MAC units that are busy."""
    start_cycles: Pair | None = None
    """Cycles in which tiles begin, where there are any."""
    fill_drain_cycles: Pair | None = None
    """Cycles in which a systolic array fills and drains."""
    level_cycles: dict[str, Pair]
    """Of each level with a bandwidth."""
    rows: list[Row]
    """The dearest first."""


class Difference(Output):
    """The object of `ruby-model ARCH LAYER A B --json`, and of `--set`."""

    a: Model
    """The first mapping."""
    b: Model
    """The second, or the changed one."""
    difference: Differences
    """B less A."""
    set: list[str] | None = None
    """The changes, as they were given."""
    with_it: list[str] | None = None
    """What else they changed."""
    invalid: dict[str, list[str]] | None = None
    """The limits that a mapping breaks, by a and b."""
