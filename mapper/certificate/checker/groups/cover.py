"""Checks that no group is below a claim: all combinations of tiles by bounds, those left one by one.

First every combination of tiles with every set of kept tensors: these move each word at least once, and take at least
the room of their tile inside all loops. Where that does not rule a combination out, every order of its loops and every
depth of its kept tensors is looked at exactly. What is then below the claim has to have room in no keeper, or sums of
proofs (verify.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import permutations, product

import numpy as np

from ....mapping import Bools, Floats
from ....problem import Objective
from .extents import fewest_words
from .group import GroupSteps
from .sums import NEVER, Machine, StageSums, subsets
from .traces import NoGroupError
from .transfers import Moved, flows_of, transfer_cycles, transfer_pj
from .walks import Walks

MOST_LEFT = 200_000  # combinations of tiles and kept tensors that are looked at one by one

Figures = dict[tuple[int, frozenset[str]], tuple[Floats, Floats]]
Key = tuple[str, tuple[tuple[str, int], ...], frozenset[str], tuple[tuple[int, str, int], ...]]


class TooManyLeftError(Exception):
    """More combinations of tiles are not ruled out by bounds than can be looked at."""


@dataclass(eq=False)
class GroupCover:
    """All groups with one keeper."""

    walks: Walks
    machine: Machine
    tiles: dict[str, list[int]]
    objective: Objective
    least: float  # what a bound has to reach

    def __post_init__(self) -> None:
        self.sums = [StageSums(self.walks, self.machine, self.tiles, s) for s in range(len(self.walks.stages.layers))]
        self.keepable = self.walks.stages.keepable(self.machine.arch, self.machine.level)
        self.least_pj = {key: self._least_transfer(key) for key in self.keepable}
        self.bounded = self.looked_at = 0

    def left(self) -> Iterator[tuple[GroupSteps, float, float]]:
        """Yield the groups that bounds do not rule out and that have room, with least energy and cycles.

        Raises TooManyLeftError.
        """
        loops = list(self.tiles)
        for retained in subsets(loops):
            figures = self._figures(retained)
            places = np.argwhere(self._open(figures) & self._possible(retained))
            self.looked_at += len(places)
            if self.looked_at > MOST_LEFT:
                raise TooManyLeftError(f"{self.looked_at:,} combinations of tiles and retained loops are not ruled out")
            for place in places.tolist():
                chosen = {loop: self.tiles[loop][at] for loop, at in zip(loops, place, strict=True)}
                several = [loop for loop in loops if chosen[loop] < self.walks.stages.last.size(loop)]
                if self._is_canonical(chosen, several, retained):
                    own = {
                        key: (float(pj[tuple(place)]), float(took[tuple(place)])) for key, (pj, took) in figures.items()
                    }
                    for order in permutations(several):
                        yield from self._of_order(tuple((loop, chosen[loop]) for loop in order), retained, own)

    def _is_canonical(self, chosen: dict[str, int], several: list[str], retained: frozenset[str]) -> bool:
        """Whether only loops retain for which that makes a difference: the others are looked at without."""
        if not retained <= set(several):
            return False
        return all(self.walks.repeats(loop, chosen[loop]) for loop in retained)

    def _figures(self, retained: frozenset[str]) -> Figures:
        """Bound energy and cycles of each stage with each set of its kept tensors. # (tile of each loop, ...) each"""
        return {
            (stage, kept): own.of(kept, retained)
            for stage, own in enumerate(self.sums)
            for kept in subsets([name for number, name in self.keepable if number == stage])
        }

    def _possible(self, retained: frozenset[str]) -> Bools:
        """Mark the combinations of tiles each of which a group may have by itself. # (tile of each loop, ...)"""
        every = [
            np.array([self.walks.has(loop, tile, retains=loop in retained) for tile in tiles])
            for loop, tiles in self.tiles.items()
        ]
        return np.asarray(reduce(np.logical_and.outer, every, np.array(True)))

    def _open(self, figures: Figures) -> Bools:
        """Mark the combinations of tiles that some set of kept tensors may make better. # (tile of each loop, ...)"""
        shape = tuple(map(len, self.tiles.values()))
        still_open = np.zeros(shape, bool)
        choices = [[key for key in figures if key[0] == stage] for stage in range(len(self.sums))]
        for chosen in product(*choices):
            energy = sum((figures[key][0] for key in chosen), np.zeros(shape))
            cycles = sum((figures[key][1] for key in chosen), np.zeros(shape))
            pj = sum(self.least_pj[stage, name] for stage, kept in chosen for name in kept)
            self.bounded += energy.size
            still_open |= (energy < NEVER / 1e3) & (self._value(energy + pj, cycles) < self.least)
        return still_open

    def _least_transfer(self, key: tuple[int, str]) -> float:
        """The energy of moving once each word of a kept tensor that is moved whatever the tiles."""
        stages, (stage, name) = self.walks.stages, key
        words = fewest_words(self.walks, stage, name)
        machine = self.machine.arch, self.machine.level, self.machine.table
        return transfer_pj(
            stages, key, flows_of(stages, stage, name, Moved(0, words, words)), machine, self.machine.costs
        )

    def _value(self, energy: Floats, cycles: Floats) -> Floats:
        by_energy, by_cycles = self.objective.powers
        return np.asarray(energy**by_energy * cycles**by_cycles)

    def _of_order(
        self,
        shared: tuple[tuple[str, int], ...],
        retained: frozenset[str],
        figures: dict[tuple[int, frozenset[str]], tuple[float, float]],
    ) -> Iterator[tuple[GroupSteps, float, float]]:
        """Yield those with these loops: every depth of every set of kept tensors."""
        try:
            plain = GroupSteps(self.walks, shared, retained, ())
        except NoGroupError:
            return
        arch, level = self.machine.arch, self.machine.level
        if plain.free_bits(arch, level, halfway=True) < 0 or (free := plain.free_bits(arch, level)) < 0:
            return
        options = [self._depths(plain, key, free) for key in self.keepable]
        for chosen in product(*([None, *own] for own in options)):
            kept = [own for own in chosen if own is not None]
            if sum(own.bits for own in kept) > free:
                continue
            energy, cycles = self._bound(kept, figures)
            if float(self._value(np.asarray(energy), np.asarray(cycles))) < self.least and energy < NEVER / 1e3:
                names = tuple((*own.key, own.outside) for own in kept)
                yield GroupSteps(self.walks, shared, retained, names), energy, cycles

    def _bound(
        self, kept: "list[_Depth]", figures: dict[tuple[int, frozenset[str]], tuple[float, float]]
    ) -> tuple[float, float]:
        flows = [float(sum(own.flows[i] for own in kept)) for i in range(4)]
        cycles = float(transfer_cycles(flows, self.machine.arch, self.machine.level, self.machine.costs))
        leak_pj = self.machine.costs.leak_pj_per_cycle(self.machine.arch, self.machine.table)
        energy = sum(own.pj for own in kept) + leak_pj * cycles
        for stage in range(len(self.sums)):
            names = frozenset(own.key[1] for own in kept if own.key[0] == stage)
            energy, cycles = energy + figures[stage, names][0], cycles + figures[stage, names][1]
        return energy, cycles

    def _depths(self, plain: GroupSteps, key: tuple[int, str], free: float) -> "list[_Depth]":
        """List the depths of a kept tensor that have room, less those where another takes and moves no more."""
        stages, machine = self.walks.stages, (self.machine.arch, self.machine.level, self.machine.table)
        bits, depths = plain.bits(self.machine.arch.levels[self.machine.level], *key), []
        for outside in range(len(plain.shared) + 1):
            moved = plain.moves(*key, outside)
            if moved.most * bits <= free:
                words = flows_of(stages, *key, moved)
                pj = transfer_pj(stages, key, words, machine, self.machine.costs)
                depths.append(_Depth(key, outside, moved.most * bits, pj, words))
        return [own for own in depths if not any(other.serves_for(own) for other in depths)]


@dataclass(frozen=True)
class _Depth:
    """A kept tensor inside so many loops: its room, and what it moves."""

    key: tuple[int, str]
    outside: int
    bits: int
    pj: float
    flows: tuple[int, int, int, int]

    def serves_for(self, other: "_Depth") -> bool:
        """Whether it takes and moves no more than another, and less of something or inside fewer loops."""
        own, theirs = (self.bits, *self.flows), (other.bits, *other.flows)
        return all(a <= b for a, b in zip(own, theirs, strict=True)) and (own, self.outside) < (theirs, other.outside)


def key_of(keeper: str, group: GroupSteps) -> Key:
    """What says which group it is."""
    return keeper, group.shared, group.retained, tuple(sorted(group.kept))
