"""Why no proof is possible: long lists, too many choices, too little time, figures rounded or decided by orders."""

import numpy as np

from ..model import figures_exact
from ..search import Task
from ..search.outcome import MOST_CHAINS, MOST_KEPT, MOST_NAMED, MOST_SKETCHED, STEPS_A_ROW, Ended
from .chain_groups import ChainGroups
from .retention_order import SHARE, by_tensors


def hindrance(task: Task, chains: ChainGroups) -> Ended | None:
    """Return the reason why no proof is possible; None where one is."""
    options, choices = task.options, task.space.keep_choices
    if not figures_exact(task.space.arch, task.space.workload):
        return Ended.INEXACT
    if task.space.arch.systolic is not None:
        return Ended.SYSTOLIC  # of a combination of chains a proof tries the orders of the least energy alone
    if chains.most > MOST_SKETCHED:
        return Ended.TOO_MANY_SKETCHED
    if chains.most > MOST_NAMED and options.certify:
        return Ended.TOO_MANY_NAMED
    if chains.most > MOST_CHAINS and task.goal.front:
        return Ended.TOO_MANY_CHAINS  # a front has no weighted products, so no sketch
    if choices.number > MOST_KEPT and (task.goal.front or options.certify):
        return Ended.TOO_MANY_CHOICES_LISTED
    in_turn = by_tensors(choices, listed=chains.most <= MOST_CHAINS)
    bounded = choices.most_of_tensor if in_turn else choices.number
    if bounded > MOST_KEPT:
        return Ended.TOO_MANY_CHOICES
    steps = options.limits.expected_steps
    limit = np.inf if steps is None else steps
    share = SHARE if in_turn else 1.0
    return Ended.TOO_SHORT if chains.rows_of_all * bounded * STEPS_A_ROW > limit * share else None
