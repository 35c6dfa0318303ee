"""Reads the classes of compound components that an input file defines below the key `components`."""

from typing import Annotated, Any

from pydantic import Field, PlainValidator

from ..workloads import Document, Fault, InputError, Keys, Section, check
from .schema import Name
from .spec import ComponentClass, ComponentPart, Written


def _expression(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be a number or an expression, got {value!r}")
    return value


def _default(value: object) -> object:
    return value if value is None else _expression(value)


Expression = Annotated[Any, PlainValidator(_expression)]
Default = Annotated[Any, PlainValidator(_default)]


class PartSection(Section):
    """A part of a class: its own class, its count, its attributes."""

    cls: str = Field(alias="class", min_length=1)
    count: Expression = 1
    attributes: dict[str, Expression] = {}


class ClassSection(Section):
    """A class. A component of it must give the attributes that have no value here."""

    attributes: dict[Name, Default] = {}
    parts: Annotated[dict[Name, PartSection], Field(min_length=1)]
    actions: Annotated[dict[Name, dict[str, Expression]], Field(min_length=1)]


def component_classes(document: Document) -> tuple[ComponentClass, ...]:
    """The classes below the key `components` of `document`; none where there is no such key.

    Raises InputError with every fault of their form; whether parts and actions exist is for an energy engine to say.
    """
    data = document.data.get("components", {}) if isinstance(document.data, dict) else {}
    if not isinstance(data, dict):
        raise InputError(document.fault(("components",), "must be a mapping from the name of a class to its parts"))
    classes, faults = [], list[Fault]()
    for name in data:
        try:
            classes.append(_class(document, name))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return tuple(classes)


def _class(document: Document, name: str) -> ComponentClass:
    at: Keys = ("components", name)
    section = check(document, ClassSection, at)

    def written(value: Any, *keys: str) -> Written:
        return Written(value, *document.location((*at, *keys)))

    parts = tuple(
        ComponentPart(
            part,
            written(it.cls, "parts", part, "class"),
            written(it.count, "parts", part, "count"),
            tuple((key, written(value, "parts", part, "attributes", key)) for key, value in it.attributes.items()),
        )
        for part, it in section.parts.items()
    )
    actions = tuple(
        (action, tuple((term, written(times, "actions", action, term)) for term, times in terms.items()))
        for action, terms in section.actions.items()
    )
    attributes = tuple((key, written(value, "attributes", key)) for key, value in section.attributes.items())
    return ComponentClass(written(name), attributes, parts, actions)
