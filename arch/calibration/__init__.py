"""Calibrations: what was measured on a real machine, and the terms that were fitted to it."""

from .values import Calibration, HeldOut, cycle_terms, energy_terms

__all__ = ["Calibration", "HeldOut", "cycle_terms", "energy_terms"]
