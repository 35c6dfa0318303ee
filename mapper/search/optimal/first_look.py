"""Finds the first incumbents of a proof."""

from dataclasses import replace

from ...mapping import MappingBatch
from ..run import Chunked
from ..strategies import RandomDraws
from ..strategy import Task, Watch
from .evidence import Evidence

FIRST_LOOK = 30_000  # mappings drawn at random
DRAWS = Chunked(RandomDraws())


def first_look(task: Task, evidence: Evidence, given: MappingBatch | None) -> None:
    """Offer the `given` mapping, or the best of a random search, which is short if a proof can follow.

    Raises KeyboardInterrupt where that search was interrupted, after offering its best.
    """
    if given is not None:
        evidence.leaves.offer(given)
        return
    look, limit = task.options, task.options.time_limit
    if not evidence.hindrance:
        look = replace(look, samples=FIRST_LOOK, time_limit=None if limit is None else limit / 4)
    elif limit is not None:
        look = replace(look, victory=None)  # no proof follows that could use the time
    outcome = DRAWS.run(replace(task, options=look), Watch())
    statistics, drawn = evidence.statistics, outcome.statistics
    statistics.evaluated, statistics.valid, statistics.invalid = drawn.evaluated, drawn.valid, drawn.invalid
    for batch in [*outcome.front, *([] if outcome.best is None else [outcome.best])]:
        evidence.leaves.offer(batch)
    if drawn.interrupted:
        raise KeyboardInterrupt
