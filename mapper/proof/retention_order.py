"""The choices of kept tensors in turn, by a bound that adds up what the words of each tensor cost at least.

What a tensor's words cost depends on the levels that keep it and on chains, not on what is kept of the others. So the
least cost over all chains is computed once per tensor and set of levels; of these sums, the least comes first, and no
list of all is made.
"""

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice

import numpy as np

from ..bounds import Relaxation
from ..mapping import Bools, Floats
from ..mapspace import KeepChoices
from ..problem import Point
from .work import Work

FEW = 64  # choices; so many are bounded one by one, whatever their sums
SHARE = 0.25  # of the steps of a proof: so many the sums may take, and until then nothing is hopeless


class ChoicesByBound:
    """The choices of a mapspace, those with the least energy first, made as they are needed."""

    def __init__(self, choices: KeepChoices, least: Point, energies: Sequence[Floats] = ()) -> None:
        """Prepare the choices; without `energies` they come by number.

        `least`: cycles and energy of any mapping, at least; `energies`: of each tensor, by the set of levels that keep
        it # (set,), figures that add up to at most the energy of a mapping.
        """
        self.number, self.cycles, self._least_pj = choices.number, least[0], 0.0 if energies else least[1]
        self.added_up = bool(energies)
        self._choices, self._energies = choices, energies
        self._listed: list[tuple[float, Bools]] = []
        self._unlisted: Iterator[tuple[float, Bools]] | None = None  # those after the listed ones

    def energy(self, place: int) -> float:
        """A lower bound of the energy of all choices from that place on; inf after the last."""
        if place >= self.number:
            return np.inf
        if place < len(self._listed):
            return self._listed[place][0]
        return self._listed[-1][0] if self._listed else self._least_pj

    def keep(self, place: int) -> Bools:
        """What the choice at a place keeps. # (level, tensor)"""
        while len(self._listed) <= place:
            if self._unlisted is None:
                self._unlisted = islice(self._every(), len(self._listed), None)
            try:
                self._listed.append(next(self._unlisted))
            except BaseException:  # Ctrl-C ends an iterator, or loses what it gave
                self._unlisted = None
                raise
        return self._listed[place][1]

    def _every(self) -> Iterator[tuple[float, Bools]]:
        if self.added_up:
            return self._by_energy()
        return ((self._least_pj, keep) for keep in self._choices.every())

    def _by_energy(self) -> Iterator[tuple[float, Bools]]:
        """Follow the sums of one number of each ascending list upwards: each has one sum it comes from."""
        orders = [np.argsort(energies, kind="stable") for energies in self._energies]
        ascending = [energies[order].tolist() for energies, order in zip(self._energies, orders, strict=True)]
        sets = [self._choices.of_tensor(v) for v in range(len(orders))]
        first = (0,) * len(orders)
        heap = [(sum(energies[0] for energies in ascending), first)]
        while heap:
            energy, places = heappop(heap)
            at = [order[place] for order, place in zip(orders, places, strict=True)]
            yield energy, np.stack([tensor_sets[i] for tensor_sets, i in zip(sets, at, strict=True)], axis=1)
            for v in range(len(places) - 1, -1, -1):
                if places[v] + 1 < len(ascending[v]):
                    after = (*places[:v], places[v] + 1, *places[v + 1 :])
                    heappush(heap, (sum(energies[i] for energies, i in zip(ascending, after, strict=True)), after))
                if places[v]:
                    break  # the places before are raised first


def in_turn_by_tensors(choices: KeepChoices, relaxation: Callable[[Bools], Work[Relaxation]]) -> Work[ChoicesByBound]:
    """Bound what each tensor costs, for each set of levels that may keep it, and put the choices in turn by the sums.

    `relaxation` makes that of what is kept # (level, tensor). No sum is above the bound that it has for all chains.
    """
    sets = [choices.of_tensor(v) for v in range(choices.tensors)]
    energies, cycles = [np.empty(len(tensor_sets)) for tensor_sets in sets], 0.0
    for i in range(max(map(len, sets))):
        places = [min(i, len(tensor_sets) - 1) for tensor_sets in sets]  # one of each tensor at once
        keep = np.stack([tensor_sets[place] for tensor_sets, place in zip(sets, places, strict=True)], axis=1)
        cycles, least = (yield from relaxation(keep)).least_of_tensors()
        for tensor_energies, place, pj in zip(energies, places, least.tolist(), strict=True):
            tensor_energies[place] = pj
    return ChoicesByBound(choices, (cycles, 0.0), energies)


def by_tensors(choices: KeepChoices, *, listed: bool) -> bool:
    """Test whether choices are bounded by what each tensor costs first; `listed`: whether all chains are."""
    return choices.number > FEW and listed and not choices.stacks
