"""A figure of a machine fitted to measurements: the terms that help, and how far off it is elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..calibration import Entered, Sample, entered, held_out
from ..report import TextTable

UNITS = {"cycles": "cycles of one", "energy_pj": "times"}


@dataclass(frozen=True)
class Fit:
    """A figure fitted to measurements."""

    figure: str
    samples: Sequence[Sample]
    entered: Sequence[Entered]
    alone: tuple[float, float]  # relative errors of the model's own figures: half, and nine tenths, are within
    held_out: tuple[float, float]

    @classmethod
    def of(cls, figure: str, samples: Sequence[Sample], own: Sequence[float], seed: int) -> "Fit":
        """Fit, and tell what that is worth on measurements that it did not see. Raises FitError."""
        measured = np.array([sample.measured for sample in samples])
        errors = held_out(samples, robust=True)
        return cls(
            figure,
            samples,
            entered(samples, seed, robust=True),
            _within(abs(np.array(own) / measured - 1)),
            _within(errors),
        )

    @property
    def weights(self) -> dict[str, float]:
        """The weights above 0, by term."""
        return {entry.term: entry.weight for entry in self.entered if entry.weight}

    @property
    def errors(self) -> dict[str, float]:
        """The errors held out, as a machine's file has them."""
        return {name: float(f"{error:.3g}") for name, error in _named(self.held_out).items()}

    @property
    def layers(self) -> int:
        """How many layers were measured."""
        return len({sample.group for sample in self.samples})

    @property
    def measurements(self) -> str:
        """How many measurements of how many layers."""
        return f"{len(self.samples)} measurements of {self.layers} layer{'s' * (self.layers > 1)}"

    def text(self) -> str:
        """What was fitted, which terms help, and how far off it is elsewhere."""
        total = sum(self.weights.get(name, 0.0) * value for own in self.samples for name, value in own.terms.items())
        rows = []
        for entry in self.entered:
            share = entry.weight * sum(own.terms.get(entry.term, 0.0) for own in self.samples) / total
            rows.append([entry.term, f"{entry.weight:.4g}", f"{share:.1%}", f"{entry.error:.1%}"])
        table = TextTable(("term", UNITS[self.figure], "share", "error with it"), rows, left=(0,))
        what = "layers" if self.layers > 1 else "mappings"
        return "\n".join(
            (
                f"{self.figure}: {self.measurements}; the model's own are within {_text(self.alone)}",
                str(table),
                f"on {what} that a fit did not see, half of them all: within {_text(self.held_out)}",
            )
        )

    def json(self) -> dict[str, Any]:
        """The same as values of JSON."""
        return {
            "measurements": len(self.samples),
            "layers": self.layers,
            "terms": [entry._asdict() for entry in self.entered],
            "model": _named(self.alone),
            "held_out": _named(self.held_out),
        }


def _named(within: tuple[float, float]) -> dict[str, float]:
    half, most = within
    return {"half": half, "nine_tenths": most}


def _within(errors: NDArray[np.float64]) -> tuple[float, float]:
    half, most = np.quantile(errors, (0.5, 0.9)).tolist()
    return half, most


def _text(within: tuple[float, float]) -> str:
    half, most = within
    return f"{half:.1%} (half of them) and {most:.1%} (nine tenths)"
