"""What all pictures share: colours, marks and lines, units, and the finish of their axes. No matplotlib is needed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which differ for readers with any common colour blindness; MACs in grey
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
GREY = "#7F7F7F"
MARKERS = "osD^vPX"
LINES = ("-", "--", ":", "-.", "-", "--", ":")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")  # and in print without colour


def symbol(unit: str) -> str:
    """The symbol of a unit of energy as pictures show it: `uJ` with the sign for micro."""
    return unit.replace("u", "\N{MICRO SIGN}")


def finish(axes: "Axes", title: str) -> None:
    """Give axes their title, small tick labels, and no frame to the top and right."""
    axes.tick_params(axis="both", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=9, loc="left")
