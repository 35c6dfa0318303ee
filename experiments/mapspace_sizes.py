"""Claim: remainders everywhere multiply the mapspace by hundreds, remainders at fanout axes alone by a few.

Ruby paper (ISPASS 2022), Table I: factorizations of a dim of D on two storage levels with a fanout of 9 between them,
with and without the limit of 9, for each mapspace; and of a 100 x 100 x 100 matmul on 5 and on 16 processing elements
(Fig. 7). Counted, not sampled: no seed. The paper's own figures of Table I are not known to us; ours follow from the
definition in docs/mapspace.md.
"""

import argparse
from functools import partial

from common import MARKERS, PALETTE, Result, arguments, recorded, save, tell
from ruby_map.arch import Architecture, Axis, Compute, Storage
from ruby_map.mapper.mapspace.mapspace import Mapspace
from ruby_map.mapper.mapspace.presets import Preset
from ruby_map.workloads import Tensor, Term, Workload

SIZES = (3, 9, 16, 64, 100, 127, 128, 256, 512, 1000, 1024, 2048, 4096)
FANOUT = 9
PRESETS: tuple[Preset, ...] = ("pfm", "ruby-s", "ruby-t", "ruby")
# a column of the table: mapspace, and whether the axis is limited
COLUMNS: dict[str, tuple[Preset, bool]] = {
    "pfm": ("pfm", False),
    "pfm, 9": ("pfm", True),
    "ruby-s, 9": ("ruby-s", True),
    "ruby-t": ("ruby-t", False),
    "ruby": ("ruby", False),
    "ruby-t, 9": ("ruby-t", True),
    "ruby, 9": ("ruby", True),
}


def machine(fanout: int) -> Architecture:
    """Two levels with one axis between them, nothing constrained."""
    levels = (Storage("DRAM", "DRAM", fanout=(Axis("PE", fanout),)), Storage("pad", "SRAM"))
    return Architecture("two levels", levels, Compute("MAC", "intmac"))


def vector(size: int) -> Workload:
    ranks = ((Term("D"),),)
    return Workload("rank1", ("D",), (size,), (Tensor("A", ranks), Tensor("Z", ranks, output=True)))


def matmul(size: int) -> Workload:
    of = {name: tuple((Term(dim),) for dim in dims) for name, dims in (("A", "MK"), ("B", "KN"), ("Z", "MN"))}
    tensors = (Tensor("A", of["A"]), Tensor("B", of["B"]), Tensor("Z", of["Z"], output=True))
    return Workload("matmul", ("M", "N", "K"), (size,) * 3, tensors)


def count(work: Workload, preset: Preset, fanout: int) -> int:
    """Factorizations: chains of bounds, the product on the axis within `fanout`."""
    return Mapspace(machine(fanout), work, preset).size.factorization


def main() -> None:
    options = arguments(__doc__)
    result = recorded(__file__, options) or measured(options)
    save(__file__, options.out, result, partial(draw, result))


def measured(options: argparse.Namespace) -> Result:
    """Count every mapspace."""
    sizes = [size for size in SIZES if not options.quick or size <= 128]
    table = {
        name: [count(vector(size), preset, FANOUT if limited else size) for size in sizes]
        for name, (preset, limited) in COLUMNS.items()
    }
    cube = 10 if options.quick else 100
    cubes = {str(pes): {preset: count(matmul(cube), preset, pes) for preset in PRESETS} for pes in (5, 16)}
    tell("D      " + " ".join(f"{name:>9}" for name in table))
    for row, size in enumerate(sizes):
        tell(f"{size:<6} " + " ".join(f"{column[row]:>9,}" for column in table.values()))
    for pes, counts in cubes.items():
        tell(f"{cube}^3 matmul on {pes} PEs: " + ", ".join(f"{name} {number:,}" for name, number in counts.items()))

    return {"fanout": FANOUT, "sizes": sizes, "table": table, f"matmul_{cube}": cubes}


def draw(result: Result, axes) -> None:  # type: ignore[no-untyped-def]
    """Draw a mark per size: the count follows from its divisors, so nothing joins one size to the next."""
    for number, (name, counts) in enumerate(result["table"].items()):
        style = {"color": PALETTE[number], "markersize": 5, "label": name.replace(", 9", ", axis of 9")}
        axes.plot(result["sizes"], counts, MARKERS[number], fillstyle="none" if ", 9" in name else "full", **style)
    axes.set(xscale="log", yscale="log", xlabel="size D of the dim (127 is prime)", ylabel="factorizations")
    axes.set_title("Mappings of one dim on two levels", fontsize=10, loc="left")
    axes.legend(fontsize=8, frameon=False)


if __name__ == "__main__":
    main()
