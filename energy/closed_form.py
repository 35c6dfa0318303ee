"""Closed forms for the small components: register files, registers, MAC units, DRAM interfaces.

They reproduce the Aladdin tables behind Accelergy 0.3 at 45 nm and 5 ns, and the DRAM table of its CACTI plug-in, to
the last digit that Accelergy prints (docs/energy.md). Energies in pJ per access of the full width, areas in um^2.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .spec import BitForm

NODE_NM = 45.0  # of the Aladdin tables

# Of 32 bits; an adder is linear in them, a multiplier square.
ADDER_PJ, ADDER_IDLE_PJ, ADDER_UM2 = 0.0857, 0.0119, 179.0
MULTIPLIER_PJ, MULTIPLIER_UM2 = 8.63, 4600.0

# Floating point: of 32 bits (single precision) and of 64, an adder's and a multiplier's energy and area.
FLOAT = {32: (7.928, 24.4, 2060.0, 2060.0), 64: (23.269, 92.938, 5120.0, 4910.0)}

# Two address generators, one for reads and one for writes, which Accelergy's compound buffers carry: adders of 16
# bits. In an access one adds and the other is idle.
ADDRESS_GENERATORS_PJ = (ADDER_PJ + ADDER_IDLE_PJ) * 16 / 32
ADDRESS_GENERATORS_UM2 = 2 * ADDER_UM2 * 16 / 32

DRAM_PJ_PER_BIT = {"LPDDR4": 8.0, "LPDDR": 40.0, "DDR3": 70.0, "GDDR5": 14.0, "HBM2": 3.9}


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a component by an engine: pJ per access (a read; a write), uW, um^2, and where they come from."""

    read_pj: float
    write_pj: float
    leak_uw: float
    area_um2: float
    source: str


def figures(value: Callable[[str], float], source: str) -> Figures:
    """Figures whose every number is the `value` of its name."""
    return Figures(value("read_pj"), value("write_pj"), value("leak_uw"), value("area_um2"), source)


def _address_bits(depth: int) -> int:
    return (depth - 1).bit_length()


def address_generators() -> Figures:
    """The figures of the two address generators, which a buffer has beside its memory."""
    return Figures(ADDRESS_GENERATORS_PJ, ADDRESS_GENERATORS_PJ, 0.0, ADDRESS_GENERATORS_UM2, "address generators")


def register_array(depth: int, width_bits: float) -> Figures:
    """A register file of `depth` words of `width_bits`, without address generators."""
    comparators = depth * _address_bits(depth) / 32
    energy = 0.009 * width_bits + 0.029015 * comparators
    return Figures(energy, energy, 0.0, 5.98 * width_bits + 70 * comparators, "closed form: Aladdin registers, 45 nm")


def register_file(depth: int, width_bits: int) -> Figures:
    """A register file of `depth` words of `width_bits`, with its two address generators.

    >>> round(register_file(12, 16).read_pj, 5)
    0.23632
    """
    bare = register_array(depth, width_bits)
    energy = bare.read_pj + ADDRESS_GENERATORS_PJ
    area = bare.area_um2 + ADDRESS_GENERATORS_UM2
    return Figures(energy, energy, 0.0, area, "closed form: Aladdin register file, 45 nm")


def register() -> Figures:
    """A register by Aladdin's entry, which does not depend on the width; without an address it has no generators."""
    return Figures(0.009, 0.009, 0.0, 5.98, "closed form: Aladdin register of any width, 45 nm")


def adder(bits: float, idle: bool = False) -> Figures:
    """An integer adder that adds, or that is idle while its component works."""
    energy = (ADDER_IDLE_PJ if idle else ADDER_PJ) * bits / 32
    return Figures(energy, energy, 0.0, ADDER_UM2 * bits / 32, "closed form: Aladdin adder, 45 nm")


def multiplier(bits: float) -> Figures:
    """An integer multiplier of two factors of `bits`."""
    square = (bits / 32) ** 2
    energy = MULTIPLIER_PJ * square
    return Figures(energy, energy, 0.0, MULTIPLIER_UM2 * square, "closed form: Aladdin multiplier, 45 nm")


def integer_mac(bits: float) -> Figures:
    """An integer multiply-accumulate: an adder, linear in the bits, and a multiplier, square in them.

    >>> round(integer_mac(8).read_pj, 4)
    0.5608
    """
    energy = adder(bits).read_pj + multiplier(bits).read_pj
    area = adder(bits).area_um2 + multiplier(bits).area_um2
    return Figures(energy, energy, 0.0, area, "closed form: Aladdin integer MAC, 45 nm")


def bit_form(bits: int, floating: bool, scale: float) -> BitForm:
    """The energy of a MAC by the bits of its factors and of its sum, `scale` times that of 45 nm.

    An array multiplier adds a row of partial products as wide as one factor for each bit of the other, so a product of
    8 by 4 bits costs half of 8 by 8; of equal factors it is Aladdin's square law (docs/energy.md).
    """
    of = 32 if bits <= 32 else 64
    add_pj, multiply_pj = FLOAT[of][:2] if floating else (ADDER_PJ, MULTIPLIER_PJ)
    of = of if floating else 32
    return BitForm(bits, scale * add_pj / of, scale * multiply_pj / of**2)


def float_mac(bits: float) -> Figures:
    """A floating-point multiply-accumulate; other widths from that of 32 or 64 bits above them, as of integers.

    >>> round(float_mac(32).read_pj, 3), round(float_mac(16).read_pj, 3)
    (32.328, 10.064)
    """
    of = 32 if bits <= 32 else 64
    add_pj, multiply_pj, add_um2, multiply_um2 = FLOAT[of]
    part = bits / of
    energy, area = add_pj * part + multiply_pj * part**2, add_um2 * part + multiply_um2 * part**2
    precision = "single" if of == 32 else "double"
    return Figures(energy, energy, 0.0, area, f"closed form: Aladdin {precision}-precision MAC, 45 nm")


def dram(kind: str, width_bits: float) -> Figures:
    """A DRAM interface of one of the kinds in DRAM_PJ_PER_BIT; off chip, so it has no area and no leakage here.

    >>> dram("LPDDR4", 64).read_pj
    512.0
    """
    per_bit = DRAM_PJ_PER_BIT[kind]
    energy = per_bit * width_bits
    return Figures(energy, energy, 0.0, 0.0, f"closed form: {kind} at {per_bit:g} pJ per bit")
