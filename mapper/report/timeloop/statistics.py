"""Timeloop's statistics (`timeloop-model.stats.txt`, `timeloop-mapper.stats.txt`), read."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ....workloads import Fault, InputError, read_bytes

MOST = 1 << 24  # bytes: a file has a few thousand lines
SECTIONS = ("Buffer and Arithmetic Levels", "Networks", "Operational Intensity Stats", "Summary Stats")
TITLE = re.compile(r"^=== (\S.*?) ===$")
NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?(?![\w.])", re.IGNORECASE)
VALUE = re.compile(r"^\s+(\S.*?)\s*: (.*)$")
SUMMARY = re.compile(r"^(\S.*?)\s*[:=] (.*)$")
TENSOR = re.compile(r"^ {4}(\S+):$")
WORDS = ("reads", "fills", "updates")


@dataclass
class StatedTensor:
    """What is said of a tensor at a level; words per instance."""

    line: int
    words: dict[str, float] = field(default_factory=dict)  # of WORDS; whole ones are exact
    instances: float = 0
    energy_pj: float = 0.0  # of all instances

    def add_energy(self, pj: float) -> None:
        self.energy_pj += pj


@dataclass
class StatedLevel:
    """What is said of a level."""

    line: int
    tensors: dict[str, StatedTensor] = field(default_factory=dict)
    leak_pj: float = 0.0  # of all instances
    energy_pj: float = 0.0  # of the MAC units
    instances: float = 0  # of the machine, in use or not; 0: not told


@dataclass
class Statistics:
    """What Timeloop reports of a mapping. Energies in pJ, rounded to the two decimals of the file; their sum in uJ."""

    source: str
    levels: dict[str, StatedLevel]  # the MAC units first
    network_pj: float
    computes: float
    cycles: float
    energy_pj: float
    sparse: bool  # whether it is of a run with sparse optimizations


def read_statistics(path: Path) -> Statistics:
    """Read the statistics of a mapping. Raises InputError where the file is none of Timeloop's, or cut short."""
    text = read_bytes(path, MOST).decode(errors="replace")
    lines = text[: text.rfind("\n") + 1].splitlines()  # a last line without an end may lack digits
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
    parts = {name: range(at, ends[ends.index(at) + 1]) for name, at in sections.items()}
    numbers = _Numbers(str(path), lines)
    levels = dict(_levels(numbers, parts[SECTIONS[0]]))
    networks = [_network_pj(numbers, n) for n in parts.get("Networks", ())]
    totals = dict(_summary(numbers, parts[SECTIONS[-1]]))
    missing = [key for key in ("Cycles", "Energy", "Computes") if key not in totals]
    if missing or not levels:
        what = " and ".join(missing) or "levels"
        numbers.faults.append(Fault(str(path), None, "", f"tells no {what}: the file may have been cut short"))
    if numbers.faults:
        raise InputError(numbers.faults)
    return Statistics(
        source=str(path),
        levels=levels,
        network_pj=sum(networks),
        computes=totals["Computes"],
        cycles=totals["Cycles"],
        energy_pj=totals["Energy"] * 1e6,
        sparse="Actual Computes" in totals,
    )


@dataclass
class _Numbers:
    """The lines of a file, and the faults among their numbers."""

    source: str
    lines: list[str]
    faults: list[Fault] = field(default_factory=list)

    def read(self, number: int, key: str, text: str) -> float:
        """The number that `text` begins with: a whole one is exact, also over 2^53; 0 and a fault where it is none."""
        match = NUMBER.match(text)
        if match is None:
            self.faults.append(Fault(self.source, number + 1, key, f"must be a number, got {text!r}"))
            return 0
        value = float(match[0])
        return int(match[0]) if match[0].lstrip("-").isdecimal() else int(value) if value.is_integer() else value


def _network_pj(numbers: _Numbers, number: int) -> float:
    """The energy of a line of a network; 0 where it tells none of all instances."""
    match = VALUE.match(numbers.lines[number])
    return numbers.read(number, match[1], match[2]) if match and match[1].lower().endswith("energy (total)") else 0


def _summary(numbers: _Numbers, section: range) -> Iterator[tuple[str, float]]:
    names = {"Algorithmic Computes": "Computes", "MACCs": "Computes"}
    for number in section:
        match = SUMMARY.match(numbers.lines[number])
        if match and match[1] in ("Cycles", "Energy", "Computes", "Actual Computes", *names):
            yield names.get(match[1], match[1]), numbers.read(number, match[1], match[2])


def _levels(numbers: _Numbers, section: range) -> Iterator[tuple[str, StatedLevel]]:
    """The levels by name, in the order of the file."""
    lines = numbers.lines
    titles = [(n, match[1]) for n in section if (match := TITLE.match(lines[n]))]
    for (at, name), after in zip(titles, [*(n for n, _ in titles[1:]), section.stop], strict=True):
        level = StatedLevel(at + 1)
        tensor: StatedTensor | None = None
        for number in range(at + 1, after):
            if match := TENSOR.match(lines[number]):
                tensor = level.tensors.setdefault(match[1], StatedTensor(number + 1))
            elif (match := VALUE.match(lines[number])) and (take := _taker(level, tensor, match[1].lower())):
                take(numbers.read(number, f"{name}: {match[1]}", match[2]))
        yield name, level


def _taker(level: StatedLevel, tensor: StatedTensor | None, key: str) -> Callable[[float], None] | None:
    """What takes in a figure, if any does. In sparse statistics those called algorithmic are of the dense nest."""
    key = key.removeprefix("algorithmic ")
    if tensor is None:
        names = {"energy (total)": "energy_pj", "leakage energy (total)": "leak_pj", "instances": "instances"}
        return partial(setattr, level, names[key]) if key in names else None
    for name in WORDS:
        if key == f"scalar {name} (per-instance)":
            return partial(tensor.words.__setitem__, name)
    if key.startswith("utilized instances"):
        return partial(setattr, tensor, "instances")  # the average stands after the most
    if key in ("energy (total)", "temporal reduction energy (total)", "address generation energy (total)"):
        return tensor.add_energy
    return None
