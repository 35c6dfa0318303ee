"""The strategy `evolve`: populations evolve one after the other, or side by side, and the best of all is kept.

Population number k depends on the seed and k alone, and populations are recorded in turn, so a seed gives the same
answer for any number of processes.

With a cost model its answers select: small populations, one after the other.
"""

import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from typing import override

from ....workloads import Fault, option_fault
from ...mapping import MappingBatch
from ...runtime import State, in_order
from ..options import Configurable, SearchOptions
from ..outcome import Ended, Outcome
from ..proposer import random_batch
from ..recorder import Recorder, Stop
from ..recording import RetainingSearch
from ..rounds import Rounds
from ..strategy import Observers, Task, is_unfinished
from .population import Generation, Population, Sizes
from .population_spaces import PopulationSpaces
from .populations import IDLE_POPULATIONS, Populations

SMALL = Sizes(32, 32)  # an answer may take seconds
NO_VICTORY = (
    f"an evolution ends after {IDLE_POPULATIONS} populations in a row that bring nothing: leave this out or use random"
)


def evolved_by_answers(task: Task) -> Rounds:
    """Evolve populations by the values that come back, until new ones bring nothing."""
    inputs = PopulationSpaces(task.towards(front=()))
    every, best = Populations(inputs), inf
    while not every.settled:
        population = Population(inputs, every.number, SMALL)
        while not population.over:
            individuals = population.propose()
            values = yield individuals.batch(task.space)
            best = min(best, float(values.min()))
            population.settle(individuals, values[:, None])
        every.end(best)
    return Ended.SETTLED


@dataclass(frozen=True)
class Evolution(Configurable):
    """`--search evolve`: a (mu + lambda) evolution over the exact model. See Strategy."""

    proves = False
    shares = True
    compiles = False
    extends = frozenset({"time_limit", "effort"})

    @property
    def asks(self) -> Callable[[Task], Rounds]:
        """Evolve small populations by the answers of a cost model."""
        return evolved_by_answers

    def faults(self, options: SearchOptions) -> list[Fault]:
        """List no fault: every option goes with it."""
        return []

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """List the victory rule."""
        return [option_fault("victory", NO_VICTORY)] if "victory" in given else []

    def stop(self, options: SearchOptions) -> Stop:
        """Return the stop rules; victory is for cost models alone: populations that bring nothing end it."""
        more = (options.valid, options.patience, options.target)
        victory = options.victory if options.cost_model else None
        limits = options.limits
        return Stop(victory, options.samples, limits.seconds, options.give_up, *more, limits)

    def first_batch(self, task: Task) -> MappingBatch:
        """Return a batch drawn at random, as its first mappings are before they are made to fit."""
        return random_batch(task.space, task.options.seed, 0).arranged()

    def run(self, task: Task, observers: Observers) -> Outcome:
        """Evolve populations until a rule, Ctrl-C or populations that bring nothing end the search."""
        running, part = Evolving(task, observers), observers.part
        if part and (state := part.load()):
            running.restore(state)
            if not is_unfinished(state, task.options.limits, part):
                return running.outcome()
            running.recorder.statistics.ended = ()
        running.run()
        return running.outcome()


class Evolving(RetainingSearch):
    """A running evolution."""

    def __init__(self, task: Task, observers: Observers) -> None:
        super().__init__(task, Recorder(Evolution().stop(task.options)), observers)
        self.populations = Populations(PopulationSpaces(task))

    def run(self) -> None:
        """Evolve and record, until the search ends."""
        self.follow(self._record, Ended.SETTLED)

    def _record(self, began: float) -> bool:
        """Record generations until populations bring nothing; False where a rule ended the search."""
        with closing(self._generations()) as generations:
            return all(self._take(generation, began) for generation in generations)

    def _generations(self) -> Generator[Generation]:
        """Yield the generations of one population after the other, until populations bring nothing."""
        every, jobs = self.populations, self.task.options.cluster or self.task.options.jobs
        while every.current is not None or (jobs == 1 and not every.settled):
            yield every.generation(self.recorder.chunks)
            every.end_if_over(self.recorder.best)
        if every.settled:
            return
        elsewhere = in_order(
            evolved, PopulationSpaces(self.task), count(every.number), jobs, 1, learnt=self._remaining_seconds
        )
        with closing(elsewhere) as results:
            for generations in results:
                for generation in generations:
                    yield replace(generation, scores=replace(generation.scores, chunk=self.recorder.chunks))
                every.end(self.recorder.best)
                if every.settled:
                    return

    def _remaining_seconds(self) -> float:
        """Return the seconds that are left for a population in another process; inf without a limit."""
        limit = self.task.options.limits.seconds
        return inf if limit is None else max(0.0, limit - self.recorder.statistics.seconds)

    def _take(self, generation: Generation, began: float) -> bool:
        """Record a generation; False where a rule ends the search."""
        self.recorder.record(generation.scores, time.monotonic() - began)
        new = {int(place): generation.named.take(slice(i, i + 1)) for i, place in enumerate(generation.places)}
        self.keep(generation.scores.chunk, new)
        return self.go_on()

    @override
    def state(self) -> State:
        return super().state() | self.populations.plain()

    @override
    def restore(self, state: State) -> None:
        super().restore(state)
        self.populations.restore(state)


def evolved(inputs: PopulationSpaces, numbers: Sequence[int], seconds: float) -> list[list[Generation]]:
    """Evolve the populations of these numbers, each for so many seconds at most."""
    every = []
    for number in numbers:
        population, ends = Population(inputs, number), time.monotonic() + seconds
        every.append([population.generation(0)])
        while not population.over and time.monotonic() < ends:
            every[-1].append(population.generation(0))
    return every
