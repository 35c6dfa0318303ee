"""Mappings of other layers, machines and mapspaces made mappings of this mapspace (docs/decisions/088-transfer.md)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...mapping import Ints, MappingBatch, Outline, unique_rows
from ...mapspace import inside_memories
from ...model import validity
from .individuals import Individuals
from .repair import LISTED
from .sampler import MappingSampler

ROUNDS = 64  # of repair: halvings of bounds, of which no mapping needs more
DRAWN = 256  # chains to choose the nearest from, where all of a dim are too many


def adapted(sampler: MappingSampler, outlines: Sequence[Outline], seed: int = 0) -> MappingBatch:
    """Make valid mappings of the mapspace from `outlines`, as near as can be, those that are equal once.

    Orders and kept tensors become the nearest that constraints allow, bounds the nearest chains; tiles that do not fit
    shrink. Mappings that then overflow still are tried with the fewest tensors kept. There may be fewer than outlines.
    """
    space, rng = sampler.space, np.random.default_rng(seed)
    if not outlines:
        return sampler.drawn(rng, 0).batch(space)
    bounds = np.stack([outline.bounds for outline in outlines])
    order = space.orders.nearest(np.stack([outline.order for outline in outlines]))
    keep = np.stack([outline.keep for outline in outlines])
    for d, within in enumerate(sampler.repair.canonical_by_dim(bounds).T):
        if not within.all():
            bounds[~within, :, d] = _nearest_chains(sampler, d, bounds[~within, :, d], rng)
    individuals = Individuals(bounds, order, space.keep_choices.nearest(keep))
    fit = sampler.repair.fitted(individuals, rng, ROUNDS)
    if len(fit) < len(individuals):
        fewest = replace(individuals, keep=space.keep_choices.nearest(np.zeros_like(keep)))
        fit = Individuals.joined([fit, sampler.repair.fitted(fewest, rng, ROUNDS)])
    return _distinct(fit.take(_stands(sampler, fit)).batch(space))


def widened(sampler: MappingSampler, batch: MappingBatch, seed: int = 0) -> MappingBatch:
    """Make wider ones of the mappings that leave half of an axis idle or more, as those from a smaller array do.

    Loops outside an axis are spread over it, those nearest to it first, so the tiles outside stay as they are. There
    are none of mappings that cannot be wider, or would not fit.
    """
    bounds, slots = batch.factors.copy(), sampler.space.arch.slots
    for at in range(len(slots) - 1, 0, -1):
        axis = slots[at].axis
        if axis is not None:
            allowed = np.flatnonzero(sampler.repair.high[at] > 1)
            for own in bounds:
                _spread(own, at, axis.size, allowed)
    wider = np.flatnonzero((bounds != batch.factors).any(axis=(1, 2)))
    if not len(wider):
        return batch.take(wider)
    individuals = Individuals(bounds, batch.order, batch.keep).take(wider)
    fit = sampler.repair.fitted(individuals, np.random.default_rng(seed), ROUNDS)
    return _distinct(fit.take(_stands(sampler, fit)).batch(sampler.space))


def _spread(own: Ints, at: int, size: int, allowed: Ints) -> None:
    """Move loops of the mapping `own` # (slot, dim), in place, to the axis at slot `at`, as far as it is idle."""
    for outside in range(at - 1, -1, -1):
        for d in sorted(allowed.tolist(), key=lambda d: -int(own[outside, d])):
            times = min(size // int(own[at].prod()), int(own[outside, d]))
            if times > 1:
                own[at, d] *= times
                own[outside, d] = -(-own[outside, d] // times)


def _nearest_chains(sampler: MappingSampler, d: int, bounds: Ints, rng: np.random.Generator) -> Ints:
    """Find the chain of dim d nearest to each of `bounds` # (mapping, slot), by the sum of ratios' logarithms."""
    chains = sampler.space.chains[d]
    known = sampler.space.table(d).bounds if chains.total <= LISTED else sampler.drawn(rng, DRAWN).bounds[:, :, d]
    logs = np.log2(known)
    return np.stack([known[abs(logs - np.log2(own)).sum(axis=1).argmin()] for own in bounds])


def _stands(sampler: MappingSampler, individuals: Individuals) -> Ints:
    """Find those that are valid mappings of the mapspace."""
    batch = individuals.batch(sampler.space)
    return np.flatnonzero((validity(batch) == 0) & inside_memories(sampler.space, batch))


def _distinct(batch: MappingBatch) -> MappingBatch:
    """Leave out mappings that stand before in the batch."""
    if not len(batch):
        return batch
    n = len(batch)
    rows = np.concatenate([genes.reshape(n, -1) for genes in (batch.factors, batch.order, batch.keep)], axis=1)
    _, first = np.unique(unique_rows(rows)[1], return_index=True)
    return batch.take(np.sort(first))
