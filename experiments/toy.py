"""Claim: 100 elements on six processing elements take 20 steps with perfect factors, 17 with remainders.

Ruby paper (ISPASS 2022), Fig. 4 and 5, on toy_6pe_linear: the best perfect mapping uses five of the six elements in
each of 20 steps; with remainders all six run 16 steps, and four run the last. Every mapping is evaluated, so there is
no seed.
"""

import argparse
from functools import partial
from typing import Any

from common import arguments, recorded, save, tell
from matplotlib.ticker import MaxNLocator
from ruby_map.mapper import Result, SearchOptions, explore
from ruby_map.mapper.report.pictures import PALETTE

ARCH, WORKLOAD = "toy_6pe_linear", "rank1_100"
PRESETS = ("pfm", "ruby-s", "ruby-t", "ruby")


def best(preset: str) -> Result:
    """The fastest of all mappings."""
    result = explore(ARCH, WORKLOAD, preset, SearchOptions(strategy="exhaustive", objective="delay"))
    assert isinstance(result, Result)
    return result


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result))


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Try every mapping."""
    results = {preset: best(preset) for preset in (PRESETS[:2] if options.quick else PRESETS)}
    for preset, result in results.items():
        tell(f"{preset:<7} {result.cycles:g} steps, the best of {result.statistics.evaluated:,} mappings")
    for preset in ("pfm", "ruby-s"):
        tell(f"\n{preset}\n{str(results[preset]).split('level ')[0].strip()}")
    figures = {
        preset: {"steps": result.cycles, "mappings": result.statistics.evaluated, "utilization": result.utilization}
        for preset, result in results.items()
    }

    return {"arch": ARCH, "workload": WORKLOAD, "best": figures}


def draw(result: dict[str, Any], axes) -> None:  # type: ignore[no-untyped-def]
    """Draw the steps of each mapspace."""
    steps = {preset: one["steps"] for preset, one in result["best"].items()}
    axes.bar_label(axes.bar(list(steps), list(steps.values()), 0.6, color=PALETTE[0]))
    axes.set(ylabel="steps", ylim=(0, 1.1 * max(steps.values())))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title("The fastest mapping of 100 elements on 6 processing elements", fontsize=10, loc="left")


if __name__ == "__main__":
    main()
