"""What sums of energy and cycles of several layers cannot be below, and the best choice among their known mappings."""

from .envelope import Envelope, LeastPoint, Limits
from .layer_bounds import (
    EdpBound,
    LayerBounds,
    LeastSum,
    best_choice,
    crossing,
    edp_bound,
    least_by_edp,
    slopes_between,
)

__all__ = [
    "EdpBound",
    "Envelope",
    "LayerBounds",
    "LeastPoint",
    "LeastSum",
    "Limits",
    "best_choice",
    "crossing",
    "edp_bound",
    "least_by_edp",
    "slopes_between",
]
