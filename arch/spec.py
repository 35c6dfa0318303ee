"""The architecture as a value: storage levels, outermost first, fanout axes, compute units, and constraints."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, prod
from typing import Any, Literal, get_args

from ..workloads import Fault, Tensor, Workload
from .bandwidth import KINDS, Bandwidth
from .calibration import Calibration
from .dram import Blocks, Dram
from .loop_constraint import FREE, LoopConstraint
from .systolic import SystolicArray

# of a rate, an energy in pJ or an area that a file gives: no product that is reported overflows
SMALLEST, LARGEST = 1e-30, 1e30


AxisCode = Literal["loop", "threads", "lanes"]
LevelCode = Literal["cache", "buffer", "registers"]
AXIS_CODES: tuple[AxisCode, ...] = get_args(AxisCode)
LEVEL_CODES: tuple[LevelCode, ...] = get_args(LevelCode)


@dataclass(frozen=True)
class Axis:
    """A fanout axis: `size` copies of everything inside it. Each axis is a spatial slot of its own."""

    name: str
    size: int
    mesh: Literal["X", "Y"] = "X"  # the physical direction; Timeloop's mapping format splits by it
    constraint: LoopConstraint = FREE
    # what it becomes in a program: steps of a loop, threads, or the lanes of vectors
    code: AxisCode = field(default="loop", metadata={"later": True})
    # whether words pass along it from element to element, a cycle each, in an array that has to fill and drain
    systolic: bool = field(default=False, metadata={"later": True})
    # whether the elements of that array have two registers for a word that stays: one is filled while the other is used
    double_buffered: bool = field(default=False, metadata={"later": True})


@dataclass(frozen=True)
class Component:
    """A part of an architecture that has energy and area: its class, and its attributes for an energy engine."""

    name: str
    cls: str  # DRAM, SRAM, regfile, intmac..., or the name of a compound class
    # (name, value) pairs beyond the named fields, sorted by name: technology_nm, type (LPDDR4...), ...
    attributes: tuple[tuple[str, object], ...] = field(default=(), kw_only=True)

    def attribute(self, name: str, default: object = None) -> object:
        return dict(self.attributes).get(name, default)


Placement = Literal["even", "uneven"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)


@dataclass(frozen=True)
class Storage(Component):
    """A storage level. Sizes are per instance."""

    capacity_bits: int | None = None  # None: unbounded (DRAM)
    word_bits: int = 16  # of a tensor that gives no width of its own
    tensor_bits: tuple[tuple[str, int], ...] = ()  # (tensor, bits) pairs where this level differs
    width_bits: int = 16  # of one vector access; energies are per such access
    banks: int = 1
    ports: int = 2
    read_bandwidth: float | None = None  # words per cycle and instance; None: unbounded
    write_bandwidth: float | None = None
    # of reads and writes together
    shared_bandwidth: float | None = field(default=None, metadata={"later": True})
    # rows that are opened
    row_bandwidth: float | None = field(default=None, metadata={"later": True})
    dram: Dram | None = field(default=None, metadata={"later": True})  # of the outermost level: bursts and rows
    # cycles in which each tile begins, once for each step of the temporal loops outside; nothing else runs in them
    start_cycles: int = field(default=0, metadata={"later": True})
    multiple_buffering: int = 1  # usable capacity = capacity // this
    keep: frozenset[str] = frozenset()  # tensors that must be kept here
    bypass: frozenset[str] = frozenset()  # tensors that must not; the rest is the mapper's choice
    # tensors that are here as a whole, before and after: they take their room, and no level outside has them
    resident: frozenset[str] = field(default=frozenset(), metadata={"later": True})
    temporal: LoopConstraint = FREE
    fanout: tuple[Axis, ...] = ()  # below this level, outer axis first
    # uneven: each tensor may be kept below other loops; `later`: state on disk may be from before there was a choice
    placement: Placement = field(default="even", metadata={"later": True})
    # what it becomes in a program: nothing (a cache), a buffer that tiles are copied to, or registers
    code: LevelCode = field(default="cache", metadata={"later": True})
    # of a level of a stack: the memory that all its levels are
    memory: str = field(default="", metadata={"later": True})

    @property
    def of_memory(self) -> str:
        """The name of the memory that it is, alone or with the other levels of its stack."""
        return self.memory or self.name

    @property
    def bandwidths(self) -> tuple[Bandwidth, ...]:
        """Those that are given."""
        rates = self.read_bandwidth, self.write_bandwidth, self.shared_bandwidth, self.row_bandwidth
        return tuple(Bandwidth(kind, rate) for kind, rate in zip(KINDS, rates, strict=True) if rate is not None)

    def with_rates(self, changed: Callable[[float], float | None]) -> "Storage":
        """Return the same with the rates of its bandwidths changed."""
        rates: dict[str, Any] = {own.key: changed(own.rate) for own in self.bandwidths}
        return replace(self, **rates)

    @property
    def usable_bits(self) -> int | None:
        """The capacity for one copy of what is kept; None: without limit."""
        return None if self.capacity_bits is None else self.capacity_bits // self.multiple_buffering

    @property
    def instances_below(self) -> int:
        return prod(axis.size for axis in self.fanout)

    def blocks(self, workload: Workload, tensor: Tensor) -> Blocks:
        """How a tensor lies in the bursts and rows of a DRAM."""
        assert self.dram is not None
        return self.dram.blocks(workload, tensor, self.bits(tensor.name, tensor.word_bits))

    def must_keep(self, tensor: str) -> bool:
        """Whether a tensor is always kept here."""
        return tensor in self.keep or tensor in self.resident

    def bits(self, tensor: str, tensor_word_bits: int | None) -> int:
        """The bits of one word of `tensor` here: this level's own figure, else the tensor's, else word_bits."""
        return dict(self.tensor_bits).get(tensor) or tensor_word_bits or self.word_bits


@dataclass(frozen=True)
class Compute(Component):
    """The MAC units inside the innermost fanout."""

    word_bits: int = 16


@dataclass(frozen=True, slots=True)
class Written:
    """A value of an input file and its place: the faults of an expression show where it is computed."""

    value: int | float | str | None
    source: str
    line: int | None
    path: str

    def fault(self, message: str) -> Fault:
        return Fault(self.source, self.line, self.path, message)


@dataclass(frozen=True, slots=True)
class ComponentPart:
    """One part of a compound class. Its attributes and count are expressions of the compound's attributes."""

    name: str
    cls: Written
    count: Written
    attributes: tuple[tuple[str, Written], ...]


@dataclass(frozen=True, slots=True)
class ComponentClass:
    """A class of component made of parts: its actions are sums of theirs, and so are its area and leakage."""

    name: Written
    attributes: tuple[tuple[str, Written], ...]  # defaults; None: a component of the class must give it
    parts: tuple[ComponentPart, ...]
    actions: tuple[tuple[str, tuple[tuple[str, Written], ...]], ...]  # action -> ("part.action", how many times)


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for loops: the temporal loops of a level (axis None) or one fanout axis below it."""

    level: int
    axis: Axis | None
    name: str  # for messages: `shared_glb`, `shared_glb.PE_column`
    constraint: LoopConstraint

    @property
    def spatial(self) -> bool:
        return self.axis is not None

    @property
    def least(self) -> int:
        """The fewest instances that its constraint lets the bounds spread over; 0 without such a constraint.

        It is a whole number, the same for all comparisons: 0.28 of 25 is 7, where the product in floats is above 7.
        """
        return 0 if self.axis is None else ceil(self.constraint.min_utilization * self.axis.size * (1 - 1e-9))


@dataclass(frozen=True)
class Architecture:
    """Storage levels, outermost (level 0) first, and the compute units."""

    name: str
    levels: tuple[Storage, ...]
    compute: Compute
    components: tuple[ComponentClass, ...] = ()  # classes of its own, beside those that an energy engine knows
    calibration: Calibration | None = field(default=None, metadata={"later": True})
    # at most so many temporal loops with a bound over 1, of all levels together
    max_loops: int | None = field(default=None, metadata={"later": True})
    # nanoseconds of a cycle, for times and powers; no part of its repr and so of fingerprints: no count depends on it
    clock_ns: float | None = field(default=None, repr=False)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """All slots, outermost first: for each level its temporal loops, then its fanout axes, outer axis first."""
        slots = []
        for index, level in enumerate(self.levels):
            slots.append(Slot(index, None, level.of_memory, level.temporal))
            slots += [Slot(index, axis, f"{level.of_memory}.{axis.name}", axis.constraint) for axis in level.fanout]
        return tuple(slots)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The number of fanout axes below each level: all that slots of one architecture share with another's."""
        return tuple(len(level.fanout) for level in self.levels)

    @cached_property
    def systolic(self) -> SystolicArray | None:
        """The systolic array, if some axis is systolic. Raises ValueError where such axes are below several levels."""
        axes = [(s, slot.level, slot.axis) for s, slot in enumerate(self.slots) if slot.axis and slot.axis.systolic]
        if not axes:
            return None
        level = self._only_level({level for _, level, _ in axes})
        rows, columns = ([(s, axis.size) for s, _, axis in axes if axis.mesh == mesh] for mesh in "YX")
        slots = [tuple(s for s, _ in group) for group in (rows, columns)]
        doubled = any(axis.double_buffered for _, _, axis in axes)
        return SystolicArray(level, prod(n for _, n in rows), prod(n for _, n in columns), slots[0], slots[1], doubled)

    def _only_level(self, levels: set[int]) -> int:
        """The level above all systolic axes. Raises ValueError where there are several."""
        level, *other_levels = sorted(levels)
        if other_levels:
            names = ", ".join(self.levels[index].of_memory for index in (level, *other_levels))
            raise ValueError(f"systolic axes of {self.name} stand below several levels: {names}")
        return level

    @cached_property
    def stacks(self) -> tuple[range, ...]:
        """The levels of each memory, outermost first: one, but for memories with uneven placement (stacks.py)."""
        first = [
            i for i, level in enumerate(self.levels) if not (i and level.memory == self.levels[i - 1].memory != "")
        ]
        return tuple(range(start, after) for start, after in zip(first, [*first[1:], len(self.levels)], strict=True))

    @property
    def starts(self) -> tuple[tuple[int, int], ...]:
        """The memories whose tiles take cycles to begin: the first level of each, and these cycles."""
        levels = [(stack[0], self.levels[stack[0]].start_cycles) for stack in self.stacks]
        return tuple((level, cycles) for level, cycles in levels if cycles)

    def number_of(self, name: str) -> int:
        """The number of the level of this name. Raises StopIteration for one that the machine has not."""
        return next(i for i, level in enumerate(self.levels) if level.name == name)

    def with_usable(self, level: int, bits: int) -> "Architecture":
        """Return the same with so many usable bits at a level."""
        own = self.levels[level]
        own = replace(own, capacity_bits=bits * own.multiple_buffering)
        return replace(self, levels=(*self.levels[:level], own, *self.levels[level + 1 :]))

    def home(self, tensor: str) -> int:
        """The outermost level that has a tensor: where it is resident, else level 0."""
        return next((i for i, level in enumerate(self.levels) if tensor in level.resident), 0)

    def with_resident(self, level: int, tensors: Collection[str]) -> "Architecture":
        """Return the same with tensors resident at a level with one instance: it has them whole, levels outside none.

        Raises ValueError for a level of several instances, and for a tensor that it bypasses or a level outside keeps.
        """
        own, outside = self.levels[level], self.levels[:level]
        if self.instances(level) > 1:
            raise ValueError(f"{own.of_memory} has {self.instances(level)} instances: none has a whole tensor")
        if wrong := sorted(own.bypass.intersection(tensors)):
            raise ValueError(f"{own.of_memory} bypasses {', '.join(wrong)}")
        for outer in outside:
            if wrong := sorted((outer.keep | outer.resident).intersection(tensors)):
                raise ValueError(f"{outer.of_memory} keeps {', '.join(wrong)}, which stays in {own.of_memory}")
        levels = [replace(outer, bypass=outer.bypass.union(tensors)) for outer in outside]
        levels.append(replace(own, keep=own.keep.difference(tensors), resident=own.resident.union(tensors)))
        return replace(self, levels=(*levels, *self.levels[level + 1 :]))

    def instances(self, level: int) -> int:
        """Instances of storage level `level`; of the compute units for level == len(levels)."""
        return prod(storage.instances_below for storage in self.levels[:level])
