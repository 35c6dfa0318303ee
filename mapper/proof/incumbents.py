"""The incumbents of `--search optimal`: the mapping with the least objective, or the front of energy and delay.

Where several objectives are minimised in turn, each is the goal of a stage, and the values of the stages before are
limits: the best mapping is the best within them, and a bound above one of them is infinite.

Both give the branch and bound a bound value for each lower bound, and the cutoff at which it is ruled out. For the
front the bound value is the *reach* of a point (energy, cycles): the largest factor by which energy and cycles of some
incumbent may both be multiplied without passing the point. With reach 1 that incumbent is as good on both axes. The
reach grows with energy and with cycles, so the reach of a lower bound is a bound for all mappings above it.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import cycle, islice
from typing import Protocol

import numpy as np

from ..bounds import ObjectiveLimit, exceeds
from ..mapping import Bools, Floats, Ints, MappingBatch, dominated
from ..problem import ROUNDING, Objective, Point
from ..search.outcome import reach

Powers = tuple[int, int]  # of energy and cycles in a product
WEIGHED: tuple[Powers, ...] = ((1, 0), (0, 1), (1, 1), (2, 1), (1, 2))  # whose bounds are of use for a front


class Incumbents(Protocol):
    """The best mappings so far, and the cutoff for bounds."""

    objectives: tuple[Objective, ...]  # the first is the one to prove

    @property
    def weighed(self) -> tuple[Powers, ...]:
        """The powers of energy and cycles whose products are of use as bounds."""

    @property
    def best(self) -> MappingBatch | None:
        """The mapping with the least objective, as a batch of one."""

    @property
    def least(self) -> float:
        """The objective of `best`; inf before there is one."""

    @property
    def cutoff(self) -> float:
        """The limit of bound values: mappings not below it are of no use."""

    @property
    def valued_by(self) -> Hashable | None:
        """What bound values depend on besides the bounds; None: they change with the best mappings."""

    def bound_value(self, energy_pj: Floats, cycles: Floats, products: Sequence[Floats] = ()) -> Floats:
        """Convert lower bounds to bound values, to compare with `cutoff`; with better incumbents they may grow.

        `products` are lower bounds of energy^p * cycles^q for the powers `weighed`, in turn, again and again.
        """

    def worth(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """Convert the costs of mappings to bound values; inf where a mapping is not within the limits. # (mapping,)"""

    def precedes(self, values: Floats) -> bool:
        """Test whether some values # (mapping, objective), of all objectives of the search, may be of use."""

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Select the mappings to offer, most promising first. # (mapping,)"""

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        """Record a mapping if it is of use; return whether the first objective of the search has a new least."""


@dataclass(eq=False)
class BestIncumbent:
    """The mapping with the least objective within the limits; among equals that with the least of the next objective,
    and so on."""

    objectives: tuple[Objective, ...]
    limits: tuple[ObjectiveLimit, ...] = ()
    # the mapping, its value by each objective, by those of the limits and these: a single attribute, as Ctrl-C may come
    _best: tuple[MappingBatch | None, tuple[float, ...], tuple[float, ...]] = (None, (np.inf,), (np.inf,))

    @classmethod
    def below(
        cls, value: float, objectives: tuple[Objective, ...], limits: tuple[ObjectiveLimit, ...] = ()
    ) -> "BestIncumbent":
        """Make one without a mapping: what is offered has to be below `value` by the first objective."""
        return cls(objectives, limits, (None, (value,), (value,)))

    def to_beat(self) -> "BestIncumbent":
        """Copy it without its mapping: what is offered has to be better."""
        return BestIncumbent(self.objectives, self.limits, (None, *self._best[1:]))

    @property
    def best(self) -> MappingBatch | None:
        return self._best[0]

    @property
    def least(self) -> float:
        return self._best[1][0]

    @property
    def cutoff(self) -> float:
        return self.least

    @property
    def weighed(self) -> tuple[Powers, ...]:
        """Those of the objective."""
        return (self.objectives[0].powers,)

    @property
    def valued_by(self) -> Hashable | None:
        """The objective and the limits."""
        return self.objectives[0], self.limits

    def bound_value(self, energy_pj: Floats, cycles: Floats, products: Sequence[Floats] = ()) -> Floats:
        """Return the objective; inf above a limit, with some room for rounding."""
        over = exceeds(self.limits, energy_pj, cycles, ROUNDING)
        return reduce(np.maximum, products, np.where(over, np.inf, self.objectives[0].value(energy_pj, cycles)))

    def worth(self, energy_pj: Floats, cycles: Floats) -> Floats:
        """Return the objective; inf above a limit."""
        over = exceeds(self.limits, energy_pj, cycles)
        return np.where(over, np.inf, self.objectives[0].value(energy_pj, cycles))

    def precedes(self, values: Floats) -> bool:
        """Test whether some values are less than those of the best, by the first objective that differs."""
        return bool(len(values)) and min(map(tuple, values.tolist())) < self._best[2]

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Select the mapping with the least objective, among equals by the next."""
        keys = [objective.value(energy_pj, cycles) for objective in self.objectives[:0:-1]]
        return np.lexsort([*keys, self.worth(energy_pj, cycles)])[:1]

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        energies, steps = np.array([energy_pj]), np.array([cycles])
        values = _values(self.objectives, energies, steps)
        if exceeds(self.limits, energies, steps)[0] or not values < self._best[1]:
            return False
        first = values[0] < self.least
        limited = _values([limit.objective for limit in self.limits], energies, steps)
        self._best = batch, values, (*limited, *values)
        return first and not self.limits


def _values(objectives: Sequence[Objective], energy_pj: Floats, cycles: Floats) -> tuple[float, ...]:
    """Compute the objectives of a single mapping."""
    return tuple(float(objective.value(energy_pj, cycles)[0]) for objective in objectives)


@dataclass(eq=False)
class FrontIncumbents:
    """The mappings on the front of energy and cycles so far, by ascending cycles.

    The mapping with the least objective is on the front, as each objective grows with energy and cycles.
    """

    objectives: tuple[Objective, ...]
    cutoff: float = 1.0
    # batches, cycles, energy_pj: in a single attribute, so that Ctrl-C cannot separate them
    _front: tuple[tuple[MappingBatch, ...], Floats, Floats] = ((), np.empty(0), np.empty(0))

    @property
    def batches(self) -> tuple[MappingBatch, ...]:
        """The mappings, as batches of one."""
        return self._front[0]

    @property
    def cycles(self) -> Floats:
        """The cycles of each, ascending."""
        return self._front[1]

    @property
    def energy_pj(self) -> Floats:
        """The energy of each, descending."""
        return self._front[2]

    @property
    def _values(self) -> Floats:
        """The first objective of each."""
        return self.objectives[0].value(self.energy_pj, self.cycles)

    @property
    def _at(self) -> int:
        """The place of the mapping with the least objective, among equals by the next."""
        equal = np.arange(len(self.cycles))
        for objective in self.objectives[:-1]:
            values = objective.value(self.energy_pj[equal], self.cycles[equal])
            # a front has no mapping that it matches up to rounding: what matches it may be that much above
            equal = equal[values <= ObjectiveLimit.equal_to(objective, float(values.min())).most * (1 + 2 * ROUNDING)]
        values = self.objectives[-1].value(self.energy_pj[equal], self.cycles[equal])
        return int(equal[values.argmin()])

    @property
    def best(self) -> MappingBatch | None:
        return self.batches[self._at] if self.batches else None

    @property
    def least(self) -> float:
        return float(self._values.min()) if self.batches else np.inf

    @property
    def weighed(self) -> tuple[Powers, ...]:
        """Those of each axis, and of some products of both."""
        return WEIGHED

    @property
    def valued_by(self) -> Hashable | None:
        """Nothing that stays."""
        return None

    def bound_value(self, energy_pj: Floats, cycles: Floats, products: Sequence[Floats] = ()) -> Floats:
        """Compute the least reach of what is above each point and each product.

        While the front is empty, return a negative number that grows with the EDP of the point.
        """
        values = reach(self.energy_pj, self.cycles, energy_pj, cycles)
        near = np.flatnonzero(values < 1) if products and len(self.cycles) else np.empty(0, np.int64)
        if len(near):
            within = self._reach(energy_pj[near], cycles[near], [product[near] for product in products])
            values[near] = np.maximum(values[near], within)
        return values

    def _reach(self, energy_pj: Floats, cycles: Floats, products: Sequence[Floats]) -> Floats:
        """Compute the least factor by which to scale the front until something above each point lies under it.

        What lies under the scaled front lies under one of its steps: its energy is below that of a mapping, its cycles
        below those of the next. All bounds grow with both, so they leave something there if they leave the step's
        corner.
        """
        powers = np.array([(1, 0), (0, 1), *islice(cycle(self.weighed), len(products))], float)
        shares = powers / powers.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            # in logarithms, as if each product had one factor: the step's corner and the point are as far apart
            least = np.log([energy_pj, cycles, *products]) / powers.sum(axis=1, keepdims=True)
            steps = np.log([[np.inf, *self.energy_pj], [*self.cycles, np.inf]]).T
        steps = steps[(steps > -np.inf).all(axis=1)]  # nothing lies under a mapping without energy
        log_factors = np.full(len(cycles), np.inf)
        for corner in steps:
            figures = np.multiply(shares, corner, out=np.zeros(shares.shape), where=shares > 0).sum(axis=1)
            log_factors = np.minimum(log_factors, (least - figures[:, None]).max(axis=0))
        return np.exp(log_factors)

    def worth(self, energy_pj: Floats, cycles: Floats) -> Floats:
        return self.bound_value(energy_pj, cycles)

    def precedes(self, values: Floats) -> bool:
        """Test nothing: what extends the front need not have lower objectives."""
        return True

    def promising(self, energy_pj: Floats, cycles: Floats) -> Ints:
        """Select the mappings out of reach, the farthest first."""
        bounds = self.bound_value(energy_pj, cycles)
        order = np.argsort(bounds)
        return order[bounds[order] < 1 - ROUNDING]

    def offer(self, batch: MappingBatch, energy_pj: float, cycles: float) -> bool:
        if self.bound_value(np.array([energy_pj]), np.array([cycles]))[0] >= 1 - ROUNDING:
            return False
        before = self.least
        stay = ~dominated(np.stack([self.cycles, self.energy_pj]).T, [(cycles, energy_pj)])
        place = int((self.cycles[stay] < cycles).sum())
        kept = [other for other, stays in zip(self.batches, stay.tolist(), strict=True) if stays]
        batches = (*kept[:place], batch, *kept[place:])
        all_cycles = np.insert(self.cycles[stay], place, cycles)
        self._front = batches, all_cycles, np.insert(self.energy_pj[stay], place, energy_pj)
        return self.least < before

    def times(self, factor: float) -> list[Point]:
        """Multiply the front by a factor: a mapping of at least this reach is above some point on both axes.

        Merits from before there was a front are negative, even infinite: they say no more than 0 does.
        """
        factor = max(factor, 0.0)
        return [(factor * c, factor * e) for c, e in zip(self.cycles.tolist(), self.energy_pj.tolist(), strict=True)]

    def least_times(self, factors: Floats) -> Floats:
        """Compute the least first objective of the front multiplied by each factor, at most 1. # (factor,)"""
        factors = np.clip(factors, 0.0, 1.0)  # infinity times no energy is no number
        return self.objectives[0].value(factors, factors) * self.least if self.batches else np.zeros(len(factors))


def without_equals(energy_pj: Floats, cycles: Floats) -> Bools:
    """Mark the points of a front, by ascending cycles, that are not equal to another up to rounding. # (point,)"""
    stay = np.zeros(len(cycles), bool)
    least = np.inf
    for i, energy in enumerate(energy_pj.tolist()):
        if energy < least * (1 - ROUNDING):
            stay[i], least = True, energy
    return stay
