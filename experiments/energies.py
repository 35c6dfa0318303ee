"""Claim: where Accelergy, hwcomponents or a published table is more than a tenth from a built-in energy, the cause is
known, of all figures but six: something else was asked for than the design's file says, or one of the two is off.

Components of designs and their energies by the built-in estimates, Accelergy, hwcomponents, the reference tables of
Timeloop's exercises, DOSA and Horowitz. docs/energy.md has the tables; chips/component*.csv the figures with their
sources. `--tools` asks the estimators that are installed (docs/energy.md says how) and writes their lines anew.
"""

import argparse
from typing import Any

from chips.component_tools import write_tools
from chips.components import SOURCES, TABLES
from common import arguments, open_marks, recorded, save, tell

TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 500)


def tools_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tools", action="store_true", help="ask Accelergy and hwcomponents, where installed")


def main() -> None:
    options = arguments(__doc__, more=tools_option)
    result = recorded(__file__, options)
    if options.tools:
        write_tools()
    if result is None:
        result = {table.name: table.rows(options.quick) for table in TABLES}
        for table in TABLES:
            tell(f"{table.name}\n\n{table.text(result[table.name])}")
    save(__file__, options.out, result, lambda axes: draw(result, axes), size=(7, 6.4))


def draw(result: dict[str, Any], axes: Any) -> None:
    """Draw the ratios of other figures to the built-in ones, a line for each component, a mark for each source."""
    rows = result["components"]
    axes.axvline(1, color="0.4", linewidth=0.8)
    for number, source in enumerate(SOURCES):
        marks = [(row["ratios"][source], place) for place, row in enumerate(rows) if source in row["ratios"]]
        open_marks(axes, number, source, marks)
    axes.set_yticks(range(len(rows)), [row["component"] for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS], fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel("energy there / built-in estimate", fontsize=9)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.3, 1.08), ncols=len(SOURCES), frameon=False)


if __name__ == "__main__":
    main()
