"""`--search genetic`: a generational genetic algorithm with the operators of GAMMA and Ansor.

Kao and Krishna, "GAMMA: Automating the HW Mapping of DNN Models on Accelerators via Genetic Algorithm" (ICCAD 2020):
crossover of the tile sizes of a dim, reorder, mutation of tile sizes and of what is parallel, growth, ageing; elites,
and parents that are the best share. Zheng et al., "Ansor" (OSDI 2020), section 5.1: tile sizes change by a factor that
moves between levels, and places of computation change. Unlike `evolve`, it makes no child fit: invalid children die.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mapping import Ints, MappingBatch
from ..mapspace import Mapspace
from ..search import CHUNK, Learning, Scored, stream
from ..search.options import setting
from ..search.variation import Individuals, MappingSampler, packed, ranked, ranked_apart, sampler_of, unpacked

DRAWN_ROUNDS = 64  # of repair of the first generation

Memory = dict[str, Any]


@dataclass(frozen=True)
class Genetic(Learning):
    """See Proposer. A generation is the children of one population.

    The memory has the population, one mapping of each value, the best first. Children that are no mappings of the
    mapspace die unseen; where all do, drawn mappings take their places. The rates say how many children an operator
    changes; each operator changes a child on its own.
    """

    population: int = setting(1024, "children of a generation", least=2, most=CHUNK)
    elites: float = setting(0.05, "share of the population that lives on", least=0, most=1)
    parents: float = setting(0.15, "share of the population that has children", least=0, most=1)
    crossover: float = setting(0.5, "share of children with dims of a second parent", least=0, most=1)
    tile: float = setting(0.5, "share with a tile size changed", least=0, most=1)
    parallel: float = setting(0.2, "share with a factor moved to or from an axis", least=0, most=1)
    reorder: float = setting(0.3, "share with two loops swapped", least=0, most=1)
    growth: float = setting(0.05, "share that begin to use an axis", least=0, most=1)
    ageing: float = setting(0.05, "share that leave an axis", least=0, most=1)
    location: float = setting(0.05, "share with a change of what is kept, or of its place", least=0, most=1)
    idle: int = setting(20, "generations without improvement after which a new population begins", least=1)

    def begin(self, space: Mapspace, seed: int) -> Memory:
        """Make the memory without a population."""
        return {"population": None, "values": None, "idle": 0}

    def propose(self, space: Mapspace, seed: int, memory: Memory, chunk: int) -> MappingBatch:
        """Draw the first population, made to fit; later the children of the population."""
        sampler, rng = sampler_of(space), stream(seed, chunk)
        if memory["population"] is None:
            return sampler.batch(sampler.fitting(rng, self.population, DRAWN_ROUNDS))
        children, within = sampler.repair.chained(self._children(sampler, memory, rng))
        children = children.take(within)
        return sampler.batch(children if len(children) else sampler.drawn(rng, self.population))

    def learn(self, space: Mapspace, memory: Memory, scored: Sequence[Scored]) -> Memory:
        """Make the next population: the elites and the children that are valid."""
        (one,) = scored
        valid = np.flatnonzero(np.isfinite(one.values[:, 0]))
        every, values = Individuals.of_batch(one.batch.arranged()).take(valid), one.values[valid]
        idle = 0
        if memory["population"] is not None:
            elites, before = slice(max(1, round(self.elites * self.population))), unpacked(memory["values"])
            every = Individuals.joined([Individuals.of_packed(memory["population"]).take(elites), every])
            values = np.concatenate([before[elites], values])
            idle = memory["idle"] + 1 if values[ranked(values)[0]].tolist() == before[0].tolist() else 0
        if not len(values) or idle >= self.idle:
            return self.begin(space, 0)
        best = ranked_apart(values)[: self.population]
        return {"population": every.take(best).packed(), "values": packed(values[best]), "idle": idle}

    def _children(self, sampler: MappingSampler, memory: Memory, rng: np.random.Generator) -> Individuals:
        """Make children of the best share of the population."""
        everyone, n = Individuals.of_packed(memory["population"]), self.population
        parents = everyone.take(slice(max(2, round(self.parents * n))))
        children = self._crossover(parents, rng)
        moves, bounds = sampler.moves, children.bounds
        drawn = rng.random(n) < 0.5
        tile = rng.random(n) < self.tile
        moves.move_factor(bounds, np.flatnonzero(tile & drawn), rng)
        moves.draw_tile(bounds, np.flatnonzero(tile & ~drawn), rng)
        moves.move_parallel(bounds, self._chosen(self.parallel, rng), rng)
        moves.grow(bounds, self._chosen(self.growth, rng), rng)
        moves.age(bounds, self._chosen(self.ageing, rng), rng)
        sampler.variation.swap_loops(children.order, self._chosen(self.reorder, rng), rng)
        sampler.variation.change_kept(children.keep, self._chosen(self.location, rng), rng)
        return children

    def _crossover(self, parents: Individuals, rng: np.random.Generator) -> Individuals:
        """Give each child the genes of one parent, and some the tile sizes of one dim, at all levels, of another."""
        n, dims = self.population, parents.bounds.shape[2]
        first, second = rng.integers(0, len(parents), (2, n))
        children, who = parents.take(first), self._chosen(self.crossover, rng)
        d = rng.integers(0, dims, len(who))
        children.bounds[who, :, d] = parents.bounds[second[who], :, d]
        return children

    def _chosen(self, rate: float, rng: np.random.Generator) -> Ints:
        """Draw which children an operator changes."""
        return np.flatnonzero(rng.random(self.population) < rate)
