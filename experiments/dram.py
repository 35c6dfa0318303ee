"""Claim: cycles by a DRAM's bursts and rows are within 6 % of two cycle simulators' for reads on DDR3, LPDDR4 and, over
its bank groups, DDR4; HBM2 and GDDR6 are up to 1.2 and 1.5 times slower, and rows of one bank up to 12 times.

Streams of bursts on five DRAMs, simulated and as mappings of a layer. docs/dram.md has the tables; chips/dram_*.csv the
timings and simulated cycles with their sources.
"""

from typing import Any

from chips.dram import TABLES, rows, stream_of
from common import arguments, open_marks, recorded, save, tell

NEAR = 1.06
TICKS = (1, 1.2, 1.5, 2, 3, 5, 8, 12)


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options)
    if result is None:
        result = {"streams": rows(options.quick)}
        for table in TABLES:
            tell(f"{table.name}\n\n{table.text(result['streams'])}")
    save(__file__, options.out, result, lambda axes: draw(result, axes), size=(7.4, 6.4))


def draw(result: dict[str, Any], axes: Any) -> None:
    """Draw simulated cycles over ours of the reads, a line for each stream, a mark for each DRAM."""
    streams = sorted(result["streams"], key=lambda row: "one bank" in row["stream"])  # those far off last
    drams = list(dict.fromkeys(name for row in streams for name in row["cycles"]))
    axes.axvspan(1 / NEAR, NEAR, color="0.9", linewidth=0)
    axes.axvline(1, color="0.4", linewidth=0.8)
    for number, dram in enumerate(drams):
        marks = [(row["cycles"][dram]["R"], place) for place, row in enumerate(streams) if dram in row["cycles"]]
        open_marks(axes, number, dram, marks)
    axes.set_yticks(range(len(streams)), [stream_of(row) for row in streams], fontsize=7)
    axes.set_ylim(len(streams) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlim(0.9, 14)
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS], fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel("cycles simulated / cycles of the model, reads", fontsize=9)
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.05, 1.07), ncols=len(drams), frameon=False)


if __name__ == "__main__":
    main()
