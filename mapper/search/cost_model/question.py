"""The line that a cost model gets for a mapping, and the line that it answers. docs/cost-models.md describes both."""

import json
from collections.abc import Iterator
from math import inf, isfinite
from typing import Any

import numpy as np

from ....arch import unstacked
from ...mapping import MappingBatch, write_mapping
from ...model import Costs, evaluate, recount
from ...model.figures import Figures, level_figures, plain, total_figures
from ..strategy import Task

INVALID = "invalid"


def questions(task: Task, batch: MappingBatch) -> Iterator[str]:
    """Write the line of each mapping of a valid batch: the mapping, its loop nest, and what our model says of it."""
    sizes = dict(zip(batch.workload.dims, batch.workload.sizes, strict=True))
    what = {"arch": batch.arch.name, "workload": {"name": batch.workload.name, "sizes": sizes}}
    for number, figures in enumerate(figures_of(task, batch)):
        one = batch.take([number])
        line: Figures = what | {"mapping": write_mapping(one), "nest": _nest(one), "kept": _kept(one)}
        yield json.dumps(line | {"figures": figures}, allow_nan=False)


def figures_of(task: Task, batch: MappingBatch) -> list[Figures]:
    """Return our figures of each mapping, counted exactly, as `--json` has them."""
    costs = evaluate(batch, task.table, task.charges)
    exact = costs.exact
    levels: list[Figures] = level_figures(batch, costs)
    every = [
        total_figures(costs, number) | {"compute_energy_pj": plain(costs.compute_energy_pj), "levels": own}
        for number, own in enumerate(levels)
    ]
    for number in np.flatnonzero(~exact).tolist():
        one = batch.take([number])
        counted: Costs = evaluate(one, task.table, task.charges, recount(one))
        every[number] |= total_figures(counted, 0) | {"levels": level_figures(one, counted)[0]}
    return every


def _nest(batch: MappingBatch) -> list[dict[str, Any]]:
    """List the loops of a single mapping, outermost first; loops of bound 1 are left out."""
    bounds, residuals, dims = batch.factors[0], batch.residuals[0], batch.workload.dims
    return [
        {
            "level": batch.arch.levels[slot.level].of_memory,
            "dim": dims[d],
            "bound": int(bounds[s, d]),
            "last": int(residuals[s, d]),  # where all loops of the dim outside it are in their last round
            "axis": slot.axis.name if slot.axis else None,
        }
        for s, slot in enumerate(batch.arch.slots)
        for d in (range(len(dims)) if slot.spatial else batch.order[0, slot.level].tolist())
        if bounds[s, d] > 1
    ]


def _kept(batch: MappingBatch) -> dict[str, list[str]]:
    names, kept = [tensor.name for tensor in batch.workload.tensors], batch.kept[0]
    levels = [level.name for level in unstacked(batch.arch).levels]
    return {
        level: [name for name, keeps in zip(names, own, strict=True) if keeps]
        for level, own in zip(levels, kept.tolist(), strict=True)
    }


def value_of(answer: str) -> float:
    """Read an answer; inf where it refuses the mapping. Raises ValueError, with the reason, where it is no answer."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    if value == INVALID:
        return inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f'must be a number, or "{INVALID}"')
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise ValueError(f'must be finite, or "{INVALID}"')
    if number < 0:
        raise ValueError("must be 0 or more")
    return number
