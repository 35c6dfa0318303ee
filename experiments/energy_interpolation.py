"""Claim: between the points of the shipped CACTI grid, interpolation tells an SRAM's read energy within 5 % of what
CACTI itself says at the median and within 20 % always, its write energy within 30 %, its area within 10 %.

Asks CACTI for memories off the grid in capacity, width, banks, node, and all at once, and writes its figures beside
the interpolated ones. CACTI comes from the optional package hwcomponents-cacti, built from source:

    pip install --no-binary hwcomponents-cacti hwcomponents-cacti
    python experiments/energy_interpolation.py experiments/results/energy_interpolation.csv

The tests read the recorded file: they hold the shipped interpolation and the table in docs/energy.md against it.
"""

import csv
import importlib.util
import statistics
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer
from ruby_map.energy.cacti import sram
from ruby_map.energy.grid import FIGURES, EnergyWarning, Sram
from ruby_map.energy.hwcomponents import MODULE, cacti_memory

RECORDED = Path(__file__).parent / "results" / "energy_interpolation.csv"
SIZES = ("tech_nm", "capacity_bytes", "width_bits", "ports", "banks")
KIB = 1024

# What is off the grid, and the memories: node nm, capacity, width b, ports, banks.
POINTS: dict[str, list[Sram]] = {
    "capacity": [
        Sram(45, 3 * KIB, 32, 1, 1),
        Sram(32, 6 * KIB, 64, 2, 1),
        Sram(65, 12 * KIB, 16, 1, 1),
        Sram(45, 24 * KIB, 64, 2, 1),
        Sram(45, 48 * KIB, 128, 1, 1),
        Sram(32, 96 * KIB, 64, 2, 4),
        Sram(45, 192 * KIB, 64, 2, 32),
        Sram(65, 320 * KIB, 128, 2, 1),
        Sram(45, 768 * KIB, 256, 1, 4),
        Sram(32, 3072 * KIB, 128, 1, 1),
    ],
    "width": [
        Sram(45, 12 * 256, 24, 1, 1),
        Sram(45, 48 * 2**8, 48, 2, 1),
        Sram(32, 96 * 2**9, 96, 1, 1),
        Sram(65, 96 * 2**10, 192, 2, 1),
        Sram(45, 192 * 2**10, 192, 2, 4),
        Sram(45, 80 * 2**12, 80, 1, 1),
    ],
    "banks": [
        Sram(45, 128 * KIB, 64, 2, 8),
        Sram(45, 256 * KIB, 128, 1, 16),
        Sram(32, 64 * KIB, 64, 2, 2),
        Sram(65, 512 * KIB, 64, 1, 8),
    ],
    "node": [
        Sram(40, 128 * KIB, 64, 2, 1),
        Sram(55, 32 * KIB, 64, 1, 1),
        Sram(50, 1024 * KIB, 256, 2, 4),
        Sram(36, 8 * KIB, 32, 2, 1),
    ],
    "all": [
        Sram(40, 24 * KIB, 48, 2, 1),
        Sram(55, 192 * KIB, 96, 1, 8),
        Sram(36, 768 * KIB, 192, 2, 16),
        Sram(50, 3 * KIB, 24, 1, 1),
        Sram(60, 320 * KIB, 80, 2, 2),
    ],
}


def interpolated(point: Sram) -> dict[str, float]:
    """What the shipped grid tells of `point`."""
    with warnings.catch_warnings(action="ignore", category=EnergyWarning):
        return {figure: getattr(sram(point), figure) for figure in FIGURES}


def measured() -> Iterator[dict[str, object]]:
    """A row for each point: what is off the grid, its sizes, and CACTI's figures."""
    memory = cacti_memory("energy_interpolation")
    for off, points in POINTS.items():
        for point in points:
            measurement = memory(point)
            figures = {figure: f"{getattr(measurement, figure):.6g}" for figure in FIGURES}
            yield {"off": off} | {name: f"{getattr(point, name):.10g}" for name in SIZES} | figures


def recorded(path: Path = RECORDED) -> list[tuple[str, Sram, dict[str, float]]]:
    """What is off the grid, the memory, and CACTI's figures, from a file that this script wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    records = []
    for row in rows:
        node, capacity, width, ports, banks = (float(row[name]) for name in SIZES)
        point = Sram(node, capacity, width, int(ports), int(banks))
        records.append((row["off"], point, {figure: float(row[figure]) for figure in FIGURES}))
    return records


def errors(rows: Iterable[tuple[str, Sram, dict[str, float]]], off: str, figure: str) -> list[float]:
    """Relative errors of the interpolation for the points whose `off` this is, the smallest first, without sign."""
    return sorted(abs(interpolated(point)[figure] / actual[figure] - 1) for what, point, actual in rows if what == off)


def table(rows: list[tuple[str, Sram, dict[str, float]]]) -> list[str]:
    """The lines of docs/energy.md: median and worst relative error in %, for what is off the grid and each figure."""
    lines = []
    for off in POINTS:
        cells = []
        for figure in FIGURES:
            relative_errors = errors(rows, off, figure)
            cells.append(f"{100 * statistics.median(relative_errors):.1f}, {100 * relative_errors[-1]:.1f}")
        lines.append(f"| {off} ({len(POINTS[off])}) | {' | '.join(cells)} |")
    return lines


def main(out: Path) -> None:
    """Measure and write OUT; print the table of errors. Without hwcomponents-cacti: say so, and do nothing."""
    if importlib.util.find_spec(MODULE) is None:
        typer.echo(f"skipped: no module {MODULE}; pip install --no-binary hwcomponents-cacti hwcomponents-cacti")
        return
    rows = list(measured())
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    typer.echo("\n".join(table(recorded(out))))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: energy_interpolation.py OUT.csv")
    main(Path(sys.argv[1]))
