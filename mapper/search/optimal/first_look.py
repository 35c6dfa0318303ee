"""Finds incumbents of a proof by evolution: before the proof, and beside it now and then."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mapping import MappingBatch
from ...model import evaluate
from ..evolution import SIZES, Generation, Grounds, Populations
from .leaves import LeafEvaluator

FIRST_LOOK = 8  # generations before a proof: more of them cost more time than better incumbents save,
ROWS = 1_000  # but where tables are large: another for so many rows of them,
MORE = 72  # and so many at most
FIRST_SHARE = 0.25  # of the time limit: the first look takes no more


@dataclass(eq=False)
class Evolver:
    """An evolution whose best mappings are offered as incumbents."""

    leaves: LeafEvaluator
    generations: int = 0
    active: bool = True  # whether it looks for better mappings at all

    @cached_property
    def _populations(self) -> Populations:
        return Populations(Grounds(self.leaves.task))

    @property
    def settled(self) -> bool:
        """Whether it is off, new populations bring nothing, or it has made as many mappings as there are."""
        seen = self.generations * SIZES.children
        return not self.active or seen >= self.leaves.task.space.size.total or self._populations.settled

    @property
    def quiet(self) -> bool:
        """Whether a proof may begin."""
        more = min(MORE, self.leaves.chains.rows_of_all // ROWS)
        return self.generations >= FIRST_LOOK + more or self.settled

    def pass_to(self, leaves: LeafEvaluator) -> "Evolver":
        """Go on for the next stage of a proof, where other improvements count."""
        self.leaves = leaves
        self._populations.lows.clear()
        return self

    def step(self) -> None:
        """Make a generation, and offer its best mappings."""
        found = self._populations.generation(self.generations)
        self.generations += 1
        self.leaves.recorder.statistics.count(found.scores.reasons)
        self._offer(found)
        self._populations.end_if_over(self.leaves.incumbents.least)

    def go_on(self, late: Callable[[], bool]) -> bool:
        """Make a generation, unless it has settled or time is up; return whether it did."""
        going = not self.settled and not late()
        if going:
            self.step()
        return going

    def _offer(self, found: Generation) -> None:
        task, incumbents = self.leaves.task, self.leaves.incumbents
        if len(found.named) and incumbents.precedes(found.scores.values):
            batch = found.named.batch(task.space)
            costs = evaluate(batch, task.table, task.costs)
            for i in incumbents.promising(costs.energy_pj, costs.cycles).tolist():
                self.leaves.offer(batch.take([i]))


def first_look(
    evolver: Evolver, given: MappingBatch | None, limit: float | None, tell: Callable[[], float], *, hindered: bool
) -> None:
    """Offer the given mapping, if any; without it, or if no proof can follow (`hindered`), evolve.

    The evolution takes a short time if a proof can follow, else until `limit`, in seconds.

    `tell` reports progress and returns the seconds since the beginning.
    """
    if given is not None:
        evolver.leaves.offer(given)
        if not hindered:
            return
    share = np.inf if limit is None else limit * (1.0 if hindered else FIRST_SHARE)
    while not (evolver.settled and limit is None if hindered else evolver.quiet):
        evolver.step()
        if tell() >= share:
            return
