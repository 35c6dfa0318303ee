"""Architectures x workloads x mapspaces x seeds, searched one by one and compared."""

from ..report import register
from .answer import Answer
from .candidates import DescribeProgress
from .design_rows import design_rows
from .fronts import AXES
from .keys import SweepFile
from .optimised import OptimiseProgress
from .proofs import gap_text
from .renderers import OF_SWEEP
from .result import SweepResult, flat_rows, measures
from .run import Progress, SweepProgress, sweep
from .store import FAILED, FOUND, NOTHING_VALID
from .study import DesignStudy, DesignTrial

__all__ = [
    "AXES",
    "Answer",
    "DescribeProgress",
    "DesignStudy",
    "DesignTrial",
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
register(Answer, design_rows, ())
