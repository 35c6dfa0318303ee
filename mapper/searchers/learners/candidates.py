"""Valid mappings that a search has not seen: drawn at random, and children of its best."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ...mapspace import Mapspace
from ...search.variation import Individuals, MappingSampler
from .history import History, no_individuals
from .nests import Keys, fresh, keys_of

TRIES = 4  # to draw as many new mappings as are asked for
DRAWN_ROUNDS = 64  # of repair of a drawn mapping
ROUNDS = 4  # of repair of a changed mapping


@lru_cache(maxsize=4)
def sampler_of(space: Mapspace) -> MappingSampler:
    """Return the ground of a mapspace, made once in a process as its tables take time."""
    return MappingSampler(space)


def new_ones(space: Mapspace, parts: Sequence[Individuals], seen: Keys) -> Individuals:
    """Join valid mappings, each as the one that stands for those equal to it, without those `seen`."""
    individuals = Individuals.joined([no_individuals(space), *parts])
    if space.arch.stacks and len(individuals):
        batch = individuals.batch(space)
        individuals = Individuals(batch.factors, batch.order, batch.keep)
    return individuals.take(fresh(keys_of(space, individuals), seen))


def drawn(sampler: MappingSampler, rng: np.random.Generator, n: int, seen: Keys) -> Individuals:
    """Draw at most `n` new valid mappings; fewer where they are hard to find."""
    individuals = no_individuals(sampler.space)
    for _ in range(TRIES if n else 0):
        fit = sampler.repair.fitted(sampler.drawn(rng, n), rng, DRAWN_ROUNDS)
        individuals = new_ones(sampler.space, [individuals, fit.take(rng.permutation(len(fit)))], seen)
        if len(individuals) >= n:
            break
    return individuals.take(slice(n))


def around(sampler: MappingSampler, rng: np.random.Generator, history: History, n: int, parents: int) -> Individuals:
    """Make at most `n` new valid candidates: half of them children of the best `parents`, the others drawn."""
    children = sampler.variation.children(history.best(parents), rng, n // 2)
    children = new_ones(sampler.space, [sampler.repair.fitted(children, rng, ROUNDS)], history.seen)
    seen = np.concatenate([history.seen, keys_of(sampler.space, children)])
    return Individuals.joined([children, drawn(sampler, rng, n - len(children), seen)])
