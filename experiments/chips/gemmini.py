"""Gemmini's RTL: mappings of DOSA counted here, beside the cycles that RTL in FireSim took for them.

`designs`: mappings that DOSA chose for twelve designs with 16 x 16 elements. `random`: random ones, with up to 64 x 64
elements, which a larger array ran or 16 x 16 one after another; here such a mapping has an array as wide as it asks
for. Cycles are fitted to what a mapping does (docs/calibration.md), to one half of the layers, and judged on the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from ruby_map.arch import Architecture, load_arch
from ruby_map.energy import EnergyTable, energy_table
from ruby_map.mapper.calibration import Sample, cycle_terms_of, fitted, held_out
from ruby_map.mapper.mapping import MappingBatch
from ruby_map.mapper.model import evaluate as evaluate_batch
from ruby_map.mapper.model.figures import Mapped
from ruby_map.workloads import Workload, shaped
from scipy.stats import spearmanr

from .tables import HERE, Line, Row, Table, lines_of, ratio

SETS = {"designs": "gemmini_designs.csv", "random": "gemmini_random.csv"}
OURS = {"K": "M"}  # dims that have other names here
STARTS = (100, 361, 800)  # start_cycles of the scratchpad
TILE_STEPS = (0, 100, 1_000, 10_000, 1e99)

Loop = tuple[str, int, bool]  # dim, bound, whether it is spatial


def loops_of(text: str) -> dict[int, list[Loop]]:
    """Read a mapping as DOSA writes it: the loops of each level, outermost first, the outermost level last."""
    levels = {}
    for part in text.split(" - "):
        level, *loops = part.split()
        levels[int(level[1])] = [
            (OURS.get(one[0], one[0]), int(one[1:].rstrip("X")), one.endswith("X")) for one in loops
        ]
    return levels


@cache
def machine(side: int) -> tuple[Architecture, EnergyTable]:
    """Return the machine with an array of so many rows and columns, and its energies."""
    arch = load_arch(str(HERE / "gemmini.yaml"))
    wide = (replace(own, fanout=tuple(replace(axis, size=side) for axis in own.fanout)) for own in arch.levels)
    arch = replace(arch, levels=tuple(wide))
    return arch, energy_table(arch)


def layer_of(line: Line) -> Workload:
    """Return the layer of a mapping."""
    return shaped("conv2d", stride=int(line["stride"]), **{OURS.get(dim, dim): int(line[dim]) for dim in "CKNPQRS"})


def counted(line: Line) -> Mapped:
    """Count and cost a mapping."""
    loops = loops_of(line["mapping"])
    spread = [bound for level in loops.values() for _, bound, spatial in level if spatial]
    arch, energies = machine(max([16, *spread]))
    batch = batch_of(arch, layer_of(line), loops)
    return Mapped(batch, evaluate_batch(batch, energies))


def batch_of(arch: Architecture, layer: Workload, levels: Mapping[int, Sequence[Loop]]) -> MappingBatch:
    """Make loops of DOSA a batch of one mapping on a machine with its four levels."""
    dims = layer.dims
    factors = np.ones((1, len(arch.slots), len(dims)), np.int64)
    order = np.empty((1, len(arch.levels), len(dims)), np.int8)
    for level, loops in levels.items():
        number = len(arch.levels) - 1 - level
        slots = [s for s, slot in enumerate(arch.slots) if slot.level == number]  # its own, then that of its axis
        for dim, bound, spatial in loops:
            factors[0, slots[spatial], dims.index(dim)] *= bound
        first = [dims.index(dim) for dim, bound, spatial in loops if bound > 1 and not spatial]
        order[0, number] = [*first, *(d for d in range(len(dims)) if d not in first)]
    keep = np.array([[[tensor.name not in own.bypass for tensor in layer.tensors] for own in arch.levels]])
    return MappingBatch.of(arch, layer, factors, order, keep)


def sample(line: Line) -> Sample:
    """Return a mapping as a sample of a fit: what it does that may take time, and the cycles it took."""
    layer = " ".join(line[key] for key in ("C", "K", "N", "P", "Q", "R", "S", "stride"))
    mapped = counted(line)
    return Sample(cycle_terms_of(mapped, mapped.batch.arch), float(line["rtl"]), layer)


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - as every table
    """A row for each set of mappings."""
    return [_row(name, lines_of(file)[:: 24 if quick else 1]) for name, file in SETS.items()]


def _row(name: str, lines: Sequence[Line]) -> Row:
    samples = [sample(line) for line in lines]
    cycles, rtl = np.array([own.terms["cycles"] for own in samples]), np.array([own.measured for own in samples])
    timeloop = [float(line["timeloop"]) for line in lines if line["timeloop"]]
    errors = held_out(samples, robust=True)
    return {
        "set": name,
        "mappings": len(lines),
        "as_timeloop": int(np.sum(abs(cycles - timeloop) < 1)) if timeloop else None,
        "timeloop_rank": float(spearmanr(timeloop, rtl).statistic) if timeloop else None,
        "rank": float(spearmanr(cycles, rtl).statistic),
        "ranks_with_starts": [_rank_with(start, samples, rtl) for start in STARTS],
        "ratios": np.quantile(rtl / cycles, (0.1, 0.5, 0.9)).tolist(),
        "error": float(np.median(abs(cycles / rtl - 1))),
        "by_steps_of_a_tile": _by_size(samples, rtl / cycles),
        "held_out_errors": np.quantile(errors, (0.5, 0.9)).tolist(),
        "weights": fitted(samples, robust=True),
    }


def _rank_with(start: int, samples: Sequence[Sample], rtl: NDArray[np.float64]) -> float:
    """Tell the rank correlation on a machine whose scratchpad has these start_cycles (docs/model.md, section 12)."""
    cycles = [own.terms["cycles"] + start * own.terms["Scratchpad tiles"] for own in samples]
    return float(spearmanr(cycles, rtl).statistic)


def _by_size(samples: Sequence[Sample], ratios: NDArray[np.float64]) -> list[Row]:
    """Tell the median ratio by the steps of a tile of the scratchpad."""
    steps = np.array([own.terms["steps"] / own.terms["Scratchpad tiles"] for own in samples])
    found = []
    for least, most in pairwise(TILE_STEPS):
        within = (steps >= least) & (steps < most)
        median = float(np.median(ratios[within])) if within.any() else None
        found.append({"steps": least, "mappings": int(within.sum()), "median": median})
    return found


TABLE = Table(
    "gemmini",
    rows,
    {
        "mappings": lambda row: f"{row['mappings']:,} {row['set']}",
        "cycles as Timeloop's": lambda row: "" if row["as_timeloop"] is None else str(row["as_timeloop"]),
        "rank correlation with RTL": lambda row: f"{row['rank']:.3f}",
        "of Timeloop": lambda row: f"{row['timeloop_rank']:.3f}" if row["timeloop_rank"] else "",
        "RTL / here at 10, 50, 90 %": lambda row: ", ".join(map(ratio, row["ratios"])),
        "median error": lambda row: f"{row['error']:.1%}",
        "after a fit, held out: half, nine tenths within": lambda row: ", ".join(
            f"{error:.1%}" for error in row["held_out_errors"]
        ),
    },
)
