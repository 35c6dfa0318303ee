"""SRAM larger or wider than the CACTI grid: macros of its edge, and the wires between them."""

from dataclasses import replace
from math import sqrt

from .closed_form import Figures

# pJ per bit, mm and port of CACTI's global wires, by node, and the bits that go along with the data for address and
# control: what explains best (least squares of logarithms) the steps of CACTI from memories of 1 MiB and more to those
# 2, 4 and 16 times as large (docs/energy.md; experiments/cacti_macros.py).
WIRE_PJ_PER_BIT_MM = {65.0: 0.567, 45.0: 0.431, 32.0: 0.334}
CONTROL_BITS = 46


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
