"""The section `calibration` of an architecture file: what was measured on a real machine."""

from typing import Annotated

from pydantic import Field

from ..workloads import FloatExpr, Section
from .spec import LARGEST, SMALLEST, Calibration

Rate = Annotated[FloatExpr, Field(ge=SMALLEST, le=LARGEST)]
Seconds = Annotated[FloatExpr, Field(ge=0, le=LARGEST)]


class Measured(Section):
    """What was measured on a machine, and the times fitted to it."""

    measured_on: Annotated[str, Field(min_length=1)]
    dtype: Annotated[str, Field(min_length=1)]
    peak_gflops: Rate | None = None
    gb_per_second: dict[str, Rate] = {}
    fitted_on: tuple[str, ...] = ()
    seconds: dict[str, Seconds] = {}

    def value(self) -> Calibration:
        """The section as a value."""
        rates, seconds = tuple(self.gb_per_second.items()), tuple(self.seconds.items())
        return Calibration(self.measured_on, self.dtype, self.peak_gflops, rates, self.fitted_on, seconds)
