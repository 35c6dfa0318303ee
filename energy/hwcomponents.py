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
from .closed_form import Figures, figures
from .grid import FIGURES, Sram
from .store import Entry

MODULE, DISTRIBUTION = "hwcomponents_cacti", "hwcomponents-cacti"
SOURCE = "CACTI by hwcomponents-cacti"


@cache
def _figures(sram: Sram) -> Figures:
    """The figures of an SRAM by CACTI, in pJ, uW and um^2. Raises whatever the package raises where CACTI fails."""
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


# A memory that every CACTI computes: where it fails, the package or its program does not run.
PROBE = Sram(45, 8192, 64, ports=1, banks=1)


def _entry(sram: Sram) -> Entry | None:
    """The entry of the store for `sram`; None for a package of no known version."""
    try:
        version = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    return Entry(DISTRIBUTION, version, "SRAM", asdict(sram))


def cacti_memory(place: str) -> Callable[[Sram], Figures]:
    """A function that computes the figures of an SRAM by CACTI, or reads them from the store.

    It raises InputError, with `place` as the source, where the package or its program computes no figures. A wheel of
    the package may hold a CACTI that the machine cannot start (it wants GLIBC 2.38): before a memory that is not
    stored a simple one is computed, so that the message says whether CACTI runs at all.
    """

    def computed(sram: Sram, what: str) -> Figures:
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
        stored = entry and entry.read()
        if stored and stored.keys() == set(FIGURES):
            return figures(stored.__getitem__, SOURCE)
        computed(PROBE, "even a simple memory; build it from source (pip install --no-binary hwcomponents-cacti)")
        fresh = computed(sram, f"an SRAM of {sram}")
        if entry:
            entry.write({name: getattr(fresh, name) for name in FIGURES})
        return fresh

    return memory
