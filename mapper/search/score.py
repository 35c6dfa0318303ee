"""What a search looks at, chunk by chunk: how mappings are proposed, which are valid, and what those are worth.

Chunk number i is drawn from a random stream of its own, so its mappings and their scores are the same in any process.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...energy import EnergyTable
from ..mapping import Floats, MappingBatch
from ..mapspace import LazyBatch, Mapspace
from ..model import OBJECTIVES, CostOptions, evaluate, validity
from .prefilter import Prefilter, Prefiltered
from .pruning import Pruning, Survivors, joined
from .recorder import Scores, ToBeat

NOTHING = ToBeat()
FIRST = 512  # mappings of a search, evaluated before there is anything to compare with
CHUNK = 8192  # mappings; fewer calls per mapping, and the arrays of a chunk still stay in cache


@dataclass(frozen=True)
class Strategy:
    """How mappings are proposed: `propose(space, seed, chunk)`, up to CHUNK at a time.

    A finite strategy visits each mapping once and ends by itself; an endless one needs the victory rule.
    """

    propose: Callable[[Mapspace, int, int], MappingBatch]
    finite: bool = False


def _random(space: Mapspace, seed: int, chunk: int) -> MappingBatch:
    return random_batch(space, seed, chunk).arranged()


def random_batch(space: Mapspace, seed: int, chunk: int) -> LazyBatch:
    """Uniform samples; the chunk's stream depends on the seed and its number alone."""
    return space.sample_lazily(np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(chunk,))), CHUNK)


def _exhaustive(space: Mapspace, seed: int, chunk: int) -> MappingBatch:
    """The mappings in the order of their index; the seed does not matter."""
    return space.at(range(*_numbers(space, chunk)))


def number_of_chunks(space: Mapspace) -> int:
    """How many chunks every mapping makes."""
    return -(-space.size.total // CHUNK)


def _numbers(space: Mapspace, chunk: int) -> tuple[int, int]:
    """The first number of a chunk of every mapping, and the end of its numbers."""
    return chunk * CHUNK, min((chunk + 1) * CHUNK, space.size.total)


STRATEGIES: dict[str, Strategy] = {
    "random": Strategy(_random),
    "exhaustive": Strategy(_exhaustive, finite=True),
    "optimal": Strategy(_random),  # begins at random, then proves (prove.py)
}


@dataclass(frozen=True)
class ScoringTask:
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
    def screen(self) -> Prefilter:
        """What finds the mappings worth NumPy's time, where another engine runs the model."""
        objectives = tuple(OBJECTIVES[name] for name in (*self.objectives, *self.axes))
        pruning, several = self.pruning if self.prune else None, len(self.objectives)
        return Prefilter(self.space, self.table, self.costs or CostOptions(), objectives, several, pruning)


def score(problem: ScoringTask, chunks: Sequence[int], known: ToBeat = NOTHING) -> list[Scores]:
    """The scores of each of `chunks`: which mappings are valid, and what those are worth that may improve on `known`.

    The others are never recorded, so the record is that of evaluating all, whatever is known. What few of a chunk are
    left are evaluated together with those of the others, for most of the time goes per call.
    """
    if problem.engine != "numpy":
        draws = (random_batch(problem.space, problem.seed, chunk) for chunk in chunks)
        screened = problem.screen.screen(draws, known, chunks[0] * CHUNK)
        return [_scores(problem, chunk, one, one.values) for chunk, one in zip(chunks, screened, strict=True)]
    if not problem.space.listed:  # what a chunk derives from tables of its own is gone before the next
        return [_score_alone(problem, chunk, known) for chunk in chunks]
    looked = [_look(problem, chunk, known) for chunk in chunks]
    ends = np.cumsum([len(one.where) for one in looked])[:-1]
    found = np.split(_values(problem, joined([one.batch for one in looked]), known, chunks[0]), ends)
    return [_scores(problem, *each) for each in zip(chunks, looked, found, strict=True)]


def _score_alone(problem: ScoringTask, chunk: int, known: ToBeat) -> Scores:
    looked = _look(problem, chunk, known)
    return _scores(problem, chunk, looked, _values(problem, looked.batch, known, chunk))


def _look(problem: ScoringTask, chunk: int, known: ToBeat) -> Survivors:
    """The mappings of a chunk that are valid and not ruled out at first sight."""
    if problem.prune and STRATEGIES[problem.strategy].finite:
        return problem.pruning.look_at_numbers(*_numbers(problem.space, chunk), known)
    random = STRATEGIES[problem.strategy].propose is _random
    batch = random_batch(problem.space, problem.seed, chunk) if random else problem.propose(chunk)
    if problem.prune:
        return problem.pruning.look(batch, known)
    reasons = validity(batch)
    valid = np.flatnonzero(reasons == 0)
    return Survivors(reasons, valid, batch.take(valid))


def _values(problem: ScoringTask, batch: MappingBatch, known: ToBeat, chunk: int) -> Floats:
    """The objectives and the places on the front's axes; inf where the mapping is ruled out. # (mapping, name)"""
    names = (*problem.objectives, *problem.axes)
    values = np.full((len(batch), len(names)), np.inf)
    ends = [*range(0, len(batch), CHUNK), len(batch)]  # as many at a time as stay in cache
    if problem.prune and known == NOTHING and ends[1:]:
        ends.insert(1, min(FIRST, ends[1]))  # these give the rest something to compare with
    for start, end in pairwise(ends):
        left = np.arange(start, end)
        if problem.prune and left.size:
            left = left[problem.pruning.hopeful(batch.take(left), known, chunk * CHUNK)]
        if left.size:
            costs = evaluate(batch.take(left), problem.table, problem.costs)
            values[left] = np.stack([OBJECTIVES[name].of(costs) for name in names], axis=1)
            if problem.prune:
                known = known.after(_scores_of(problem, 0, np.zeros(len(batch), np.int8), values))
    return values


def _scores(problem: ScoringTask, chunk: int, looked: Survivors | Prefiltered, found: Floats) -> Scores:
    values = np.full((len(looked.reasons), found.shape[1]), np.inf)
    values[looked.where] = found
    return _scores_of(problem, chunk, looked.reasons, values)


def _scores_of(problem: ScoringTask, chunk: int, reasons: NDArray[np.int8], values: Floats) -> Scores:
    several = len(problem.objectives)
    return Scores.of(chunk, reasons, values[:, :several], values[:, several:] if problem.axes else None)
