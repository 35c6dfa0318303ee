"""The EDP of a network: a lower bound over all choices of mappings, and the best choice among known mappings.

Energies E and cycles C add up over layers, the EDP is their product. For a slope s (pJ per cycle) let h(s) be the
least E + s C of the network: the sum of the layers' least sums, since each layer can be minimised alone. Every choice
of mappings has E C >= min over s of h(s)^2 / 4 s, and the best choice attains it (docs/optimal.md, section 8). What is
known of the layers gives lower bounds of h: sums proven for some slopes, least EDPs, ideal bounds, proven fronts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple, Self

import numpy as np

from ...mapping import Bools, Floats
from ...problem import ROUNDING, Point

FIRST_SLOPES = 33  # at which h is bounded first; then wherever the bound of the EDP is least
MOST_SLOPES = 120


class LeastSum(NamedTuple):
    """A proof about a layer: every mapping has energy + slope x cycles of at least `least_pj`."""

    slope: float  # pJ per cycle
    least_pj: float


@dataclass(frozen=True)
class LayerBounds:
    """What every mapping of a layer needs at least."""

    count: int  # occurrences of the layer in the network
    energy_pj: float
    cycles: float
    edp: float
    sums: tuple[LeastSum, ...] = ()
    corners: tuple[Point, ...] = ()  # every mapping is above one of them on both axes; empty: no such proof

    @classmethod
    def fixed(cls, point: Point) -> Self:
        """What has no mappings, and takes these cycles and pJ."""
        cycles, energy_pj = point
        return cls(1, energy_pj, cycles, energy_pj * cycles, corners=(point,))

    def least_sums(self, slopes: Floats) -> Floats:
        """Bound energy + slope x cycles of one occurrence from below, at ascending slopes. # (slope,)

        The least sum is a concave function of the slope, so bounds at two slopes hold on the chord between them.
        """
        slots = _distinct(np.concatenate([slopes, [least_sum.slope for least_sum in self.sums]]))
        sums = np.maximum(2 * np.sqrt(slots * self.edp), self.energy_pj + slots * self.cycles)
        for slope, least in self.sums:
            more = least + (slots - slope) * self.cycles
            less = least * (slots / slope) + self.energy_pj * (1 - slots / slope)
            sums = np.maximum(sums, np.where(slots >= slope, more, less))
        if self.corners:
            cycles, energy_pj = np.array(self.corners).T
            sums = np.maximum(sums, (energy_pj + slots[:, None] * cycles).min(axis=1))
        bounds: Floats = np.interp(slopes, *concave(slots, sums))
        return bounds

    def slopes(self) -> list[float]:
        """List the slopes at which one of its bounds gives way to another."""
        ends = [least_sum.slope for least_sum in self.sums]
        if self.edp > 0 and self.energy_pj > 0 and self.cycles > 0:
            ends += [self.energy_pj**2 / self.edp, self.edp / self.cycles**2]
        return ends


class EdpBound(NamedTuple):
    """A lower bound of a network's EDP, and the slope at which better bounds of the layers would raise it."""

    edp: float
    slope: float | None  # None: energies of 0 leave no slopes to look at


def edp_bound(layers: Sequence[LayerBounds]) -> EdpBound:
    """Bound the EDP of every choice of mappings from below.

    With bounds at some slopes the bound of h is a chain of lines a + c s; on each (a + c s)^2 / 4 s is least at an end,
    or a c at s = a / c. The slope where it is least of all is looked at next, until it is known.
    """
    least = least_by_edp((layer.edp, layer.count) for layer in layers)
    ends = [slope for layer in layers for slope in layer.slopes() if slope > 0]
    if not ends or not np.isfinite(ends).all():
        return EdpBound(least, None)
    slopes = _distinct(np.concatenate([np.geomspace(min(ends), max(ends), FIRST_SLOPES), ends]))
    while True:
        edp, slope = _bound_at(layers, slopes)
        if not slope:
            return EdpBound(least, None)
        if len(slopes) >= MOST_SLOPES or np.abs(slopes / slope - 1).min() <= ROUNDING:
            return EdpBound(max(edp, least), slope)
        slopes = _distinct(np.append(slopes, slope))


def _bound_at(layers: Sequence[LayerBounds], slopes: Floats) -> tuple[float, float]:
    """Bound the EDP by the bounds of h at some slopes; return the slope where it is least, too."""
    energy_pj = sum(layer.count * layer.energy_pj for layer in layers)
    cycles = sum(layer.count * layer.cycles for layer in layers)
    sums = np.sum([layer.count * layer.least_sums(slopes) for layer in layers], axis=0)
    rises = np.concatenate([[(sums[0] - energy_pj) / slopes[0]], np.diff(sums) / np.diff(slopes), [cycles]])
    starts = np.concatenate([[energy_pj], sums - rises[1:] * slopes])
    with np.errstate(divide="ignore", invalid="ignore"):
        turns = starts / rises
    inside = (turns >= np.concatenate([[0.0], slopes])) & (turns <= np.concatenate([slopes, [np.inf]]))
    at = np.concatenate([slopes, turns[inside]])  # elsewhere a line between close slopes has rounding errors
    edp = np.concatenate([sums**2 / (4 * slopes), (starts * rises)[inside]])
    least = int(edp.argmin())
    return float(edp[least]), float(at[least])


def least_by_edp(layers: Iterable[tuple[float, int]]) -> float:
    """Bound the EDP of a network from below by the least EDP of each layer and its count.

    By the inequality of Cauchy and Schwarz (sum of energies) x (sum of cycles) is at least the square of the sum of
    sqrt(energy x cycles) over the layers, whatever mapping each of them has.
    """
    return sum(count * sqrt(edp) for edp, count in layers) ** 2


def best_choice(counts: Sequence[int], points: Sequence[Sequence[Point]]) -> list[int]:
    """Choose the mapping of each layer, from the (cycles, energy) of its known mappings, with which the EDP is least.

    The product is quasi-concave, so the best choice minimises energy + slope x cycles in every layer, for one slope.
    Of equal choices it is the first of each layer, then that of the least slope.
    """
    chosen = [0] * len(points)
    least = _edp(counts, points, chosen)
    for slope in slopes_between(points):
        choice = [min(range(len(own)), key=lambda i, own=own: own[i][1] + slope * own[i][0]) for own in points]  # type: ignore[misc]
        edp = _edp(counts, points, choice)
        if edp < least * (1 - ROUNDING):
            chosen, least = choice, edp
    return chosen


def crossing(one: Point, other: Point) -> float | None:
    """Compute the slope at which two points (cycles, energy) have the same sum; None where one dominates."""
    (cycles, energy_pj), (more, less_pj) = sorted((one, other))
    return (energy_pj - less_pj) / (more - cycles) if cycles < more and less_pj < energy_pj else None


def slopes_between(points: Sequence[Sequence[Point]]) -> list[float]:
    """List slopes, one on each side of those at which the least sum of a layer goes from one mapping to another."""
    pairs = ((one, other) for own in points for i, one in enumerate(own) for other in own[:i])
    ends = sorted({slope for one, other in pairs if (slope := crossing(one, other)) is not None})
    if not ends:
        return [1.0]  # in each layer a mapping dominates the others
    middles = [(low + high) / 2 for low, high in zip(ends, ends[1:], strict=False)]
    return [ends[0] / 2, *middles, ends[-1] * 2]


def _edp(counts: Sequence[int], points: Sequence[Sequence[Point]], chosen: Sequence[int]) -> float:
    places = [own[i] for own, i in zip(points, chosen, strict=True)]
    cycles = sum(count * place[0] for count, place in zip(counts, places, strict=True))
    return cycles * sum(count * place[1] for count, place in zip(counts, places, strict=True))


def _distinct(values: Floats) -> Floats:
    """Sort values, without those that rounding alone tells apart."""
    values = np.sort(values)
    stay: Bools = np.concatenate([[True], np.diff(values) > ROUNDING * values[1:]])
    return np.asarray(values[stay])


def concave(slopes: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """Select the points on the upper hull: chords between them are nowhere below the others."""
    while True:
        middle, widths = sums[1:-1], np.diff(slopes)
        chord = (sums[:-2] * widths[1:] + sums[2:] * widths[:-1]) / (widths[1:] + widths[:-1])
        stay = np.concatenate([[True], middle > chord, [True]]) if len(slopes) > 2 else np.ones(len(slopes), bool)
        if stay.all():
            return slopes, sums
        slopes, sums = slopes[stay], sums[stay]
