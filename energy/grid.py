"""The shipped grid of CACTI results for SRAMs."""

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import override

from ..workloads import ToldWarning
from .closed_form import Figures, figures

FIGURES = ("read_pj", "write_pj", "leak_uw", "area_um2")
FARTHEST = 2.0  # a size up to this factor outside the grid takes the nearest point, with a warning


class EnergyWarning(ToldWarning):
    """Says that a figure is that of a neighbouring memory."""


class OutsideGrid(ValueError):
    """An SRAM or a technology node is too far outside the grid for any figure."""


@dataclass(frozen=True, slots=True)
class Sram:
    """The attributes of an SRAM that CACTI takes."""

    tech_nm: float
    capacity_bytes: float
    width_bits: float
    ports: int = 2  # read/write ports
    banks: int = 1

    @override
    def __str__(self) -> str:
        size = f"{self.capacity_bytes:.10g} B x {self.width_bits:g} b"
        return f"{size}, {self.ports} port(s), {self.banks} bank(s), {self.tech_nm:g} nm"


Grid = dict[Sram, Figures]


@cache
def grid() -> Grid:
    """All points of the shipped grid."""
    text = resources.files(__package__).joinpath("cacti_sram.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    points = {}
    for row in rows:
        sizes = (int(row[name]) for name in ("tech_nm", "capacity_bytes", "width_bits", "rw_ports", "banks"))
        points[Sram(*sizes)] = figures(lambda name, row=row: float(row[name]), "CACTI grid")  # type: ignore[misc]
    return points


@cache
def nodes() -> tuple[float, ...]:
    """The technology nodes of the grid in nm, smallest first."""
    return tuple(sorted({point.tech_nm for point in grid()}))


def around(value: float, known: list[float]) -> tuple[float, float, float]:
    """The neighbours of `value` among the sorted `known`, and how far it is between them in logarithms, 0 to 1."""
    low, high = max(x for x in known if x <= value), min(x for x in known if x >= value)
    return low, high, 0.0 if low == high else math.log(value / low) / math.log(high / low)
