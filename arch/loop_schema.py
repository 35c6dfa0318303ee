"""The keys of an architecture file that constrain loops: rules on factors, dims, orders."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, PlainValidator, ValidationInfo, field_validator

from ..workloads import IntExpr, Section
from ..workloads.expressions import arithmetic
from .loop_constraint import FactorRule

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


def no_twice(names: tuple[str, ...]) -> tuple[str, ...]:
    """`names`, each once. Raises ValueError with those that stand twice."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"each name once; twice: {', '.join(twice)}")
    return names


Names = Annotated[tuple[str, ...], AfterValidator(no_twice)]
Rule = Annotated[FactorRule, PlainValidator(_factor_rule)]


def least(rules: tuple[FactorRule, ...], dim: str) -> int:
    """The smallest bound that `rules` leave for `dim`; 1 for `full`, whose value depends on the workload."""
    return max((rule.value or 1 for rule in rules if rule.dim == dim and rule.op != "<="), default=1)


def _contradiction(rules: tuple[FactorRule, ...], dim: str) -> str:
    """The fault of the rules on `dim`; empty where they agree."""
    dim_rules = [rule for rule in rules if rule.dim == dim]
    text = " and ".join(map(str, dim_rules))
    if len({rule.op for rule in dim_rules}) < len(dim_rules):
        return f"at most one rule of a kind for a dim, got {text}"
    most = min((rule.value or 1 for rule in dim_rules if rule.op == "<="), default=None)
    exact = next((rule.value for rule in dim_rules if rule.op == "="), None)
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
