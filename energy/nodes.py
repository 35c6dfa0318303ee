"""Figures at other technology nodes: by the powers with which the CACTI grid scales, below it by a published study."""

import math
import statistics
import warnings
from dataclasses import replace
from functools import cache

from .closed_form import Figures, figures
from .grid import FARTHEST, FIGURES, EnergyWarning, OutsideGrid, around, grid, nodes

# Stillmaker and Baas, Scaling equations for the accurate prediction of CMOS device performance from 180 nm to 7 nm
# (Integration 58, 2017): energy is a V^2 + b V + c at a supply of V volts; and area, both by node. The figures are
# those that hwcomponents 1.0.114 has from there, which takes 0.8 V too.
VOLTS = 0.8
SMALL_NODES = {
    16.0: (0.2958, -0.1241, 0.03024, 1.0),
    14.0: (0.2363, -0.09675, 0.02239, 0.91),
    10.0: (0.2068, -0.09311, 0.02375, 0.54),
    7.0: (0.1776, -0.09097, 0.02447, 0.31),
}


@cache
def exponents() -> dict[str, float]:
    """The exponent of each figure in the technology node: figure ~ node ** exponent.

    It is the median over the grid, from its largest node to its smallest. That of leakage is 0: in CACTI it follows the
    kind of transistor rather than the node.
    """
    small, large = nodes()[0], nodes()[-1]
    pairs = [
        (known, grid()[replace(point, tech_nm=large)]) for point, known in grid().items() if point.tech_nm == small
    ]
    return {
        name: 0.0
        if name == "leak_uw"
        else statistics.median(math.log(getattr(b, name) / getattr(a, name)) for a, b in pairs)
        / math.log(large / small)
        for name in FIGURES
    }


def scaled(known: Figures, from_nm: float, to_nm: float) -> Figures:
    """Figures at another node: by the `exponents` of the grid to FARTHEST times its nodes, below by SMALL_NODES.

    Below an EnergyWarning is given. Raises OutsideGrid beyond.
    """
    if from_nm == to_nm:
        return known
    low, high = nodes()[0] / FARTHEST, nodes()[-1] * FARTHEST
    least = min(SMALL_NODES)
    if not least <= to_nm <= high:
        raise OutsideGrid(f"technology_nm must be {least:g} to {high:g} for a figure to be told, got {to_nm:g}")
    energy, area = _smaller(to_nm) if to_nm < low else (1.0, 1.0)
    factors = {"read_pj": energy, "write_pj": energy, "area_um2": area, "leak_uw": 1.0}

    def value(name: str) -> float:
        return float(getattr(known, name) * (max(to_nm, low) / from_nm) ** exponents()[name]) * factors[name]

    how = f"{known.source}, scaled from {from_nm:g} to {to_nm:g} nm"
    if to_nm < low:
        how += f" (below {low:g} by Stillmaker and Baas)"
        warnings.warn(f"figures at {to_nm:g} nm: {how}", EnergyWarning, stacklevel=2)
    return figures(value, how)


def _smaller(nm: float) -> tuple[float, float]:
    """Energy and area at a node below the largest of SMALL_NODES over those there, by powers between its nodes."""
    smaller, larger, share = around(nm, sorted(SMALL_NODES))
    first, *_ = (_small(at) for at in sorted(SMALL_NODES, reverse=True))
    low, high = _small(smaller), _small(larger)
    energy, area = (a ** (1 - share) * b**share / c for a, b, c in zip(low, high, first, strict=True))
    return energy, area


def _small(nm: float) -> tuple[float, float]:
    """Energy and area of SMALL_NODES, in any unit."""
    square, linear, constant, area = SMALL_NODES[nm]
    return square * VOLTS**2 + linear * VOLTS + constant, area
