"""What a machine's calibration predicts of mappings: cycles and energy, with the errors of the fit elsewhere."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from ...arch import Architecture
from ...arch.calibration import Calibration, HeldOut
from ...energy import EnergyTable
from ..model.figures import Mapped
from ..problem import Charges, Problem, fingerprint
from .fit import weighted
from .terms import cycle_terms_of, energy_terms_of


@dataclass(frozen=True)
class Prediction:
    """What is predicted of a mapping, or of several in turn; None: nothing was fitted to such measurements."""

    cycles: float | None
    energy_pj: float | None
    measured_on: str
    held_out: tuple[HeldOut, ...]

    @classmethod
    def of(cls, mapped: Mapped, problem: Problem) -> Self | None:
        """Predict by the calibration of the machine; None where it has none, or none of what is known.

        Energies are predicted where they are known, and those that the fit was made with.
        """
        arch, known = problem.arch, problem.arch.calibration
        if known is None:
            return None
        cycles, energy_pj = _cycles(known, mapped, arch), None
        if known.energies in ("", energies_of(problem.energies, problem.charges)) and problem.energies.counted:
            energy_pj = _energy_pj(known, mapped, arch)
        if cycles is None and energy_pj is None:
            return None
        return cls(cycles, energy_pj, known.measured_on, known.held_out)

    @classmethod
    def total(cls, every: Iterable[tuple[Self | None, int]]) -> Self | None:
        """Add up predictions, each so many times; None where one is missing."""
        counted = list(every)
        known = [(prediction, count) for prediction, count in counted if prediction is not None]
        if not known or len(known) < len(counted):
            return None
        first, _ = known[0]
        cycles = None if first.cycles is None else sum(count * (own.cycles or 0.0) for own, count in known)
        energy_pj = None if first.energy_pj is None else sum(count * (own.energy_pj or 0.0) for own, count in known)
        return cls(cycles, energy_pj, first.measured_on, first.held_out)

    def errors(self, figure: str) -> HeldOut | None:
        """The errors of a figure's fit on what it did not see; None where they are not written down."""
        return next((own for own in self.held_out if own.figure == figure), None)


def energies_of(table: EnergyTable, charges: Charges) -> str:
    """Name energies, and what is charged beside: a fit of energies is to these."""
    return fingerprint((replace(table.asked_by(()), arch=""), charges))


def _cycles(known: Calibration, mapped: Mapped, arch: Architecture) -> float | None:
    return weighted(dict(known.cycles), cycle_terms_of(mapped, arch)) if known.cycles else None


def _energy_pj(known: Calibration, mapped: Mapped, arch: Architecture) -> float | None:
    return weighted(dict(known.energy_pj), energy_terms_of(mapped, arch)) if known.energy_pj else None
