"""Search of a mapspace: a strategy proposes mappings in chunks, the model scores them, a recorder keeps the best.

Chunk number i is drawn from a random stream of its own, and chunks are recorded in order, so one seed gives one
answer for any number of processes.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import count as count_from

import numpy as np

from ..energy import EnergyTable
from ..workloads import Fault, InputError, near
from .cost import CostOptions, Costs, evaluate, validity
from .mapping import Floats, MappingBatch
from .mapspace import Mapspace
from .parallel import in_order
from .record import Recorder, Scores, Statistics, Stop

CHUNK = 4096  # mappings; the arrays of a chunk stay in cache
EXHAUSTIVE_LIMIT = 10_000_000  # mappings; beyond it an exhaustive search must be given an end

OBJECTIVES: dict[str, Callable[[Costs], Floats]] = {
    "edp": lambda costs: costs.edp,
    "energy": lambda costs: costs.energy_pj,
    "delay": lambda costs: costs.cycles,
}


@dataclass(frozen=True)
class Strategy:
    """How mappings are proposed: `propose(space, seed, chunk)`, up to CHUNK at a time.

    A finite strategy visits each mapping once and ends by itself; an endless one needs the victory rule.
    """

    propose: Callable[[Mapspace, int, int], MappingBatch]
    finite: bool = False


def _random(space: Mapspace, seed: int, chunk: int) -> MappingBatch:
    """Uniform samples; the chunk's stream depends on the seed and its number alone."""
    return space.sample(np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(chunk,))), CHUNK)


def _exhaustive(space: Mapspace, seed: int, chunk: int) -> MappingBatch:
    """The mappings in the order of their index; the seed does not matter."""
    start = chunk * CHUNK
    return next(iter(space.batches(start, min(start + CHUNK, space.size.total), CHUNK)))


STRATEGIES: dict[str, Strategy] = {
    "random": Strategy(_random),
    "exhaustive": Strategy(_exhaustive, finite=True),
    "optimal": Strategy(_random),  # begins at random, then proves (optimal.py)
}


@dataclass(frozen=True)
class SearchOptions:
    """What to look for, how, and when to stop (whichever rule is met first)."""

    strategy: str = "random"
    objective: str = "edp"
    victory: int = 3000  # consecutive valid mappings without improvement (of endless strategies)
    samples: int | None = None  # mappings drawn, valid or not
    time_limit: float | None = None  # seconds; the one rule whose effect depends on the machine
    jobs: int = 1
    seed: int = 0

    def faults(self) -> list[Fault]:
        """What is wrong with the options, in the user's words."""
        named = (("search", self.strategy, STRATEGIES), ("objective", self.objective, OBJECTIVES))
        least = (
            ("victory", self.victory, 1),
            ("samples", self.samples, 1),
            ("jobs", self.jobs, 1),
            ("seed", self.seed, 0),
        )
        found = [unknown(name, value, choices) for name, value, choices in named if value not in choices]
        found += [
            _fault(name, f"must be at least {low}, got {n}") for name, n, low in least if n is not None and n < low
        ]
        if self.time_limit is not None and not self.time_limit > 0:
            found.append(_fault("time-limit", f"must be more than 0 seconds, got {self.time_limit:g}"))
        return found


def unknown(option: str, value: str, choices: Iterable[str]) -> Fault:
    """The fault of an option that names none of `choices`."""
    choices = list(choices)
    return _fault(option, f'must be one of {", ".join(choices)}; got "{value}"{near(value, choices)}')


def _fault(option: str, message: str) -> Fault:
    return Fault(option, None, "", message)


@dataclass(frozen=True)
class Problem:
    """What every chunk needs: where to look and how to score. Sent to each worker once."""

    space: Mapspace
    table: EnergyTable
    strategy: str = "random"
    objective: str = "edp"
    seed: int = 0
    costs: CostOptions | None = None

    def propose(self, chunk: int) -> MappingBatch:
        """The mappings of chunk number `chunk`; the same at every call."""
        return STRATEGIES[self.strategy].propose(self.space, self.seed, chunk)


@dataclass(frozen=True)
class Outcome:
    """What a search found: a batch of one mapping, or None, and how it went."""

    best: MappingBatch | None
    statistics: Statistics
    lower_bound: float | None = None  # what no mapping can beat, where the search proved something
    optimal: bool = False  # whether it is proven that no mapping is better


def score(problem: Problem, chunk: int) -> Scores:
    """Propose a chunk, find which mappings are valid, and evaluate those alone."""
    batch = problem.propose(chunk)
    reasons = validity(batch)
    values = np.full(len(batch), np.inf)  # (mapping,)
    valid = np.flatnonzero(reasons == 0)
    if valid.size:
        values[valid] = OBJECTIVES[problem.objective](evaluate(batch.take(valid), problem.table, problem.costs))
    return Scores(chunk, reasons, values)


def search(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
) -> Outcome:
    """The best mapping of `space` that `options` let it find. Ctrl-C ends it with the best so far.

    Raises InputError where the options are wrong, or ask for every mapping of a space too large for that.
    """
    chunks = _chunks(space, options)
    if options.strategy == "optimal":
        from .optimal import optimal  # which begins with a search of this file

        return optimal(space, table, options, costs, progress)
    problem = Problem(space, table, options.strategy, options.objective, options.seed, costs)
    recorder = Recorder(_stop(options))
    began = time.monotonic()
    try:
        with closing(in_order(score, problem, chunks, options.jobs)) as scored:
            for scores in scored:
                recorder.record(scores, time.monotonic() - began)
                if progress:
                    progress(recorder)
                if recorder.statistics.stopped_by:
                    break
            else:
                recorder.statistics.stopped_by = "every mapping visited"
    except KeyboardInterrupt:
        recorder.statistics.stopped_by = "interrupted"
    recorder.statistics.seconds = time.monotonic() - began
    if recorder.where is None:
        return Outcome(None, recorder.statistics)
    chunk, index = recorder.where
    return Outcome(problem.propose(chunk).take([index]), recorder.statistics)


def _stop(options: SearchOptions) -> Stop:
    if STRATEGIES[options.strategy].finite:
        return Stop(None, options.samples, options.time_limit, None)
    return Stop(options.victory, options.samples, options.time_limit)


def _chunks(space: Mapspace, options: SearchOptions) -> Iterable[int]:
    if faults := options.faults():
        raise InputError(faults)
    if not STRATEGIES[options.strategy].finite:
        return count_from()
    total = space.size.total
    if total > EXHAUSTIVE_LIMIT and options.samples is None and options.time_limit is None:
        rule = f"exhaustive visits every mapping, at most {EXHAUSTIVE_LIMIT:,} without an end set"
        raise InputError(
            _fault("search", f"{rule}; this mapspace has {total:.3g}: give samples or time-limit, or use random")
        )
    return range(-(-total // CHUNK))
