"""What a search found: its best, what is proven of it, and how it ended."""

from .coverage import Coverage
from .ended import MOST_CHAINS, MOST_COARSE, MOST_KEPT, MOST_NAMED, STEPS_A_ROW, Ended
from .evidence import Evidence, FrontProof, Proven, StageProof, reach
from .outcome import Answer, Outcome
from .statistics import REFUSED, STEPS_A_MAPPING, UNANSWERED, Statistics

__all__ = [
    "Answer",
    "Coverage",
    "Ended",
    "Evidence",
    "FrontProof",
    "MOST_CHAINS",
    "MOST_KEPT",
    "MOST_NAMED",
    "MOST_COARSE",
    "Outcome",
    "Proven",
    "REFUSED",
    "STEPS_A_MAPPING",
    "STEPS_A_ROW",
    "StageProof",
    "Statistics",
    "UNANSWERED",
    "reach",
]
