"""Finds incumbents of a proof by evolution: before the proof, and beside it now and then."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..mapping import Ints, MappingBatch
from ..model import Counts, count, evaluate, least_counts
from ..search.evolution import SIZES, Generation, Populations, PopulationSpaces
from .leaves import LeafEvaluator

FIRST_LOOK = 6  # generations before a proof: more of them cost more time than better incumbents save,
ROWS = 2_000  # but where tables are large: another for so many rows of them,
MORE = 24  # and so many at most
FIRST_SHARE = 0.25  # of the time limit: the first look takes no more


@dataclass(eq=False)
class Evolver:
    """An evolution whose best mappings are offered as incumbents."""

    leaves: LeafEvaluator
    generations: int = 0
    active: bool = True  # whether it looks for better mappings at all
    best: float = np.inf  # its own: so it ends as it would without a proof beside it
    breeds_start: bool = True  # whether the mappings that the search begins with are among the first

    @cached_property
    def _populations(self) -> Populations:
        task = self.leaves.task
        return Populations(PopulationSpaces(task if self.breeds_start else replace(task, start=None)))

    @property
    def settled(self) -> bool:
        """Whether no more mappings are of use or allowed: new populations bring nothing, or it made as many as there
        are."""
        return self.used_up or self.seen >= self.leaves.task.space.numbers or self._populations.settled

    @property
    def used_up(self) -> bool:
        """Whether it is off, or its mappings are used up."""
        most = self.leaves.task.options.limits.mappings
        return not self.active or (most is not None and self.seen >= most)

    @property
    def seen(self) -> int:
        """The mappings so far."""
        return self.generations * SIZES.children

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
        generation = self._populations.generation(self.generations)
        self.generations += 1
        self.leaves.recorder.statistics.count(generation.scores.reasons)
        self._offer(generation)
        self.best = min(self.best, float(generation.scores.values[:, 0].min(initial=np.inf)))
        self._populations.end_if_over(self.best)

    def go_on(self, late: Callable[[], bool]) -> bool:
        """Make a generation, unless it has settled or time is up; return whether it did."""
        going = not self.settled and not late()
        if going:
            self.step()
        return going

    def _offer(self, generation: Generation) -> None:
        task, incumbents = self.leaves.task, self.leaves.incumbents
        if len(generation.named) and incumbents.precedes(generation.scores.values):
            batch = generation.named.batch(task.space)
            counts = count(batch)
            costs = evaluate(batch, task.table, task.charges, counts)
            self._offer_some(batch, counts, incumbents.promising(costs.energy_pj, costs.cycles))
            flagged = np.flatnonzero(~costs.exact)
            if len(flagged):  # whose figures may be too high
                chosen = batch.take(flagged)
                least = evaluate(chosen, task.table, task.charges, least_counts(chosen, counts.take(flagged)))
                below = incumbents.bound_value(least.energy_pj, least.cycles) < incumbents.cutoff
                self._offer_some(batch, counts, flagged[below])

    def _offer_some(self, batch: MappingBatch, counts: Counts, which: Ints) -> None:
        for i in which.tolist():
            alone = np.array([i])
            self.leaves.offer(batch.take(alone), counts.take(alone))


def initial_evolution(evolver: Evolver, limit: float | None, tell: Callable[[], float]) -> None:
    """Evolve for a short while before a proof, for FIRST_SHARE of the `limit` at most, in seconds.

    `tell` reports progress and returns the seconds since the beginning.
    """
    while not evolver.quiet:
        evolver.step()
        seconds = tell()
        if limit is not None and seconds >= limit * FIRST_SHARE:
            return
