"""Why no proof is possible: long lists, too many choices, too little time, figures rounded or decided by orders."""

from collections.abc import Iterator

import numpy as np

from ..model import figures_exact
from ..search import Task
from ..search.outcome import MOST_CHAINS, MOST_COARSE, MOST_KEPT, MOST_NAMED, STEPS_A_ROW, Ended
from .chain_groups import ChainGroups
from .retention_order import SHARE, by_tensors


def why_no_proof(task: Task, chains: ChainGroups) -> Ended | None:
    """Return the first reason why no proof is possible; None where one is."""
    return next((reason for holds, reason in _hindrances(task, chains) if holds), None)


def _hindrances(task: Task, chains: ChainGroups) -> Iterator[tuple[bool, Ended]]:
    """Yield every reason and whether it holds; those that take time to find out come last."""
    options, choices, front = task.options, task.space.keep_choices, bool(task.goal.front)
    yield not figures_exact(task.space.arch, task.space.workload), Ended.INEXACT
    # of a combination of chains a proof tries the orders of the least energy alone
    yield task.space.arch.systolic is not None, Ended.SYSTOLIC
    yield chains.most > MOST_COARSE, Ended.TOO_MANY_COARSE
    yield chains.most > MOST_NAMED and options.certify, Ended.TOO_MANY_NAMED
    yield (
        chains.most > MOST_CHAINS and front,
        Ended.TOO_MANY_CHAINS,
    )  # a front has no weighted products, so no coarse bound
    yield choices.number > MOST_KEPT and (front or options.certify), Ended.TOO_MANY_CHOICES_LISTED
    in_turn = by_tensors(choices, listed=chains.most <= MOST_CHAINS)
    bounded = choices.most_of_tensor if in_turn else choices.number
    yield bounded > MOST_KEPT, Ended.TOO_MANY_CHOICES
    steps = options.limits.expected_steps
    limit = np.inf if steps is None else steps * (SHARE if in_turn else 1.0)
    yield chains.rows_of_all * bounded * STEPS_A_ROW > limit, Ended.TOO_SHORT
