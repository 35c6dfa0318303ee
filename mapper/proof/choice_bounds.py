"""Bounds a choice of kept tensors as a whole: what the search of its mappings begins with."""

import operator
from collections.abc import Sequence
from functools import partial

from ..bounds import DimGroup, Geometric, Relaxation
from ..mapping import Bools, Ints
from ..search import Task
from .certify import kept_names
from .coarse_bound import LONG, CoarseBounds
from .incumbents import BestIncumbent
from .keep_choice import KeepChoice
from .leaves import LeafEvaluator
from .long_lists import LongList
from .wide_choice import WideChoice
from .work import Work


def choice_of(task: Task, leaves: LeafEvaluator, keep: Bools, *, last: bool) -> Work[KeepChoice | WideChoice]:
    """Bound a choice of kept tensors # (level, tensor), of long lists of chains those that a coarse bound leaves.

    `last`: it is the last choice, so what others would have used again is dropped. May raise TimeUp.
    """
    incumbents, groups = leaves.incumbents, leaves.chains.groups
    best, coarse_bound = incumbents if isinstance(incumbents, BestIncumbent) else None, None

    def relaxation(dim_groups: Sequence[DimGroup], *, coarse: bool = False) -> Relaxation:
        shares = not coarse and all(map(operator.is_, dim_groups, groups))
        terms = leaves.chains.terms if shares else None
        return Relaxation(dim_groups, task.table, keep, task.charges, coarse=coarse, terms=terms)

    if best and max(map(len, groups)) > LONG:
        coarse_bound = yield from CoarseBounds(groups, partial(relaxation, coarse=True), best).bound()
        if coarse_bound.wide:
            return WideChoice(
                kept_names(task.space.arch, task.space.workload, keep), coarse_bound, leaves.chains.number
            )
    rows = coarse_bound.rows if coarse_bound else [None] * len(groups)
    relaxed = relaxation([_held(group, group_rows) for group, group_rows in zip(groups, rows, strict=True)])
    if last:
        leaves.chains.forget()
    certified_front = task.options.certify and not best  # its certificate has no weighted products
    limits = best.limits if best else ()
    weighing = () if certified_front else tuple(Geometric(relaxed, powers, limits) for powers in incumbents.weighed)
    return KeepChoice(relaxed, incumbents, weighing, coarse_bound=coarse_bound)


def _held(group: DimGroup | LongList, rows: Ints | None) -> DimGroup:
    """Return the group of the combinations `rows`; None: of all."""
    if isinstance(group, DimGroup) and (rows is None or len(rows) == len(group)):
        return group
    assert rows is not None, "a long list has a coarse bound"
    return group.take(rows)
