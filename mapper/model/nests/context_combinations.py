"""Where contexts of several dims meet: one pass over those that occur, of all combinations of chains together.

A rank's sums run over a context of each of its dims (contexts.py). Most kinds of context do not occur in most chains,
and most of the time of small batches goes into calls: so all kinds that do occur become rows of the same columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import prod

import numpy as np

from ...mapping import Ints, Numbers
from .contexts import Context, Range, with_count

AT_ONCE = 1 << 20  # contexts times combinations: their columns fit in memory, and calls cost little beside them


@dataclass(frozen=True, eq=False)
class ContextCombinations:
    """A kind of context of each dim in one combination, an entry for each that occurs."""

    choice: Ints  # (entry,) of one alternative per dim, the first dim's changing slowest
    combination: Ints  # (entry,)
    times: Ints  # (entry,) how often
    ranges: list[list[Range]]  # per dim those of the context; where one has fewer, others of no coordinates # (entry,)


def context_combinations(
    contexts: Sequence[Sequence[tuple[Context, ...]]], rows: Sequence[Ints], at_once: int = AT_ONCE
) -> Iterator[ContextCombinations]:
    """Where contexts meet, in blocks of combinations.

    contexts: per dim the contexts of each alternative; rows: per dim the chain of each combination. # (combination,)
    """
    n = len(rows[0])
    block = max(1, at_once // prod(sum(map(len, alternatives)) for alternatives in contexts))
    for start in range(0, n, block):
        kinds = [_Kinds.of(own, dim_rows[start : start + block]) for own, dim_rows in zip(contexts, rows, strict=True)]
        met = _meeting(kinds, start)
        if len(met.combination):
            yield met


def summed(figures: Numbers, where: Ints, length: int) -> Numbers:
    """Sum the `figures` of each place. # (length,)"""
    if figures.dtype != object:
        return np.bincount(where, figures, length)
    sums: Numbers = np.zeros(length, object)
    np.add.at(sums, where, figures)
    return sums


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The contexts of one dim that occur, of all alternatives."""

    alternatives: int
    alternative: Ints  # (kind,)
    times: Ints  # (kind, combination)
    ranges: tuple[Range, ...]  # (kind, combination) each

    @classmethod
    def of(cls, contexts: Sequence[tuple[Context, ...]], rows: Ints) -> "_Kinds":
        """Of the contexts of each alternative those that occur in some combination, whose chains are `rows`."""
        every = (
            (number, context, context.times[rows])
            for number, alternative in enumerate(contexts)
            for context in alternative
        )
        occurring = [(number, context.ranges, times) for number, context, times in every if times.any()]
        most = max((len(ranges) for _, ranges, _ in occurring), default=0)
        return cls(
            len(contexts),
            np.array([number for number, *_ in occurring], np.int64),
            np.array([times for *_, times in occurring], np.int64).reshape(len(occurring), len(rows)),
            tuple(_stacked([_range(ranges, i) for _, ranges, _ in occurring], rows) for i in range(most)),
        )


def _meeting(kinds: Sequence[_Kinds], start: int) -> ContextCombinations:
    times = kinds[0].times
    for kind in kinds[1:]:
        times = times[..., None, :] * kind.times
    *met, combination = np.nonzero(times)
    choice = np.zeros(len(combination), np.int64)
    for kind, which in zip(kinds, met, strict=True):
        choice = choice * kind.alternatives + kind.alternative[which]
    ranges = [
        [_picked(part, which, combination) for part in kind.ranges] for kind, which in zip(kinds, met, strict=True)
    ]
    return ContextCombinations(choice, start + combination, times[(*met, combination)], ranges)


def _range(ranges: Sequence[Range], i: int) -> Range:
    return ranges[i] if i < len(ranges) else with_count(ranges[0], 0 * ranges[0].count)


def _stacked(parts: Sequence[Range], rows: Ints) -> Range:
    return Range(*(np.stack([getattr(part, one.name)[rows] for part in parts]) for one in fields(Range)))


def _picked(part: Range, kind: Ints, combination: Ints) -> Range:
    return Range(*(getattr(part, one.name)[kind, combination] for one in fields(Range)))
