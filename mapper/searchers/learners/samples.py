"""Mappings of a layer, and of layers like it, with their costs by the exact model: what a surrogate is trained on."""

from dataclasses import dataclass, replace

import numpy as np

from ....workloads import InputError
from ...mapping import Floats
from ...mapspace import Mapspace
from ...model import evaluate
from ...search import Task
from ...search.variation import Individuals, MappingSampler
from .candidates import drawn, sampler_of
from .embedding import keeps, order_scores
from .history import log_targets
from .nests import flat

NEVER = np.empty(0, np.uint64)  # no mapping is seen
SPREAD = 1.0  # log2 of the most by which a dim of another layer is larger or smaller


@dataclass(frozen=True)
class Columns:
    """Where the parts of an input are: sizes of the layer, bounds, scores of orders, kept tensors."""

    space: Mapspace

    @property
    def sizes(self) -> Floats:
        """Compute log2 of the sizes. # (dim,)"""
        return np.log2(np.array(self.space.workload.sizes, float))

    @property
    def bounds(self) -> slice:
        """Return the columns of log2 of the bounds."""
        return slice(len(self.sizes), len(self.sizes) * (1 + len(self.space.arch.slots)))

    @property
    def scores(self) -> slice:
        """Return the columns of the scores of loop orders."""
        start = self.bounds.stop
        return slice(start, start + len(self.space.arch.levels) * len(self.sizes))

    def inputs(self, individuals: Individuals) -> Floats:
        """Make the inputs of mappings. # (mapping, input)"""
        sizes = np.broadcast_to(self.sizes, (len(individuals), len(self.sizes)))
        bounds = flat(np.log2(individuals.bounds.astype(float)))
        return np.concatenate([sizes, bounds, flat(order_scores(self.space, individuals)), keeps(individuals)], axis=1)


def samples(task: Task, rng: np.random.Generator, n: int, layers: int) -> tuple[Floats, Floats]:
    """Draw `n` mappings of the task's layer and of so many others, in equal shares, with log2 of the first objective.

    Returns inputs # (mapping, input) and targets # (mapping,).
    """
    inputs, targets = [], []
    for space in [task.space, *similar(task.space, rng, layers)]:
        sampler = sampler_of(space) if space is task.space else MappingSampler(space)
        individuals = drawn(sampler, rng, -(-n // (layers + 1)), NEVER)
        if len(individuals):
            costs = evaluate(individuals.batch(space), task.table, task.charges)
            inputs.append(Columns(space).inputs(individuals))
            targets.append(log_targets(task.objective.of(costs)))
    if not inputs:
        return np.empty((0, 0)), np.empty(0)
    return np.concatenate(inputs), np.concatenate(targets)


def similar(space: Mapspace, rng: np.random.Generator, n: int) -> list[Mapspace]:
    """Make the mapspaces of `n` layers with other sizes; fewer where constraints leave some without mappings."""
    spaces = []
    for _ in range(n):
        sizes = np.array(space.workload.sizes)
        other = np.maximum(2, np.round(sizes * 2.0 ** rng.uniform(-SPREAD, SPREAD, len(sizes)))).astype(int)
        workload = replace(space.workload, sizes=tuple(np.where(sizes > 1, other, sizes).tolist()))
        try:
            made = Mapspace(space.arch, workload, space.remainders, distinct=space.distinct)
            made.prepare()
        except InputError:  # its sizes cannot meet the constraints
            continue
        spaces.append(made)
    return spaces
