"""SRAM figures from a shipped grid of CACTI results, interpolated between its points.

Between two capacities or widths the logarithm of a figure is interpolated in the logarithm of the size: the figures
grow by powers. docs/energy.md has the errors against CACTI, each point told from its neighbours alone.

Larger or wider SRAMs are macros of the edge of the grid, and the wires between them.
"""

import math
import warnings
from dataclasses import replace
from math import sqrt

from .closed_form import Figures, figures
from .grid import FARTHEST, EnergyWarning, Grid, OutsideGrid, Sram, around, grid, nodes
from .nodes import scaled

# pJ per bit, mm and port of CACTI's global wires, by node, and the bits that go along with the data for address and
# control: what explains best (least squares of logarithms) the steps of CACTI from memories of 1 MiB and more to those
# 2, 4 and 16 times as large (docs/energy.md; experiments/cacti_macros.py).
WIRE_PJ_PER_BIT_MM = {65.0: 0.567, 45.0: 0.431, 32.0: 0.334}
CONTROL_BITS = 46
ALWAYS = 256  # bits: words as wide are in the grid at all capacities


def wire_pj(node_nm: float, ports: int, bits: float, area_um2: float, macros: float) -> float:
    """Energy of `bits` on their way through an H-tree to one of so many macros of `area_um2`, beyond the first.

    From the middle of n macros with sides s to the middle of one of them an H-tree is (sqrt(n) - 1) s long.
    """
    return WIRE_PJ_PER_BIT_MM[node_nm] * ports * bits * (sqrt(macros) - 1) * sqrt(area_um2) / 1000


def of_macros(
    macro: Figures, node_nm: float, ports: int, width_bits: float, macros: float, parts: float = 1
) -> Figures:
    """A memory of `parts` times `macros` of one kind (real numbers from 1), each `width_bits` wide.

    A word lies across the parts; of each an access selects one macro. Leakage and area are those of all.
    """
    wires = wire_pj(node_nm, ports, width_bits + CONTROL_BITS, macro.area_um2, macros * parts)
    return replace(
        macro,
        read_pj=(macro.read_pj + wires) * parts,
        write_pj=(macro.write_pj + wires) * parts,
        leak_uw=macro.leak_uw * macros * parts,
        area_um2=macro.area_um2 * macros * parts,
    )


def _blend(low: Figures, high: Figures, share: float) -> Figures:
    """The point `share` of the way from `low` to `high` in logarithms."""

    def value(name: str) -> float:
        return float(getattr(low, name) ** (1 - share) * getattr(high, name) ** share)

    return figures(value, "interpolated in the CACTI grid")


def _with(sram: Sram, name: str, value: float) -> Sram:
    return replace(sram, **{name: value})  # type: ignore[arg-type]


def _between(points: Grid, sram: Sram, names: tuple[str, ...]) -> Figures | None:
    """`sram` interpolated along the fields `names`, all others as given; None where the points do not surround it."""
    if sram in points:
        return points[sram]
    if not names:
        return None
    name, rest = names[0], names[1:]
    value, known = getattr(sram, name), sorted({getattr(point, name) for point in points})
    if not known or not known[0] <= value <= known[-1]:
        return None
    low, high, share = around(value, known)
    below, above = (_between(points, _with(sram, name, size), rest) for size in (low, high))
    if below is None or above is None:
        return None
    return below if low == high else _blend(below, above, share)


def _size(sram: Sram) -> Figures | None:
    """`sram` at a node and ports of the grid: its capacity and width, and its banks where they lie between."""
    plane = {p: f for p, f in grid().items() if (p.tech_nm, p.ports) == (sram.tech_nm, sram.ports)}
    return _between(plane, sram, ("banks", "capacity_bytes", "width_bits"))


def _distance(sram: Sram, point: Sram) -> tuple[float, float, float]:
    """How far `point` is: the larger of the factors in capacity and width, then both together, then that in banks."""
    capacity = abs(math.log2(sram.capacity_bytes / point.capacity_bytes))
    width = abs(math.log2(sram.width_bits / point.width_bits))
    return max(capacity, width), capacity + width, abs(math.log2(sram.banks / point.banks))


def _other_banks(sram: Sram) -> Figures | None:
    """`sram` with the nearest number of banks known at its size: small SRAMs are in the grid with one bank only."""
    for banks in sorted({point.banks for point in grid()}, key=lambda banks: abs(math.log(banks / sram.banks))):
        known = _size(replace(sram, banks=banks))
        if known is not None:
            return replace(known, source=f"{known.source}, for {banks} bank(s) instead of {sram.banks}")
    return None


def _below(sram: Sram) -> Figures | None:
    """An SRAM that is smaller or narrower than the grid, scaled down from its edge; None where it is not.

    By the rules of Accelergy's CACTI plug-in for memories that CACTI refuses: with the share of the width the energies
    of an access fall to 0.3, with that of the depth by the power 0.78; leakage and area are linear in both.
    """
    points = [p for p in grid() if (p.tech_nm, p.ports, p.banks) == (sram.tech_nm, sram.ports, 1)]
    least, narrowest = min(p.capacity_bytes for p in points), min(p.width_bits for p in points)
    width, depth = max(sram.width_bits, narrowest), sram.capacity_bytes * 8 / sram.width_bits
    deeper = max(depth, least * 8 / width)
    edge = replace(sram, width_bits=width, capacity_bytes=max(least, deeper * width / 8), banks=1)
    known = None if (width, deeper) == (sram.width_bits, depth) else _size(edge) or _above(edge)
    if known is None:
        return None
    narrow, shallow = sram.width_bits / width, depth / deeper

    def value(name: str) -> float:
        access = (0.7 * narrow + 0.3) * shallow**0.78
        return float(getattr(known, name) * (access if name in ("read_pj", "write_pj") else narrow * shallow))

    return figures(value, f"below the CACTI grid, scaled down from {edge}")


def _above(sram: Sram) -> Figures | None:
    """An SRAM larger or wider than the grid, of macros from its edge; None where it is neither."""
    points = [p for p in grid() if (p.tech_nm, p.ports, p.banks) == (sram.tech_nm, sram.ports, 1)]
    most, widest = max(p.capacity_bytes for p in points), max(p.width_bits for p in points)
    for halved in range(3):  # where the grid has no memory so wide of this capacity, it has a narrower one
        parts = max(1.0, sram.width_bits / widest) * 2**halved
        macros = max(1.0, sram.capacity_bytes / parts / most)
        edge = replace(sram, width_bits=sram.width_bits / parts, capacity_bytes=sram.capacity_bytes / parts / macros)
        known = None if parts == macros == 1 else _size(edge) or _other_banks(edge)
        if known is None and sram.width_bits > ALWAYS:
            known = _below(edge)
        if known is not None:
            break
    else:
        return None
    whole = of_macros(known, sram.tech_nm, sram.ports, edge.width_bits, macros, parts)
    made = [f"{macros:g} macros" if macros > 1 else "", f"{parts:g} parts side by side" if parts > 1 else ""]
    return replace(whole, source=f"above the CACTI grid: {', '.join(filter(None, made))} of {edge}, and wires")


def _nearest(sram: Sram) -> Figures:
    """The nearest point of the grid, where that is far an SRAM below the grid by its edge; OutsideGrid for others."""
    points = (p for p in grid() if (p.tech_nm, p.ports) == (sram.tech_nm, sram.ports))
    point = min(points, key=lambda point: _distance(sram, point))
    if _distance(sram, point)[0] > math.log2(FARTHEST) + 1e-9:
        if smaller := _below(sram):
            return smaller
        raise OutsideGrid(f"no SRAM of {sram}: the nearest known is {point}")
    return replace(grid()[point], source=f"outside the CACTI grid, its nearest point: {point}")


def _at_node(sram: Sram) -> tuple[Figures, bool]:
    """Figures of an SRAM at a node of the grid, and whether they are those of a neighbour."""
    exact = _size(sram)
    return (exact, False) if exact else (_other_banks(sram) or _above(sram) or _nearest(sram), True)


def _check(sram: Sram) -> None:
    ports = sorted({point.ports for point in grid()})
    if sram.ports not in ports:
        raise OutsideGrid(f"ports must be one of {', '.join(map(str, ports))}; got {sram.ports}")


def sram(wanted: Sram) -> Figures:
    """Figures of an SRAM, tagged with how they were found.

    A point of the grid is taken as it is. Between points figures are interpolated (logarithms, over capacity, width,
    banks and node). Where the grid has no such number of banks at that size the nearest number is taken; up to a
    factor 2 outside in capacity or width the nearest point; further below figures are scaled down from the edge, all
    with an EnergyWarning. A node up to a factor 2 outside is scaled. Raises OutsideGrid beyond, and for ports other
    than 1 and 2.

    >>> sram(Sram(45, 131072, 64, ports=2, banks=32)).read_pj
    74.0954
    """
    _check(wanted)
    inside = min(max(wanted.tech_nm, nodes()[0]), nodes()[-1])
    low, high, share = around(inside, list(nodes()))
    lower = replace(wanted, tech_nm=low)
    known, neighbour = _at_node(lower)
    if low != high:
        other, another = _at_node(replace(wanted, tech_nm=high))
        between, neighbour = _blend(known, other, share), neighbour or another
        how = between.source if lower in grid() else known.source
        known = replace(between, source=f"{how}, between {low:g} and {high:g} nm")
    if neighbour:
        warnings.warn(f"SRAM of {wanted}: {known.source}", EnergyWarning, stacklevel=2)
    return scaled(known, inside, wanted.tech_nm)
