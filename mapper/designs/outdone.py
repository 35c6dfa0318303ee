"""Designs that need not be searched: another one allows whatever they do, at no higher cost, and is no larger.

Whatever the best mappings turn out to be, those of the other are as good on every score (docs/optimal.md, section 10).
"""

import numpy as np

from ..mapping import Bools, Floats, Ints, frontier, unique_rows
from .space import Space
from .standing import Score, Wanted


def outdone(space: Space, wanted: Wanted) -> Bools:
    """Mark the candidates that others make needless by their figures alone: of equal ones all but one. # (candidate,)

    With limits that are not of the objective none is marked: it may be the other that does not keep them. Nor is one
    whose mapspace depends on the machine: the other may not have its mappings.
    """
    marked = np.zeros(len(wanted.possible), bool)
    if wanted.apart:
        return marked
    scores = [score for question in wanted.questions for score in question]
    scores += [ceiling.score for ceiling in wanted.ceilings]
    for rows in space.by_mapspace(np.flatnonzero(wanted.possible)):
        if space.by_machine[space.mapspace[rows[0]]]:
            continue
        figures = _less_is_better(space, rows, scores, wanted)
        first = np.unique(unique_rows(figures)[1], return_index=True)[1]
        needed = first[frontier(figures[first])]
        marked[rows] = True
        marked[rows[needed]] = False
    return marked


def _less_is_better(space: Space, rows: Ints, scores: list[Score], wanted: Wanted) -> Floats:
    """What decides about candidates of one kind and mapspace, each as a rank. # (candidate, figure)"""
    kind = space.kinds[space.kind[rows[0]]]
    columns = [*kind.needs[:, space.row[rows]], *-wanted.most[rows].T]
    # the sum of a score that mappings do not decide; else its factor of each workload
    for score in scores:
        factors = score.factors[rows]
        columns.extend(factors.T if score.power else [factors.sum(axis=1)])
    ranks = [np.unique(column, return_inverse=True)[1].astype(np.int32) for column in columns]
    varied = [rank for rank in ranks if rank.any()] or ranks[:1]
    return np.stack(varied, axis=1).astype(np.float64)
