"""Frontiers of a sweep: per workload, of each mapspace and of all together; with several seeds, how sure they are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..mapping import Floats, frontier
from ..model.figures import plain
from ..report import Json
from .pareto import hypervolume, knee
from .proofs import Bounds, may_be_beaten, may_join, together

ALL = "all mapspaces"


@dataclass(frozen=True)
class Measure:
    """What a point is measured by; less is better."""

    column: str  # in files
    name: str
    unit: str  # in pictures and tables
    size: float  # of that unit, in the column's own
    form: str = ",.5g"  # of a figure in tables


MEASURES = {
    measure.column: measure
    for measure in (
        Measure("area_um2", "area", "mm\N{SUPERSCRIPT TWO}", 1e6),
        Measure("energy_pj", "energy", "\N{MICRO SIGN}J", 1e6),
        Measure("cycles", "delay", "cycles", 1, ",.0f"),
        Measure("edp", "EDP", "pJ cycles", 1),
        Measure("power_pj_per_cycle", "power", "pJ/cycle", 1),  # mW at 1 GHz
    )
}
# what a user may write: the word, or the column
AXES = {measure.name.lower(): measure for measure in MEASURES.values()} | MEASURES


@dataclass(frozen=True, eq=False)
class Candidate:
    """A design with a workload and a mapspace, over all seeds."""

    design: int
    workload: str
    mapspace: str
    seeds: tuple[int, ...]  # those with a mapping
    values: Floats  # (seed, axis) of those
    share: float = 0.0  # of its seeds, those in which it is on the frontier that it is listed in
    gap: float | None = None  # by which its objective may be lower; None: not proven
    proven: Floats | None = None  # (axis,) what its best mapping may come down to, where that is proven
    beaten: bool = False  # on a frontier: another point would dominate it if that came down so far

    @property
    def middle(self) -> Floats:
        """The median over the seeds. # (axis,)"""
        return np.asarray(np.median(self.values, axis=0))

    @property
    def least(self) -> Floats:
        """What its best mapping may come down to; the median where nothing is proven. # (axis,)"""
        return self.middle if self.proven is None else np.minimum(self.middle, self.proven)


@dataclass(frozen=True, eq=False)
class Front:
    """A frontier of medians: of one workload, in one mapspace or all."""

    workload: str
    mapspace: str  # or ALL
    members: tuple[Candidate, ...]  # in the order of the first axis
    knee: Candidate
    hypervolume: float  # share of the box from the ideal corner to the reference of the workload that it dominates
    joining: tuple[Candidate, ...] = ()  # those that would be on it if they came down to what is proven


class Seeded(NamedTuple):
    """A point with a mapping."""

    design: int
    workload: str
    mapspace: str
    seed: int
    measures: Mapping[str, float]
    bounds: Bounds | None = None  # where the search proved some


def candidates(points: Iterable[Seeded], axes: tuple[str, ...]) -> list[Candidate]:
    """Put the points with a mapping together over their seeds."""
    pool = []
    ordered = sorted(points, key=lambda point: (point.workload, point.mapspace, point.design, point.seed))
    for (workload, mapspace, design), same in groupby(ordered, key=lambda p: (p.workload, p.mapspace, p.design)):
        group = list(same)
        values = np.array([[point.measures[axis] for axis in axes] for point in group], dtype=np.float64)
        one = Candidate(design, workload, mapspace, tuple(point.seed for point in group), values)
        if known := together([point.bounds for point in group]):
            one = replace(one, gap=known.gap, proven=np.array([known.least[axis] for axis in axes], dtype=np.float64))
        pool.append(one)
    return pool


def corners(pool: list[Candidate]) -> tuple[Floats, Floats]:
    """The least of each axis over the medians of one workload, and the reference: a tenth above the largest."""
    middles = np.array([candidate.middle for candidate in pool])
    largest = middles.max(axis=0)
    return middles.min(axis=0), np.where(largest > 0, 1.1 * largest, 1.0)


def fronts(pool: list[Candidate], mapspaces: Iterable[str]) -> list[Front]:
    """The fronts of the candidates of a workload: of each mapspace that has any, then of all mapspaces together."""
    if not pool:
        return []
    ideal, reference = corners(pool)
    box = float(np.prod(reference - ideal))
    result = []
    for mapspace in (*mapspaces, ALL):
        own = [candidate for candidate in pool if mapspace in (candidate.mapspace, ALL)]
        if own:
            result.append(_front(own, mapspace, reference, box))
    return result


def _front(pool: list[Candidate], mapspace: str, reference: Floats, box: float) -> Front:
    middles = np.array([candidate.middle for candidate in pool])  # (candidate, axis)
    shares = _shares(pool)
    least = np.array([candidate.least for candidate in pool])
    beaten, on = may_be_beaten(middles, least).tolist(), frontier(middles)
    shared = [
        replace(candidate, share=share, beaten=each)
        for candidate, share, each in zip(pool, shares, beaten, strict=True)
    ]
    joining = tuple(shared[row] for row in np.flatnonzero(may_join(middles, least) & ~on))
    members = [shared[row] for row in np.flatnonzero(on)]
    members.sort(key=lambda candidate: tuple(candidate.middle))
    at = knee(middles)
    assert at is not None, "every candidate has finite measures"
    volume = hypervolume(middles, reference) / box
    return Front(pool[0].workload, mapspace, tuple(members), shared[at], volume, joining)


def _shares(pool: list[Candidate]) -> list[float]:
    """Of each candidate's seeds, the share in which it is on the frontier of that seed's points."""
    times = np.zeros(len(pool))
    for seed in sorted({seed for candidate in pool for seed in candidate.seeds}):
        rows = [row for row, candidate in enumerate(pool) if seed in candidate.seeds]
        values = np.array([pool[row].values[pool[row].seeds.index(seed)] for row in rows])
        times[rows] += frontier(values)
    return [float(count) / len(candidate.seeds) for count, candidate in zip(times, pool, strict=True)]


def candidate_json(candidate: Candidate, axes: tuple[str, ...], parameters: Mapping[str, object]) -> Json:
    """A candidate with the median, the range and the proven bound of each axis."""
    low, high = candidate.values.min(axis=0), candidate.values.max(axis=0)
    return {
        "design": candidate.design,
        "parameters": dict(parameters),
        "mapspace": candidate.mapspace,
        "seeds": len(candidate.seeds),
        "on_frontier": candidate.share,
        "gap": candidate.gap,
        "may_be_dominated": candidate.beaten,
        **{
            axis: {"median": plain(candidate.middle[i]), "low": plain(low[i]), "high": plain(high[i])}
            | ({} if candidate.proven is None else {"lower_bound": plain(candidate.least[i])})
            for i, axis in enumerate(axes)
        },
    }
