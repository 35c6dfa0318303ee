"""`--search anneal`: simulated annealing of many Markov chains side by side, as AutoTVM makes its proposals.

Chen et al., "Learning to Optimize Tensor Programs" (NeurIPS 2018), Algorithm 1 and section 3.3: chains in parallel
whose states persist. There a learned model decides whether a chain moves, and its best states are measured afterwards;
here the exact model decides each move.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, override

import numpy as np

from ...workloads import InputError, option_fault
from ..mapping import Bools, Floats, MappingBatch
from ..mapspace import Mapspace
from ..search import CHUNK, Learning, Scored, stream
from ..search.options import setting
from ..search.variation import MOST_MUTATIONS, Individuals, log_change, packed, sampler_of, unpacked

DRAWN_ROUNDS = 64  # of repair of a first state
ROUNDS = 4  # of repair of a move
DECIDING = 1  # in the key of the random stream that decides about moves

Memory = dict[str, Any]


@dataclass(frozen=True)
class Anneal(Learning):
    """See Proposer. A generation is one step of every chain; its mapping k is the move of chain k.

    The memory has the states of the chains, their values and the number of steps. A move that breaks a limit of the
    mapspace is none: the chain proposes its state again.
    """

    chains: int = setting(512, "Markov chains side by side", least=1, most=CHUNK)
    hot: float = setting(0.2, "temperature at the beginning of each period, of ln(objective)", least=0)
    cold: float = setting(0.005, "temperature at its end", least=0)
    period: int = setting(100, "steps in which the temperature falls; then it rises to hot again", least=2)
    keeps: float = setting(0.02, "share of moves that also change what is kept", least=0, most=1)

    @override
    def configured(self, settings: str) -> Self:
        """Return the same with these settings. Raises InputError with every fault of them."""
        own = super().configured(settings)
        if own.cold > own.hot:
            text = f"cold must be at most hot, {own.hot:g}, got {own.cold:g}: the temperature falls"
            raise InputError(option_fault("settings", text))
        return own

    def begin(self, space: Mapspace, seed: int) -> Memory:
        """Make the memory without states."""
        return {"seed": seed, "steps": 0, "states": None, "values": None}

    def propose(self, space: Mapspace, seed: int, memory: Memory, chunk: int) -> MappingBatch:
        """Draw the first states, made to fit; later a move of each chain."""
        sampler, rng = sampler_of(space), stream(seed, chunk)
        if memory["states"] is None:
            return sampler.batch(sampler.fitting(rng, self.chains, DRAWN_ROUNDS))
        states = Individuals.of_packed(memory["states"])
        moved = states.copied()
        sampler.variation.mutate(moved, np.minimum(1 + rng.poisson(0.5, len(states)), MOST_MUTATIONS), rng)
        sampler.variation.change_kept(moved.keep, np.flatnonzero(rng.random(len(states)) < self.keeps), rng)
        fit, which = sampler.repair.fitted_each(moved, rng, ROUNDS)
        return sampler.batch(states.replaced(which, fit))

    def learn(self, space: Mapspace, memory: Memory, scored: Sequence[Scored]) -> Memory:
        """Move the chains that accept their moves."""
        (one,) = scored
        moved, after = Individuals.of_batch(one.batch.arranged()), one.values
        if memory["states"] is not None:
            states, before = Individuals.of_packed(memory["states"]), unpacked(memory["values"])
            taken = np.flatnonzero(self._accepts(memory, before, after))
            moved, values = states.replaced(taken, moved.take(taken)), before.copy()
            values[taken] = after[taken]
            after = values
        return memory | {"steps": memory["steps"] + 1, "states": moved.packed(), "values": packed(after)}

    def temperature(self, step: int) -> float:
        """Return the temperature of a step: it falls by a constant factor in each period, and rises again."""
        if not self.hot or not self.cold:
            return 0.0
        return float(self.hot * (self.cold / self.hot) ** (step % self.period / (self.period - 1)))

    def _accepts(self, memory: Memory, before: Floats, after: Floats) -> Bools:
        """Decide by the rule of Metropolis, on ln(objective). # (chain,)"""
        temperature = self.temperature(memory["steps"])
        rise = log_change(before, after)
        drawn = stream(memory["seed"], memory["steps"], DECIDING).random(len(rise))
        with np.errstate(divide="ignore"):
            return (rise <= 0) | (rise < -temperature * np.log(drawn))
