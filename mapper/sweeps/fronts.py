"""Frontiers of a sweep: per workload, of each mapspace and of all together; with several seeds, how sure they are.

Less is better on every axis. A point is a row, an axis a column. Knee and hypervolume are exact for any number of axes.
Of points within limits, `low` and `high` (point, axis), each may be anywhere between them, whatever the others are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf
from typing import NamedTuple

import numpy as np

from ..mapping import Bools, Floats, frontier
from ..model.figures import plain
from ..report import Json
from .proofs import Bounds, together

SLACK = 1e-12  # of distances in two orders
ALL = "all mapspaces"


def knee(values: Floats) -> int | None:
    """The row of the frontier of `values` (point, axis) that is nearest to the ideal corner; None without a frontier.

    Each axis runs from 0 to 1 over the frontier; the ideal corner is 0 on all of them. Of equals the first.

    >>> knee(np.array([[1, 9], [2, 2], [9, 1]]))
    1
    """
    rows = np.flatnonzero(frontier(values))
    if not rows.size:
        return None
    points = values[rows]
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.where(high > low, high - low, 1.0)
    return int(rows[np.linalg.norm(scaled, axis=1).argmin()])


def hypervolume(values: Floats, reference: Floats) -> float:
    """The volume of what the rows of `values` (point, axis) dominate, up to `reference` (axis,): exact.

    Rows that do not reach the reference on some axis add nothing.

    >>> hypervolume(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([3.0, 3.0]))
    3.0
    """
    import moocore  # takes a tenth of a second

    inside = values[np.isfinite(values).all(axis=1) & (values < reference).all(axis=1)]
    return float(moocore.hypervolume(inside, ref=reference)) if len(inside) else 0.0


def surely_on(low: Floats, high: Floats) -> Bools:
    """The points on the frontier for whatever is within the limits: none dominates them at their worst. # (point,)"""
    return np.array([not _dominated(high[row], np.delete(low, row, axis=0)) for row in range(len(low))], bool)


def possibly_on(low: Floats, high: Floats) -> Bools:
    """The points on the frontier for something within the limits: none dominates them at their best. # (point,)"""
    return np.array([not _dominated(low[row], np.delete(high, row, axis=0)) for row in range(len(low))], bool)


def _dominated(value: Floats, rivals: Floats) -> bool:
    return bool(((rivals <= value).all(axis=1) & (rivals < value).any(axis=1)).any())


def possible_knees(low: Floats, high: Floats) -> Bools:
    """Mark the knee for whatever is within the limits, perhaps with points that never are: none is left out. # (point,)

    The distance of a point to the ideal corner, on an axis (x - corner) / (end - corner), grows with x and falls as the
    corner or the end of the frontier moves up; so limits of all three give limits of the distance.
    """
    sure, may = surely_on(low, high), possibly_on(low, high)
    corner, corner_high = low.min(axis=0), high.min(axis=0)
    end = np.maximum(low[sure].max(axis=0), corner) if sure.any() else corner
    end_high = high[may].max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.nan_to_num(np.clip((low - corner_high) / (end_high - corner_high), 0.0, 1.0))
        far = np.where(end > corner, np.minimum((high - corner) / (end - corner), 1.0), 1.0)
    far[:, end_high <= corner] = 0.0  # all of the frontier are equal there
    nearest = np.linalg.norm(far[sure], axis=1).min() if sure.any() else np.inf
    return may & (np.linalg.norm(near, axis=1) <= nearest + SLACK)


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
    proven: tuple[Floats, Floats] | None = None  # (axis,) between which its best mapping is; None: where it stands
    surely: bool = True  # on a frontier, wherever the best mappings of all points are

    @property
    def middle(self) -> Floats:
        """The median over the seeds. # (axis,)"""
        return np.asarray(np.median(self.values, axis=0))

    @property
    def least(self) -> Floats:
        """What its best mapping is not below. # (axis,)"""
        return self.middle if self.proven is None else self.proven[0]

    @property
    def most(self) -> Floats:
        """What its best mapping is not above; infinite where nothing limits it. # (axis,)"""
        return self.middle if self.proven is None else self.proven[1]


@dataclass(frozen=True, eq=False)
class MedianFrontier:
    """A frontier of medians: of one workload, in one mapspace or all."""

    workload: str
    mapspace: str  # or ALL
    members: tuple[Candidate, ...]  # in the order of the first axis
    knee: Candidate
    hypervolume: float  # share of the box from the ideal corner to the reference of the workload that it dominates
    volumes: tuple[float, float]  # limits of that of the best mappings
    joining: tuple[Candidate, ...] = ()  # those not on it whose best mappings may be
    knees: tuple[Candidate, ...] = ()  # those whose best mappings may be the knee


class Seeded(NamedTuple):
    """A point with a mapping."""

    design: int
    workload: str
    mapspace: str
    seed: int
    measures: Mapping[str, float]
    bounds: Bounds | None = None  # None: its mapping is taken as it stands


def candidates(points: Iterable[Seeded], axes: tuple[str, ...]) -> list[Candidate]:
    """Put the points with a mapping together over their seeds."""
    pool = []
    ordered = sorted(points, key=lambda point: (point.workload, point.mapspace, point.design, point.seed))
    for (workload, mapspace, design), same in groupby(ordered, key=lambda p: (p.workload, p.mapspace, p.design)):
        group = list(same)
        values = np.array([[point.measures[axis] for axis in axes] for point in group], dtype=np.float64)
        one = Candidate(design, workload, mapspace, tuple(point.seed for point in group), values)
        known = [point.bounds for point in group if point.bounds]
        pool.append(_bounded(one, together(known), axes) if len(known) == len(group) else one)
    return pool


def _bounded(candidate: Candidate, bounds: Bounds, axes: tuple[str, ...]) -> Candidate:
    known = [bounds.limits[axis] for axis in axes]
    low, high = np.array([interval.low for interval in known]), np.array([interval.high for interval in known])
    return replace(candidate, gap=bounds.gap, proven=(low, high))


def corners(pool: list[Candidate]) -> tuple[Floats, Floats]:
    """The least of each axis over the medians of one workload, and the reference: a tenth above the largest."""
    middles = np.array([candidate.middle for candidate in pool])
    largest = middles.max(axis=0)
    return middles.min(axis=0), np.where(largest > 0, 1.1 * largest, 1.0)


def fronts(pool: list[Candidate], mapspaces: Iterable[str]) -> list[MedianFrontier]:
    """The fronts of the candidates of a workload: of each mapspace that has any, then of all mapspaces together."""
    if not pool:
        return []
    corner = corners(pool)
    result = []
    for mapspace in (*mapspaces, ALL):
        own = [candidate for candidate in pool if mapspace in (candidate.mapspace, ALL)]
        if own:
            result.append(_front(own, mapspace, corner))
    return result


def _front(pool: list[Candidate], mapspace: str, corner: tuple[Floats, Floats]) -> MedianFrontier:
    """The frontier of the medians, with what is known of that of the best mappings. `corner`: ideal and reference."""
    middles, least, most = (
        np.array([getattr(candidate, name) for candidate in pool]) for name in ("middle", "least", "most")
    )  # (candidate, axis)
    shares, sure, on = _shares(pool), surely_on(least, most).tolist(), frontier(middles)
    shared = [
        replace(candidate, share=share, surely=certain)
        for candidate, share, certain in zip(pool, shares, sure, strict=True)
    ]
    members = sorted((shared[row] for row in np.flatnonzero(on)), key=lambda candidate: tuple(candidate.middle))
    at = knee(middles)
    assert at is not None, "every candidate has finite measures"
    return MedianFrontier(
        pool[0].workload,
        mapspace,
        tuple(members),
        shared[at],
        _share_below(middles, corner),
        (_share_below(most, corner), _share_below(least, corner)),
        tuple(shared[row] for row in np.flatnonzero(possibly_on(least, most) & ~on)),
        tuple(shared[row] for row in np.flatnonzero(possible_knees(least, most))),
    )


def _share_below(values: Floats, corner: tuple[Floats, Floats]) -> float:
    """The share of the box between both corners that `values` dominate; what lies below it counts as at its edge."""
    ideal, reference = corner
    return hypervolume(np.maximum(values, ideal), reference) / float(np.prod(reference - ideal))


def _shares(pool: list[Candidate]) -> list[float]:
    """Of each candidate's seeds, the share in which it is on the frontier of that seed's points."""
    times = np.zeros(len(pool))
    for seed in sorted({seed for candidate in pool for seed in candidate.seeds}):
        rows = [row for row, candidate in enumerate(pool) if seed in candidate.seeds]
        values = np.array([pool[row].values[pool[row].seeds.index(seed)] for row in rows])
        times[rows] += frontier(values)
    return [float(count) / len(candidate.seeds) for count, candidate in zip(times, pool, strict=True)]


def candidate_json(candidate: Candidate, axes: tuple[str, ...], parameters: Mapping[str, object]) -> Json:
    """A candidate with the median and the range of each axis, and the limits of its best mapping."""
    low, high = candidate.values.min(axis=0), candidate.values.max(axis=0)
    return {
        "design": candidate.design,
        "parameters": dict(parameters),
        "mapspace": candidate.mapspace,
        "seeds": len(candidate.seeds),
        "on_frontier": candidate.share,
        "gap": candidate.gap,
        "may_be_dominated": not candidate.surely,
        **{
            axis: {"median": plain(candidate.middle[i]), "low": plain(low[i]), "high": plain(high[i]),
                   "at_least": limit_json(candidate.least[i]), "at_most": limit_json(candidate.most[i])}
            for i, axis in enumerate(axes)
        },
    }  # fmt: skip


def limit_json(value: float) -> object:
    """A limit, null where nothing limits the figure."""
    return plain(value) if 0 < value < inf else None
