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
from .measured import Measured
from .spec import AxisCode, FactorRule, LevelCode, Placement

CAPACITIES = ("capacity_bytes", "capacity_words", "capacity_bits", "depth")
_RULE = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|=)\s*([^<>=]+?)\s*")


def _factor_rule(value: object, info: ValidationInfo) -> FactorRule:
    """`C=2`, `S<=3`, `M>=pes // 2` or `N=full` as a rule."""
    match = _RULE.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise ValueError(f"a factor rule reads DIM=VALUE, DIM<=VALUE, DIM>=VALUE or DIM=full; got {value!r}")
    dim, op, text = match.groups()
    if text == "full":
        if op != "=":
            raise ValueError(f"full goes with = only; got {value!r}")
        return FactorRule(dim, "=", None)
    number = arithmetic(text, (info.context or {}).get("names", {}))
    if number != int(number) or number < 1:
        hint = "; the whole of a dim is called full" if number == 0 else ""
        raise ValueError(f"a factor must be an integer of at least 1, got {value!r}{hint}")
    return FactorRule(dim, op, int(number))  # type: ignore[arg-type]  # the pattern knows only the three


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


def _no_twice(names: tuple[str, ...]) -> tuple[str, ...]:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"each name once; twice: {', '.join(twice)}")
    return names


def checked_name(name: str) -> str:
    """`name`, which may stand in mapping files and in `level.axis`. Raises ValueError for other texts."""
    if not re.fullmatch(r"[A-Za-z_][\w-]*", name):
        raise ValueError(f"a name has letters, digits, _ and -, and begins with a letter; got {name!r}")
    return name


Name = Annotated[str, AfterValidator(checked_name)]
Size = Annotated[IntExpr, Field(ge=1)]
Names = Annotated[tuple[str, ...], AfterValidator(_no_twice)]
Rule = Annotated[FactorRule, PlainValidator(_factor_rule)]
Technology = Annotated[float, BeforeValidator(_technology)]
Attribute = Annotated[Any, PlainValidator(_attribute)]
Amount = Annotated[FloatExpr, Field(ge=0)]
Rate = Annotated[FloatExpr, Field(gt=0)]


def least(rules: tuple[FactorRule, ...], dim: str) -> int:
    """The smallest bound that `rules` leave for `dim`; 1 for `full`, whose value depends on the workload."""
    return max((rule.value or 1 for rule in rules if rule.dim == dim and rule.op != "<="), default=1)


def _contradiction(rules: tuple[FactorRule, ...], dim: str) -> str:
    """The fault of the rules on `dim`; empty where they agree."""
    mine = [rule for rule in rules if rule.dim == dim]
    text = " and ".join(map(str, mine))
    if len({rule.op for rule in mine}) < len(mine):
        return f"at most one rule of a kind for a dim, got {text}"
    most = min((rule.value or 1 for rule in mine if rule.op == "<="), default=None)
    exact = next((rule.value for rule in mine if rule.op == "="), None)
    if exact is not None and exact < least(rules, dim) or most is not None and most < least(rules, dim):
        return f"{text} leave no value for {dim}"
    return ""


class Loops(Section):
    """The keys that constrain the loops of a slot, temporal or spatial."""

    factors: tuple[Rule, ...] = ()
    dims: Names | None = None
    remainders: bool | None = None

    @field_validator("factors")
    @classmethod
    def _factors_agree(cls, rules: tuple[FactorRule, ...]) -> tuple[FactorRule, ...]:
        wrong = [_contradiction(rules, dim) for dim in dict.fromkeys(rule.dim for rule in rules)]
        if any(wrong):
            raise ValueError("; ".join(filter(None, wrong)))
        return rules

    @field_validator("dims")
    @classmethod
    def _dims_allow_factors(cls, dims: tuple[str, ...] | None, info: ValidationInfo) -> tuple[str, ...] | None:
        rules = info.data.get("factors", ())
        shut_out = sorted({rule.dim for rule in rules if dims is not None and rule.dim not in dims})
        shut_out = [dim for dim in shut_out if least(rules, dim) > 1]
        if shut_out:
            raise ValueError(f"must name every dim that a factor rule puts over 1; missing: {', '.join(shut_out)}")
        return dims


class TemporalLoops(Loops):
    """The constraint on the temporal loops of a level."""

    outermost: Names = ()
    innermost: Names = ()
    max_loops: Annotated[IntExpr, Field(ge=0)] | None = None

    @field_validator("innermost")
    @classmethod
    def _ends_differ(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        both = [name for name in names if name in info.data.get("outermost", ())]
        if both:
            raise ValueError(f"a dim stands in outermost or in innermost, not in both: {', '.join(both)}")
        return names

    @field_validator("max_loops")
    @classmethod
    def _loops_suffice(cls, count: int | None, info: ValidationInfo) -> int | None:
        rules = info.data.get("factors", ())
        needed = {rule.dim for rule in rules if least(rules, rule.dim) > 1}
        if count is not None and len(needed) > count:
            raise ValueError(f"the factor rules need {len(needed)} loops ({', '.join(sorted(needed))}), got {count}")
        return count


class Fanout(Loops):
    """A fanout axis."""

    name: Name
    mesh: Literal["X", "Y"] = "X"
    size: Size
    min_utilization: Annotated[FloatExpr, Field(ge=0, le=1)] = 0.0
    code: AxisCode = "loop"
    systolic: bool = False

    @field_validator("size")
    @classmethod
    def _factors_fit(cls, size: int, info: ValidationInfo) -> int:
        rules, product = info.data.get("factors", ()), 1
        for dim in {rule.dim for rule in rules}:
            product *= least(rules, dim)
        if product > size:
            raise ValueError(f"the factor rules need at least {product} copies, the axis has {size}")
        return size


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
        _no_twice(tuple(axis.name for axis in axes))
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
    calibration: Measured | None = None
