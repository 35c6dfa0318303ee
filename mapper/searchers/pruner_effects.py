"""What dMazeRunner's pruners remove from a mapspace small enough to visit, and what the optimum loses by it."""

from dataclasses import dataclass

import numpy as np

from ..mapping import Floats, MappingBatch
from ..model import evaluate, recount, validity
from ..search import Task
from ..search.variation import ground_of
from .pruners import Pruners


@dataclass(frozen=True)
class Effect:
    """The effect of a pruner on one mapspace."""

    pruner: str
    removed: float  # share of the valid mappings
    loss: float  # the best value left over the best of all; inf where nothing is left


def pruner_effects(task: Task, utilization: float) -> list[Effect]:
    """Visit every mapping with each pruner alone, then with all; `utilization` is what the first asks for.

    No effects where no mapping is valid. Values are of the first objective.
    """
    every = {
        "utilization": Pruners(utilization, dram=False, reuse=False),
        "dram": Pruners(0, dram=True, reuse=False),
        "reuse": Pruners(0, dram=False, reuse=True),
        "all": Pruners(utilization, dram=True, reuse=True),
    }
    valid, least = 0, np.inf
    left, best = dict.fromkeys(every, 0), dict.fromkeys(every, np.inf)
    for batch in task.space.batches():
        values = _values(task, batch)
        valid, least = valid + int(np.isfinite(values).sum()), min(least, float(values.min()))
        for name, pruners in every.items():
            own = values[pruners.left(ground_of(task.space), batch)]
            left[name], best[name] = left[name] + len(own), min(best[name], float(own.min(initial=np.inf)))
    if not valid:
        return []
    return [Effect(name, 1 - left[name] / valid, _ratio(best[name], least)) for name in every]


def _values(task: Task, batch: MappingBatch) -> Floats:
    """Compute the first objective; inf where invalid. # (mapping,)"""
    values = np.full(len(batch), np.inf)
    some = np.flatnonzero(validity(batch) == 0)
    if len(some):
        found = evaluate(batch.take(some), task.table, task.costs)
        values[some] = task.objective.of(found)
        for i in some[~found.exact].tolist():
            one = batch.take([i])
            values[i] = task.objective.of(evaluate(one, task.table, task.costs, recount(one)))[0]
    return values


def _ratio(value: float, least: float) -> float:
    return value / least if least else (1.0 if value == least else np.inf)
