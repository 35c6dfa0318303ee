"""Timeloop's statistics (`timeloop-model.stats.txt`, `timeloop-mapper.stats.txt`), read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ....workloads import Fault, InputError, read_bytes

MOST = 1 << 24  # bytes: a file has a few thousand lines
SECTIONS = ("Buffer and Arithmetic Levels", "Networks", "Operational Intensity Stats", "Summary Stats")
TITLE = re.compile(r"^=== (\S.*?) ===$")
VALUE = re.compile(r"^\s+(\S.*?)\s*: (-?[\d.]+(?:e[+-]?\d+)?)\b", re.IGNORECASE)
SUMMARY = re.compile(r"^(\S.*?)\s*[:=] (-?[\d.]+(?:e[+-]?\d+)?)\b", re.IGNORECASE)
TENSOR = re.compile(r"^ {4}(\S+):$")
WORDS = ("reads", "fills", "updates")


@dataclass
class StatedTensor:
    """What is said of a tensor at a level; words per instance."""

    line: int
    words: dict[str, float] = field(default_factory=dict)  # of WORDS
    instances: float = 0.0
    tile_words: float = 0.0
    energy_pj: float = 0.0  # of all instances


@dataclass
class StatedLevel:
    """What is said of a level."""

    line: int
    tensors: dict[str, StatedTensor] = field(default_factory=dict)
    leak_pj: float = 0.0  # of all instances
    energy_pj: float = 0.0  # of the MAC units


@dataclass
class Statistics:
    """What Timeloop reports of a mapping. Energies in pJ, rounded to the two decimals of the file."""

    source: str
    levels: dict[str, StatedLevel]  # the MAC units first
    network_pj: float
    computes: float
    cycles: float
    energy_pj: float


def read_statistics(path: Path) -> Statistics:
    """Read the statistics of a mapping. Raises InputError where the file is none of Timeloop's."""
    lines = read_bytes(path, MOST).decode(errors="replace").splitlines()
    sections = {name: number for number, name in enumerate(lines) if name in SECTIONS}
    faults = [
        Fault(
            str(path),
            None,
            "",
            f'the section "{name}" is missing: a file as Timeloop\'s timeloop-model.stats.txt is expected',
        )
        for name in (SECTIONS[0], SECTIONS[-1])
        if name not in sections
    ]
    if faults:
        raise InputError(faults)
    ends = [*sorted(sections.values()), len(lines)]
    parts = {name: (at, ends[ends.index(at) + 1]) for name, at in sections.items()}
    start, end = parts[SECTIONS[0]]
    levels = dict(_levels(lines, start, end))
    networks = range(*parts.get("Networks", (0, 0)))
    totals = dict(_summary(lines, *parts[SECTIONS[-1]]))
    missing = [key for key in ("Cycles", "Energy", "Computes") if key not in totals]
    if missing or not levels:
        what = " and ".join(missing) or "levels"
        raise InputError(Fault(str(path), None, "", f"tells no {what}: the file may have been cut short"))
    return Statistics(
        source=str(path),
        levels=levels,
        network_pj=sum(value for n in networks if (value := _network_pj(lines[n]))),
        computes=totals["Computes"],
        cycles=totals["Cycles"],
        energy_pj=totals["Energy"] * 1e6,
    )


def _network_pj(line: str) -> float:
    """The energy of a line of a network; 0 where it tells none of all instances."""
    found = VALUE.match(line)
    return float(found[2]) if found and found[1].lower().endswith("energy (total)") else 0.0


def _summary(lines: list[str], start: int, end: int) -> Iterator[tuple[str, float]]:
    for line in lines[start:end]:
        if found := SUMMARY.match(line):
            yield {"Algorithmic Computes": "Computes", "MACCs": "Computes"}.get(found[1], found[1]), float(found[2])


def _levels(lines: list[str], start: int, end: int) -> Iterator[tuple[str, StatedLevel]]:
    """The levels by name, in the order of the file."""
    titles = [(n, found[1]) for n in range(start, end) if (found := TITLE.match(lines[n]))]
    for (at, name), after in zip(titles, [*(n for n, _ in titles[1:]), end], strict=True):
        level = StatedLevel(at + 1)
        tensor: StatedTensor | None = None
        for number in range(at + 1, after):
            if found := TENSOR.match(lines[number]):
                tensor = level.tensors.setdefault(found[1], StatedTensor(number + 1))
            elif found := VALUE.match(lines[number]):
                _take(level, tensor, found[1].lower(), float(found[2]))
        yield name, level


def _take(level: StatedLevel, tensor: StatedTensor | None, key: str, value: float) -> None:
    """Take in one figure. Of sparse statistics those that are called algorithmic are of the dense nest."""
    key = key.removeprefix("algorithmic ")
    if tensor is None:
        if key == "energy (total)":
            level.energy_pj = value
        elif key == "leakage energy (total)":
            level.leak_pj = value
        return
    for name in WORDS:
        if key == f"scalar {name} (per-instance)":
            tensor.words[name] = value
    if key.startswith("utilized instances"):
        tensor.instances = value  # the average stands after the most
    elif key in ("utilized capacity", "data tile shape"):
        tensor.tile_words = value
    elif key in ("energy (total)", "temporal reduction energy (total)", "address generation energy (total)"):
        tensor.energy_pj += value
