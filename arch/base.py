"""Architectures that build on another: `base: NAME`, then only what differs."""

import os
from pathlib import Path
from typing import Any

from ..workloads import Document, Fault, InputError, Keys, near, read_yaml

LIBRARY = Path(__file__).parent
MAX_BASES = 20


def library_archs() -> list[str]:
    """The names of the shipped architectures."""
    return sorted(path.stem for path in LIBRARY.glob("*.yaml"))


def find_arch(spec: str, beside: Path = Path()) -> Path:
    """The file that `spec` names: a path (relative to `beside`), or else a name of the library.

    Raises LookupError with a message for a name that is neither.
    """
    path = beside / spec
    if (os.path.exists(path) and not os.path.isdir(path)) or "/" in spec or path.suffix in (".yaml", ".yml"):
        return path
    names = library_archs()
    if spec not in names:
        raise LookupError(f"no such file or library architecture; known: {', '.join(names)}{near(spec, names)}")
    return LIBRARY / f"{spec}.yaml"


class _Overlay:
    """Puts a document over its base. Places follow the data, so that a fault names the file in which it stands."""

    def __init__(self, base: Document, over: Document):
        self.over, self.data = over, dict(base.data)
        self.places = dict(base.places)
        self.faults: list[Fault] = []

    def put(self, target: dict[str, Any], key: str, to: Keys, source: Keys, value: Any) -> None:
        """Sets `key` of `target`, the mapping at `to`, to `value`, which stands at `source` in the upper document."""
        target[key] = value
        destination = (*to, key)
        self.places = {path: place for path, place in self.places.items() if path[: len(destination)] != destination}
        for path, place in self.over.places.items():
            if path[: len(source)] == source:
                self.places[destination + path[len(source) :]] = place

    def mapping(self, key: str) -> None:
        """Replaces the entries of the mapping under `key` one by one."""
        given, target = self.over.data[key], self.data.get(key, {})
        if not isinstance(given, dict) or not isinstance(target, dict):
            return self.put(self.data, key, (), (key,), given)
        self.data[key] = target = dict(target)
        for name, value in given.items():
            self.put(target, name, (key,), (key, name), value)
        return None

    def levels(self) -> None:
        """Replaces the keys of levels one by one; a level is that of the same name in the base."""
        given, base = self.over.data["levels"], self.data.get("levels")
        if not isinstance(given, list) or not isinstance(base, list):
            return self.put(self.data, "levels", (), ("levels",), given)
        self.data["levels"] = base = [dict(level) if isinstance(level, dict) else level for level in base]
        names = [level.get("name") if isinstance(level, dict) else None for level in base]
        for index, level in enumerate(given):
            name = level.get("name") if isinstance(level, dict) else None
            if not isinstance(name, str) or name not in names:
                known = [str(other) for other in names if other]
                message = f"must name a level of the base, {', '.join(known)}; got {name!r}{near(str(name), known)}"
                self.faults.append(self.over.fault(("levels", index), message))
                continue
            to: Keys = ("levels", names.index(name))
            for key, value in level.items():
                self.put(base[names.index(name)], key, to, ("levels", index, key), value)
        return None

    def result(self) -> Document:
        """The two documents as one. Raises InputError with every fault."""
        for key, value in self.over.data.items():
            if key in ("variables", "compute", "components"):
                self.mapping(key)
            elif key == "levels":
                self.levels()
            elif key != "base":
                self.put(self.data, key, (), (key,), value)
        if self.faults:
            raise InputError(self.faults)
        return Document(self.over.source, self.data, self.places)


def with_base(document: Document, depth: int = 0) -> Document:
    """`document` together with its `base`, if it has one. Raises InputError.

    What it says replaces the base's: `variables`, `compute` and `components` key by key, `levels` by name and then
    key by key, anything else whole.
    """
    if not isinstance(document.data, dict) or "base" not in document.data:
        return document
    spec = document.data["base"]
    if not isinstance(spec, str):
        raise InputError(document.fault(("base",), f"must be a path or a name of the library, got {spec!r}"))
    if depth == MAX_BASES:
        raise InputError(document.fault(("base",), f"at most {MAX_BASES} bases on one another; is it its own base?"))
    try:
        path = find_arch(spec, Path(document.source).parent)
    except LookupError as error:
        raise InputError(document.fault(("base",), f'"{spec}": {error}')) from None
    base = with_base(read_yaml(path), depth + 1)
    if not isinstance(base.data, dict) or "architecture" in base.data:
        raise InputError(document.fault(("base",), f"must be an architecture with levels, {path} is not"))
    return _Overlay(base, document).result()
