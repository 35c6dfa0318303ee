"""Architectures x workloads x mapspaces x seeds, searched one by one and compared."""

from ..report import register
from .fronts import AXES
from .keys import SweepFile
from .optimise import OptimiseProgress
from .proofs import gap_text
from .renderers import OF_SWEEP
from .result import SweepResult, flat_rows, measures
from .run import Progress, SweepProgress, sweep
from .store import FAILED, FOUND, NOTHING_VALID

__all__ = [
    "AXES",
    "FAILED",
    "FOUND",
    "NOTHING_VALID",
    "OptimiseProgress",
    "Progress",
    "SweepFile",
    "SweepProgress",
    "SweepResult",
    "gap_text",
    "measures",
    "sweep",
]

register(SweepResult, flat_rows, OF_SWEEP)
