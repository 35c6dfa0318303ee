"""What is proven of the best mapping and of the front of a search."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...certificate import LayerProof
from ...mapping import Floats, pareto_rows
from ...problem import ROUNDING, Point
from .coverage import Coverage


def reach(front_pj: Floats, front_cycles: Floats, energy_pj: Floats, cycles: Floats) -> Floats:
    """Compute the reach of points (energy, cycles) from a front of ascending cycles, descending energies. # (point,)

    Along the front, the ratio of a point's cycles to the front's falls and the ratio of the energies grows; the lesser
    of both is largest where they cross.
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
    """The proof about a front: every mapping not seen lies above one of the corners on both axes."""

    corners: tuple[Point, ...] = ()  # cycles ascending, energies descending; empty: all mappings seen or ruled out

    @classmethod
    def of(cls, corners: Sequence[Point]) -> "FrontProof":
        """Make a proof from any corners, without those above another."""
        cycles, energy_pj = np.array(corners, np.float64).reshape(-1, 2).T
        assert not np.isnan(cycles + energy_pj).any(), "a corner that is no number would prove everything"
        rows = pareto_rows(cycles, energy_pj)
        return cls(tuple(zip(cycles[rows].tolist(), energy_pj[rows].tolist(), strict=True)))

    def energy_pj(self, cycles: float) -> float:
        """Return the least energy that an unseen mapping with at most `cycles` may have; inf where there is none."""
        return min((energy for fewest, energy in self.corners if fewest <= cycles * (1 + ROUNDING)), default=np.inf)

    def gap(self, front_pj: Floats, front_cycles: Floats) -> float:
        """Return the largest share by which a mapping may be below all of the front on both axes; 0: it is proven."""
        if not self.corners:
            return 0.0
        cycles, energy_pj = np.array(self.corners).T
        least = float(reach(front_pj, front_cycles, energy_pj, cycles).min())
        return 0.0 if least >= 1 - ROUNDING else min(1.0, 1 - least)


@dataclass(frozen=True)
class StageProof:
    """What is proven by one of several objectives, about the mappings that are best by those before it."""

    objective: str
    value: float | None = None  # the least found; None: the stage has not begun
    lower_bound: float | None = None  # no such mapping is below it; None: nothing is proven
    optimal: bool = False  # whether it is proven that no such mapping is better
    coverage: Coverage | None = None  # of all combinations of chains


@dataclass(frozen=True)
class Evidence:
    """What is proven about all mappings of a mapspace; nothing by default."""

    lower_bound: float | None = None  # no mapping is below it by the first objective; None: nothing is proven
    optimal: bool = False  # whether it is proven that no mapping is better
    front: FrontProof | None = None  # about mappings beside the front; None: nothing is proven
    coverage: Coverage | None = None  # of all combinations of chains, where a search tried to prove
    stages: tuple[StageProof, ...] = ()  # by each of several objectives; while a proof runs, those it has closed
    certificate: LayerProof | None = None  # of the proof, where asked for


class Proven:
    """What has evidence, and says by name what is proven."""

    evidence: Evidence

    @property
    def lower_bound(self) -> float | None:
        """No mapping of the mapspace is below it by the first objective; None: nothing is proven."""
        return self.evidence.lower_bound

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no mapping of the mapspace is better."""
        return self.evidence.optimal

    @property
    def proof(self) -> FrontProof | None:
        """What is proven about mappings beside the front; None: nothing."""
        return self.evidence.front

    @property
    def coverage(self) -> Coverage | None:
        """What became of all combinations of chains, where a search tried to prove."""
        return self.evidence.coverage

    @property
    def stages(self) -> tuple[StageProof, ...]:
        """The proof by each of several objectives."""
        return self.evidence.stages

    @property
    def certificate(self) -> LayerProof | None:
        """The certificate of the proof, where asked for."""
        return self.evidence.certificate
