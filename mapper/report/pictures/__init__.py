"""What results look like in a paper."""

from .array_map import draw_roofline, draw_usage
from .bars import (
    GREY,
    LINES,
    MARKERS,
    PALETTE,
    draw_convergence,
    draw_convergences,
    draw_cycles,
    draw_energy,
    draw_front,
    draw_layers,
)

__all__ = [
    "GREY",
    "LINES",
    "MARKERS",
    "PALETTE",
    "draw_convergence",
    "draw_convergences",
    "draw_cycles",
    "draw_energy",
    "draw_front",
    "draw_layers",
    "draw_roofline",
    "draw_usage",
]
