"""Claim: a memory of n macros and wires by the closed form of `energy/cacti.py` needs the energy that CACTI gives one
n times as large (n = 2, 4, 16, from 1 MiB to 64 MiB), or n times as wide and as large (n = 2, 4, to 1024 bits), within
9 % at the median of the first and 10 % of the second.

Takes pairs of points of the shipped grid, fits the wires to them, and writes the errors of the shipped constants:

    python experiments/cacti_macros.py experiments/results/cacti_macros.csv
"""

import csv
from collections.abc import Iterator
from dataclasses import replace
from math import log
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer
from ruby_map.energy import cacti as macros
from ruby_map.energy.cacti import CONTROL_BITS, WIRE_PJ_PER_BIT_MM, of_macros
from ruby_map.energy.closed_form import Figures
from ruby_map.energy.grid import FIGURES, Sram, grid

RECORDED = Path(__file__).parent / "results" / "cacti_macros.csv"
FROM = 2**20  # bytes
LARGER, WIDER = (2, 4, 16), (2, 4)


def pairs(larger: int, wider: int) -> Iterator[tuple[Sram, Figures, Figures]]:
    """A memory, its figures, and those of CACTI for one so many times as large and as wide."""
    for point, known in grid().items():
        other = replace(
            point, capacity_bytes=point.capacity_bytes * larger * wider, width_bits=point.width_bits * wider
        )
        enough = (point if wider == 1 else other).capacity_bytes >= FROM and (wider == 1 or other.width_bits >= 512)
        if enough and other in grid():
            yield point, known, grid()[other]


def errors(larger: int, wider: int) -> dict[str, list[float]]:
    """The relative errors of the closed form, by figure, smallest first."""
    by_figure: dict[str, list[float]] = {name: [] for name in FIGURES}
    for point, known, actual in pairs(larger, wider):
        made = of_macros(known, point.tech_nm, point.ports, point.width_bits, larger, wider)
        for name in FIGURES:
            by_figure[name].append(abs(getattr(made, name) / getattr(actual, name) - 1))
    return {name: sorted(figure_errors) for name, figure_errors in by_figure.items()}


def fitted() -> tuple[dict[float, float], float]:
    """The wires by node, and the control bits, that explain the larger memories best."""
    from scipy.optimize import least_squares

    nodes, known = sorted(WIRE_PJ_PER_BIT_MM), [(n, pair) for n in LARGER for pair in pairs(n, 1)]

    def residuals(guess: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> list[float]:
        off = []
        for n, (point, small, large) in known:
            wires = macros.wire_pj(point.tech_nm, point.ports, point.width_bits + guess[-1], small.area_um2, n)
            wires *= guess[nodes.index(point.tech_nm)] / WIRE_PJ_PER_BIT_MM[point.tech_nm]
            off += [log((getattr(small, name) + wires) / getattr(large, name)) for name in ("read_pj", "write_pj")]
        return off

    best = least_squares(residuals, np.array([0.3, 0.4, 0.5, 50.0]), loss="soft_l1").x
    return dict(zip(nodes, best[:-1].tolist(), strict=True)), float(best[-1])


def main(out: Annotated[Path, typer.Argument(help="the file to write")]) -> None:
    """Write the errors, and print the fit beside the shipped constants."""
    wires, bits = fitted()
    shown = ", ".join(f"{nm:g} nm {pj:.3f} (shipped {WIRE_PJ_PER_BIT_MM[nm]})" for nm, pj in wires.items())
    typer.echo(f"wires, pJ per bit, mm and port: {shown}; control bits {bits:.1f} (shipped {CONTROL_BITS})")
    with out.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["larger", "wider", "figure", "pairs", "median", "90 %", "worst"])
        for larger, wider in [(n, 1) for n in LARGER] + [(1, n) for n in WIDER]:
            for name, off in errors(larger, wider).items():
                ranks = (median(off), off[int(0.9 * len(off))], off[-1])
                rows.writerow([larger, wider, name, len(off), *(f"{error:.3f}" for error in ranks)])


if __name__ == "__main__":
    typer.run(main)
