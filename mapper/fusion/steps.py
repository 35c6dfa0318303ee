"""The kinds of steps of a group: in a step each stage is a layer of the sizes of its box, and few are different."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...workloads import Workload
from ..mapping import unique_rows
from .group import Group
from .intervals import Box


@dataclass(frozen=True)
class StepLayer:
    """What a stage computes in some steps: a layer of these sizes, whose output may hold sums before it."""

    stage: int
    sizes: tuple[int, ...]  # parallel to the dims of the stage
    accumulates: bool = False

    def workload(self, group: Group) -> Workload:
        """Make the layer."""
        layer = group.stages[self.stage]
        tensors = tuple(
            replace(tensor, accumulates=self.accumulates or tensor.accumulates) if tensor.output else tensor
            for tensor in layer.tensors
        )
        return replace(layer, sizes=self.sizes, tensors=tensors)


def step_layers(group: Group, stage: int, box: Box) -> Counter[StepLayer]:
    """Return the layers that a stage is in the steps of the shared loops, each with the number of its steps."""
    dims = group.stages[stage].dims
    still = {dim: int(own.lengths[0]) for dim, own in box.dims.items() if own.loop is None}
    adds = group.reduced if stage == len(group.stages) - 1 else frozenset()
    kinds = [_kinds(group, loop, box, counted=loop in adds) for loop in group.loops]
    layers: Counter[StepLayer] = Counter()
    for chosen in product(*kinds):
        sizes, times, again = dict(still), 1, False
        for moved, later, number in chosen:
            sizes |= dict(moved)
            times, again = times * number, again or later
        if all(sizes.values()):
            layers[StepLayer(stage, tuple(sizes[dim] for dim in dims), again)] += times
    return layers


def _kinds(group: Group, loop: str, box: Box, *, counted: bool) -> list[tuple[tuple[tuple[str, int], ...], bool, int]]:
    """List the kinds of steps along a shared loop: the sizes of the dims that it moves, whether sums began before, and
    the number of steps."""
    trips = 1 if loop in box.once else group.trips(loop)
    moved = [dim for dim, own in box.dims.items() if own.loop == loop]
    columns = [box.dims[dim].lengths for dim in moved] + [(np.arange(trips) > 0) & counted]
    rows, which = unique_rows(np.stack(columns, axis=1).astype(np.int64))
    numbers = np.bincount(which)
    return [
        (tuple(zip(moved, row[:-1], strict=True)), bool(row[-1]), number)
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)
    ]
