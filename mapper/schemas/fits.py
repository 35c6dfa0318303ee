"""The objects of fits: `ruby-model --fit --json`, and what a calibration predicts of a result."""

from .values import Amount, Count, Output


class Within(Output):
    """Relative errors."""

    half: Amount
    """Half of them are at most this."""
    nine_tenths: Amount
    """Nine of ten are."""


class HeldOutErrors(Output):
    """Those on layers that a fit did not see."""

    cycles: Within | None = None
    """Of cycles."""
    energy_pj: Within | None = None
    """Of energies."""


class PredictedCosts(Output):
    """What the machine's calibration predicts."""

    measured_on: str
    """Where the measurements are from."""
    cycles: Amount | None = None
    """Cycles, where they were fitted."""
    milliseconds: Amount | None = None
    """The same at the machine's clock."""
    energy_pj: Amount | None = None
    """pJ, where energies were fitted."""
    held_out: HeldOutErrors | None = None
    """How far off the fit is elsewhere."""


class FittedTerm(Output):
    """A term of a fit."""

    term: str
    """Its name."""
    weight: Amount
    """Cycles of one, or the factor of an energy."""
    error: Amount
    """The median relative error on held-out halves once it is in."""


class FittedFigure(Output):
    """A figure fitted to measurements."""

    measurements: Count
    """Their number."""
    layers: Count
    """The number of their layers."""
    terms: list[FittedTerm]
    """In the order in which they came in."""
    model: Within
    """The errors of the model's own figures."""
    held_out: Within
    """The errors of fits on the half of the layers that each did not see."""


class Fits(Output):
    """The object of `ruby-model ARCH --fit MEASURED --json`."""

    cycles: FittedFigure | None = None
    """Where cycles or seconds were measured."""
    energy_pj: FittedFigure | None = None
    """Where energies were."""
