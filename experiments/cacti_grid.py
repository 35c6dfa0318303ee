"""Claim: the shipped grid of SRAMs, `energy/cacti_sram.csv`, is what CACTI says.

Asks CACTI for points and writes them in the form of the grid, so that it can be made anew, checked or extended. CACTI
comes from the optional package hwcomponents-cacti, built from source:

    pip install --no-binary hwcomponents-cacti hwcomponents-cacti
    python experiments/cacti_grid.py OUT.csv                   # every point of the grid, some 25 minutes
    python experiments/cacti_grid.py OUT.csv --every 50        # one of 50, and how far the shipped ones are from them
"""

import csv
import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from ruby_map.energy.grid import FIGURES, Sram, grid
from ruby_map.energy.hwcomponents import MODULE, cacti_memory
from ruby_map.workloads import InputError

SIZES = ("tech_nm", "capacity_bytes", "width_bits", "rw_ports", "banks")
NODES, PORTS = (65, 45, 32), (1, 2)
WIDTHS = tuple(2**i for i in range(4, 11))  # 16 to 1024 bits
CAPACITIES = tuple(2**i for i in range(9, 27))  # 512 B to 64 MiB
BANKS = (1, 4, 32)
NARROW, WIDE = 32, 256  # bits: of several banks at least so many; wider ones only of 32 KiB and more


def points() -> Iterator[Sram]:
    """The memories of the grid."""
    for nm, capacity, width, ports, banks in itertools.product(NODES, CAPACITIES, WIDTHS, PORTS, BANKS):
        several = banks == 1 or (width >= NARROW and capacity >= (2**14 if width == 64 else 2**15))
        if several and (width <= WIDE or capacity >= 2**15):
            yield Sram(nm, capacity, width, ports, banks)


def main(
    out: Annotated[Path, typer.Argument(help="the file to write")],
    every: Annotated[int, typer.Option(min=1, help="ask for one point of so many")] = 1,
    missing: Annotated[bool, typer.Option("--missing", help="ask only for points that are not in the grid")] = False,
) -> None:
    """Ask CACTI, write a row a point at once, and tell how far the shipped figures are."""
    if importlib.util.find_spec(MODULE) is None:
        raise SystemExit("hwcomponents-cacti is not installed: nothing is measured (see the head of this file)")
    memory, worst = cacti_memory("cacti_grid"), 0.0
    wanted = [point for point in points() if not (missing and point in grid())][::every]
    with out.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*SIZES, *FIGURES])
        for point in wanted:
            try:
                figures = memory(point)
            except InputError as error:
                typer.echo(f"{point}: {error}", err=True)
                continue
            sizes = (point.tech_nm, point.capacity_bytes, point.width_bits, point.ports, point.banks)
            rows.writerow([*sizes, *(f"{getattr(figures, name):.6g}" for name in FIGURES)])
            file.flush()
            if known := grid().get(point):
                ratios = (getattr(figures, name) / getattr(known, name) for name in FIGURES)
                worst = max(worst, *(abs(ratio - 1) for ratio in ratios))
    typer.echo(f"{len(wanted)} points asked for; the shipped figures of those in the grid are within {worst:.2%}")


if __name__ == "__main__":
    typer.run(main)
