"""The import rule: the four parts, the ten rooms of mapper/, and what each may import."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The parts, from the lowest to the highest, and the parts that each may import.
MAY_IMPORT: dict[str, set[str]] = {
    "workloads": set(),
    "arch": {"workloads"},
    "energy": {"workloads", "arch"},
    "mapper": {"workloads", "arch", "energy"},
}
# The rooms of mapper/, from the lowest to the highest, and the rooms that each may import.
ROOMS: dict[str, set[str]] = {
    "runtime": set(),
    "mapping": set(),
    "mapspace": {"mapping"},
    "model": {"runtime", "mapping"},
    "certificate": {"mapping", "mapspace", "model"},
    "search": {"runtime", "mapping", "mapspace", "model", "certificate"},
    "report": {"runtime", "mapping", "model", "certificate", "search"},
    "exploration": {"runtime", "mapping", "mapspace", "model", "certificate", "search", "report"},
    "sweeps": {"runtime", "mapping", "mapspace", "model", "certificate", "search", "report", "exploration"},
    "commands": {
        *("runtime", "mapping", "mapspace", "model", "certificate", "search", "report", "exploration", "sweeps"),
    },
}
MODULES = [path for part in MAY_IMPORT for path in sorted((ROOT / part).rglob("*.py"))]


def module_name(path: Path) -> str:
    """A file as documents and test names give it: mapper/model/cost.py."""
    return str(path.relative_to(ROOT))


def part_and_room(path: Path) -> tuple[str, str]:
    """The part and the room of a file: mapper/model/bounds/ideal.py is in the part mapper, there in the room model."""
    part, *folders = path.relative_to(ROOT).parts[:-1]
    return part, (folders[0] if folders else "")


each_module = pytest.mark.parametrize("path", MODULES, ids=module_name)
