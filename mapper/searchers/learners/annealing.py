"""Parallel simulated annealing over a model, and the choice of a diverse batch, as in AutoTVM (Chen et al. 2018)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...mapping import Bools, Floats, Ints, unique_rows
from ...mapspace import Mapspace
from ...search.variation import Ground, Individuals
from .candidates import ROUNDS
from .nests import loops_in_order

Energy = Callable[[Individuals], Floats]  # (individual,) lower is better


@dataclass(frozen=True, eq=False)
class Annealed:
    """The chains after annealing, and all states that they tried, each with its energy."""

    chains: Individuals
    tried: Individuals
    energies: Floats  # (tried,)


def anneal(
    ground: Ground, chains: Individuals, energy: Energy, rng: np.random.Generator, steps: int, temperature: float
) -> Annealed:
    """Anneal chains side by side, from `temperature` linearly to 0, in units of the energy.

    A move that repair cannot make valid is refused.
    """
    current = energy(chains)
    tried, energies = [chains], [current]
    for step in range(steps):
        moved, of = ground.repair.fitted_each(ground.variation.neighbours(chains, rng), rng, ROUNDS)
        if not len(moved):
            continue
        new = energy(moved)
        tried.append(moved)
        energies.append(new)
        warm = temperature * (1 - step / steps)
        accepted = rng.random(len(of)) < np.exp(np.minimum(0.0, (current[of] - new) / warm))
        chains, current = _replaced(chains, moved, of, accepted), current.copy()
        current[of[accepted]] = new[accepted]
    return Annealed(chains, Individuals.joined(tried), np.concatenate(energies))


def _replaced(chains: Individuals, moved: Individuals, of: Ints, accepted: Bools) -> Individuals:
    """Put the accepted moves in the places of the chains they were made `of`."""
    places = np.arange(len(chains))
    places[of[accepted]] = len(chains) + np.flatnonzero(accepted)
    return Individuals.joined([chains, moved]).take(places)


def diverse(space: Mapspace, some: Individuals, energies: Floats, n: int, alpha: float) -> Ints:
    """Choose `n` of `some` greedily for L(S) = -sum of energies + alpha * number of different components (equation 3).

    Components are the chain of each dim, the loops of each level, and what is kept. Returns places. # (chosen,)
    """
    parts = _components(space, some)
    starts = np.concatenate([[0], np.cumsum(parts.max(axis=0, initial=-1) + 1)])
    parts = parts + starts[:-1]
    covered = np.zeros(starts[-1], bool)
    open_, chosen = np.ones(len(some), bool), []
    for _ in range(min(n, len(some))):
        gain = np.where(open_, alpha * (~covered[parts]).sum(axis=1) - energies, -np.inf)
        place = int(gain.argmax())
        chosen.append(place)
        open_[place], covered[parts[place]] = False, True
    return np.array(chosen, np.int64)


def _components(space: Mapspace, some: Individuals) -> Ints:
    """Number the components of each mapping, equal ones alike. # (individual, component)"""
    loops = loops_in_order(space, some)
    columns = [unique_rows(some.bounds[:, :, d])[1] for d in range(some.bounds.shape[2])]
    columns += [unique_rows(loops[:, level])[1] for level in range(loops.shape[1])]
    return np.stack([*columns, unique_rows(some.keep)[1]], axis=1)
