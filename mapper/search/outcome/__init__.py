"""What a search found: its best, what is proven of it, and how it ended."""

from .coverage import Coverage
from .ended import MOST_CHAINS, MOST_KEPT, MOST_NAMED, MOST_SKETCHED, STEPS_A_ROW, Ended
from .outcome import Answer, FrontProof, Outcome, Point, StageProof, reach
from .statistics import REFUSED, UNANSWERED, Statistics

__all__ = [
    "Answer",
    "Coverage",
    "Ended",
    "FrontProof",
    "MOST_CHAINS",
    "MOST_KEPT",
    "MOST_NAMED",
    "MOST_SKETCHED",
    "Outcome",
    "Point",
    "REFUSED",
    "STEPS_A_ROW",
    "StageProof",
    "Statistics",
    "UNANSWERED",
    "reach",
]
