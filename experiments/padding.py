"""Claim: padding 127 to 128 costs next to nothing, padding 113 to 128 costs energy for zeros; Ruby-S needs neither.

Ruby paper (ISPASS 2022), Fig. 8: a dim of D on 16 processing elements in a row (linear_16), D from 1 to 200: EDP and
cycles of perfect factors (PFM), of PFM on the dim padded to a multiple of 16, and of Ruby-S, relative to Ruby-S. Every
mapping is evaluated, so nothing depends on a seed. The paper gives 20 % more EDP for padding at D = 113; linear in the
words and MACs it is 128 / 113, 13 % more.
"""

import argparse
from dataclasses import replace
from functools import partial

from common import LINES, PALETTE, Result, arguments, recorded, save, tell
from matplotlib.ticker import NullFormatter
from ruby_map.arch import load_arch
from ruby_map.energy import energy_table
from ruby_map.mapper import Result as Found
from ruby_map.mapper import SearchOptions, explore
from ruby_map.workloads import Workload, load_workload

ARCH = "linear_16"
CURVES = {"pfm": ("pfm", False), "pfm + pad": ("pfm", True), "ruby-s": ("ruby-s", False)}
NAMED = (113, 127)  # the sizes that the paper talks about


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result))


def measured(options: argparse.Namespace) -> Result:
    """Try every mapping of every size."""
    sizes = sorted({*NAMED, *range(1, 201, 40 if options.quick else 1)})
    arch = load_arch(ARCH)
    table, vector = energy_table(arch), load_workload("rank1_100")
    assert isinstance(vector, Workload)
    everything = SearchOptions(strategy="exhaustive")

    def best(size: int, preset: str, pad: bool) -> Found:
        work = replace(vector, name=f"rank1_{size}", sizes=(size,))
        result = explore(arch, work, preset, everything, pad=pad, table=table)
        assert isinstance(result, Found)
        return result

    curves = {name: [best(size, preset, pad) for size in sizes] for name, (preset, pad) in CURVES.items()}
    edp, cycles = (
        {name: [getattr(one, of) for one in results] for name, results in curves.items()} for of in ("edp", "cycles")
    )
    ratio = {name: [a / b for a, b in zip(values, edp["ruby-s"], strict=True)] for name, values in edp.items()}
    zeros = [one.workload.ineffectual_macs / one.macs for one in curves["pfm + pad"]]
    for size in NAMED:
        at = sizes.index(size)
        shown = ", ".join(f"{name} {cycles[name][at]:g} cycles, EDP x {ratio[name][at]:.3f}" for name in CURVES)
        tell(f"D = {size}: {shown}; {zeros[at]:.1%} of the padded work on zeros")
    for name in ("pfm", "pfm + pad"):
        mean = sum(ratio[name]) / len(sizes)
        tell(f"{name}: EDP of Ruby-S x {mean:.3f} on average over D, x {max(ratio[name]):.3f} at worst")

    return {"arch": ARCH, "sizes": sizes, "edp": edp, "cycles": cycles, "zeros": zeros}


def draw(result: Result, axes) -> None:  # type: ignore[no-untyped-def]
    """Draw a mark per size where the divisors decide, lines elsewhere."""
    sizes, edp = result["sizes"], result["edp"]
    ratio = {name: [a / b for a, b in zip(values, edp["ruby-s"], strict=True)] for name, values in edp.items()}
    for number, name in enumerate(CURVES):
        style = {"ls": "none", "marker": "."} if name == "pfm" else {"ls": LINES[number], "linewidth": 1.4}
        axes.plot(sizes, ratio[name], color=PALETTE[number], label=name, **style)
    for size in NAMED:
        axes.axvline(size, color="0.7", linewidth=0.8, zorder=0)
        axes.annotate(f"{size}", (size, 25), (3, 0), textcoords="offset points", fontsize=8)
    axes.set(yscale="log", xlabel="size D of the dim", ylabel="EDP / EDP of Ruby-S", ylim=(0.9, 40))
    axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_title("One dim on 16 processing elements: the best of all mappings", fontsize=10, loc="left")
    axes.legend(fontsize=8, frameon=False, loc="upper left", ncols=3)


if __name__ == "__main__":
    main()
