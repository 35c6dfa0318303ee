"""Physical bounds that every reported result must keep; a result that does not is a fault of ours, never printed."""

import numpy as np

from ..mapping import MappingBatch, floats
from ..runtime import InternalError
from .cost import Costs
from .nests import touched_words


def check_physical(batch: MappingBatch, costs: Costs) -> None:
    """Raise InternalError unless every mapping of `batch` keeps the bounds.

    Coverage: each chain reaches every element of its dim once. Cycles are at least MACs / MAC units. Every tensor
    crosses the outermost level once at least, and every keeper hands inwards at least what the tensor has. Where
    drained words are read, every inner keeper of an output reads at least what the output has.
    """
    violations = [*_coverage(batch), *_figures(costs), *_cycles(batch, costs), *_traffic(batch, costs)]
    if violations:
        chains = {dim: batch.factors[0, :, d].tolist() for d, dim in enumerate(batch.workload.dims)}
        orders, keep = batch.order[0].tolist(), batch.keep[0].astype(int).tolist()
        raise InternalError(
            "internal error: this result is impossible; please report it with the mapping\n"
            + "\n".join(violations)
            + f"\nmapping: bounds {chains}, orders {orders}, keep {keep} on {batch.arch.name}, {batch.workload.name}"
        )


def _coverage(batch: MappingBatch) -> list[str]:
    violations = []
    for dim, size, table, rows in zip(
        batch.workload.dims, batch.workload.sizes, batch.tables, batch.rows.T, strict=True
    ):
        last = (table.digits * table.strides).sum(axis=1)[rows]  # the last element the nest visits
        if (last != size - 1).any() or (table.residuals > table.bounds)[rows].any():
            violations.append(f"the loops of {dim} do not cover its {size} elements once each")
    return violations


def _figures(costs: Costs) -> list[str]:
    counts = costs.counts
    figures = {
        "energy": costs.energy_pj,
        "cycles": costs.cycles,
        "reads": counts.reads,
        "fills": counts.fills,
        "updates": counts.updates,
    }
    return [
        f"{name} must be finite and not negative"
        for name, array in figures.items()
        if not (np.isfinite(floats(array)) & (array >= 0)).all()
    ]


def _cycles(batch: MappingBatch, costs: Costs) -> list[str]:
    units = batch.arch.instances(len(batch.arch.levels))
    macs = batch.workload.macs
    return [f"{int(c):,} cycles for {macs:,} MACs on {units} units" for c in costs.cycles if c * units < macs]


def _traffic(batch: MappingBatch, costs: Costs) -> list[str]:
    violations = []
    for v, tensor in enumerate(batch.workload.tensors):
        words = touched_words(batch.workload, tensor)
        moved = (costs.counts.updates if tensor.output else costs.counts.reads)[:, :, v]
        if tensor.output and costs.options.drain_reads:
            inner = np.arange(batch.keep.shape[1]) != batch.arch.home(tensor.name)
            moved = np.where(inner, np.minimum(moved, costs.counts.reads[:, :, v]), moved)
        short = batch.keep[:, :, v] & (moved < words)
        for level in np.flatnonzero(short.any(axis=0)):
            name = batch.arch.levels[level].name
            least = moved[:, level].min()
            violations.append(f"{name} moves {int(least):,} words of {tensor.name}, which has {words:,}")
    return violations
