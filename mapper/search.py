"""Search of a mapspace: a strategy proposes mappings in chunks, the model scores them, a recorder keeps the best.

Chunk number i is drawn from a random stream of its own, and chunks are recorded in order, so one seed gives one
answer for any number of processes.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count as count_from
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ..energy import EnergyTable
from ..workloads import Fault, InputError, near
from .aims import FrontProof
from .budget import read_budget
from .checkpoint import Part
from .cluster import cluster_faults
from .cost import CostOptions, Costs, evaluate, validity
from .draw import DrawnBatch
from .engine import engine_faults, space_faults
from .mapping import Floats, MappingBatch
from .mapspace import Mapspace
from .parallel import in_order
from .prune import Looked, Pruning, joined
from .record import GIVE_UP, Known, Recorder, Scores, Statistics, Stop
from .screen import Screen, Screened

NOTHING = Known()
FIRST = 512  # mappings of a search, evaluated before there is anything to compare with
CHUNK = 8192  # mappings; fewer calls per mapping, and the arrays of a chunk still stay in cache
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
    return drawn(space, seed, chunk).arranged()


def drawn(space: Mapspace, seed: int, chunk: int) -> DrawnBatch:
    """Uniform samples; the chunk's stream depends on the seed and its number alone."""
    return space.draw(np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(chunk,))), CHUNK)


def _exhaustive(space: Mapspace, seed: int, chunk: int) -> MappingBatch:
    """The mappings in the order of their index; the seed does not matter."""
    return space.at(range(*_numbers(space, chunk)))


def _numbers(space: Mapspace, chunk: int) -> tuple[int, int]:
    """The first number of a chunk of every mapping, and the end of its numbers."""
    return chunk * CHUNK, min((chunk + 1) * CHUNK, space.size.total)


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
    give_up: int = GIVE_UP  # consecutive invalid mappings (of endless strategies)
    valid: int | None = None  # valid mappings drawn
    patience: tuple[float, int] | None = None  # (f, n): n consecutive valid mappings without an improvement by f
    target: float | None = None  # of the first objective
    front: str = ""  # objectives whose Pareto front to keep
    cluster: str | None = None  # where instead of `jobs` processes here
    budget: str = ""  # mappings (1000000) or seconds (60s) that all layers share; then victory ends none
    prune: bool = True  # skip counts that cannot change the answer
    engine: str = "numpy"  # what runs the model; the answer does not depend on it
    bound: float | None = None  # seconds to prove how good the result of any search is; 0: the mapspace as a whole

    @property
    def objectives(self) -> tuple[str, ...]:
        """What to minimise: the first, then among equals the second..."""
        return _names(self.objective)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes of the front."""
        return _names(self.front)

    def faults(self) -> list[Fault]:
        """What is wrong with the options, in the user's words."""
        lists = (("objective", self.objectives), ("front", self.axes))
        least = (
            ("victory", self.victory, 1),
            ("samples", self.samples, 1),
            ("jobs", self.jobs, 1),
            ("seed", self.seed, 0),
            ("give-up", self.give_up, 1),
            ("valid", self.valid, 1),
        )
        found = [] if self.strategy in STRATEGIES else [unknown("search", self.strategy, STRATEGIES)]
        for option, names in lists:
            found += [unknown(option, name, OBJECTIVES) for name in names if name not in OBJECTIVES]
            found += [_fault(option, "names one of its objectives twice")] if len(set(names)) < len(names) else []
        found += [
            _fault(name, f"must be at least {low}, got {n}") for name, n, low in least if n is not None and n < low
        ]
        if self.time_limit is not None and not self.time_limit > 0:
            found.append(_fault("time-limit", f"must be more than 0 seconds, got {self.time_limit:g}"))
        return found + self._more_faults()

    def _more_faults(self) -> list[Fault]:
        found = cluster_faults(self.cluster) + engine_faults(self.engine, self.strategy) + self._budget_faults()
        if self.target is not None and not self.target > 0:
            found.append(_fault("target", f"must be more than 0, got {self.target:g}"))
        if self.bound is not None and not self.bound >= 0:
            found.append(_fault("bound-seconds", f"must be 0 or more, got {self.bound:g}"))
        if self.patience and not (0 < self.patience[0] < 1 and self.patience[1] >= 1):
            given = f"got {self.patience[0]:g}:{self.patience[1]}"
            found.append(_fault("patience", f"must be FRACTION:N with 0 < FRACTION < 1 and N at least 1, {given}"))
        if len(self.axes) == 1:
            found.append(_fault("front", f'must name two objectives or more, got "{self.front}"'))
        known = self.front and set(self.axes) <= set(OBJECTIVES)
        if self.strategy == "optimal" and known and not {"energy", "delay"} <= set(self.axes):
            rule = "--search optimal proves the front of energy,delay"
            found.append(_fault("front", f'{rule}: name both, or use random; got "{self.front}"'))
        if self.strategy == "optimal":
            more: dict[str, object] = {"objective": len(self.objectives) > 1, "patience": self.patience}
            more |= {"target": self.target, "cluster": self.cluster}
            rule = "--search optimal proves the best by one objective, in this process"
            found += [_fault(name, f"{rule}: leave this out or use random") for name, given in more.items() if given]
        return found

    def _budget_faults(self) -> list[Fault]:
        if not self.budget:
            return []
        try:
            samples = read_budget(self.budget).samples
        except InputError as error:
            return list(error.faults)
        given = {"samples": self.samples, "time-limit": self.time_limit}
        found = [_fault(name, "leave this out: the budget says when to stop") for name, it in given.items() if it]
        if samples and self.strategy == "optimal":
            found.append(_fault("budget", f'must be seconds for --search optimal, as 60s; got "{self.budget}"'))
        return found


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()


def read_patience(text: str) -> tuple[float, int]:
    """`0.01:5000` as (0.01, 5000). Raises InputError."""
    fraction, _, number = text.partition(":")
    try:
        return float(fraction), int(number)
    except ValueError:
        raise InputError(_fault("patience", f'must be FRACTION:N, as 0.01:5000; got "{text}"')) from None


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
    objectives: tuple[str, ...] = ("edp",)
    seed: int = 0
    costs: CostOptions | None = None
    axes: tuple[str, ...] = ()  # of the front
    prune: bool = True  # skip counts that could change nothing
    engine: str = "numpy"

    @cached_property
    def pruning(self) -> Pruning:
        """Bounds for the objectives and the axes."""
        return Pruning(self.space, self.table, self.objectives, self.axes, self.costs or CostOptions())

    def propose(self, chunk: int) -> MappingBatch:
        """The mappings of chunk number `chunk`; the same at every call."""
        return STRATEGIES[self.strategy].propose(self.space, self.seed, chunk)

    @property
    def screen(self) -> Screen:
        """What finds the mappings worth NumPy's time, where another engine runs the model."""
        objectives = tuple((name, OBJECTIVES[name]) for name in (*self.objectives, *self.axes))
        pruning, several = self.pruning if self.prune else None, len(self.objectives)
        return Screen(self.space, self.table, self.costs or CostOptions(), objectives, several, pruning)


@dataclass(frozen=True)
class Outcome:
    """What a search found: a batch of one mapping, or None, and how it went."""

    best: MappingBatch | None
    statistics: Statistics
    lower_bound: float | None = None  # what no mapping can beat, where the search proved something
    optimal: bool = False  # whether it is proven that no mapping is better
    front: tuple[MappingBatch, ...] = ()  # batches of one: the mappings of the front, by their first axis
    proof: FrontProof | None = None  # of the front, where the search proved something


def score(problem: Problem, chunks: Sequence[int], known: Known = NOTHING) -> list[Scores]:
    """The scores of each of `chunks`: which mappings are valid, and what those are worth that may improve on `known`.

    The others are never recorded, so the record is that of evaluating all, whatever is known. What few of a chunk are
    left are evaluated together with those of the others, for most of the time goes per call.
    """
    if problem.engine != "numpy":
        draws = (drawn(problem.space, problem.seed, chunk) for chunk in chunks)
        screened = problem.screen.screen(draws, known)
        return [_scores(problem, chunk, one, one.values) for chunk, one in zip(chunks, screened, strict=True)]
    looked = [_look(problem, chunk, known) for chunk in chunks]
    together = joined([one.batch for one in looked])
    if together is not None:
        ends = np.cumsum([len(one.where) for one in looked])[:-1]
        found = np.split(_values(problem, together, known, chunks[0]), ends)
    else:
        found = [_values(problem, one.batch, known, chunks[0]) for one in looked]
    return [_scores(problem, *each) for each in zip(chunks, looked, found, strict=True)]


def _look(problem: Problem, chunk: int, known: Known) -> Looked:
    """The mappings of a chunk that are valid and not ruled out at first sight."""
    if problem.prune and STRATEGIES[problem.strategy].finite:
        return problem.pruning.look_at_numbers(*_numbers(problem.space, chunk), known)
    random = STRATEGIES[problem.strategy].propose is _random
    batch = drawn(problem.space, problem.seed, chunk) if random else problem.propose(chunk)
    if problem.prune:
        return problem.pruning.look(batch, known)
    reasons = validity(batch)
    valid = np.flatnonzero(reasons == 0)
    return Looked(reasons, valid, batch.take(valid))


def _values(problem: Problem, batch: MappingBatch, known: Known, chunk: int) -> Floats:
    """The objectives and the places on the front's axes; inf where the mapping is ruled out. # (mapping, name)"""
    names = (*problem.objectives, *problem.axes)
    values = np.full((len(batch), len(names)), np.inf)
    # where there is nothing to compare with yet, the first mappings give it to the rest
    parts = [slice(FIRST), slice(FIRST, None)] if problem.prune and known == NOTHING else [slice(None)]
    for part in parts:
        left = np.arange(len(batch))[part]
        if problem.prune and left.size:
            left = left[problem.pruning.hopeful(batch.take(left), known, chunk * CHUNK)]
        if left.size:
            costs = evaluate(batch.take(left), problem.table, problem.costs)
            values[left] = np.stack([OBJECTIVES[name](costs) for name in names], axis=1)
            known = known.after(_scores_of(problem, 0, np.zeros(len(batch), np.int8), values))
    return values


def _scores(problem: Problem, chunk: int, looked: Looked | Screened, found: Floats) -> Scores:
    values = np.full((len(looked.reasons), found.shape[1]), np.inf)
    values[looked.where] = found
    return _scores_of(problem, chunk, looked.reasons, values)


def _scores_of(problem: Problem, chunk: int, reasons: NDArray[np.int8], values: Floats) -> Scores:
    several = len(problem.objectives)
    return Scores.of(chunk, reasons, values[:, :several], values[:, several:] if problem.axes else None)


def search(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
    checkpoint: Part | None = None,
) -> Outcome:
    """The best mapping of `space` that `options` let it find. Ctrl-C ends it with the best so far.

    With a `checkpoint` it goes on from there, and saves how far it is. Raises InputError where the options are wrong,
    ask for every mapping of a space too large for that, or the checkpoint cannot be written.
    """
    chunks = _chunks(space, options)
    if options.strategy == "optimal":
        from .optimal import optimal  # which begins with a search of this file

        return optimal(space, table, options, costs, progress, checkpoint)
    problem = Problem(
        space,
        table,
        options.strategy,
        options.objectives,
        options.seed,
        costs,
        options.axes,
        options.prune,
        options.engine,
    )
    if faults := space_faults(options.engine, space, costs):
        raise InputError(faults)
    recorder = Recorder(stop_rules(options))
    if checkpoint and (state := checkpoint.load()):
        recorder.restore(state)
    if not recorder.statistics.stopped_by:
        _run(problem, recorder, islice(chunks, recorder.chunks, None), options, progress, checkpoint)
    if recorder.where is None:
        return Outcome(None, recorder.statistics)
    chunk, index = recorder.where
    front = _front(problem, recorder)
    return Outcome(problem.propose(chunk).take([index]), recorder.statistics, front=front)


def _run(
    problem: Problem,
    recorder: Recorder,
    chunks: Iterable[int],
    options: SearchOptions,
    progress: Callable[[Recorder], None] | None,
    checkpoint: Part | None,
) -> None:
    """Record chunk after chunk until a rule, the last mapping or Ctrl-C ends it."""
    statistics = recorder.statistics
    began = time.monotonic() - statistics.seconds
    try:
        results = in_order(score, problem, chunks, options.jobs, options.cluster, learnt=recorder.known)
        with closing(results) as scored:
            for scores in scored:
                recorder.record(scores, time.monotonic() - began)
                if progress:
                    progress(recorder)
                if statistics.stopped_by:
                    break
                if checkpoint:
                    checkpoint.offer(recorder.state)
            else:
                statistics.stopped_by = "every mapping visited"
        statistics.seconds = time.monotonic() - began
        if checkpoint:
            checkpoint.save(recorder.state())
    except KeyboardInterrupt:  # what was saved last is what --resume goes on from
        statistics.stopped_by = "interrupted"
        statistics.seconds = time.monotonic() - began


def _front(problem: Problem, recorder: Recorder) -> tuple[MappingBatch, ...]:
    """The mappings of the front, by their first axis."""
    batches = lru_cache(maxsize=8)(problem.propose)
    points = sorted(recorder.front, key=lambda point: point.values)
    return tuple(batches(point.chunk).take([point.index]) for point in points)


def stop_rules(options: SearchOptions) -> Stop:
    """When a search with these options ends."""
    more = (options.valid, options.patience, options.target)
    if STRATEGIES[options.strategy].finite:
        return Stop(None, options.samples, options.time_limit, None, *more)
    return Stop(options.victory, options.samples, options.time_limit, options.give_up, *more)


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
