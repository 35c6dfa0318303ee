"""What all pictures share: colours, marks and lines, units, and the finish of their axes. No matplotlib is needed."""

import re
from typing import TYPE_CHECKING, override

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which differ for readers with any common colour blindness; MACs in grey
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
GREY = "#7F7F7F"
MARKERS = "osD^vPX"
LINES = ("-", "--", ":", "-.", "-", "--", ":")
SUPERSCRIPTS = str.maketrans("0123456789-\N{MINUS SIGN}", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")  # and in print without colour


def symbol(unit: str) -> str:
    """The symbol of a unit of energy as pictures show it: `uJ` with the sign for micro."""
    return unit.replace("u", "\N{MICRO SIGN}")


def power_of_ten(power: int) -> str:
    """10 to a power, as text.

    >>> power_of_ten(-6)
    '10⁻⁶'
    """
    return "10" + str(power).translate(SUPERSCRIPTS)


def plain_powers(axes: "Axes") -> None:
    """Write the ticks of logarithmic axes that matplotlib labels itself as text, not as mathematics."""
    from matplotlib.ticker import LogFormatterSciNotation

    class Plain(LogFormatterSciNotation):
        @override
        def __call__(self, x: float, pos: int | None = None) -> str:
            return plain_power(super().__call__(x, pos))

    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
                axis.set_major_formatter(Plain())
            if isinstance(axis.get_minor_formatter(), LogFormatterSciNotation):
                axis.set_minor_formatter(Plain(labelOnlyBase=False))


def plain_power(label: str) -> str:
    r"""The text of a label such as matplotlib gives to a tick of a logarithmic axis.

    >>> plain_power(r"$\mathdefault{-2\times10^{3}}$")
    '-2×10³'
    """
    text = re.sub(r"\$|\\mathdefault", "", label).replace(r"\times", "\N{MULTIPLICATION SIGN}")
    text = re.sub(r"\^\{([^}]*)\}", lambda match: match.group(1).translate(SUPERSCRIPTS), text)
    return re.sub(r"[{}]", "", text)


def finish(axes: "Axes", title: str) -> None:
    """Give axes their title, small tick labels, and no frame to the top and right."""
    axes.tick_params(axis="both", labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=9, loc="left")
    plain_powers(axes)
