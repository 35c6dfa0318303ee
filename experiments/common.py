"""What the experiments share: the command line, the result as JSON, and a figure in one style.

An experiment is a script, `python experiments/NAME.py [--quick] [--out FOLDER]`. Python puts the folder of a script
first on the path, so `from common import ...` finds this file; nothing here is installed.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruby_map.mapper.report.pictures import LINES, MARKERS, PALETTE
from ruby_map.workloads import Workload

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESULTS = Path(__file__).parent / "results"
QUICK = RESULTS / "quick"  # ignored by git: a small size never replaces a recorded result

Result = dict[str, Any]


def arguments(
    claim: str, seed: int | None = None, more: Callable[[argparse.ArgumentParser], None] = lambda parser: None
) -> argparse.Namespace:
    """`quick`, `out` and, where chance plays a part, `seed` of the command line; `claim` is the script's docstring.

    `more` adds the options of one script alone.
    """
    parser = argparse.ArgumentParser(description=claim, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small size, within seconds")
    parser.add_argument(
        "--draw", action="store_true", help="draw what is recorded in the JSON again, and measure nothing"
    )
    parser.add_argument("--out", type=Path, help="folder of the JSON and the picture (results/, or results/quick/)")
    if seed is not None:
        parser.add_argument("--seed", type=int, default=seed, help="of the random numbers")
    more(parser)
    options = parser.parse_args()
    options.out = options.out or (QUICK if options.quick else RESULTS)
    return options


def recorded(script: str, options: argparse.Namespace) -> Result | None:
    """The result in OUT/NAME.json, NAME being that of the script, where it is to be drawn again; else None."""
    if not options.draw:
        return None
    result: Result = json.loads((options.out / f"{Path(script).stem}.json").read_text(encoding="utf-8"))
    return result


def write(script: str, out: Path, result: Result) -> None:
    """Write `result` to OUT/NAME.json, NAME being that of the script."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, allow_nan=False) + "\n"
    (out / f"{Path(script).stem}.json").write_text(text, encoding="utf-8")


def save(
    script: str,
    out: Path,
    result: Result,
    draw: Callable[..., None],
    panels: tuple[int, int] = (1, 1),
    size: tuple[float, float] = (6.5, 4),
) -> None:
    """Write `result` to OUT/NAME.json and what `draw` draws to OUT/NAME.png, NAME being that of the script.

    `draw` is given the axes of the `panels`, rows by columns, row by row; `size` is that of the picture in inches.
    """
    from matplotlib.figure import Figure

    name = Path(script).stem
    write(script, out, result)
    figure = Figure(figsize=size, layout="constrained")
    every = figure.subplots(*panels, squeeze=False).ravel()
    draw(*every)
    for axes in every:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    figure.savefig(out / f"{name}.png", dpi=150, metadata={"Software": None})


def curve(axes: "Axes", number: int, label: str, x: list[int], y: list[float], *, marks: bool = True) -> None:
    """Line `number` of a figure, in its own colour, dashes and marker."""
    marker = MARKERS[number] if marks else ""
    axes.plot(x, y, LINES[number], color=PALETTE[number], marker=marker, markersize=4, linewidth=1.4, label=label)


def open_marks(axes: "Axes", number: int, label: str, marks: Sequence[tuple[float, int]]) -> None:
    """Draw the figures of one source beside those of others, each at its line; where equal, they lie on each other."""
    axes.plot(
        [figure for figure, _ in marks],
        [place for _, place in marks],
        marker=MARKERS[number % len(MARKERS)],
        color=PALETTE[number % len(PALETTE)],
        markersize=6.5,
        markerfacecolor="none",
        markeredgewidth=1.3,
        linestyle="none",
        label=label,
    )


def share_axes(axes: "Axes", names: Sequence[str], title: str, label: str, most: float, *, named: bool) -> None:
    """A panel of shares up to `most`, a row for each name, the first on top; `named`: the names stand beside it."""
    axes.axvline(1, color="0.4", linewidth=0.8)
    axes.set_yticks(range(len(names)), names if named else [""] * len(names), fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(0, most)
    axes.tick_params(labelsize=8)
    axes.set_xlabel(label, fontsize=9)
    axes.set_title(title, fontsize=9)


def gap_line(axes: "Axes", place: float, share: float, gap: float) -> None:
    """A line from the end of a bar down to what is proven."""
    axes.plot([share * (1 - gap), share], [place, place], color="black", linewidth=1.2)


def markdown(columns: Mapping[str, Callable[[Result], str]], rows: Sequence[Result]) -> str:
    """Rows of figures as a table of Markdown: the headings, and what writes the cell of each row."""
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(text(row) for text in columns.values())} |" for row in rows]
    return "\n".join(lines) + "\n"


def stride_of(layer: Workload) -> int:
    """The stride of the rows of a convolution."""
    return next(t.coef for tensor in layer.tensors for rank in tensor.ranks for t in rank if t.dim == "P" and rank[1:])


def tell(text: str) -> None:
    """A line to standard output."""
    sys.stdout.write(text + "\n")
