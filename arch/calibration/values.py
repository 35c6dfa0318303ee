"""What was measured on a real machine, and fitted to it: times of programs, cycles and energies of mappings."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class HeldOut(NamedTuple):
    """The relative errors of a fit on measurements that it did not see."""

    figure: str  # cycles or energy_pj
    half: float  # half of them are at most this
    nine_tenths: float


@dataclass(frozen=True)
class Calibration:
    """What was measured on a real machine, from which other times and energies are predicted."""

    measured_on: str
    dtype: str = ""  # of the programs
    peak_gflops: float | None = None  # of one core
    gb_per_second: tuple[tuple[str, float], ...] = ()  # (level, rate) pairs: read by one core
    fitted_on: tuple[str, ...] = ()  # layers
    seconds: tuple[tuple[str, float], ...] = ()  # of programs: (term, seconds of one) pairs
    cycles: tuple[tuple[str, float], ...] = field(default=(), metadata={"later": True})  # (term, cycles of one) pairs
    energy_pj: tuple[tuple[str, float], ...] = field(default=(), metadata={"later": True})  # (term, factor) pairs
    held_out: tuple[HeldOut, ...] = field(default=(), metadata={"later": True})
    origin: tuple[tuple[str, str], ...] = field(default=(), metadata={"later": True})  # (figure, measurements) pairs
    energies: str = field(default="", metadata={"later": True})  # of energy_pj: which the model's were; empty: any


def cycle_terms(levels: Sequence[str]) -> tuple[str, ...]:
    """Name what a mapping does that may take time, on a machine with these levels (docs/calibration.md)."""
    inner = (f"{level} {what}" for level in levels[1:] for what in ("tiles", "words"))
    return ("layer", "steps", "cycles", f"{levels[0]} words", *inner)


def energy_terms(levels: Sequence[str], compute: str) -> tuple[str, ...]:
    """Name the parts of a mapping's energy, on a machine with these levels and MAC units."""
    return (*(f"{part} energy" for part in (*levels, compute)), "wires", "cycles")
