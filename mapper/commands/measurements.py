"""Reads what was measured of mappings: a CSV with a line for each, its layer, its mapping and its figures."""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...workloads import Fault, InputError, near, read_bytes

FIGURES = ("cycles", "seconds", "energy_pj")
COLUMNS = ("workload", "mapping", *FIGURES)
MOST_BYTES = 100_000_000
SMALLEST, LARGEST = 1e-20, 1e20  # of a figure
LEAST = 4  # measurements of a figure: two halves, each of two


@dataclass(frozen=True)
class Measured:
    """A line: where it stands, its layer, its mapping, and what was measured, by name."""

    line: int
    workload: str
    mapping: str
    figures: dict[str, float]


def read_measurements(path: Path) -> list[Measured]:
    """Read the lines of a CSV; those that begin with # are comments.

    Columns are `workload`, `mapping`, and of `cycles`, `seconds` and `energy_pj` those that were measured: cycles or
    seconds, not both. A cell of a figure may be empty. Raises InputError with every fault, by line.
    """
    try:
        lines = list(_lines(read_bytes(path, MOST_BYTES).decode("utf-8-sig")))
    except UnicodeDecodeError:
        raise InputError(Fault(str(path), None, "", "is not UTF-8")) from None
    except csv.Error as error:
        raise InputError(Fault(str(path), None, "", f"is no CSV: {error}")) from None
    number, head = lines[0] if lines else (1, [])
    head = [name.strip() for name in head]
    if rules := _head_faults(head):
        raise InputError(Fault(str(path), number, "", rule) for rule in rules)
    faults, every = list[Fault](), list[Measured]()
    for number, cells in lines[1:]:
        row = _row(head, cells)
        if isinstance(row, Measured):
            every.append(replace(row, line=number))
        else:
            faults += [Fault(str(path), number, "", rule) for rule in row]
    if not faults:
        faults = [Fault(str(path), None, *fault) for fault in _too_few(every)]
    if faults:
        raise InputError(faults)
    return every


def _row(head: Sequence[str], cells: Sequence[str]) -> Measured | list[str]:
    """Read a line; what is wrong with it, if anything is."""
    if len(cells) != len(head):
        return [f"has {len(cells)} cells, the header {len(head)}"]
    row, figures = dict(zip(head, (cell.strip() for cell in cells), strict=True)), dict[str, float]()
    wrong = [f"{name} is empty" for name in ("workload", "mapping") if not row[name]]
    for name in FIGURES:
        if text := row.get(name, ""):
            try:
                figures[name] = _positive(text)
            except ValueError:
                wrong.append(f"{name} must be a number from {SMALLEST:g} to {LARGEST:g}, got {text}")
    if not figures and not wrong:
        wrong.append("has no figure")
    return wrong or Measured(0, row["workload"], row["mapping"], figures)


def _too_few(every: Sequence[Measured]) -> Iterator[tuple[str, str]]:
    """Yield where there are too few measurements for a fit: the figure, and what is wrong."""
    if not every:
        yield "", "has no measurements below its header"
    for name in FIGURES:
        if 0 < (number := sum(name in own.figures for own in every)) < LEAST:
            yield name, f"a fit needs at least {LEAST} measurements, got {number}"


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of a CSV that are neither empty nor comments, each with the number of its first line in the text."""
    csv.field_size_limit(MOST_BYTES)
    before = 0
    reader = csv.reader(_without_comments(text))
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield before + 1, cells
        before = reader.line_num


def _without_comments(text: str) -> Iterator[str]:
    """The lines of a CSV, empty where they are comments: not those within quotes."""
    quoted = False
    for line in text.splitlines(keepends=True):
        comment = not quoted and line.lstrip().startswith("#")
        quoted ^= not comment and line.count('"') % 2 == 1
        yield "\n" if comment else line


def _head_faults(head: list[str]) -> list[str]:
    """What is wrong with a header."""
    faults = [
        f'unknown column "{name}"; known: {", ".join(COLUMNS)}{near(name, COLUMNS)}'
        for name in head
        if name not in COLUMNS
    ]
    faults += [f"column {name} is missing" for name in ("workload", "mapping") if name not in head]
    faults += [f"column {name} stands twice" for name in dict.fromkeys(head) if head.count(name) > 1]
    if not set(FIGURES).intersection(head):
        faults.append(f"one of the columns {', '.join(FIGURES)} is missing")
    if {"cycles", "seconds"} <= set(head):
        faults.append("has both cycles and seconds: leave one out")
    return faults


def _positive(text: str) -> float:
    """Read a number that a fit can take the square of. Raises ValueError."""
    number = float(text)
    if "_" in text or not text.isascii() or not SMALLEST <= number <= LARGEST:
        raise ValueError
    return number
