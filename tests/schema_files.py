"""The recorded JSON schemas, and which of them the objects of each command have."""

import json
from functools import cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from .house import ROOT

SCHEMAS = ROOT / "docs/schemas"
PRINTED = {  # by the module that prints them
    "run_map": ("result", "size"),
    "print_sizes": ("result", "size"),
    "run_group": ("group",),
    "run_pipeline": ("pipeline",),
    "run_graph": ("graph",),
    "run_list": ("library",),
    "run_model": ("model", "difference"),
    "run_fit": ("fit",),
    "run_plan": ("group-model", "plan-model"),
    "run_energy": ("energy",),
    "run_check": ("check",),
    "run_sweep": ("sweep-summary",),
    "run_store": ("store",),
    "run_code": ("program",),
    "run_rewrite": ("rewrite",),
    "run_report": ("comparison",),
}


@cache
def validator(name):
    """What checks values against a recorded schema."""
    return Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text()))


def faults(name, value):
    """The places of a value that its schema refuses, each with the reason."""
    return [f"{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(value)]


def object_faults(command, value):
    """Why no schema of a command fits what it prints; none where one does."""
    if command == "run_schema":
        return []
    wrong = {name: best_match(validator(name).iter_errors(value)) for name in PRINTED[command]}
    if not all(wrong.values()):
        return []
    return [f"{name}: {error.json_path}: {error.message[:300]}" for name, error in wrong.items()]
