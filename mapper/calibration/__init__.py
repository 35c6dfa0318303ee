"""Calibration: fits of what was measured on a real machine, and what they predict of mappings."""

from .fit import Entered, FitError, Sample, entered, fitted, held_out, weighted
from .prediction import Prediction, energies_of
from .terms import cycle_terms_of, energy_terms_of

__all__ = [
    "Entered",
    "FitError",
    "Prediction",
    "Sample",
    "cycle_terms_of",
    "energies_of",
    "energy_terms_of",
    "entered",
    "fitted",
    "held_out",
    "weighted",
]
