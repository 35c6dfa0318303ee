"""Claim: figures of chips come out of our model, or the reason why not is known.

Mappings on Gemmini's RTL (DOSA, MICRO 2023). Eyeriss's own passes on AlexNet and VGG-16 (JSSC 2017): cycles and buffer
accesses. NVDLA in seven sizes (its primer and performance sheet). Networks of products on the first TPU (ISCA 2017).
Matrix products on an A100 and an MI210 (LLMCompass). docs/validation.md has the tables and what they say; chips/ has
the figures, the machines and a module for each.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from chips import eyeriss, gemmini, gpus, nvdla, tpu
from chips.tables import Row
from common import arguments, recorded, save, tell
from ruby_map.mapper.report.pictures import MARKERS, PALETTE

TABLES = {
    table.name: table for table in (gemmini.TABLE, *eyeriss.TABLES, eyeriss.POWER, *nvdla.TABLES, tpu.TABLE, gpus.TABLE)
}
# what is drawn: a table, whose rows, and the ratio of ours to what was measured or published, or several
RATIOS: dict[str, tuple[str, Callable[[Row], bool], Callable[[Row], float | list[float]]]] = {
    "Gemmini's designs: cycles, 10, 50, 90 %": (
        "gemmini",
        lambda row: row["set"] == "designs",
        lambda row: [1 / ratio for ratio in row["ratios"]],
    ),
    "Eyeriss, AlexNet: cycles": ("eyeriss_alexnet", bool, lambda row: row["our_cycles"] / row["cycles"]),
    "Eyeriss, AlexNet: buffer": ("eyeriss_alexnet", bool, lambda row: row["our_buffer_mb"] / row["buffer_mb"]),
    "Eyeriss, VGG-16: cycles": ("eyeriss_vgg16", bool, lambda row: row["our_cycles"] / row["cycles"]),
    "Eyeriss, VGG-16: buffer": ("eyeriss_vgg16", bool, lambda row: row["our_buffer_mb"] / row["buffer_mb"]),
    "Eyeriss: power, all words and MACs": ("eyeriss_power", bool, lambda row: row["our_mw"] / row["mw"]),
    "NVDLA: its sheet's rules": ("nvdla", bool, lambda row: row["sheet"]),
    "NVDLA: our mappings": ("nvdla", bool, lambda row: row["ours"]),
    "TPU: operations a second": ("tpu", bool, lambda row: row["ours"] / row["published"]),
    "A100: time": ("gpus", lambda row: row["gpu"] == "A100", lambda row: row["ours"] / row["ms"]),
    "MI210: time": ("gpus", lambda row: row["gpu"] == "MI210", lambda row: row["ours"] / row["ms"]),
}
NEAR = 0.15


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options)
    if result is None:
        result = {name: table.rows(options.quick) for name, table in TABLES.items()}
        for name, table in TABLES.items():
            tell(f"{name}\n\n{table.text(result[name])}")
    save(__file__, options.out, result, lambda axes: draw(result, axes), size=(7, 3.9))


def draw(result: dict[str, Any], axes: Any) -> None:
    """Draw the ratios of ours to what was measured or published, a line for each kind of figure."""
    axes.axvspan(1 - NEAR, 1 + NEAR, color="0.92", linewidth=0)
    axes.axvline(1, color="0.4", linewidth=0.8)
    for place, (table, chosen, ratio) in enumerate(RATIOS.values()):
        ratios = [own for row in result[table] if chosen(row) for own in np.atleast_1d(ratio(row))]
        axes.plot(ratios, [place] * len(ratios), MARKERS[place % 4], color=PALETTE[place % 4], markersize=5, alpha=0.7)
    axes.set_yticks(range(len(RATIOS)), RATIOS, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(0.015, 2.5)
    shown = (0.02, 0.05, 0.1, 0.2, 0.5, 0.85, 1.15, 2)
    axes.set_xticks(shown, [f"{tick:g}" for tick in shown], fontsize=8)
    axes.minorticks_off()
    axes.set_xlabel("here / measured or published", fontsize=9)


if __name__ == "__main__":
    main()
