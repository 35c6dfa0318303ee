"""Context relation features of loop nests, which mean the same for all layers and orders (AutoTVM, Chen et al. 2018).

Each loop k has numbers Z_ki. The feature of a pair of them and a threshold is R_t^(ij) = max of Z_ki over the loops
with Z_kj < beta_t. Pairs: touched words of each tensor against the iterations inside (how fast a footprint grows);
reuse of each tensor against its touched words (what a buffer of that size can save); both against the level. Beside
them stand annotations: iterations of each slot, in time or space, and what is kept.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...mapspace import Mapspace
from ...search.variation import Individuals
from .embedding import keeps

THRESHOLDS = tuple(2.0**power for power in range(1, 33, 3))  # beta: 2, 16, 128... words or iterations


@dataclass(frozen=True, eq=False)
class Relations:
    """Computes the features of mappings of one mapspace."""

    space: Mapspace

    def of(self, individuals: Individuals) -> Floats:
        """Compute the features. # (individual, feature)"""
        bounds, dims = self._loops(individuals)
        extents = self._extents(bounds, dims)
        inside = np.log2(extents).sum(axis=2)  # iterations of the loop and all inside it # (individual, loop)
        touched = self._touched(extents)  # (individual, loop, tensor)
        reuse = inside[:, :, None] - touched
        loop, parts = bounds > 1, []
        for beta in np.log2(THRESHOLDS):
            parts.append(_most(touched, (loop & (inside < beta))[:, :, None]))
            parts.append(_most(reuse, loop[:, :, None] & (touched < beta)))
        for level in range(len(self.space.arch.levels)):
            within = (loop & (self._level >= level))[:, :, None]
            parts += [_most(touched, within), _most(reuse, within)]
        parts.append(np.log2(individuals.bounds.astype(float)).sum(axis=2))  # of each slot
        parts.append(keeps(individuals))
        return np.concatenate(parts, axis=1)

    @cached_property
    def _level(self) -> Ints:
        """The level of each loop. # (loop,)"""
        return np.repeat([slot.level for slot in self.space.arch.slots], len(self.space.workload.dims))

    def _loops(self, individuals: Individuals) -> tuple[Ints, Ints]:
        """List the loops of the nests, outermost first: their bounds and their dims. # (individual, loop) each"""
        n, every = len(individuals), np.arange(len(self.space.workload.dims))
        dims = [
            np.broadcast_to(every, (n, len(every)))
            if slot.spatial
            else individuals.order[:, slot.level].astype(np.int64)
            for slot in self.space.arch.slots
        ]
        bounds = [np.take_along_axis(individuals.bounds[:, s], own, axis=1) for s, own in enumerate(dims)]
        return np.concatenate(bounds, axis=1), np.concatenate(dims, axis=1)

    def _extents(self, bounds: Ints, dims: Ints) -> Floats:
        """Compute how far each loop with all inside it reaches along each dim. # (individual, loop, dim)"""
        sizes = np.array(self.space.workload.sizes, float)
        own = np.where(dims[:, :, None] == np.arange(len(sizes)), bounds[:, :, None].astype(float), 1.0)
        inside: Floats = np.cumprod(own[:, ::-1], axis=1)[:, ::-1]
        extents: Floats = np.minimum(inside, sizes)
        return extents

    def _touched(self, extents: Floats) -> Floats:
        """Compute log2 of the words that each loop with all inside it touches. # (individual, loop, tensor)"""
        workload, columns = self.space.workload, []
        for tensor in workload.tensors:
            words = np.zeros(extents.shape[:2])
            for rank in tensor.ranks:
                reach = sum(term.coef * (extents[:, :, workload.dims.index(term.dim)] - 1) for term in rank)
                words += np.log2(reach + 1)
            columns.append(words)
        return np.stack(columns, axis=2)


def _most(numbers: Floats, where: Bools) -> Floats:
    """Return the largest of the numbers # (individual, loop, column) of the loops `where`; 0 of none."""
    return np.where(where, numbers, 0.0).max(axis=1)
