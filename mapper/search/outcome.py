"""What a search found, and what is proven about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..certificate import Layer
from ..mapping import Floats, MappingBatch, staircase
from ..model.bounds import ROUNDING
from .coverage import Coverage
from .recorder import Statistics

Point = tuple[float, float]  # cycles, energy in pJ


def reach(front_pj: Floats, front_cycles: Floats, energy_pj: Floats, cycles: Floats) -> Floats:
    """The reach of each point (energy, cycles) # (point,) from a front, its cycles ascending, its energies descending.

    Seen along the front, cycles / its cycles falls and energy / its energy grows; the lesser of both is largest where
    they cross.
    """
    n = len(front_cycles)
    if not n:
        with np.errstate(divide="ignore"):
            return -1.0 / (energy_pj * cycles)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.searchsorted(front_cycles / front_pj, cycles / energy_pj)
        before = np.where(crossing > 0, energy_pj / front_pj[np.maximum(crossing - 1, 0)], 0.0)
    after = np.where(crossing < n, cycles / front_cycles[np.minimum(crossing, n - 1)], 0.0)
    return np.asarray(np.maximum(before, after))


@dataclass(frozen=True)
class FrontProof:
    """What is proven about a front: whatever mapping is not seen lies above one of the corners on both axes."""

    corners: tuple[Point, ...] = ()  # by cycles ascending, energies descending; none: all was seen or ruled out

    @classmethod
    def of(cls, corners: Sequence[Point]) -> "FrontProof":
        """From any corners: those above another are left out."""
        cycles, energy_pj = np.array(corners, np.float64).reshape(-1, 2).T
        rows = staircase(cycles, energy_pj)
        return cls(tuple(zip(cycles[rows].tolist(), energy_pj[rows].tolist(), strict=True)))

    def energy_pj(self, cycles: float) -> float:
        """No mapping that is not seen, with at most so many cycles, has less energy; inf where there is none."""
        return min((energy for fewest, energy in self.corners if fewest <= cycles * (1 + ROUNDING)), default=np.inf)

    def gap(self, front_pj: Floats, front_cycles: Floats) -> float:
        """No mapping is more than this share below all of the front on both axes; 0 where the front is proven."""
        if not self.corners:
            return 0.0
        cycles, energy_pj = np.array(self.corners).T
        least = float(reach(front_pj, front_cycles, energy_pj, cycles).min())
        return 0.0 if least >= 1 - ROUNDING else min(1.0, 1 - least)


@dataclass(frozen=True)
class Outcome:
    """What a search found: a batch of one mapping, or None, and how it went."""

    best: MappingBatch | None
    statistics: Statistics
    lower_bound: float | None = None  # what no mapping can beat, where the search proved something
    optimal: bool = False  # whether it is proven that no mapping is better
    front: tuple[MappingBatch, ...] = ()  # batches of one: the mappings of the front, by their first axis
    proof: FrontProof | None = None  # of the front, where the search proved something
    coverage: Coverage | None = None  # what became of all combinations of chains, where the search tried to prove
    certificate: Layer | None = None  # for another program to check, where asked for and something is proven
