"""What the experiments share: the command line, the result as JSON, and a figure in one style.

An experiment is a script, `python experiments/NAME.py [--quick] [--out FOLDER]`. Python puts the folder of a script
first on the path, so `from common import ...` finds this file; nothing here is installed.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ruby_map.mapper.figures import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RESULTS = Path(__file__).parent / "results"
QUICK = RESULTS / "quick"  # ignored by git: a small size never replaces a recorded result
MARKERS = "osD^vPX"  # told apart without colour too
LINES = ("-", "--", ":", "-.", "-", "--", ":")

Result = dict[str, Any]


def arguments(claim: str, seed: int | None = None) -> argparse.Namespace:
    """`quick`, `out` and, where chance plays a part, `seed` of the command line; `claim` is the script's docstring."""
    parser = argparse.ArgumentParser(description=claim, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small size, within seconds")
    parser.add_argument("--out", type=Path, help="folder of the JSON and the picture (results/, or results/quick/)")
    if seed is not None:
        parser.add_argument("--seed", type=int, default=seed, help="of the random numbers")
    options = parser.parse_args()
    options.out = options.out or (QUICK if options.quick else RESULTS)
    return options


def save(script: str, out: Path, result: Result, draw: Callable[["Axes"], None]) -> None:
    """Write `result` to OUT/NAME.json and what `draw` draws to OUT/NAME.png, NAME being that of the script."""
    from matplotlib.figure import Figure

    name = Path(script).stem
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.add_subplot()
    draw(axes)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    figure.savefig(out / f"{name}.png", dpi=150)


def curve(axes: "Axes", number: int, label: str, x: list[int], y: list[float], *, marks: bool = True) -> None:
    """Line `number` of a figure, in its own colour, dashes and marker."""
    marker = MARKERS[number] if marks else ""
    axes.plot(x, y, LINES[number], color=PALETTE[number], marker=marker, markersize=4, linewidth=1.4, label=label)


def tell(text: str) -> None:
    """A line to standard output."""
    sys.stdout.write(text + "\n")
