"""The section `calibration` of an architecture file: what was measured on a real machine."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from ..workloads import Document, Fault, FloatExpr, Section, near
from .calibration import Calibration, HeldOut, cycle_terms, energy_terms
from .spec import LARGEST, SMALLEST, Architecture

Rate = Annotated[FloatExpr, Field(ge=SMALLEST, le=LARGEST)]
Weight = Annotated[FloatExpr, Field(ge=0, le=LARGEST)]


class Errors(Section):
    """Relative errors on measurements that a fit did not see."""

    half: Weight
    nine_tenths: Weight


class HeldOutErrors(Section):
    """Those of cycles, and of energies."""

    cycles: Errors | None = None
    energy_pj: Errors | None = None


class Measured(Section):
    """What was measured on a machine, and the times and energies fitted to it."""

    measured_on: Annotated[str, Field(min_length=1)]
    dtype: str = ""
    peak_gflops: Rate | None = None
    gb_per_second: dict[str, Rate] = {}
    fitted_on: tuple[str, ...] = ()
    seconds: dict[str, Weight] = {}
    cycles: dict[str, Weight] = {}
    energy_pj: dict[str, Weight] = {}
    held_out: HeldOutErrors = HeldOutErrors()
    origin: dict[Literal["cycles", "energy_pj"], str] = {}
    energies: str = ""

    def value(self) -> Calibration:
        """The section as a value."""
        every = (("cycles", self.held_out.cycles), ("energy_pj", self.held_out.energy_pj))
        return Calibration(
            self.measured_on,
            self.dtype,
            self.peak_gflops,
            tuple(self.gb_per_second.items()),
            self.fitted_on,
            tuple(self.seconds.items()),
            tuple(self.cycles.items()),
            tuple(self.energy_pj.items()),
            tuple(HeldOut(name, own.half, own.nine_tenths) for name, own in every if own is not None),
            tuple(self.origin.items()),
            self.energies,
        )


def term_faults(document: Document, arch: Architecture) -> Iterator[Fault]:
    """The faults of what a machine's calibration says of its levels; those of programs are found where they are run."""
    known, path = arch.calibration, ("calibration",)
    if known is None:
        return
    levels = [level.name for level in arch.levels]
    fitted = {
        "cycles": (known.cycles, cycle_terms(levels)),
        "energy_pj": (known.energy_pj, energy_terms(levels, arch.compute.name)),
    }
    for figure, (weights, terms) in fitted.items():
        for name, _ in weights:
            if name not in terms:
                rule = f"unknown term; known: {', '.join(terms)}{near(name, terms)}"
                yield document.fault((*path, figure, name), rule)
        if weights and not any(weight for _, weight in weights):
            yield document.fault((*path, figure), "all are 0: such a fit predicts nothing")
    for figure, *_ in known.held_out:
        if not fitted[figure][0]:
            yield document.fault((*path, "held_out", figure), f"goes with {figure}, which this calibration lacks")
    if known.seconds and not known.dtype:
        yield document.fault((*path, "seconds"), "goes with dtype, the type of the words of the programs")
