"""Checks what a user wrote against a pydantic model: every fault at once, in the words of the file."""

import json
import math
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, ValidationInfo
from pydantic_core import ErrorDetails

from .expressions import arithmetic, is_expression
from .faults import Fault, InputError
from .hints import of_layer, with_unit
from .reading import Document, Keys, near


class Section(BaseModel):
    """The base of the models of input files: unknown keys are faults, and values do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def show(value: object) -> str:
    """A value in a message, cut where it is long."""
    text = json.dumps(value) if isinstance(value, dict | list | tuple | bool | None) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _names(info: ValidationInfo) -> Mapping[str, int | float]:
    """The names that `check` was given for expressions."""
    names: Mapping[str, int | float] = (info.context or {}).get("names", {})
    return names


def _number(value: object, info: ValidationInfo) -> object:
    names = _names(info)
    if isinstance(value, str) and (value in names or is_expression(value)):
        return arithmetic(value, names)
    return value


def _integer(value: object, info: ValidationInfo) -> int:
    number = _number(value, info)
    if isinstance(number, float) and number.is_integer() and abs(number) <= 2**53:
        return int(number)  # `1e3` and `2**10 / 2` are integers
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    hint = with_unit(number, info.field_name or "") if isinstance(number, str) else ""
    raise ValueError(f"must be an integer or an arithmetic expression of one, got {_got(value, number, info)}{hint}")


def _float(value: object, info: ValidationInfo) -> float:
    number = _number(value, info)
    if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number):
        return float(number)
    raise ValueError(f"must be a finite number or an arithmetic expression of one, got {_got(value, number, info)}")


def _got(value: object, number: object, info: ValidationInfo) -> str:
    if isinstance(number, str):
        return show(value) + near(number, _names(info))  # a word that names no variable
    return show(value) + ("" if isinstance(value, type(number)) else f" = {number}")


# An integer, a whole float (1e3), or an expression ("16 * 1024"); a name alone only where `check` was given it.
IntExpr = Annotated[int, BeforeValidator(_integer)]
# A finite number or an expression of one.
FloatExpr = Annotated[float, BeforeValidator(_float)]

_WANTED = {
    "int": "an integer",
    "float": "a number",
    "string": "text",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "dict": "a mapping",
    "model": "a mapping",
    "none_required": "empty",
}
_LIMITS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("greater than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation such as `tuple[Level, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models(part)


def _keys_at(model: type[BaseModel], location: Keys) -> list[str]:
    """The keys that the mapping at `location` may have, over all models that may stand there."""
    models = [model]
    for part in location:
        fields = [
            field for section in models for name, field in section.model_fields.items() if part in (field.alias, name)
        ]
        models = [inner for field in fields for inner in _models(field.annotation)] or models
    return list(
        dict.fromkeys(field.alias or name for section in models for name, field in section.model_fields.items())
    )


def _user_path(data: Any, location: Keys, absent: bool) -> Keys:
    """`location` without the parts that pydantic adds for unions and wrappers: only keys that `data` has."""
    path: Keys = ()
    for part in location[: len(location) - absent]:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            continue
        path += (part,)
    return path


def _message(error: ErrorDetails, keys: list[str], names: Mapping[str, int | float], shape: object) -> str:
    """What is wrong, in the words of the file; `shape` is that of the layer that has the value, if one has it."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    name = str(error["loc"][-1]) if error["loc"] else ""
    if kind == "missing":
        place = error["loc"][-1]
        return (
            f'the key "{name}" is missing'
            if isinstance(place, str)
            else f"entry {place + 1} of {show(value)} is missing"
        )
    if kind == "extra_forbidden":
        hint = of_layer(name, shape) or near(name, keys) or "; known: " + ", ".join(keys)
        return f'unknown key "{name}"{hint}'
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        choices = str(context["expected"]).replace("'", "").replace(" or ", ", ").split(", ")
        return f"must be one of {', '.join(choices)}; got {show(value)}{near(str(value), choices)}"
    if kind in ("too_short", "too_long"):
        words, limit = ("least", context["min_length"]) if kind == "too_short" else ("most", context["max_length"])
        return f"must have at {words} {limit} {'entry' if limit == 1 else 'entries'}, got {show(value)}"
    if kind in _LIMITS:
        words, key = _LIMITS[kind]
        return f"must be {words} {context[key]}, got {show(value)}{_computed(value, names)}"
    wanted = _WANTED.get(kind.removesuffix("_type").removesuffix("_parsing").removesuffix("_attributes"))
    rule = f"must be {wanted}" if wanted else error["msg"][:1].lower() + error["msg"][1:]
    return f"{rule}, got {show(value)}"


def _computed(value: object, names: Mapping[str, int | float]) -> str:
    """The end of a message about an expression: its value."""
    return f" = {arithmetic(value, names)}" if isinstance(value, str) else ""


def faults_of(
    error: ValidationError,
    document: Document,
    model: type[BaseModel],
    at: Keys = (),
    names: Mapping[str, int | float] | None = None,
) -> list[Fault]:
    """The faults behind pydantic's `error`, each once, with its line; expressions were computed with `names`."""
    data = document.get(at)
    faults = []
    for detail in error.errors(include_url=False):
        if detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]:
            continue  # pydantic counts good entries only; the bad ones have their own faults
        path = at + _user_path(data, detail["loc"], absent=detail["type"] == "missing")
        keys = _keys_at(model, detail["loc"][:-1])
        around = document.get(path[:-1]) if path and "sizes" in keys else None
        shape = around.get("shape") if isinstance(around, dict) else None
        faults.append(document.fault(path, _message(detail, keys, names or {}, shape)))
    return sorted(dict.fromkeys(faults), key=lambda fault: (fault.source, fault.line or 0))


def check[M: BaseModel](
    document: Document, model: type[M], at: Keys = (), names: Mapping[str, int | float] | None = None
) -> M:
    """The value at `at` as a `model`; `names` may be used in its expressions. Raises InputError with every fault.

    Types are strict: no text where a number belongs, true is no integer. Lists serve as tuples and sets.
    """
    try:
        # pydantic takes JSON strictly, and a list of it for a tuple
        text = json.dumps(document.get(at))
        return model.model_validate_json(text, strict=True, context={"names": names or {}})
    except ValidationError as error:
        raise InputError(faults_of(error, document, model, at, names)) from None
