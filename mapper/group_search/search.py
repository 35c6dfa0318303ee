"""Searches groups best first: what has the least bound is looked at next.

First whole combinations of tiles with a choice of retained loops, bounded by grid.py; then each order of the loops and
choice of kept tensors, bounded the same way with what they move exactly; then groups, whose layers are solved
(solver.py). Of a solved group the bound follows from the proofs of its layers. So at any moment the least bound of what
waits, and of what is solved, is one of all groups.
"""

import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ..certificate import GroupProof
from ..fusion import GroupCosts, StepLayer
from ..problem import ROUNDING, Effort, Objective, WeightedSum
from ..search.options import SearchOptions
from ..search.outcome import Ended, Statistics
from .certify import group_proof
from .entries import Open, Space, Tiles
from .family import Family
from .group_part import GroupPart, NoMappingError
from .solver import Solved, UnsolvedError

NEAR = 1.05  # slopes within this factor are the same, when a group is first solved
SAME = 1e-6  # relative: slopes that say the same
MOST_SLOPES = 12  # for which a group is solved
DIVISION_STEPS = 2000  # of the effort, to divide a combination of tiles: as long as so many of a proof take, about
SHARE = 12  # a group has the steps of so many layers for each of its stages, those of mappings among them


class _OutOfTimeError(Exception):
    """The time limit is over before all tiles are bounded."""


@dataclass(frozen=True, eq=False)
class GroupOutcome:
    """The result of a search: the best group with its costs, and what no group is below."""

    best: GroupCosts | None
    lower_bound: float
    statistics: Statistics
    looked_at: int  # groups whose layers were bounded or solved
    tiles: int  # combinations of tiles, with choices of retained loops
    proof: GroupProof | None = None  # where certificates are asked for
    no_proof: str = ""  # why there is none


@dataclass(frozen=True)
class Extent:
    """How far a search goes: it may end before, with what is proven by then."""

    enough: float = inf  # where no group is below
    gap: float = ROUNDING  # where no group is so much below the best, as a share
    share: float = SHARE  # the steps of so many layers for each stage


class GroupSearch:
    """A search of families: the same stages with each memory that may be the keeper."""

    def __init__(
        self,
        families: Sequence[Family],
        objective: Objective | WeightedSum,
        options: SearchOptions,
        known: Sequence[Space] = (),
        extent: "Extent | None" = None,
    ) -> None:
        """Begin; `known` are the spaces of an earlier search of these families, whose tables serve again."""
        self.objective, self.extent, limits = objective, extent or Extent(), options.limits
        steps = None if limits.steps is None else int(self.extent.share * limits.steps * len(families[0].stages))
        self.limits = Effort(None, steps, limits.seconds)
        self._began = time.monotonic()
        self._deadline = None if limits.seconds is None else self._began + limits.seconds
        self.spaces = [Space(family, options, self._check_time, self._deadline) for family in families]
        for space, other in zip(self.spaces, known, strict=False):
            space.take_tables(other)
        self.best: GroupCosts | None = None
        self.statistics = Statistics()
        self.looked_at = self.tiles = 0
        self._slope: float | None = None
        self._waiting: list[tuple[float, int, Tiles | Open]] = []
        self._at: tuple[float, int, Tiles | Open] | None = None  # looked at; it counts until its parts wait, for Ctrl-C
        self._number = 0  # of what waits: the first of equal bounds goes first
        self._closed = inf  # the least bound of solved groups
        self._left_out = False  # whether a group was left unsolved
        self._bounded = False  # whether all tiles are bounded
        self._certify = options.certify
        self._proven = list[Open]()  # of solved groups that are closed, where certificates are asked for
        self._unproven = ""  # why no certificate can be written

    def run(self, progress: Callable[["GroupSearch"], None] | None = None) -> GroupOutcome:
        """Search until nothing that waits may be better, effort is used up, or Ctrl-C.

        `progress` is called after each group. Raises KeyboardInterrupt where Ctrl-C came before the first.
        """
        try:
            self._begin()
            self._search(progress)
        except _OutOfTimeError:
            self.statistics.stop(Ended.TIME_LIMIT)
        except KeyboardInterrupt:
            if self.best is None:
                raise
            self.statistics.stop(Ended.INTERRUPTED)
        self.statistics.seconds = time.monotonic() - self._began
        outcome = GroupOutcome(self.best, self.lower_bound, self.statistics, self.looked_at, self.tiles)
        return self._certified(outcome) if self._certify else outcome

    def _certified(self, outcome: GroupOutcome) -> GroupOutcome:
        """Return an outcome with its certificate, or why there is none."""
        if self.best is None:
            return replace(outcome, no_proof="no group was found")
        if self._unproven:
            return replace(outcome, no_proof=self._unproven)
        waiting = [entry for _, _, entry in self._waiting if isinstance(entry, Open) and entry.sums]
        if self._at is not None and self._at not in self._waiting and isinstance(own := self._at[2], Open) and own.sums:
            waiting.append(own)
        assert isinstance(self.objective, Objective), "parts of a whole have no certificate"
        families = [space.family for space in self.spaces]
        solved = [*self._proven, *waiting]
        proof = group_proof(families, self.objective, self.best, outcome.lower_bound, solved)
        return replace(outcome, proof=proof)

    @property
    def value(self) -> float:
        """The objective of the best group; inf before the first."""
        return inf if self.best is None else self.objective.value(self.best.energy_pj, float(self.best.cycles))

    @property
    def lower_bound(self) -> float:
        """What no group is below."""
        if not self._bounded:
            return 0.0
        at = [] if self._at is None else [self._at]
        return min(self._closed, self.value, *(bound for bound, _, _ in self._waiting[:1] + at))

    def _search(self, progress: Callable[["GroupSearch"], None] | None) -> None:
        while self._waiting and self._waiting[0][0] < min(self.value * (1 - self.extent.gap), self.extent.enough):
            if reason := self._used_up():
                return self.statistics.stop(reason)
            place = self._next
            self._at = bound, _, entry = self._waiting[place]
            if isinstance(entry, Tiles):
                more = [(max(bound, self._bound_of(own)), own) for own in entry.space.divided(entry)]
                self.statistics.steps += DIVISION_STEPS
                self._remove(place)
                if (rest := entry.rest) is not None:
                    self._push(rest.bound, rest)
                for own_bound, own in more:
                    self._push(own_bound, own)
            else:
                solved = self._solve(entry)
                self._remove(place)
                if solved is not None:
                    self._take(max(bound, self._bound_of(solved)), solved)
                self.looked_at += not entry.sums
            self._at = None
            if progress and isinstance(entry, Open):
                progress(self)
        unsolved = self._closed < self.value * (1 - ROUNDING) and self._left_out
        return self.statistics.stop((self._used_up() or Ended.EFFORT) if unsolved else Ended.SEEN_ALL)

    @property
    def _next(self) -> int:
        """The place of what is looked at next: of the least bound, or while no group is solved of the least group."""
        if self.best is not None:
            return 0
        groups = (i for i, (_, _, own) in enumerate(self._waiting) if isinstance(own, Open))
        return min(groups, key=lambda i: self._waiting[i], default=0)

    def _remove(self, place: int) -> None:
        if place == 0:
            heapq.heappop(self._waiting)
        else:
            del self._waiting[place]
            heapq.heapify(self._waiting)

    def _bound_of(self, entry: Open) -> float:
        return entry.corner(self.objective)[0]

    def _take(self, bound: float, solved: Open) -> None:
        """Let a solved group wait for another slope, or close it where no other says more."""
        slope = self._slope_for(solved)
        known = [own.slope for own in solved.solved if own.slope is not None]
        if slope is None or len(known) >= MOST_SLOPES or any(abs(own - slope) <= SAME * slope for own in known):
            self._closed = min(self._closed, bound)
            self._proven += [solved] if self._certify else []
        else:
            self._push(bound, solved)

    def _push(self, bound: float, entry: Tiles | Open) -> None:
        self._number += 1
        heapq.heappush(self._waiting, (bound, self._number, entry))

    def _used_up(self) -> Ended | None:
        if self.limits.steps is not None and self.statistics.all_steps >= self.limits.steps:
            return Ended.EFFORT
        return Ended.TIME_LIMIT if self._late else None

    @property
    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _begin(self) -> None:
        """Bound all combinations of tiles."""
        for space in self.spaces:
            for tiles in space.entries(self.objective):
                self._push(tiles.bound, tiles)
            self.tiles += sum(int(np.prod(grid.shape)) for grid in space.grids.values())
        self._bounded = True

    def _check_time(self) -> None:
        """Raise _OutOfTimeError where the time limit is over before a group was looked at."""
        if not self._bounded and self._late:
            raise _OutOfTimeError

    def _solve(self, entry: Open) -> Open | None:
        """Solve the layers of a group at another slope; it may become the best. None: a layer has no mapping.

        At first their mapspaces are only bounded, each as a whole. Then they are solved, the one that counts most
        first, until the group cannot be the best.
        """
        part = GroupPart(entry, self._slope_for(entry), self.statistics)
        try:
            layers = {layer: part.solved(layer, root_only=True) for layer in part.numbers}
            if not entry.sums and part.slope is not None:
                return self._summed(part, layers, rough=True)
            summed = entry
            for layer in sorted(layers, key=lambda own: -part.numbers[own] * layers[own].least):
                layers[layer] = part.solved(layer, root_only=False)
                summed = self._summed(part, layers, rough=False)
                if self._bound_of(summed) >= self.value * (1 - ROUNDING):
                    break
            return summed
        except (NoMappingError, UnsolvedError) as error:
            self._unproven = str(error)
            if isinstance(error, UnsolvedError):  # some group may be as good as its bound
                self._closed, self._left_out = min(self._closed, self._bound_of(entry)), True
            return None

    def _summed(self, part: GroupPart, layers: Mapping[StepLayer, Solved], *, rough: bool) -> Open:
        """Add the sum of these layers to a group; with their mappings it may become the best."""
        costs = part.costs(layers)
        if self.objective.value(costs.energy_pj, float(costs.cycles)) < self.value:
            self.best = costs
        return part.summed(layers, costs, rough=rough)

    def _slope_for(self, entry: Open) -> float | None:
        """The pJ that a cycle is worth where a group is to be solved; None where only cycles count.

        At first that is where the best group is, which many groups share; then at the corner of the group itself.
        """
        best = self.best
        energy, cycles = (
            entry.corner(self.objective)[1:] if entry.solved or best is None else (best.energy_pj, best.cycles)
        )
        wanted = self.objective.slope_at(energy, cycles)
        if entry.solved or wanted is None:
            return wanted
        if self._slope is None or not self._slope / NEAR <= wanted <= self._slope * NEAR:
            self._slope = wanted
        return self._slope
