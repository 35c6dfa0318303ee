"""The engine `hwcomponents`: SRAM from CACTI itself, through the optional package hwcomponents-cacti."""

import contextlib
import importlib
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib import metadata
from typing import Any

from ..workloads import Fault, InputError
from .cacti import FIGURES, Sram
from .closed_form import Figures, figures
from .store import Entry

MODULE, DISTRIBUTION = "hwcomponents_cacti", "hwcomponents-cacti"
SOURCE = "CACTI by hwcomponents-cacti"


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
    return Figures(read * 1e12, write * 1e12, leak * 1e6, area * 1e12, SOURCE)


# A memory that every CACTI can tell: where it fails, the package or its program does.
PROBE = Sram(45, 8192, 64, ports=1, banks=1)


def _entry(sram: Sram) -> Entry | None:
    """Where the figures of `sram` are kept; None for a package of no known version."""
    try:
        version = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    return Entry(DISTRIBUTION, version, "SRAM", asdict(sram))


def cacti_memory(place: str) -> Callable[[Sram], Figures]:
    """The figures of an SRAM by CACTI, or those that it told before; `place` begins the message where it does not run.

    What is returned raises InputError where the package or its program does not tell a memory that is not kept. A
    wheel of the package may hold a CACTI that the machine cannot start (it wants GLIBC 2.38): before the first memory
    a simple one is tried, to tell one from the other.
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

    def memory(sram: Sram) -> Figures:
        entry = _entry(sram)
        kept = entry and entry.read()
        if kept and kept.keys() == set(FIGURES):
            return figures(kept.__getitem__, SOURCE)
        told(PROBE, "even a simple memory; build it from source (pip install --no-binary hwcomponents-cacti)")
        found = told(sram, f"an SRAM of {sram}")
        if entry:
            entry.write({name: getattr(found, name) for name in FIGURES})
        return found

    return memory
