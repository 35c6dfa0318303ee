"""The parameters that a sweep may vary: an architecture's variables by name, and its fields by path.

A path goes by the names of levels and fanout axes: `levels.shared_glb.capacity_bytes`,
`levels.shared_glb.fanout.PE_column.size`, `compute.word_bits`. `levels.shared_glb` is the level as a whole, in place of
which there may be another one, or none. What is varied is the file's plain data, its base put in, before anything is
computed; so expressions of the file follow the variables, and every check of a file is made.
"""

import copy
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from ...arch import CAPACITIES, ComputeUnit, Level
from ...workloads import Document, InputError, Keys


def fields(document: Document) -> dict[str, Keys]:
    """The path of every variable and field of an architecture file, as a user writes it, and where it stands."""
    data = document.data
    variables = _mapping(data.get("variables"))
    places: dict[str, Keys] = {name: ("variables", name) for name in variables}
    places |= {f"variables.{name}": ("variables", name) for name in variables}
    for name in ("technology", "clock_ns"):
        places.setdefault(name, (name,))
    for index, level in _named(data.get("levels")):
        places[f"levels.{level['name']}"] = ("levels", index)
        places |= _below(f"levels.{level['name']}", ("levels", index), Level, level)
    places |= _below("compute", ("compute",), ComputeUnit, _mapping(data.get("compute")))
    return places


def with_values(document: Document, values: Mapping[Keys, Any]) -> Document:
    """`document` with other values at some places; a capacity replaces one that is given in another unit.

    A level in place of another has its name. Levels that are left out (None) go last: places are those with them.
    Raises InputError for a place that the level in place of another has not.
    """
    data, without = copy.deepcopy(document.data), list[int]()
    for keys, value in sorted(values.items(), key=lambda own: not is_level(own[0])):
        inner = data
        for key in keys[:-1]:
            if isinstance(key, int) and not (isinstance(inner, list) and key < len(inner)):
                rule = "the level that stands here in place of another has no such axis"
                raise InputError(document.fault(keys, rule))
            inner = inner[key] if isinstance(key, int) else inner.setdefault(key, {})
        if keys[-1] in CAPACITIES:
            for key in CAPACITIES:
                inner.pop(key, None)
        if is_level(keys) and value is None:
            without.append(int(keys[-1]))
        elif is_level(keys):
            inner[keys[-1]] = {"name": inner[keys[-1]]["name"], **copy.deepcopy(value)}  # others may go below it
        else:
            inner[keys[-1]] = value
    if without:
        data["levels"] = [level for index, level in enumerate(data["levels"]) if index not in without]
    return Document(document.source, data, document.places)


def is_level(keys: Keys) -> bool:
    """Whether a place is that of a level as a whole."""
    return len(keys) == 2 and keys[0] == "levels"


def _below(text: str, keys: Keys, model: type[BaseModel], data: Mapping[str, Any]) -> Iterator[tuple[str, Keys]]:
    """The fields of one section; sections inside it by their own fields."""
    for field_name, field in model.model_fields.items():
        name = field.alias or field_name
        path, field_keys = f"{text}.{name}", (*keys, name)
        inner = _section(field.annotation)
        if name == "name":
            continue
        if inner is not None and typing.get_origin(field.annotation) is tuple:
            for index, entry in _named(data.get(name)):
                yield from _below(f"{path}.{entry['name']}", (*field_keys, index), inner, entry)
        elif inner is not None:
            yield from _below(path, field_keys, inner, _mapping(data.get(name)))
        elif name in ("attributes", "tensor_bits", "layout"):
            yield from ((f"{path}.{key}", (*field_keys, key)) for key in _mapping(data.get(name)))
        else:
            yield path, field_keys


def _section(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as `tuple[Fanout, ...]`, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_section, typing.get_args(annotation))), None)


def _mapping(value: Any) -> Mapping[str, Any]:
    """`value` where it is what it should be; the check of the file reports a wrong one."""
    return value if isinstance(value, dict) else {}


def _named(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """The entries of a list that have a name, with their places."""
    for index, entry in enumerate(value if isinstance(value, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield index, entry
