"""The engine `hwcomponents`: SRAM from CACTI itself, through the optional package hwcomponents-cacti."""

import contextlib
import importlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from ..workloads import Fault, InputError
from .cacti import Sram
from .closed_form import Figures

MODULE = "hwcomponents_cacti"


@cache
def _figures(sram: Sram) -> Figures:
    """CACTI's figures of one SRAM, from J, W and m^2; whatever the package raises where it cannot tell them."""
    package: Any = importlib.import_module(MODULE)
    with contextlib.redirect_stdout(sys.stderr):  # standard output is the command's own
        memory = package.SRAM(
            tech_node=sram.tech_nm * 1e-9,
            width=sram.width_bits,
            size=int(sram.capacity_bytes * 8),  # in bits; width and depth alone raise in hwcomponents-cacti 1.0.40
            n_rw_ports=sram.ports,
            n_banks=sram.banks,
        )
        read, write = float(memory.read().energy), float(memory.write().energy)
        leak, area = float(memory.leak_power), float(memory.area)
    return Figures(read * 1e12, write * 1e12, leak * 1e6, area * 1e12, "CACTI by hwcomponents-cacti")


# A memory that every CACTI can tell: where it fails, the package or its program does.
PROBE = Sram(45, 8192, 64, ports=1, banks=1)


def cacti_memory(place: str) -> Callable[[Sram], Figures]:
    """The figures of an SRAM by CACTI, once it has been seen to run; `place` begins the message where it does not.

    What is returned, and this itself, raises InputError where the package or its program does not do it. A wheel
    of the package may hold a CACTI that the machine cannot start (it wants GLIBC 2.38).
    """

    def told(sram: Sram, what: str) -> Figures:
        try:
            return _figures(sram)
        except ModuleNotFoundError as error:
            ways = "install hwcomponents-cacti, or use the engine default"
            raise InputError(Fault(place, None, "", f"no module {error.name}: {ways}")) from None
        except Exception as error:  # of a foreign package: anything
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(Fault(place, None, "", f"hwcomponents-cacti does not tell {what}: {why}")) from None

    told(PROBE, "even a simple memory; build it from source (pip install --no-binary hwcomponents-cacti)")
    return lambda sram: told(sram, f"an SRAM of {sram}")
