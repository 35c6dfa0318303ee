"""Prunes without loss: mappings that provably cannot improve the best or the front are not counted.

The compute cycles of a mapping are exact, cheap and a lower bound of its cycles. Its energy has lower bounds: first a
constant, then one that includes exact terms that are cheap. Where the bounds of all objectives together are no better
than the best known, and those of the front's axes no better than a point of the front, the mapping can be neither the
best nor on the front. docs/performance.md, "Pruning", has the argument and figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...energy import EnergyTable
from ...workloads import Tensor
from ..bounds import DimGroup, Relaxation, Terms, distribution_costs, grouped, ideal, least_between, least_outermost
from ..mapping import Bools, Floats, Ints, Mappings, dominated, keeper_pairs, unique_rows
from ..mapspace import SAFE, Mapspace
from ..model import validity
from ..model.nests import DataMovement, NestAnalysis
from ..problem import OBJECTIVES, ROUNDING, Charges
from .recorder import RecordThreshold
from .values import may_precede

MOST_ROWS = 50_000  # chain combinations of a group for which columns are computed; few enough to be LISTED
PAYS = 100  # columns pay off after so many mappings per row
MOST_RELAXED = 8192  # mappings that columns bound; for more it is quicker to draw their loop orders


@dataclass(frozen=True, eq=False)
class Survivors:
    """The mappings of one chunk: reason codes of all, and those left to be counted."""

    reasons: NDArray[np.int8]  # (mapping,) 0 valid
    where: Ints  # (left,) indices in the chunk
    batch: Mappings  # the mappings left


@dataclass(frozen=True, eq=False)
class Pruning:
    """Lower bounds for the mappings of one mapspace, by the names of objectives and of the front's axes."""

    space: Mapspace
    table: EnergyTable
    objectives: tuple[str, ...]
    axes: tuple[str, ...] = ()
    costs: Charges = Charges()
    _relaxations: dict[bytes, Relaxation] = field(default_factory=dict, repr=False)

    def look(self, batch: Mappings, known: RecordThreshold) -> Survivors:
        """Select the valid mappings whose cycles leave room to improve on `known`."""
        reasons = validity(batch)
        valid = np.flatnonzero(reasons == 0)
        remaining = valid[self._may_improve(NestAnalysis(batch.take(valid)), known, self._ideal_pj)]
        return Survivors(reasons, remaining, batch.take(remaining))

    def look_at_numbers(self, start: int, stop: int, known: RecordThreshold) -> Survivors:
        """Select from the mappings numbered `start` to `stop`; their cycles are bounded once for all loop orders."""
        if self.space.keep_choices.stacks:  # whose numbers go part by part
            return self.look(self.space.at(range(start, stop)), known)
        orders, bypass = self.space.common_orders, self.space.keep_choices.number
        offsets = np.arange(stop - start).astype(object if orders * bypass > SAFE else np.int64)
        order = (start % (orders * bypass) + offsets) // bypass % orders
        first, which = np.unique(offsets - order * bypass, return_inverse=True)
        chains = self.space.at(start + int(i) for i in first)  # each with its first loop order
        looked = self.look(chains, known)
        hope = np.zeros(len(first), bool)
        hope[looked.where[self._any_order(looked.batch, known, stop)]] = True
        remaining = np.flatnonzero(hope[which])
        if len(first) == len(offsets) or not len(remaining):
            return Survivors(looked.reasons[which], remaining, chains.take(remaining))
        return Survivors(looked.reasons[which], remaining, self.space.at(start + int(i) for i in remaining))

    def hopeful(self, batch: Mappings, known: RecordThreshold, seen: int) -> Ints:
        """Select from `batch`, all valid, the mappings whose energy bounds leave room to improve on `known`.

        `seen` is the number of mappings before them.
        """
        remaining = self._any_order(batch, known, seen)
        if len(remaining):
            part = NestAnalysis(batch.take(remaining))  # from here on loop orders matter
            remaining = remaining[self._may_improve(part, known, self._ends(part))]
        return remaining

    def _any_order(self, batch: Mappings, known: RecordThreshold, seen: int) -> Ints:
        """Select the mappings that may improve on `known` in some loop order; fewer where columns pay off."""
        nest = NestAnalysis(batch)
        remaining = np.flatnonzero(self._may_improve(nest, known, self._inner(nest))) if len(batch) else np.arange(0)
        if 0 < len(remaining) <= MOST_RELAXED and self._pays(seen):
            part = NestAnalysis(batch.take(remaining))
            remaining = remaining[self._may_improve(part, known, self._relaxed(part.batch))]
        return remaining

    # Energy

    @cached_property
    def _ideal_pj(self) -> float:
        return ideal(self.space.arch, self.space.workload, self.table, self.costs).energy_pj

    @cached_property
    def _between_pj(self) -> float:
        return least_between(self.space.arch, self.space.workload, self.table, self.costs)

    @cached_property
    def _outermost_pj(self) -> list[float]:
        arch, workload = self.space.arch, self.space.workload
        return [least_outermost(arch, workload, self.table, tensor) for tensor in workload.tensors]

    def _inner(self, nest: NestAnalysis) -> Floats:
        """Bound the energy: the words sent to MACs by the closed form, for any loop order, the least elsewhere.
        # (mapping,) in pJ

        Of flagged mappings, whose words the closed form may count too high, by those of some children.
        """
        return self._handed_out(nest, outermost=False)

    def _ends(self, nest: NestAnalysis) -> Floats:
        """Bound the energy: words sent by the outermost level and to MACs by the closed form, the least between.
        # (mapping,) in pJ; of flagged mappings as `_inner`
        """
        return self._handed_out(nest, outermost=True)

    def _handed_out(self, nest: NestAnalysis, *, outermost: bool) -> Floats:
        batch = nest.batch
        energy = np.full(len(batch), self._between_pj)
        for v, tensor in enumerate(batch.workload.tensors):
            for parent, child, where in keeper_pairs(batch.keep[:, :, v]):
                home = parent == batch.arch.home(tensor.name)
                if child == nest.levels or home and outermost:
                    part = nest if len(where) == len(batch) else NestAnalysis(batch.take(where))
                    for pj in self._distributed(part, tensor, parent, child):
                        energy[where] += pj
                elif home:
                    energy[where] += self._outermost_pj[v]
        return energy

    def _distributed(self, nest: NestAnalysis, tensor: Tensor, parent: int, child: int) -> Iterator[Floats]:
        """Yield what adds up to a bound of the energy of the words that a parent sends. # (mapping,) each"""
        batch = nest.batch
        for charge in distribution_costs(batch.arch, batch.workload, self.table, tensor, parent, child):
            if charge.pj:
                moved = DataMovement(nest, tensor, child, parent, box=charge.unit.box)
                yield charge.pj * moved.least_words()
                if charge.first_pj:
                    yield -charge.first_pj * (moved.distinct if moved.box else nest.distinct(tensor, parent))

    @cached_property
    def _terms(self) -> Terms:
        tables = {d: self.space.table(d) for d in range(len(self.space.workload.dims))}
        return Terms([DimGroup(self.space.arch, self.space.workload, tables, dims) for dims in self._groups])

    @cached_property
    def _groups(self) -> list[tuple[int, ...]]:
        return grouped(self.space.workload)

    def _pays(self, seen: int) -> bool:
        """Test whether computing the columns of all chains pays off after `seen` mappings."""
        rows = [prod(self.space.chains[d].total for d in dims) for dims in self._groups]
        every = sum(rows) * self.space.keep_choices.number
        return bool(rows) and max(rows) <= MOST_ROWS and PAYS * every <= seen

    def _relaxed(self, batch: Mappings) -> Floats:
        """Bound the energy of each mapping's chains over all loop orders, without leakage and wires. # (mapping,)"""
        energy = np.empty(len(batch))
        keeps, which = unique_rows(batch.keep)
        for i, keep in enumerate(keeps):
            rows = np.flatnonzero(which == i)
            energy[rows] = self._relaxed_alike(batch.take(rows), keep)
        return energy

    def _relaxed_alike(self, batch: Mappings, keep: Bools) -> Floats:
        key = keep.tobytes()
        if key not in self._relaxations:
            self._relaxations[key] = Relaxation(
                self._terms.groups, self.table, keep, _words_alone(self.costs), terms=self._terms
            )
        relaxed = self._relaxations[key]
        rows = [
            np.ravel_multi_index([batch.rows[:, d] for d in dims], [self.space.chains[d].total for d in dims])
            for dims in self._groups
        ]
        return relaxed.bound(lambda g, column: relaxed.columns[g][column][rows[g]], len(batch)).energy_pj

    # Comparison

    def _may_improve(self, nest: NestAnalysis, known: RecordThreshold, energy: Floats | float) -> Bools:
        """Mark the mappings that may improve on `known` if their energy is at least `energy`. # (mapping,)"""
        return self._leaves_room(nest.cycles(), known, energy)

    def first_sight(self, cycles: Floats, known: RecordThreshold) -> Bools:
        """Mark the mappings that may improve on `known` with these compute cycles. # (mapping,)"""
        return self._leaves_room(cycles, known, self._ideal_pj)

    def _leaves_room(self, cycles: Floats, known: RecordThreshold, energy: Floats | float) -> Bools:
        if self.costs.leakage:
            energy = energy + cycles * self.costs.leak_pj_per_cycle(self.space.arch, self.table)
        # energies summed in another order may differ by rounding; cycles are the same product
        energy = np.broadcast_to(energy, cycles.shape) * (1 - ROUNDING)
        least = {name: OBJECTIVES[name].value(energy, cycles) for name in (*self.objectives, *self.axes)}
        better = may_precede([least[name] for name in self.objectives], known.values)
        if self.axes:
            better |= ~dominated(np.stack([least[name] for name in self.axes]).T, known.front)
        return better


def _words_alone(costs: Charges) -> Charges:
    """Return the costs without leakage, which is added to each bound, and without wires, which cost the more."""
    return Charges(drain_reads=costs.drain_reads)


def joined(batches: Sequence[Mappings]) -> Mappings:
    """Join batches, in turn; they must share their chain tables."""
    return type(batches[0]).joined(batches)
