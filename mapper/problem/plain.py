"""Dataclasses of descriptions as plain values of JSON, and digests of these."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

Json = dict[str, Any]


def plain(value: object) -> Any:
    """Convert dataclasses, sequences and sets to values of JSON.

    A field at its default is left out, so a field that is added with a default changes no older value.
    """
    if is_dataclass(value) and not isinstance(value, type):
        every = {field: getattr(value, field.name) for field in fields(value)}
        return {f.name: plain(own) for f, own in every.items() if f.default is MISSING or own != f.default}
    if isinstance(value, frozenset):
        return sorted(plain(element) for element in value)
    if isinstance(value, tuple | list):
        return [plain(element) for element in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"no plain value of {type(value).__name__}")


def digest(value: object) -> str:
    """Hash plain values; equal numbers have equal hashes, whole or not, and the order of keys makes no difference.

    >>> digest({"a": 1, "b": [2.0]}) == digest({"b": [2], "a": 1.0})
    True
    """
    text = json.dumps(_canonical(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _canonical(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _canonical(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_canonical(element) for element in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
