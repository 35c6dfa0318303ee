"""JSON schemas (draft 2020-12) of the models of files, as an editor needs them: what the reader takes, with a word on
every key.

The reader computes expressions where numbers stand. A schema cannot, so it takes any text of their letters, but for a
number with the prefix of a unit (64KB), the mistake that is made most.
"""

import typing
from collections.abc import Iterator, Mapping
from typing import Any, override

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
EXPRESSION: Schema = {"type": "string", "pattern": r"^(?!(.*[\s(*/+%,-])?\d[\d.]*\s?[KMGTkmgt])[\w\s.+*/%(),-]+$"}
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_NUMBERS = ("_integer", "_float")  # the validators of IntExpr and FloatExpr


class _Generate(GenerateJsonSchema):
    """Pydantic's generator, for what a user writes: expressions beside numbers, and no titles made of keys."""

    def __init__(self, *args: Any, other: Mapping[str, Schema], **more: Any) -> None:
        super().__init__(*args, **more)
        self.other = other  # of the values that validators in Python take, by the name of the function

    def _checked(self, schema: Any) -> Schema:
        name = getattr(schema["function"]["function"], "__name__", "")  # pydantic's own have none
        if name in self.other:
            return dict(self.other[name])
        inner = self.generate_inner(schema["schema"])
        return {"anyOf": [inner, EXPRESSION]} if name in _NUMBERS else inner

    @override
    def function_before_schema(self, schema: Any) -> Schema:
        return self._checked(schema)

    @override
    def function_after_schema(self, schema: Any) -> Schema:
        return self._checked(schema)

    @override
    def function_plain_schema(self, schema: Any) -> Schema:
        return dict(self.other[schema["function"]["function"].__name__])

    @override
    def frozenset_schema(self, schema: Any) -> Schema:
        return super().frozenset_schema(schema) | {"uniqueItems": False}  # the reader takes a name twice

    @override
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def schema_of(
    model: Any, title: str, descriptions: Mapping[str, str] | None = None, other: Mapping[str, Schema] | None = None
) -> Schema:
    """Make the schema of a model, or of any type that pydantic knows.

    `descriptions` says what keys mean, by `Model.key`; one of a model is also one of those that inherit it. None: the
    fields say it themselves. `other` has the schemas of values that validators in Python take, by the name of the
    function. Raises KeyError for a key of which nothing is told.
    """

    class Generate(_Generate):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, other=other or {}, **more)

    schema = _plain(TypeAdapter(model).json_schema(schema_generator=Generate))
    if descriptions is not None:
        for one in models_in(model):
            _tell(schema.get("$defs", {}).get(one.__name__, schema), one, descriptions)
    return {"$schema": DRAFT, "title": title, **{key: value for key, value in schema.items() if key != "title"}}


def models_in(model: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a type, each once, itself among them."""
    seen, pending = set[type[BaseModel]](), [model]
    while pending:
        one = pending.pop()
        if isinstance(one, type) and issubclass(one, BaseModel) and one not in seen:
            seen.add(one)
            yield one
            pending += [field.annotation for field in one.model_fields.values()]
            pending += [part for field in one.model_fields.values() for part in field.metadata]
        pending += typing.get_args(one)


def _tell(schema: Schema, model: type[BaseModel], descriptions: Mapping[str, str]) -> None:
    """Say of each key of a model what it means."""
    for name, field in model.model_fields.items():
        key = field.alias or name
        text = next(
            (descriptions[at] for one in model.__mro__ if (at := f"{one.__name__}.{key}") in descriptions), None
        )
        if text is None:
            raise KeyError(f"{model.__name__}.{key}")
        schema["properties"][key]["description"] = text


def _flat(choices: list[Schema]) -> list[Schema]:
    """Choices with those of choices that are nothing else in their places."""
    inner = (choice["anyOf"] if set(choice) == {"anyOf"} else [choice] for choice in choices)
    return [one for group in inner for one in group]


def _plain(schema: Any) -> Any:
    """A schema without nested choices and defaults of null; limits stand with the numbers that they are of.

    Pydantic leaves the limits of a value with a validator beside it, under names of its own.
    """
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    given = [key for key in _LIMITS if isinstance(schema.get(key), int | float)]
    limits = {_LIMITS[key]: schema[key] for key in given}
    whole = {key: _plain(value) for key, value in schema.items() if key not in given}
    if whole.get("default", 0) is None:
        del whole["default"]
    if "anyOf" in whole:
        whole["anyOf"] = _flat(whole["anyOf"])
    for one in whole.get("anyOf", [whole]):
        if limits and one.get("type") in ("integer", "number"):
            one |= limits
    return whole
