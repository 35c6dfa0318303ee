"""Dynamic programming over cuts of a chain and numbers of cores: the least sum of stages of so many cycles at most.

With energies E, cycles T of the stages for an item, N items and `a` pJ for a cycle a pipeline has the sum

    N (E_1 + E_2 + ...) + a (T_1 + T_2 + ...) + a (N - 1) M,      M = max(T_1, T_2, ...)

At a fixed M it is a sum over the stages, each with T_i <= M. Of what is known of a part at energy + slope x cycles,
r (T_i - M) <= 0 may be added to a stage for any r >= 0: that bounds it (Lagrange), and names mappings that may be best.
"""

import heapq
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...mapping import Floats
from ...problem import ROUNDING

SHARES = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of a (N - 1): the r that are tried
MOST_LIMITS = 128  # values of M for which sums are computed


@dataclass(frozen=True)
class Weights:
    """What is minimised: the energy of all items and `cycle_pj` for each cycle; or only cycles."""

    items: int
    cycle_pj: float | None  # the leakage and the slope; None: only cycles count

    @property
    def energy(self) -> int:
        """The weight of the energy of an item."""
        return 0 if self.cycle_pj is None else self.items

    @property
    def fill(self) -> float:
        """The weight of the cycles of the first item."""
        return 1.0 if self.cycle_pj is None else self.cycle_pj

    @property
    def pace(self) -> float:
        """The weight of the cycles of the slowest stage."""
        return self.fill * (self.items - 1)

    @property
    def extra(self) -> tuple[float, ...]:
        """What a cycle of a stage may weigh beyond `fill`; the first is 0."""
        return (0.0,) if self.cycle_pj is None or not self.pace else tuple(self.pace * share for share in SHARES)

    def slope(self, extra: float) -> float | None:
        """The slope at which a part of a stage is searched, in pJ a cycle of an item; None: only its cycles count."""
        return None if self.cycle_pj is None else (self.cycle_pj + extra) / self.items


class Cut(NamedTuple):
    """A stage: the parts from `first` to the one before `after`, on so many cores."""

    first: int
    after: int
    cores: int
    option: int  # of the sum that it has


class Split(NamedTuple):
    """Stages with their sum."""

    total: float
    cuts: tuple[Cut, ...]


NO_SPLIT = Split(inf, ())


def _spans(values: Floats) -> Floats:
    """Add up, for all stages, what each part has: # (..., part) -> (..., first, after), inf where a stage is empty."""
    known = np.where(np.isfinite(values), values, 0.0)
    sums = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(known, axis=-1)], axis=-1)
    missing = np.concatenate([np.zeros((*values.shape[:-1], 1)), np.cumsum(~np.isfinite(values), axis=-1)], axis=-1)
    spans = sums[..., None, :] - sums[..., :, None]
    size = sums.shape[-1]
    none = (missing[..., None, :] > missing[..., :, None]) | (np.arange(size)[None, :] <= np.arange(size)[:, None])
    return np.asarray(np.where(none, inf, spans))


def least_split(sums: Floats) -> Split:
    """Find the stages with the least sum, by `sums` of stages # (cores, first, after); as many cores at most."""
    cores, size = sums.shape[0], sums.shape[1]
    best = np.full((size, cores + 1), inf)  # by parts that are done and cores that may be taken
    best[0] = 0.0
    came = np.zeros((size, cores + 1, 2), dtype=int)
    for after in range(1, size):
        for own in range(1, cores + 1):
            through = best[:after, : cores + 1 - own] + sums[own - 1, :after, after, None]
            first = through.argmin(axis=0)
            least = through[first, np.arange(cores + 1 - own)]
            better = least < best[after, own:]
            best[after, own:] = np.where(better, least, best[after, own:])
            came[after, own:][better] = np.stack([first, np.full_like(first, own)], axis=-1)[better]
    if best[-1, -1] == inf:
        return NO_SPLIT
    cuts, after, left = list[Cut](), size - 1, cores
    while after:
        first, own = came[after, left].tolist()
        cuts.append(Cut(first, after, own, 0))
        after, left = first, left - own
    return Split(float(best[-1, -1]), tuple(reversed(cuts)))


@dataclass(frozen=True, eq=False)
class StageBounds:
    """What no stage is below, by what is proven of parts."""

    weights: Weights
    least: Floats  # of a part at each extra weight of its cycles # (extra, cores, part); inf: it has no mapping
    cycles: Floats  # the fewest of a part # (cores, part)

    @cached_property
    def sums(self) -> Floats:
        """Of all stages at each extra weight # (extra, cores, first, after)."""
        return _spans(self.least)

    @cached_property
    def fewest(self) -> Floats:
        """The fewest cycles of all stages # (cores, first, after)."""
        return _spans(self.cycles)

    def at(self, limit: float) -> Split:
        """The least sum of stages of which none takes more than `limit` cycles, without `pace`."""
        if limit == inf:
            return least_split(self.sums[0])
        sums = self.sums - limit * np.array(self.weights.extra)[:, None, None, None]
        within = np.where(self.fewest <= limit * (1 + ROUNDING), sums.max(axis=0), inf)
        return _with_options(least_split(within), sums.argmax(axis=0))

    def least_of_all(self, enough: float, gap: float) -> Split:
        """Bound the sum of all pipelines, of which one has `enough`: it need not be closer to that than `gap`.

        The cuts are those of the bound, where it is lower than `enough`.
        """
        pace = self.weights.pace
        if not pace:
            return min(self.at(inf), Split(enough, ()), key=lambda own: own.total)
        first = self.cycles.min(axis=0).max()
        if first == inf:
            return NO_SPLIT
        close = enough * (1 - max(gap, ROUNDING))
        low, high = int(first), max(int(first), ceil(enough / pace))
        heap = [self._interval(low, high)]
        for _ in range(MOST_LIMITS):
            total, low, high, split = heap[0]
            if total >= close or low == high:
                break
            middle = max(low, min(high - 1, isqrt(low * high)))
            heapq.heapreplace(heap, self._interval(low, middle))
            heapq.heappush(heap, self._interval(middle + 1, high))
        total, _, _, split = heap[0]
        return Split(total, split.cuts) if total < enough else Split(enough, ())

    def _interval(self, low: int, high: int) -> tuple[float, int, int, Split]:
        """Bound all pipelines whose slowest stage takes from `low` to `high` cycles."""
        split = self.at(high)
        return split.total + self.weights.pace * low, low, high, split


@dataclass(frozen=True, eq=False)
class KnownStages:
    """Stages of known mappings: for each extra weight of cycles those of all parts that are best there."""

    weights: Weights
    energies: Floats  # of the best mapping of a part # (extra, cores, part); inf: none is known
    cycles: Floats  # of the same

    @cached_property
    def took(self) -> Floats:
        """The cycles of all stages # (extra, cores, first, after)."""
        return _spans(self.cycles)

    @cached_property
    def sums(self) -> Floats:
        """Energy and cycles of all stages, weighted, without `pace` # (extra, cores, first, after)."""
        weights = self.weights
        cycles = weights.fill * self.took if weights.fill else np.where(np.isfinite(self.took), 0.0, inf)
        return cycles + weights.energy * _spans(self.energies) if weights.energy else cycles

    def at(self, limit: float) -> Split:
        """The least sum of stages of which none takes more than `limit` cycles, without `pace`."""
        sums = np.where(self.took <= limit, self.sums, inf)
        return _with_options(least_split(sums.min(axis=0)), sums.argmin(axis=0))

    def best(self) -> Split:
        """Find the pipeline with the least sum: by limits of the slowest stage, each half of those that are left."""
        best, pace = NO_SPLIT, self.weights.pace
        heap = [(0.0, 0.0, inf)]  # a bound, the least and the most cycles of the slowest stage
        for _ in range(MOST_LIMITS):
            if not heap:
                break
            bound, low, high = heapq.heappop(heap)
            if bound >= best.total:
                break
            split = self.at(high)
            if split.total + pace * low >= best.total:
                continue
            slowest = max(self._cycles(cut) for cut in split.cuts)
            best = min(best, split._replace(total=split.total + pace * slowest), key=lambda own: own.total)
            if not pace:
                break
            middle, below = (low + slowest) // 2, slowest - 1  # none of more cycles within `high` is better
            if low <= below:
                heapq.heappush(heap, (split.total + pace * low, low, min(middle, below)))
            if middle + 1 <= below:
                heapq.heappush(heap, (split.total + pace * (middle + 1), middle + 1, below))
        return best

    def _cycles(self, cut: Cut) -> float:
        return float(self.took[cut.option, cut.cores - 1, cut.first, cut.after])


def _with_options(split: Split, options: NDArray[np.int64]) -> Split:
    """Add to each stage the option that has its sum."""
    cuts = (cut._replace(option=int(options[cut.cores - 1, cut.first, cut.after])) for cut in split.cuts)
    return Split(split.total, tuple(cuts))
