"""What results look like in a paper."""

from .array_map import draw_usage
from .bars import draw_cycles, draw_energy, draw_layers
from .convergence import draw_convergence, draw_convergences
from .front import draw_front
from .palette import GREY, HATCHES, LINES, MARKERS, PALETTE, finish, plain_powers, power_of_ten, symbol
from .roofline import draw_roofline
from .saved import PICTURES, drawn_bytes, save_picture

__all__ = [
    "GREY",
    "HATCHES",
    "LINES",
    "MARKERS",
    "PALETTE",
    "PICTURES",
    "drawn_bytes",
    "draw_convergence",
    "draw_convergences",
    "draw_cycles",
    "draw_energy",
    "draw_front",
    "draw_layers",
    "draw_roofline",
    "draw_usage",
    "finish",
    "plain_powers",
    "power_of_ten",
    "save_picture",
    "symbol",
]
