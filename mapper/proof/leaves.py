"""Evaluates combinations of chains for `--search optimal`: finds their best loop orders, counts and offers them.

Where the closed form is flagged, exact counts decide about the best order; where a bandwidth binds, energy and words of
each flow do. Where that takes too many orders, the combination stays open and its bound limits the proof.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..bounds import MovementCost, Relaxation, charges
from ..mapping import Bools, Floats, Ints, MappingBatch
from ..mapspace import Order, sorted_placement
from ..model import Costs, Counts, count, evaluate, recount, validity
from ..problem import ROUNDING
from ..runtime import InternalError
from ..search import Recorder, Task
from ..search.outcome import Coverage, Statistics
from .best_orders import best_orders
from .chain_groups import ChainGroups, mappings_of
from .incumbents import Incumbents
from .loop_choices import LoopChoices
from .slow_orders import SlowOrders, TooManyOrders

EVALUATED = 2048  # chain combinations evaluated at once
EVALUATE_STEPS, MAPPING_STEPS = 25_000, 50  # steps of evaluating combinations: for itself, and for each
OFFER_STEPS, KNOWN_STEPS = 5_000, 1_000  # of a mapping counted exactly; where its counts by closed form are known
RECOUNT_STEPS = 1_000  # of its best order by listed words
SLOW_STEPS = 6_000  # of what its loops move, where cycles decide about orders
USEFUL_STEPS, ORDERS_A_STEP = 100, 4  # of a look at points of orders: for itself, and for so many one


@dataclass(eq=False)
class LeafEvaluator:
    """Makes mappings from combinations of chains and their best orders, and offers them as incumbents."""

    task: Task
    incumbents: Incumbents
    recorder: Recorder
    late: Callable[[], bool]  # whether time is up
    unresolved: float = np.inf  # the least bound of chains whose best order is uncertain

    def __post_init__(self) -> None:
        self.chains = ChainGroups(self.task.space)

    def offer(self, mapping: MappingBatch, known: Counts | None = None) -> Costs:
        """Offer a single mapping, and return its exact costs; `known` is what `count` says of it."""
        self.count(OFFER_STEPS if known is None else KNOWN_STEPS)
        batch = sorted_placement(self.task.space, mapping)
        counts = recount(batch, known if batch is mapping else None)
        costs = evaluate(batch, self.task.table, self.task.charges, counts)
        if self.incumbents.offer(batch, float(costs.energy_pj[0]), float(costs.cycles[0])):
            self.recorder.best = self.incumbents.least
            self.recorder.statistics.trace.append((self.recorder.statistics.evaluated, self.incumbents.least))
        return costs

    def count(self, steps: int) -> None:
        """Count steps of the proof."""
        self.recorder.statistics.steps += steps

    def add(self, best: MappingBatch | None, unresolved: float, statistics: Statistics) -> None:
        """Add what another evaluator found: a better mapping, the least bound of uncertain chains, its counts."""
        self.unresolved = min(self.unresolved, unresolved)
        if best is not None:
            self.offer(best)
        self.recorder.statistics.add(statistics)

    def see(
        self,
        rows: Ints,
        bounds: Floats,
        relaxed: Relaxation,
        loops: Sequence[int] | None = None,
        known: set[bytes] | None = None,
    ) -> Coverage:
        """Evaluate the combinations `rows` # (combination, group) whose bounds are still below the cutoff.

        `loops`, per level: the innermost loops with which better mappings are looked for (InnermostLoops); None: any.
        `known`: combinations evaluated before, which are left out; those evaluated now are added.
        """
        seen, statistics = Coverage(), self.recorder.statistics
        for start in range(0, len(rows), EVALUATED):
            part = slice(start, start + EVALUATED)
            hope = np.flatnonzero(bounds[part] < self.incumbents.cutoff * (1 - ROUNDING)) + start
            if known is not None:
                hope = hope[[rows[i].tobytes() not in known for i in hope]]
            if len(hope) and self._tries_loops:
                choices = LoopChoices(relaxed, self.incumbents)
                hope = hope[choices.promising(rows[hope], loops, self.incumbents.cutoff * (1 - ROUNDING), self.count)]
            before = statistics.valid
            if len(hope):
                self.evaluate(rows[hope], bounds[hope], relaxed)
            if known is not None:
                known.update(rows[i].tobytes() for i in hope)
            valid = statistics.valid - before
            seen += Coverage(valid, len(hope) - valid, len(rows[part]) - len(hope))
        return seen

    @property
    def _tries_loops(self) -> bool:
        """Whether bounds with innermost loops are of use: not to a certificate, whose checker tries orders itself."""
        return self.incumbents.valued_by is not None and not self.task.options.certify

    def evaluate(self, rows: Ints, bounds: Floats, relaxed: Relaxation) -> Floats:
        """Evaluate each combination in its best orders; return its bound value, inf where invalid. # (combination,)"""
        self.count(EVALUATE_STEPS + len(rows) * MAPPING_STEPS)
        values = np.full(len(rows), np.inf)
        batch = self._batch(rows, relaxed)
        reasons = validity(batch)
        valid = np.flatnonzero(reasons == 0)
        self.recorder.statistics.count(reasons)
        if not len(valid):
            return values
        batch, bounds = batch.take(valid), bounds[valid]
        costs = evaluate(batch, self.task.table, self.task.charges)
        values[valid] = self.incumbents.worth(costs.energy_pj, costs.cycles)
        known = np.isfinite(bounds)
        if (values[valid][known] < bounds[known] - ROUNDING * abs(bounds[known])).any():
            raise InternalError("internal error: a mapping is below the bound of its chains; please report it")
        for i in self.incumbents.promising(costs.energy_pj, costs.cycles).tolist():
            self.offer(batch.take([i]))
        # where a bandwidth binds another order may need fewer cycles, unless none can
        limited = any(level.bandwidths for level in self.task.space.arch.levels)
        least = costs.counts.cycles
        if limited and (~costs.exact | (costs.cycles > least)).any():
            chosen = rows[valid]
            least = relaxed.bound(lambda g, c: relaxed.columns[g][c][chosen[:, g]], len(chosen)).cycles
            if not self.task.options.certify:  # no other order has less energy, but for what leaks meanwhile
                energy_pj = costs.energy_pj - relaxed.leak_pj * (costs.cycles - least)
                least_values = self.incumbents.bound_value(energy_pj, least)
                bounds = np.where(costs.exact, np.maximum(bounds, least_values), bounds)
        self._settle(batch, bounds, least, costs)
        return values

    def _charges(self, keep: Bools) -> list[MovementCost]:
        return charges(self.task.space.arch, self.task.space.workload, self.task.table, keep, self.task.charges)

    def _batch(self, rows: Ints, relaxed: Relaxation) -> MappingBatch:
        batch = mappings_of(self.task.space, relaxed.groups, rows, relaxed.keep)
        return replace(batch, order=self._best_orders(batch))

    def _best_orders(self, batch: MappingBatch, *, recounted: bool = False) -> Order:
        """Find the orders of least energy of mappings that keep the same tensors. # (mapping, level, position)"""
        self.count(RECOUNT_STEPS * len(batch) * recounted)
        return best_orders(batch, self._charges(batch.keep[0]), self.task.space.orders.levels, recounted)

    def _settle(self, batch: MappingBatch, bounds: Floats, least_cycles: Floats, costs: Costs) -> None:
        """Find the best loop orders of the mappings whose order the energy by closed form does not decide.

        Where `costs` are exact their orders have the least energy; each takes `least_cycles` at least.
        """
        doubtful = ~costs.exact | (costs.cycles > least_cycles)
        doubtful &= bounds < self.incumbents.cutoff * (1 - ROUNDING)
        flagged, reordered = np.flatnonzero(doubtful & ~costs.exact), dict[int, tuple[MappingBatch, Counts]]()
        if len(flagged) and not self.late():
            chosen = batch.take(flagged)
            chosen = replace(chosen, order=self._best_orders(chosen, recounted=True))
            counts = count(chosen)
            for k, i in enumerate(flagged.tolist()):
                reordered[i] = chosen.take(np.array([k])), counts.take(np.array([k]))
        for i in np.flatnonzero(doubtful).tolist():
            if bounds[i] >= self.incumbents.cutoff * (1 - ROUNDING):
                continue
            settled = False
            if not self.late():
                alone = np.array([i])
                one, exactly = batch.take(alone), costs.take(alone)
                if not costs.exact[i]:
                    one, counts_of_one = reordered[i]
                    exactly = self.offer(one, counts_of_one)
                settled = self._settled(one, exactly, float(least_cycles[i]))
            if not settled:
                self.unresolved = min(self.unresolved, float(bounds[i]))

    def _settled(self, batch: MappingBatch, costs: Costs, least_cycles: float) -> bool:
        """Offer better orders of the single mapping of `batch`, whose own has the least energy and costs exactly this.

        Each takes `least_cycles` at least. Returns False where there are too many orders, or time is up.
        """
        charges, allowed = self._charges(batch.keep[0]), self.task.space.orders.levels
        if costs.cycles[0] <= max(least_cycles, costs.counts.cycles[0]):
            return True  # no order has less energy, and none fewer cycles
        leak = self.task.charges.leak_pj_per_cycle(batch.arch, self.task.table)
        self.count(SLOW_STEPS)
        try:
            points = SlowOrders(batch, costs, charges, allowed, leak).useful(self._useful, least_cycles, self.late)
        except TooManyOrders:
            return False
        for j in self.incumbents.promising(points.energy_pj, points.cycles).tolist() if len(points.cycles) else ():
            if self.late():
                return False
            self.offer(replace(batch, order=points.orders[j : j + 1]))
        return True

    def _useful(self, energy_pj: Floats, cycles: Floats) -> Bools:
        """Mark the mappings that improve on the incumbents if they cost at least so much. # (mapping,)"""
        self.count(USEFUL_STEPS + len(cycles) // ORDERS_A_STEP)
        useful: Bools = self.incumbents.bound_value(energy_pj, cycles) < self.incumbents.cutoff * (1 - ROUNDING)
        return useful
