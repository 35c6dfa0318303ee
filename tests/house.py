"""The import rule: the four parts, the rooms of mapper/, what each may import, and how imports are read."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The parts, from the lowest to the highest, and the parts that each may import.
PARTS: dict[str, set[str]] = {
    "workloads": set(),
    "arch": {"workloads"},
    "energy": {"workloads", "arch"},
    "mapper": {"workloads", "arch", "energy"},
}
MAY_IMPORT = PARTS | {"ruby_map": {"workloads", "arch", "mapper"}}  # which offers what most programs need of them
# The rooms of mapper/, from the lowest to the highest, and the rooms that each may import.
ROOMS: dict[str, set[str]] = {
    "runtime": set(),
    "mapping": set(),
    "problem": {"mapping"},
    "mapspace": {"mapping"},
    "model": {"runtime", "mapping", "problem"},
    "bounds": {"runtime", "mapping", "problem", "model"},
    "certificate": {"mapping", "problem", "mapspace", "model"},
    "search": {"runtime", "mapping", "problem", "mapspace", "model", "bounds", "certificate"},
    "proof": {"runtime", "mapping", "problem", "mapspace", "model", "bounds", "certificate", "search"},
    "calibration": {"mapping", "problem", "model"},
    "fusion": {"mapping", "problem", "model"},
    "networks": {"mapping", "problem", "model", "fusion"},
    "group_search": {
        *("runtime", "mapping", "problem", "mapspace", "model", "bounds", "certificate", "search", "proof", "fusion"),
    },
    "plan_search": {
        *("runtime", "mapping", "problem", "mapspace", "model", "bounds", "search", "proof", "fusion", "networks"),
        "group_search",
    },
    "searchers": {"runtime", "mapping", "problem", "mapspace", "model", "bounds", "search", "proof"},
    "store": {"runtime", "mapping", "problem", "mapspace", "model"},
    "report": {
        *("runtime", "mapping", "problem", "model", "bounds", "certificate", "search", "fusion", "networks", "store"),
        "calibration",
    },
    "exploration": {
        *("runtime", "mapping", "problem", "mapspace", "model", "bounds", "search", "proof", "searchers", "store"),
        *("report", "fusion", "networks", "group_search", "plan_search"),
    },
    "rewrites": set(),
    "rewrite_search": {
        *("bounds", "mapspace", "model", "networks", "plan_search", "problem", "search", "report", "exploration"),
        *("rewrites", "runtime"),
    },
    "comparison": {"runtime", "problem", "report"},
    "designs": {"mapping", "problem"},
    "sweeps": {
        *("runtime", "mapping", "problem", "mapspace", "model", "search", "searchers", "report", "exploration"),
        *("comparison", "designs"),
    },
    "schemas": {
        *("mapping", "problem", "mapspace", "certificate", "fusion", "networks", "searchers", "store", "designs"),
        "sweeps",
    },
    "codegen": {"mapping", "calibration"},
    "commands": {
        *(
            "runtime",
            "mapping",
            "problem",
            "mapspace",
            "model",
            "bounds",
            "certificate",
            "search",
            "searchers",
            "store",
        ),
        *("report", "exploration", "comparison", "sweeps", "schemas", "codegen", "calibration", "rewrites"),
        "rewrite_search",
    },
}
MODULES = [path for part in MAY_IMPORT for path in sorted((ROOT / part).rglob("*.py"))]


def module_name(path: Path) -> str:
    """A file as documents and test names give it: mapper/model/cost.py."""
    return str(path.relative_to(ROOT))


def part_and_room(path: Path) -> tuple[str, str]:
    """The part and the room of a file: mapper/bounds/ideal.py is in the part mapper, there in the room model."""
    part, *folders = path.relative_to(ROOT).parts[:-1]
    return part, (folders[0] if folders else "")


@cache  # as each text is read for many tests
def import_statements(source: str) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """All of a module, anywhere in it."""
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom))


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Level (dots) and dotted name of everything a module imports, anywhere in it.

    >>> list(imports("import numpy as np\\nfrom ..arch import Axis"))
    [(0, 'numpy'), (2, 'arch')]
    """
    for node in import_statements(source):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        else:
            yield from ((node.level, node.module or alias.name) for alias in node.names)


@cache
def imported(path: Path, source: str) -> tuple[tuple[Path, str], ...]:
    """The files of ours that a module imports, and the name; imports inside functions counted.

    >>> line = "from ..mapping import batch"
    >>> [(module_name(file), name) for file, name in imported(ROOT / "mapper/model/cost.py", line)]
    [('mapper/mapping/batch.py', 'batch')]
    """
    found = []
    for node in import_statements(source):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = path.parents[node.level - 1]
            above = ROOT if above == ROOT / "ruby_map" else above  # whose folders are the parts, when installed
            base = above.joinpath(*(node.module or "").split("."))
            for alias in node.names:
                places = [base] if alias.name in offered(base / "__init__.py") else [base / alias.name, base]
                files = [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
                found.append((next(file for file in files if file.exists()), alias.name))
    return tuple(found)


@cache
def offered(face: Path) -> set[str]:
    """The names that a face imports: they hide modules of the same name."""
    body = ast.parse(face.read_text()).body if face.exists() else []
    return {alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}


def defined(path: Path, name: str) -> Path:
    """Where a name that a face offers is defined."""
    if path.name != "__init__.py":
        return path
    for target, offered_name in imported(path, path.read_text()):
        if offered_name == name:
            return defined(target, name)
    return path


each_module = pytest.mark.parametrize("path", MODULES, ids=module_name)
