"""Hashes of what is searched: by content, the same in every process; older files have them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def fingerprint(value: object) -> str:
    """A hash of dataclasses, mappings, sequences, sets and plain values; the same in every process.

    A field whose metadata say `later` came after files that are still read: at its default it changes no hash. A class
    that had another name then says so by `name_in_files`.
    """
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()[:16]


def _plain(value: object) -> object:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, "name_in_files", type(value).__name__), _plain_fields(value)]
    if isinstance(value, Mapping):
        return sorted(([_plain(key), _plain(entry)] for key, entry in value.items()), key=repr)
    if isinstance(value, set | frozenset):
        return sorted((_plain(entry) for entry in value), key=repr)
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"no fingerprint of {type(value).__name__}")


def _plain_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are of its identity, but those that came later and are at their defaults."""
    every = {field: getattr(value, field.name) for field in fields(value) if field.repr}
    return {f.name: _plain(own) for f, own in every.items() if not (f.metadata.get("later") and own == f.default)}


def identity(options: object, without: Sequence[str] = (), **problem: object) -> dict[str, Any]:
    """The identity of a problem: its options but those in `without`; name and hash of what is no plain value."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in without}  # type: ignore[arg-type]
    every = problem | chosen
    return {key: _named(value) if is_dataclass(value) else value for key, value in every.items()}


def _named(value: object) -> dict[str, Any]:
    return {"name": getattr(value, "name", None), "hash": fingerprint(value)}
