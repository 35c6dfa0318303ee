"""What a machine's calibration predicts of a result, as text and as values of JSON."""

from typing import Any, Protocol

from ..calibration import Prediction
from ..model.figures import plain, short


class Predicted(Protocol):
    """What has a prediction."""

    @property
    def prediction(self) -> Prediction | None: ...
    @property
    def clock_ns(self) -> float | None: ...


def prediction_lines(result: Predicted) -> list[tuple[str, str, str]]:
    """Name and text of the lines of a report: cycles and energy; none without a calibration of them."""
    known = result.prediction
    if known is None:
        return []
    lines = []
    if known.cycles is not None:
        time = "" if result.clock_ns is None else f", {short(known.cycles * result.clock_ns * 1e-6)} ms"
        lines.append(("predicted", f"{known.cycles:,.0f} cycles{time}{_errors(known, 'cycles')}", ""))
    if known.energy_pj is not None:
        lines.append(("predicted", f"{short(known.energy_pj)} pJ{_errors(known, 'energy_pj')}", ""))
    return lines


def _errors(known: Prediction, figure: str) -> str:
    """Where the fit is from, and how far off it is on what it did not see."""
    errors, measured_on = known.errors(figure), " ".join(known.measured_on.split())
    if errors is None:
        return f" (fitted: {measured_on})"
    within = f"half of those not seen by the fit within {errors.half:.1%}, nine tenths within {errors.nine_tenths:.1%}"
    return f" (fitted: {measured_on}; {within})"


def prediction_json(result: Predicted) -> dict[str, Any]:
    """Write a prediction as values of JSON; nothing without a calibration of cycles or energies."""
    known = result.prediction
    if known is None:
        return {}
    clock, cycles, energy_pj = result.clock_ns, known.cycles, known.energy_pj
    figures: dict[str, Any] = {"measured_on": known.measured_on}
    if cycles is not None:
        figures["cycles"] = plain(cycles)
        figures |= {} if clock is None else {"milliseconds": plain(cycles * clock * 1e-6)}
    figures |= {} if energy_pj is None else {"energy_pj": plain(energy_pj)}
    errors = {own.figure: {"half": plain(own.half), "nine_tenths": plain(own.nine_tenths)} for own in known.held_out}
    return {"predicted": figures | ({"held_out": errors} if errors else {})}
