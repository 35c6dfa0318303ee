"""What results look like in a paper."""

from .array_map import draw_usage
from .bars import draw_cycles, draw_energy, draw_layers
from .convergence import draw_convergence, draw_convergences
from .front import draw_front
from .palette import GREY, HATCHES, LINES, MARKERS, PALETTE, finish, symbol
from .roofline import draw_roofline
from .saved import PICTURES, figure_bytes, save_figure

__all__ = [
    "GREY",
    "HATCHES",
    "LINES",
    "MARKERS",
    "PALETTE",
    "PICTURES",
    "figure_bytes",
    "draw_convergence",
    "draw_convergences",
    "draw_cycles",
    "draw_energy",
    "draw_front",
    "draw_layers",
    "draw_roofline",
    "draw_usage",
    "finish",
    "save_figure",
    "symbol",
]
