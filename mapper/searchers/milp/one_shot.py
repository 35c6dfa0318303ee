"""The strategy `milp`: prime factors assigned to slots by mixed-integer programmes, after CoSA.

CoSA (Huang et al., ISCA 2021, section III) finds tilings, spatial unrolling and orders in one shot, where logarithms
make products of factors linear. Ours has one programme for each choice of kept tensors. Its goal is the objective
itself: sums of energies, and of tiles in a memory, get tangents at each solution, and it is solved again. The exact
model then finds the best loop orders, and judges.
"""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf, prod
from typing import override

import numpy as np

from ....workloads import Fault, Tensor, option_fault
from ...mapping import Bools, MappingBatch
from ...mapspace import Mapspace
from ...search import Observers, Recorder, RetainingSearch, Stop, Task, is_unfinished, random_batch
from ...search.options import Configurable, SearchOptions, setting
from ...search.outcome import Ended, Outcome
from .candidates import Candidates, ScoredCandidates
from .roundings import rounded_up
from .rounds import Rounds

NO_VICTORY = "a search by programmes ends when all are solved: leave this out or use random"
MISSING = "milp needs scipy, which is not installed: pip install 'ruby-map[milp]' brings it; or use evolve"


def kept_choices(space: Mapspace, most: int) -> Bools:
    """List all choices of what is kept, or with more than `most` only the one that keeps all that fits at its smallest.
    # (choice, level, tensor)"""
    return space.every_keep() if space.keep_choices.number <= most else fullest(space)[None]


def fullest(space: Mapspace) -> Bools:
    """Keep all that may be kept, but for what does not fit with the smallest tiles. # (level, tensor)

    The last tensors of the workload go first.
    """
    choices = space.keep_choices
    keep: Bools = choices.unrank(np.zeros(1, np.int64))[0].copy()
    for stack in choices.stacks:
        options = sorted(stack.options, key=lambda option: -int(option.sum()))
        fitting = [option for option in options if _fits(space, stack.levels, option)]
        keep[stack.levels.start : stack.levels.stop] = (fitting or options[-1:])[0]
    for level, v in choices.free.tolist():
        keep[level, v] = True
        if not _fits(space, range(level, level + 1), keep[level : level + 1]):
            keep[level, v] = False
    return keep


def _fits(space: Mapspace, levels: range, keep: Bools) -> bool:
    """Whether the smallest tiles that some levels of a memory keep # (level, tensor) fit in it."""
    storage = space.arch.levels[levels[0]]
    if storage.capacity_bits is None:
        return True
    used = sum(
        storage.bits(tensor.name, tensor.word_bits) * _least_words(space, level, tensor)
        for level, row in zip(levels, keep, strict=True)
        for tensor, kept in zip(space.workload.tensors, row, strict=True)
        if kept
    )
    return used <= storage.capacity_bits // storage.multiple_buffering


def _least_words(space: Mapspace, level: int, tensor: Tensor) -> int:
    """Count the words of the smallest tile that the limits of bounds allow."""
    inside = [s for s, slot in enumerate(space.arch.slots) if slot.level >= level]

    def extent(dim: str) -> int:
        d = space.workload.dims.index(dim)
        return min(prod(space.rules.bounds(s, d)[0] for s in inside), space.workload.sizes[d])

    return prod(1 + sum(term.coef * (extent(term.dim) - 1) for term in rank) for rank in tensor.ranks)


@dataclass(frozen=True)
class OneShot(Configurable):
    """`--search milp`: mixed-integer programmes over prime factors, after CoSA. See Strategy.

    It draws nothing and uses one process, so its answer depends neither on the seed nor on `jobs`.
    """

    rounds: int = setting(8, "solutions of each programme, each with tangents of those before", least=1)
    seconds: float = setting(10.0, "seconds of one solution at most; cut off, it depends on the machine", least=0.01)
    choices: int = setting(16, "choices of kept tensors at most that get a programme each", least=1)

    proves = False
    shares = False
    compiles = False
    asks = None
    extends = frozenset({"time_limit"})

    @override
    def missing(self) -> list[str]:
        """Say that SciPy is not installed, where it is not: it is an optional package."""
        return [] if find_spec("scipy") else [MISSING]

    def faults(self, options: SearchOptions) -> list[Fault]:
        """List no fault: every option goes with it."""
        return []

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """List the victory rule."""
        return [option_fault("victory", NO_VICTORY)] if "victory" in given else []

    def stop(self, options: SearchOptions) -> Stop:
        """Return the stop rules but for victory."""
        more = (options.valid, options.patience, options.target)
        return Stop(None, options.samples, options.time_limit, options.give_up, *more)

    def first_batch(self, task: Task) -> MappingBatch:
        """Return a batch drawn at random: where no programme has a solution, it shows why."""
        return random_batch(task.space, task.options.seed, 0).arranged()

    def run(self, task: Task, observers: Observers) -> Outcome:
        """Solve programme after programme, until all are solved, or a rule or Ctrl-C ends the search.

        A search that was interrupted starts again: it takes seconds, and has nothing to learn from.
        """
        running, part = Solving(self, task, observers), observers.part
        if part and (state := part.load()) and not is_unfinished(state, task.options.limits, part):
            running.restore(state)
        else:
            running.run()
        return running.outcome()


class Solving(RetainingSearch):
    """A running search by programmes."""

    def __init__(self, strategy: OneShot, task: Task, observers: Observers) -> None:
        super().__init__(task, Recorder(strategy.stop(task.options)), observers)
        self.strategy = strategy
        self.candidates = Candidates(task)
        self.cut_off = False  # whether time was up for a solution

    def run(self) -> None:
        """Solve and record, until the search ends."""
        self.follow(self._record, Ended.SOLVED)
        if self.cut_off and Ended.SOLVED in self.recorder.statistics.ended:
            self.recorder.statistics.stop(Ended.CUT_OFF)

    def _record(self, began: float) -> bool:
        """Record the mappings of all solutions; False where a rule ended the search."""
        for candidates in self._solutions(began):
            if candidates is not None:
                self._take(candidates, began)
            self._look_at_time(began)
            if not self.go_on():
                return False
        return True

    def _solutions(self, began: float) -> Iterator[ScoredCandidates | None]:
        """Yield the mappings that each solution of each programme leads to; None: it has none in time."""
        space = self.task.space
        exact = [[size] for size in space.workload.sizes]
        sizes = [exact, [rounded_up(size) for size in space.workload.sizes]] if space.imperfect else [exact]
        for keep in kept_choices(space, self.strategy.choices):
            for own in sizes:
                rounds = Rounds(self.task, keep, own)
                for _ in range(self.strategy.rounds):
                    bounds = rounds.solve(min(self.strategy.seconds, self._remaining_seconds(began)))
                    self.cut_off |= rounds.cut_off
                    yield None if bounds is None else self.candidates.scored(bounds, keep, self.recorder.chunks)
                    if rounds.over:
                        break

    def _remaining_seconds(self, began: float) -> float:
        limit = self.task.options.time_limit
        return inf if limit is None else max(0.01, limit - (time.monotonic() - began))

    def _look_at_time(self, began: float) -> None:
        """End the search where the time limit is reached, also if nothing was recorded."""
        limit, statistics = self.task.options.time_limit, self.recorder.statistics
        if limit is not None and time.monotonic() - began >= limit and not statistics.ended:
            statistics.stop(Ended.TIME_LIMIT)

    def _take(self, candidates: ScoredCandidates, began: float) -> None:
        """Record some mappings."""
        self.recorder.record(candidates.scores, time.monotonic() - began)
        new = {place: candidates.individuals.take(slice(place, place + 1)) for place in candidates.named.tolist()}
        self.keep(candidates.scores.chunk, new)
