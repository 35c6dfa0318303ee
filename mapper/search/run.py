"""The chunk loop: a proposer proposes mappings in chunks, an engine scores them, a recorder records the best.

Chunks are recorded in order, so a seed gives the same answer for any number of processes.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import batched, islice
from typing import Any, override

from ...workloads import Fault, InputError, option_fault
from ..mapping import MappingBatch, Mappings
from ..runtime import State, in_order
from .engines import ENGINES, score
from .options import SearchOptions
from .outcome import Ended, Outcome
from .proposer import Proposer, Scored, random_batch
from .recorder import Recorder, Scores, Stop
from .recording import Proposing
from .rounds import Rounds, rounds_of
from .score import ScoringTask
from .strategy import Observers, Task, UsesExactModel


@dataclass(frozen=True)
class Chunked:
    """The strategy that scores the mappings of a proposer. See Strategy."""

    proposer: Proposer[Any]
    no_victory: str = ""  # why the victory rule of the options does not apply; empty where it does
    settled: int | None = None  # valid mappings in a row without improvement that end the search in its place

    proves = False
    extends: frozenset[str] = frozenset()

    @property
    def shares(self) -> bool:
        """Whether layers may take turns: not with a proposer that learns, as turns end within a generation."""
        return self.proposer.generation is None

    @property
    def compiles(self) -> bool:
        """Whether a compiled engine can evaluate its mappings: it can where batches are lazy."""
        return self.proposer.lazy

    @property
    def asks(self) -> Callable[[Task], Rounds]:
        """Propose the same mappings to a cost model."""
        return lambda task: rounds_of(self._informed(task), task.space, task.options)

    def _informed(self, task: Task) -> Proposer[Any]:
        """Hand the task to a proposer that asks for it."""
        return self.proposer.informed(task) if isinstance(self.proposer, UsesExactModel) else self.proposer

    def configured(self, settings: str) -> "Chunked":
        """Return the same with these settings of its proposer. Raises InputError with every fault of them."""
        return replace(self, proposer=self.proposer.configured(settings))

    def missing(self) -> list[str]:
        """List the packages that its proposer needs, in the user's words."""
        return self.proposer.missing()

    def faults(self, options: SearchOptions) -> list[Fault]:
        """List no fault: every option goes with it."""
        return []

    def ignored(self, given: Collection[str]) -> list[Fault]:
        """List the victory rule where it does not apply."""
        rule = f"{self.no_victory}: leave this out or use random"
        return [option_fault("victory", rule)] if self.no_victory and "victory" in given else []

    def stop(self, options: SearchOptions) -> Stop:
        """Return the stop rules; a finite search visits every mapping, improvement or not."""
        more, limits = (options.valid, options.patience, options.target), options.limits
        if self.proposer.finite:
            return Stop(None, options.samples, limits.seconds, None, *more, limits)
        victory = self.settled if self.no_victory else options.victory
        return Stop(victory, options.samples, limits.seconds, options.give_up, *more, limits)

    def first_batch(self, task: Task) -> MappingBatch:
        """Propose the first chunk; where it is empty, mappings drawn at random."""
        memory = self.proposer.begin(task.space, task.options.seed)
        batch = self.proposer.propose(task.space, task.options.seed, memory, 0)
        return (batch if len(batch) else random_batch(task.space, task.options.seed, 0)).arranged()

    def run(self, task: Task, observers: Observers) -> Outcome:
        """Score chunk after chunk, until a rule, the last mapping or Ctrl-C ends the search."""
        options, space = task.options, task.space
        chunks = self.proposer.chunks(space, options)
        if faults := ENGINES[options.engine].space_faults(space, task.charges):
            raise InputError([option_fault("engine", message) for message in faults])
        loop = _ChunkLoop(task, self._informed(task), Recorder(self.stop(options)), observers)
        state = observers.part.load() if observers.part else None
        if state:
            loop.restore(state)
        if not loop.recorder.statistics.ended:
            loop.run(chunks)
        return loop.outcome()


class _ChunkLoop(Proposing):
    """A running search by chunks."""

    def __init__(self, task: Task, proposer: Proposer[Any], recorder: Recorder, observers: Observers) -> None:
        super().__init__(recorder, observers)
        self.options = task.options
        self.scoring = ScoringTask(replace(task, start=None), proposer)
        # memories, by generation: of those that proposed the best and the front, and of the last
        self.memories: dict[int, Any] = {0: proposer.begin(task.space, task.options.seed)}

    @property
    def generation(self) -> int | None:
        """The number of chunks proposed from one memory; None: the proposer learns nothing."""
        return self.scoring.proposer.generation

    def run(self, chunks: Iterable[int]) -> None:
        """Score and record chunks, until a rule, the last mapping or Ctrl-C ends the search."""
        generations = self._generations(chunks)
        self.follow(
            lambda began: all(self._record(*generation, began) for generation in generations), Ended.ALL_VISITED
        )

    @override
    def batch(self, chunk: int, place: int) -> MappingBatch:
        return self._proposed(chunk).take([place]).arranged()

    @override
    def state(self) -> State:
        """Return the state from which a later run goes on."""
        memories = {} if self.generation is None else {"memories": list(self.memories.items())}
        return self.recorder.state() | memories

    def restore(self, state: State) -> None:
        """Go on from `state`."""
        self.recorder.restore(state)
        if self.generation is not None:
            self.memories = dict(state["memories"])

    def _generations(self, chunks: Iterable[int]) -> Iterator[tuple[int, Iterable[int]]]:
        """Yield the remaining generations with their numbers; a single one where the proposer learns nothing."""
        if self.generation is None:
            yield 0, islice(chunks, self.recorder.chunks, None)
            return
        first = max(self.memories)
        yield from enumerate(batched(islice(chunks, first * self.generation, None), self.generation), first)

    def _record(self, number: int, chunks: Iterable[int], began: float) -> bool:
        """Record the chunks of one generation, then learn from them; False where a rule ended the search.

        Scores chunks again that an earlier run has recorded, to learn from them.
        """
        task, recorder, learnt = replace(self.scoring, memory=self.memories[number]), self.recorder, list[Scored]()
        options = self.options
        jobs = 1 if self.generation == 1 else options.cluster or options.jobs  # one chunk leaves nothing to share
        results = in_order(score, task, chunks, jobs, learnt=recorder.known)
        with closing(results) as scored:
            for scores in scored:
                if scores.chunk >= recorder.chunks and not self._take(scores, began):
                    return False
                if scores.every is not None:
                    learnt.append(Scored(scores.chunk, task.propose(scores.chunk), scores.every))
        if self.generation is not None:
            memory = task.proposer.learn(task.space, task.memory, learnt)
            needed = {point.chunk // self.generation for point in recorder.front}
            needed |= {recorder.where[0] // self.generation} if recorder.where else set()
            self.memories = {n: known for n, known in self.memories.items() if n in needed} | {number + 1: memory}
        return True

    def _take(self, scores: Scores, began: float) -> bool:
        """Record one chunk; False where a rule ends the search."""
        self.recorder.record(scores, time.monotonic() - began)
        return self.go_on()

    @cached_property
    def _proposed(self) -> Callable[[int], Mappings]:
        """Proposes chunks again, once the search has ended; those of a front are often of few chunks."""
        return lru_cache(maxsize=8)(self._propose)

    def _propose(self, chunk: int) -> Mappings:
        """Propose the mappings of a chunk, from the memory of its generation."""
        memory = self.memories[0 if self.generation is None else chunk // self.generation]
        return replace(self.scoring, memory=memory).propose(chunk)
