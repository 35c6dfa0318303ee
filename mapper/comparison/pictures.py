"""Pictures of a comparison: energy by part, cycles, and ratios; a row per layer of one case, or per case."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log10
from typing import TYPE_CHECKING, Any

from ..report import energy_unit
from ..report.pictures import GREY, HATCHES, PALETTE, finish, power_of_ten, symbol
from .cases import LEAKAGE, MACS, LayerPair, Matched, summed_parts
from .limits import Verdict
from .overall import NAMES, Ratio, headline, ratio_of
from .stored import Stored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LETTERS = 60  # of a label
MOST = 40  # rows of a picture
OWN = {MACS: (GREY, ""), LEAKAGE: ("#C8C8C8", "----")}
BUSY, REST = "busy", "idle or stalled"
VERDICTS = {
    Verdict.BETTER: ("B is better", PALETTE[2]),
    Verdict.WORSE: ("B is worse", PALETTE[5]),
    Verdict.EQUAL: ("equal", "black"),
    Verdict.UNDECIDED: ("undecided", GREY),
}
HEIGHT = {1: 0.3, 2: 0.42}  # inches of a row, by sides


@dataclass(frozen=True)
class Row:
    """A layer or a case, with the layers of each side that its figures are the sum of."""

    label: str
    sides: tuple[tuple[Stored, ...], ...]
    ratio: Ratio | None = None  # of two sides with the same layers

    def energy(self, side: int) -> dict[str, float]:
        """Energy by part, pJ."""
        return summed_parts(self.sides[side])

    def cycles(self, side: int) -> dict[str, float]:
        """Cycles in which all MAC units would do the work, and those that they are idle or stalled."""
        every = [(layer.count * (layer.cycles or 0), layer.utilization or 0.0) for layer in self.sides[side]]
        busy = sum(cycles * share for cycles, share in every)
        return {BUSY: busy, REST: sum(cycles for cycles, _ in every) - busy}

    def cost(self, side: int) -> float:
        """EDP of the sum, or cycles where energies are not known."""
        return sum(self.cycles(side).values()) * (sum(self.energy(side).values()) or 1.0)


def rows_of(matched: Matched) -> tuple[list[Row], int]:
    """The rows of the pictures, and how many there would be in all.

    The layers of one case, or the cases that have mappings; of too many those whose sides differ most, or cost most.
    """
    pairs = [pair for pair in matched.pairs if pair.found and pair.layers]
    column = headline(matched)
    if len(matched.pairs) > 1:
        rows = [_row(pair.label, pair.layers, pair.results if pair.comparable else [], column) for pair in pairs]
    else:
        rows = [_row(layer.name, [layer], layer.sides, column) for pair in pairs for layer in pair.layers]
    kept = sorted(rows, key=_weight, reverse=True)[:MOST]
    return [row for row in rows if any(row is one for one in kept)], len(rows)


def _row(label: str, layers: Sequence[LayerPair], compared: Sequence[Stored], column: str) -> Row:
    """A row of layers; `compared` is what stands for each of two sides in the ratio of `column`."""
    sides = tuple(zip(*(layer.sides for layer in layers), strict=True))
    return Row(label, sides, ratio_of(label, compared, column) if len(compared) > 1 else None)


def _weight(row: Row) -> float:
    costs = [row.cost(side) for side in range(len(row.sides))]
    return abs(costs[-1] - costs[0]) if len(costs) > 1 else costs[0]


def drawn(matched: Matched, rows: Sequence[Row]) -> Iterator[tuple[str, Callable[[], "Figure"]]]:
    """Yield what draws the pictures of `rows`, by name, as far as there is something to draw."""
    if not rows:
        return
    title = "\n".join(
        _plain(f"{letter}: {one.title}") for letter, one in zip(matched.letters, matched.folders, strict=True)
    )
    known = all(row.energy(side) for row in rows for side in range(len(matched.letters)))
    if compared := [row.ratio for row in rows if row.ratio]:
        yield "ratios", partial(draw_ratios, compared, NAMES[headline(matched)], title)
    if known:
        yield "energy", partial(draw_energies, rows, matched.letters, title)
    yield "cycles", partial(draw_cycles, rows, matched.letters, title)


def draw_energies(rows: Sequence[Row], letters: str, title: str = "") -> "Figure":
    """Draw the energy of each row by part, the sides below one another."""
    values = [[row.energy(side) for side in range(len(letters))] for row in rows]
    unit, size = energy_unit(max((sum(one.values()) for own in values for one in own), default=1.0))
    return _stacked(rows, values, size, f"energy [{symbol(unit)}]", (letters, title))


def draw_cycles(rows: Sequence[Row], letters: str, title: str = "") -> "Figure":
    """Draw the cycles of each row: those that full use of the MAC units would need, and the rest."""
    values = [[row.cycles(side) for side in range(len(letters))] for row in rows]
    largest = max(sum(one.values()) for own in values for one in own)
    power = int(log10(max(largest, 1.0))) // 3 * 3
    return _stacked(
        rows, values, 10.0**power, f"cycles [{power_of_ten(power)}]" if power else "cycles", (letters, title)
    )


def draw_ratios(ratios: Sequence[Ratio], name: str, title: str = "") -> "Figure":
    """Draw ratios of the figure `name`: of the mappings at hand a dot, of the best ones a line between its limits."""
    from matplotlib.lines import Line2D

    from ..report.pictures.style import axes_on, picture_of

    axes = axes_on(None, 7.0, 1.3 + 0.32 * len(ratios))
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    ends = [1.0, *(end for one in ratios for end in (one.value, one.limits.low, one.limits.high) if 0 < end < inf)]
    room = max(max(ends) / min(ends), 1.2) ** 0.07
    axes.set_xlim(min(ends) / room, max(ends) * room)
    for place, ratio in enumerate(ratios):
        _draw_ratio(axes, place, ratio)
    _plain_ticks(axes)
    _label_rows(axes, [ratio.case for ratio in ratios])
    axes.set_xlabel(f"{name} of B / {name} of A (left of 1: B needs less)", fontsize=9)
    finish(axes, title)
    figure = picture_of(axes)
    handles = [Line2D([], [], color=colour, linewidth=2, label=text) for text, colour in VERDICTS.values()]
    figure.legend(handles=handles, fontsize=8, frameon=False, loc="outside lower center", ncols=4)
    return figure


def _draw_ratio(axes: "Axes", place: int, ratio: Ratio) -> None:
    """Draw a row: an open side ends in an arrow at the edge."""
    limits, (left, right) = ratio.limits, axes.get_xlim()
    _, colour = VERDICTS[limits.verdict]
    low, high = max(limits.low, left), min(limits.high, right)
    axes.plot([low, high], [place, place], color=colour, linewidth=2)
    for end, at, arrow in ((limits.low, low, "<"), (limits.high, high, ">")):
        axes.plot([at], [place], "|" if 0 < end < inf else arrow, color=colour, markersize=7, clip_on=False)
    axes.plot([ratio.value], [place], "o", color=colour, markersize=5)
    axes.annotate(f"{ratio.value:.3g}", (ratio.value, place), (0, 5), textcoords="offset points",
                  ha="center", fontsize=7, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip


def _plain_ticks(axes: "Axes") -> None:
    """Write the ticks of a short logarithmic axis as numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = axes.get_xlim()
    short = high / low < 6
    axes.xaxis.set_major_locator(MaxNLocator(6) if short else LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


Parts = Mapping[str, float]


def _stacked(
    rows: Sequence[Row], values: Sequence[Sequence[Parts]], size: float, label: str, captions: tuple[str, str]
) -> "Figure":
    """Draw a bar per row and side, of parts in units of `size`; `captions` are the letters of the sides, and the
    title."""
    from ..report.pictures.style import axes_on, picture_of

    letters, title = captions
    axes = axes_on(None, 7.0, 1.5 + HEIGHT[len(letters)] * len(rows))
    thick = 0.8 / len(letters)
    every = [(row, side) for row in range(len(rows)) for side in range(len(letters))]
    places = [(row, side, row - 0.4 + thick * (side + 0.5)) for row, side in every]
    left = [0.0] * len(places)
    for number, name in enumerate(_part_names(values)):
        colour, hatch = OWN.get(name, (PALETTE[number % 7], HATCHES[number % 7]))
        widths = [values[row][side].get(name, 0.0) / size for row, side, _ in places]
        style: Any = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.5}
        axes.barh([at for _, _, at in places], widths, thick * 0.92, left, label=_plain(name), **style)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    if len(letters) > 1:
        for (_, side, at), end in zip(places, left, strict=True):
            axes.annotate(letters[side], (end, at), (3, 0), textcoords="offset points", va="center", fontsize=7)
    _label_rows(axes, [row.label for row in rows])
    axes.set_xlim(0, max(left, default=1.0) * 1.06 or 1.0)
    axes.set_xlabel(label, fontsize=9)
    finish(axes, title)
    figure = picture_of(axes)
    figure.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=4)
    return figure


def _part_names(values: Sequence[Sequence[Parts]]) -> list[str]:
    """The names of all parts, as they come, but those of MAC units and of leakage last."""
    names = list(dict.fromkeys(name for row in values for side in row for name in side))
    last = [name for name in names if name in (MACS, LEAKAGE)]
    return [name for name in names if name not in last] + last


def _plain(text: str) -> str:
    """A text from a file as matplotlib shows it: not too long for an axis."""
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _label_rows(axes: "Axes", labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_plain(label) for label in labels], fontsize=8)
    axes.set_ylim(len(labels) - 0.4, -0.6)  # the first on top
