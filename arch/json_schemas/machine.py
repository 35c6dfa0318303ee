"""The schema of an architecture file: a whole one, or what differs from its base."""

from copy import deepcopy

from ...workloads.json_schemas import DRAFT, EXPRESSION, Schema, schema_of
from ..components import ClassSection
from ..schema import Machine
from .told import BASE, TOLD

_VALUE: Schema = {"type": ["number", "string"]}
OTHER: dict[str, Schema] = {
    "checked_name": {"type": "string", "pattern": r"^[A-Za-z_][\w-]*$"},
    "_no_twice": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "_factor_rule": {"type": "string", "pattern": r"^\s*[A-Za-z_]\w*\s*(<=|>=|=)\s*[^<>=]+$"},
    "_technology": {"anyOf": [{"type": "number", "exclusiveMinimum": 0},
                              {"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*(nm)?\s*$"}]},
    "_attribute": {"type": ["number", "string", "boolean"]},
    "_expression": _VALUE,
    "_default": {"type": ["number", "string", "null"]},
}  # fmt: skip


def architecture_schema() -> Schema:
    """Make the schema of a file in this project's form. One with a `base` lacks what the base has."""
    whole, classes = schema_of(Machine, "Machine", TOLD, OTHER), schema_of(ClassSection, "Class", TOLD, OTHER)
    parts = {**whole.pop("$defs"), **classes.pop("$defs"), "Class": classes, "Machine": whole}
    for schema in (whole, classes):
        del schema["$schema"]
    names = {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, EXPRESSION]}}
    whole["properties"]["variables"] |= names
    whole["properties"]["components"] |= {"type": "object", "additionalProperties": {"$ref": "#/$defs/Class"}}
    changed = {f"Changed{name}": _changed(parts[name]) for name in ("Machine", "Level", "ComputeUnit")}
    changed["ChangedLevel"]["required"] = ["name"]
    keys = changed["ChangedMachine"]["properties"]
    keys["base"] = {"type": "string", "description": BASE}
    keys["levels"]["items"] = {"$ref": "#/$defs/ChangedLevel"}
    keys["compute"]["$ref"] = "#/$defs/ChangedComputeUnit"
    parts |= changed
    given = {"type": "object", "required": ["base"]}
    choice = {"if": given, "then": {"$ref": "#/$defs/ChangedMachine"}, "else": {"$ref": "#/$defs/Machine"}}
    return {"$schema": DRAFT, "title": "An architecture of ruby-map", "type": "object", **choice, "$defs": parts}


def _changed(schema: Schema) -> Schema:
    """The same where nothing is needed."""
    return {key: deepcopy(value) for key, value in schema.items() if key != "required"}
