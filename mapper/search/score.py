"""Scores chunks of mappings: which mappings are valid, and the objectives of those that may be recorded.

A proposer makes a chunk from the memory of its generation, so mappings and scores are the same in any process.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mapping import Floats, Ints, Mappings
from ..mapspace import Mapspace
from ..model import validity
from .proposer import CHUNK, Proposer
from .pruning import Pruning, Survivors, joined
from .recorder import RecordThreshold, Scores
from .strategy import Task
from .values import Valuation

NOTHING = RecordThreshold()
FIRST = 512  # mappings that a search evaluates first, to have values to compare with


@dataclass(frozen=True)
class ScoringTask:
    """The inputs of every chunk: the proposer of its mappings, and how to score them. Sent to each worker once."""

    task: Task
    proposer: Proposer[Any]
    memory: Any = None  # of the proposer
    _proposed: dict[int, Mappings] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def space(self) -> Mapspace:
        """The mapspace of all mappings."""
        return self.task.space

    @property
    def prunes(self) -> bool:
        """Whether bounds may rule mappings out; a proposer that learns needs all values."""
        return self.task.options.prune and self.proposer.generation is None

    @cached_property
    def pruning(self) -> Pruning:
        """The lower bounds of the objectives and the axes."""
        task = self.task
        return Pruning(task.space, task.table, task.goal.objectives, task.goal.front, task.charges)

    @property
    def valuation(self) -> Valuation:
        """How mappings are ranked."""
        return self.task.valuation

    def propose(self, chunk: int) -> Mappings:
        """Propose the mappings of chunk number `chunk`; the same at every call."""
        if self.proposer.generation is None:
            return self.proposer.propose(self.space, self.task.options.seed, self.memory, chunk)
        if chunk not in self._proposed:  # what learns is asked twice in one process: to score, and to learn
            self._proposed[chunk] = self.proposer.propose(self.space, self.task.options.seed, self.memory, chunk)
        return self._proposed[chunk]

    def scores(self, chunk: int, reasons: NDArray[np.int8], where: Ints, values: Floats) -> Scores:
        """Make the scores of a chunk from the values # (survivor, column) of the mappings at `where`, the survivors."""
        every = np.full((len(reasons), values.shape[1]), np.inf)
        every[where] = values
        return self.scores_of(chunk, reasons, every)

    def scores_of(self, chunk: int, reasons: NDArray[np.int8], values: Floats) -> Scores:
        """Make the scores of a chunk from the values # (mapping, column) of all its mappings."""
        several = len(self.task.goal.objectives)
        scores = Scores.of(chunk, reasons, values[:, :several], values[:, several:] if self.task.goal.front else None)
        return scores if self.proposer.generation is None else scores.with_every(values[:, :several])


def score_exactly(task: ScoringTask, chunks: Sequence[int], known: RecordThreshold = NOTHING) -> list[Scores]:
    """Score each of `chunks`: mark the valid mappings, and evaluate those that may improve on `known`.

    The others are never recorded, so the record is that of evaluating all mappings. The few mappings left of all chunks
    are evaluated together, as most of the time is spent per call.
    """
    if not task.space.listed:  # each chunk has tables of its own, which are dropped before the next
        return [_score_alone(task, chunk, known) for chunk in chunks]
    survivors = [_survivors(task, chunk, known) for chunk in chunks]
    ends = np.cumsum([len(chunk_survivors.where) for chunk_survivors in survivors])[:-1]
    values = np.split(
        _values(task, joined([chunk_survivors.batch for chunk_survivors in survivors]), known, chunks[0]), ends
    )
    return [
        task.scores(chunk, chunk_survivors.reasons, chunk_survivors.where, own)
        for chunk, chunk_survivors, own in zip(chunks, survivors, values, strict=True)
    ]


def _score_alone(task: ScoringTask, chunk: int, known: RecordThreshold) -> Scores:
    survivors = _survivors(task, chunk, known)
    values = _values(task, survivors.batch, known, chunk)
    return task.scores(chunk, survivors.reasons, survivors.where, values)


def _survivors(task: ScoringTask, chunk: int, known: RecordThreshold) -> Survivors:
    """Select the mappings of a chunk that are valid and not ruled out by their cycles."""
    if task.prunes and (numbers := task.proposer.numbers(task.space, chunk)):
        return task.pruning.look_at_numbers(*numbers, known)
    batch = task.propose(chunk)
    if task.prunes:
        return task.pruning.look(batch, known)
    reasons = validity(batch)
    valid = np.flatnonzero(reasons == 0)
    return Survivors(reasons, valid, batch.take(valid))


def _values(task: ScoringTask, batch: Mappings, known: RecordThreshold, chunk: int) -> Floats:
    """Compute the objectives and the values on the front's axes; inf where ruled out. # (mapping, column)"""
    values = np.full((len(batch), len(task.valuation.columns)), np.inf)
    if task.proposer.generation is not None:
        known = NOTHING  # what is learnt may not depend on how far other processes are
    ends = [*range(0, len(batch), CHUNK), len(batch)]  # parts that fit in cache
    if task.prunes and known == NOTHING and ends[1:]:
        ends.insert(1, min(FIRST, ends[1]))  # the other mappings are compared with these
    for start, end in pairwise(ends):
        remaining = np.arange(start, end)
        if task.prunes and remaining.size:
            remaining = remaining[task.pruning.hopeful(batch.take(remaining), known, chunk * CHUNK)]
        if remaining.size:
            values[remaining] = task.valuation.values(batch.take(remaining), known)
            known = known.after(task.scores_of(0, np.zeros(len(batch), np.int8), values))
    return values
