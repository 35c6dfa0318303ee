"""Classes that are known here: of levels and compute units, and of the bare parts of compound components."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import closed_form
from .closed_form import Figures
from .grid import Sram
from .nodes import scaled

# What a class is to the built-in estimates, with the names of the Timeloop and Accelergy exercises. In lower case.
STORAGE = {
    "dram": "DRAM",
    "sram": "SRAM",
    "smartbuffer_sram": "SRAM",
    "regfile": "regfile",
    "register_file": "regfile",
    "smartbuffer_rf": "regfile",
    "reg": "reg",
    "reg_storage": "reg",
    "register": "reg",
    "aladdin_register": "regfile",
    "flip_flop": "reg",
    "dummy_storage": "dummy",
    "dummystorage": "dummy",
}
COMPUTE = {"intmac": "intmac", "lmac": "intmac", "mac": "intmac", "fpmac": "fpmac", "dummy_compute": "dummy"}
# Any other class is taken for that whose name it contains, the first, with a warning: `smartbuffer_metadata`, `Imac`.
STORAGE_LIKE = {
    "dram": "DRAM",
    "sram": "SRAM",
    "smartbuffer_rf": "regfile",
    "regfile": "regfile",
    "register": "regfile",
    "smartbuffer": "SRAM",
    "storage": "SRAM",
}
COMPUTE_LIKE = {"fpmac": "fpmac", "fp_mac": "fpmac", "mac": "intmac", "compute": "intmac"}

Value = int | float | str
Values = Mapping[str, Value]
Memory = Callable[[Sram], Figures]


@dataclass(frozen=True)
class Estimate:
    """The figures of a component: pJ of each of its actions, its leakage and area, and where they come from."""

    energies: Mapping[str, float]
    leak_uw: float
    area_um2: float
    origin: str  # what a compound says of it as a part
    parts: str = ""  # of a compound: its parts, each with its origin

    @property
    def source(self) -> str:
        """Where the figures come from, parts included."""
        return f"{self.origin}: parts {self.parts}" if self.parts else self.origin


@dataclass(frozen=True)
class Primitive:
    """A class that is not made of others. `estimate` raises ValueError for sizes without an estimate."""

    attributes: Mapping[str, Value | None]  # with their defaults; None: must be given
    actions: tuple[str, ...]
    estimate: Callable[[Values, Memory], Estimate]


def number(values: Values, name: str) -> float:
    """The attribute `name`. Raises ValueError where it is no number greater than 0."""
    value = values[name]
    if not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a number greater than 0, got {value!r}")
    return float(value)


def _at_node(values: Values, **actions: Figures) -> Estimate:
    """The closed forms of a component's actions, scaled to its node."""
    at_node = {
        name: scaled(figures, closed_form.NODE_NM, number(values, "technology_nm")) for name, figures in actions.items()
    }
    first = next(iter(at_node.values()))
    energies = {name: figures.write_pj if name == "write" else figures.read_pj for name, figures in at_node.items()}
    return Estimate(energies, first.leak_uw, first.area_um2, first.source)


def _sram_array(values: Values, memory: Memory) -> Estimate:
    width, node = number(values, "width_bits"), number(values, "technology_nm")
    ports, banks = int(number(values, "ports")), int(number(values, "banks"))
    figures = memory(Sram(node, number(values, "capacity_bits") / 8, width, ports, banks))
    return Estimate(
        {"read": figures.read_pj, "write": figures.write_pj}, figures.leak_uw, figures.area_um2, figures.source
    )


def _regfile_array(values: Values, _: Memory) -> Estimate:
    width = number(values, "width_bits")
    figures = closed_form.register_array(math.ceil(number(values, "capacity_bits") / width), width)
    return _at_node(values, read=figures, write=figures)


def _reg(values: Values, _: Memory) -> Estimate:
    return _at_node(values, read=closed_form.register(), write=closed_form.register())


def _adder(values: Values, _: Memory) -> Estimate:
    bits = number(values, "bits")
    return _at_node(values, add=closed_form.adder(bits), idle=closed_form.adder(bits, idle=True))


def _multiplier(values: Values, _: Memory) -> Estimate:
    return _at_node(values, multiply=closed_form.multiplier(number(values, "bits")))


def _intmac(values: Values, _: Memory) -> Estimate:
    return _at_node(values, compute=closed_form.integer_mac(number(values, "bits")))


def _dram(values: Values, _: Memory) -> Estimate:
    kinds = closed_form.DRAM_PJ_PER_BIT
    if values["type"] not in kinds:
        raise ValueError(f"the type of a DRAM must be one of {', '.join(kinds)}; got {values['type']!r}")
    figures = closed_form.dram(str(values["type"]), number(values, "width_bits"))
    return Estimate({"read": figures.read_pj, "write": figures.write_pj}, 0.0, 0.0, figures.source)


_MEMORY: dict[str, Value | None] = {"capacity_bits": None, "width_bits": None}
PRIMITIVES = {
    "sram_array": Primitive(_MEMORY | {"banks": 1, "ports": 2}, ("read", "write"), _sram_array),
    "regfile_array": Primitive(_MEMORY, ("read", "write"), _regfile_array),
    "reg": Primitive({}, ("read", "write"), _reg),
    "adder": Primitive({"bits": None}, ("add", "idle"), _adder),
    "multiplier": Primitive({"bits": None}, ("multiply",), _multiplier),
    "intmac": Primitive({"bits": None}, ("compute",), _intmac),
    "DRAM": Primitive({"width_bits": None, "type": "LPDDR4"}, ("read", "write"), _dram),
}
