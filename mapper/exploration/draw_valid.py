"""Valid mappings, drawn uniformly."""

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import MappingBatch
from ..mapspace import Mapspace, Preset
from ..model import validity

CHUNK = 4096  # mappings drawn at once
TRIES = 500  # chunks without a valid mapping, until there are taken to be none


def draw_valid(arch: Architecture, workload: Workload, mapspace: Preset, number: int, seed: int = 0) -> MappingBatch:
    """Draw `number` valid mappings, each uniformly among all valid ones; none where none of two million is valid.

    Raises InputError as the mapspace does.
    """
    space, rng, batches = Mapspace(arch, workload, mapspace), np.random.default_rng(seed), list[MappingBatch]()
    missing, empty = number, 0
    while missing and empty < TRIES:
        batch = space.sample(rng, CHUNK)
        valid = np.flatnonzero(validity(batch) == 0)[:missing]
        empty = 0 if len(valid) else empty + 1
        batches.append(batch.take(valid))
        missing -= len(valid)
    factors, order, keep = (
        np.concatenate([getattr(batch, name) for batch in batches]) for name in ("factors", "order", "keep")
    )
    return MappingBatch.of(space.arch, workload, factors, order, keep)
