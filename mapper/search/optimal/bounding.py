"""Bounds every choice of kept tensors, before any branches."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ...model import InternalError
from ...model.bounds import ROUNDING
from ...runtime import Deadline
from .evidence import Evidence
from .keep_choice import choice_of

BESIDE = 5_000  # rows of chains whose columns take about as long as a generation


def bound_choices(
    evidence: Evidence, check: Deadline, evolve: Callable[[int], object], tell: Callable[[int], object]
) -> None:
    """Bound every choice of kept tensors, and close those above the best at once, with their columns.

    Calls `evolve` now and then and `tell` after each choice, with the number of those bounded. May raise TimeUp.
    """
    root, rows, incumbents = np.inf, 0, evidence.incumbents
    for i, keep in enumerate(evidence.task.space.every_keep(), 1):
        check()
        last = i == evidence.number_of_choices
        choice = choice_of(evidence.task, evidence.leaves, keep, partial(evolve, i - 1), last=last)
        evidence.choices = replace(evidence.choices, waiting=(*evidence.choices.waiting, choice))
        evidence.bounded = last
        cutoff = incumbents.cutoff * (1 - ROUNDING)
        if choice.least < cutoff:
            choice.sharpen()
        root = min(root, choice.least)
        if choice.sketch is not None:  # it ruled out what is no better than the best, which may have changed since
            root = min(root, cutoff)
        if choice.least >= cutoff:
            evidence.close([choice])
        tell(i)
        before, rows = rows, rows + choice.rows
        for _ in range(0 if last else rows // BESIDE - before // BESIDE):
            evolve(i)
    if incumbents.best is not None and root > incumbents.cutoff * (1 + ROUNDING):
        raise InternalError("internal error: a mapping is below the bound of its mapspace; please report it")
