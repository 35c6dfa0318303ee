"""The pydantic models of an architecture file: its sections, with each fault at the key that it belongs to.

The check of a key sees, in `info.data`, those of the keys before it that are good: no fault hides another.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    field_validator,
    model_validator,
)

from ..workloads import FloatExpr, IntExpr, Section
from ..workloads.expressions import arithmetic
from .dram import Dram
from .loop_schema import Loops, TemporalLoops, least, no_twice
from .measured import Measured
from .spec import LARGEST, SMALLEST, AxisCode, LevelCode, Placement

CAPACITIES = ("capacity_bytes", "capacity_words", "capacity_bits", "depth")


def _technology(value: object) -> object:
    """`45nm`, `45` or 45 in nanometres."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:nm)?\s*", value) if isinstance(value, str) else None
    number: object = float(match[1]) if match else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1e6:
        raise ValueError(f"must be nanometres, as 45nm or 45; got {value!r}")
    return number


def _attribute(value: object, info: ValidationInfo) -> object:
    """The value of an expression of numbers and variables; other text stays as it is (`type: fast-sram`)."""
    if isinstance(value, str):
        try:
            return arithmetic(value, (info.context or {}).get("names", {}))
        except ValueError:
            return value
    if value is None or isinstance(value, list | dict):
        raise ValueError(f"must be a number, text, true or false; got {value!r}")
    return value


def checked_name(name: str) -> str:
    """`name`, which may stand in mapping files and in `level.axis`. Raises ValueError for other texts."""
    if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
        raise ValueError(f"a name has letters, digits, _ and -, and begins with a letter; got {name!r}")
    return name


Name = Annotated[str, AfterValidator(checked_name)]
Size = Annotated[IntExpr, Field(ge=1)]
MOST_START = 10**9  # cycles in which a tile begins
Technology = Annotated[float, BeforeValidator(_technology)]
Attribute = Annotated[Any, PlainValidator(_attribute)]
Amount = Annotated[FloatExpr, Field(ge=0, le=LARGEST)]
Rate = Annotated[FloatExpr, Field(ge=SMALLEST, le=LARGEST)]


class Fanout(Loops):
    """A fanout axis."""

    name: Name
    mesh: Literal["X", "Y"] = "X"
    size: Size
    min_utilization: Annotated[FloatExpr, Field(ge=0, le=1)] = 0.0
    code: AxisCode = "loop"
    systolic: bool = False
    double_buffered: bool = False

    @field_validator("size")
    @classmethod
    def _factors_fit(cls, size: int, info: ValidationInfo) -> int:
        rules, product = info.data.get("factors", ()), 1
        for dim in {rule.dim for rule in rules}:
            product *= least(rules, dim)
        if product > size:
            raise ValueError(f"the factor rules need at least {product} copies, the axis has {size}")
        return size

    @field_validator("double_buffered")
    @classmethod
    def _of_an_array(cls, doubled: bool, info: ValidationInfo) -> bool:
        if doubled and info.data.get("systolic") is False:
            raise ValueError("only elements of a systolic array have a second register: it goes with systolic: true")
        return doubled


class LevelEnergies(Section):
    """Energies that win over every estimate: pJ per access of the full width, um^2 per instance."""

    read_pj: Amount
    write_pj: Amount
    update_pj: Amount | None = None
    leak_pj_per_cycle: Amount | None = None
    area_um2: Amount | None = None


class ComputeEnergies(Section):
    """Energies of a MAC unit that win over every estimate: pJ per MAC, um^2 per instance."""

    compute_pj: Amount
    leak_pj_per_cycle: Amount | None = None
    area_um2: Amount | None = None


class Part(Section):
    """The keys that storage levels and compute units share."""

    name: Name
    cls: str = Field(alias="class", min_length=1)
    type: str | None = None
    technology: Technology | None = None
    word_bits: Size = 16
    attributes: dict[str, Attribute] = {}

    @field_validator("attributes")
    @classmethod
    def _attributes_are_others(cls, attributes: dict[str, object]) -> dict[str, object]:
        own = {field.alias or name for name, field in cls.model_fields.items()}
        if taken := sorted(attributes.keys() & (own | {"technology_nm", "clock_ns"})):
            raise ValueError(f"free attributes only; these have keys of their own: {', '.join(taken)}")
        return attributes


class DramTiming(Section):
    """Bursts and rows of the outermost level, and how tensors lie in them."""

    burst_bits: Size
    row_bits: Size | None = None
    activate_pj: Amount = 0.0
    refresh_pj_per_cycle: Amount = 0.0
    layout: dict[str, Annotated[tuple[str, ...], AfterValidator(no_twice)]] = {}

    @field_validator("row_bits")
    @classmethod
    def _whole_bursts(cls, row: int | None, info: ValidationInfo) -> int | None:
        burst = info.data.get("burst_bits")
        if row is not None and burst is not None and row % burst:
            raise ValueError(f"must be a multiple of burst_bits, {burst}; got {row}")
        return row

    @field_validator("activate_pj")
    @classmethod
    def _of_rows(cls, activate: float, info: ValidationInfo) -> float:
        if activate and "row_bits" in info.data and info.data["row_bits"] is None:
            raise ValueError("goes with row_bits: it is the energy of a row that is opened")
        return activate

    def value(self) -> Dram:
        """The section as a value."""
        layout = tuple(sorted(self.layout.items()))
        return Dram(self.burst_bits, self.row_bits, self.activate_pj, self.refresh_pj_per_cycle, layout)


class Level(Part):
    """A storage level. Sizes are per instance."""

    width_bits: Size | None = None  # None: one word
    capacity_bytes: Size | None = None
    capacity_words: Size | None = None
    capacity_bits: Size | None = None
    depth: Size | None = None
    tensor_bits: dict[str, Size] = {}
    banks: Size = 1
    ports: Size = 2
    read_bandwidth: Rate | None = None
    write_bandwidth: Rate | None = None
    shared_bandwidth: Rate | None = None
    dram: DramTiming | None = None
    row_bandwidth: Rate | None = None
    start_cycles: Annotated[IntExpr, Field(ge=0, le=MOST_START)] = 0
    multiple_buffering: Size = 1
    placement: Placement = "even"
    code: LevelCode = "cache"
    keep: frozenset[str] = frozenset()
    bypass: frozenset[str] = frozenset()
    temporal: TemporalLoops = TemporalLoops()
    fanout: tuple[Fanout, ...] = ()
    energy: LevelEnergies | None = None

    @property
    def capacity(self) -> int | None:
        """The capacity in bits, from whichever key gives it."""
        units = (8, self.word_bits, 1, self.width_bits or self.word_bits)
        given = (self.capacity_bytes, self.capacity_words, self.capacity_bits, self.depth)
        return next((size * unit for size, unit in zip(given, units, strict=True) if size is not None), None)

    @field_validator("width_bits")
    @classmethod
    def _whole_words(cls, width: int | None, info: ValidationInfo) -> int | None:
        word_bits = info.data.get("word_bits", 1)
        if width is not None and width % word_bits:
            raise ValueError(f"must be a multiple of word_bits, {word_bits}; got {width}")
        return width

    @field_validator(*CAPACITIES)
    @classmethod
    def _one_capacity(cls, size: int | None, info: ValidationInfo) -> int | None:
        given = [key for key in CAPACITIES if info.data.get(key) is not None]
        if given and size is not None:
            raise ValueError(f"one of {', '.join(CAPACITIES)} is expected, got {given[0]} too")
        return size

    @model_validator(mode="after")
    def _room_for_a_word(self) -> Self:
        if self.capacity is not None and self.capacity < self.word_bits * self.multiple_buffering:
            raise ValueError(f"the capacity must be at least one word for each of {self.multiple_buffering} buffers")
        return self

    @field_validator("dram")
    @classmethod
    def _words_in_bursts(cls, dram: DramTiming | None, info: ValidationInfo) -> DramTiming | None:
        words = [info.data.get("word_bits", 1), *(info.data.get("tensor_bits") or {}).values()]
        if dram is not None and dram.burst_bits < max(words):
            raise ValueError(f"a burst of {dram.burst_bits} bits has no room for a word of {max(words)}")
        return dram

    @field_validator("row_bandwidth")
    @classmethod
    def _of_rows(cls, rate: float | None, info: ValidationInfo) -> float | None:
        dram = info.data.get("dram")
        if rate is not None and "dram" in info.data and (dram is None or dram.row_bits is None):
            raise ValueError("goes with row_bits in the section dram: it is the rows that are opened in a cycle")
        return rate

    @field_validator("bypass")
    @classmethod
    def _keep_or_bypass(cls, tensors: frozenset[str], info: ValidationInfo) -> frozenset[str]:
        both = sorted(tensors & info.data.get("keep", frozenset()))
        if both:
            raise ValueError(f"a tensor is kept or bypassed, not both: {', '.join(both)}")
        return tensors

    @field_validator("fanout")
    @classmethod
    def _axis_names_differ(cls, axes: tuple[Fanout, ...]) -> tuple[Fanout, ...]:
        no_twice(tuple(axis.name for axis in axes))
        return axes


class ComputeUnit(Part):
    """The MAC units."""

    cls: str = Field("intmac", alias="class", min_length=1)
    energy: ComputeEnergies | None = None


class Machine(Section):
    """A whole architecture file, together with its base and with its variables computed."""

    name: Name
    technology: Technology | None = None
    clock_ns: Rate | None = None
    variables: dict[str, Any] = {}  # computed before the rest is read
    components: Any = None  # read by `component_classes`
    levels: Annotated[tuple[Level, ...], Field(min_length=1)]
    compute: ComputeUnit
    max_loops: Annotated[IntExpr, Field(ge=0)] | None = None
    calibration: Measured | None = None
