"""`--search optimal`: the best mapping of a mapspace, with a proof that no other is better.

Branch and bound over chains (branch.py) with a bound that holds for all loop orders (relax.py); of each combination of
chains that the bound cannot rule out, the best loop orders (best_order.py). docs/optimal.md argues why nothing better
is passed over. Stopped early, by time or Ctrl-C, it gives the best found and what is proven so far.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from math import prod

import numpy as np

from ..energy import EnergyTable
from .best_order import best_orders
from .bounds import ideal
from .branch import Branching, combination, importance
from .cost import CostOptions, evaluate, validity
from .flows import Charge, charges
from .groups import Group, grouped
from .mapping import Bools, Floats, Ints, MappingBatch
from .mapspace import Mapspace, every_chain
from .record import Recorder, Statistics, Stop
from .recount import recount
from .relax import ROUNDING, Bound, Relaxation
from .search import OBJECTIVES, Outcome, SearchOptions, search

MOST_CHAINS = 300_000  # chain combinations of one group of dims; beyond that only the ideal bounds are known
MOST_PAIRS = 100_000  # of chain combinations of two groups exchanged together
FIRST_LOOK = 30_000  # mappings drawn at random for a first best
DRAWN, STARTS = 4096, 3  # mappings drawn, and the best of them improved
EXCHANGED = 32  # chain combinations tried in one exchange
EVALUATED = 2048  # chain combinations evaluated at once
LEFT_OPEN = "every mapping ruled out or seen but some with too many loop orders"
MOST_ORDERS = 5_000  # loop orders tried for one combination of chains where energy alone does not decide


def optimal(
    space: Mapspace,
    table: EnergyTable,
    options: SearchOptions,
    costs: CostOptions | None = None,
    progress: Callable[[Recorder], None] | None = None,
) -> Outcome:
    """The best mapping of `space`, with `lower_bound` and whether it is `optimal`."""
    return _Optimal(space, table, options, costs or CostOptions(), progress).run()


@dataclass(eq=False)
class _Optimal:
    space: Mapspace
    table: EnergyTable
    options: SearchOptions
    costs: CostOptions
    progress: Callable[[Recorder], None] | None
    best: MappingBatch | None = None
    unresolved: float = np.inf  # the least bound of chains evaluated without certainty
    groups: list[Group] = field(default_factory=list)

    def run(self) -> Outcome:
        self.recorder = Recorder(Stop(None))
        self.began = time.monotonic()
        self.rng = np.random.default_rng(self.options.seed)
        self.pending = self._ideal()  # a bound on all that is not looked at yet
        try:
            self._first_look()
            self._prove()
        except KeyboardInterrupt:
            self.statistics.stopped_by = "interrupted"
        self.statistics.seconds = time.monotonic() - self.began
        value = self.recorder.best
        lower = min(value, max(self.pending, self._ideal()), self.unresolved)
        proven = self.best is not None and lower >= value * (1 - ROUNDING)
        return Outcome(self.best, self.statistics, lower if np.isfinite(lower) else None, proven)

    @property
    def statistics(self) -> Statistics:
        return self.recorder.statistics

    def objective(self, bound: Bound) -> Floats:
        if self.options.objective == "energy":
            return bound.energy_pj
        return bound.cycles if self.options.objective == "delay" else bound.energy_pj * bound.cycles

    def _ideal(self) -> float:
        least = ideal(self.space.arch, self.space.workload, self.table)
        return {"energy": least.energy_pj, "delay": float(least.cycles), "edp": least.edp}[self.options.objective]

    @property
    def _provable(self) -> bool:
        """Whether the chains can be listed."""
        together = [prod(self.space.chains[d].total for d in dims) for dims in grouped(self.space.workload)]
        return max(together, default=0) <= MOST_CHAINS

    def _first_look(self) -> None:
        """A first best from a random search: a short one, if a proof can follow."""
        look, limit = replace(self.options, strategy="random"), self.options.time_limit
        if self._provable:
            look = replace(look, samples=FIRST_LOOK, time_limit=None if limit is None else limit / 4)
        outcome = search(self.space, self.table, look, self.costs)
        if outcome.statistics.interrupted:
            raise KeyboardInterrupt
        self.statistics.evaluated, self.statistics.valid = outcome.statistics.evaluated, outcome.statistics.valid
        self.statistics.invalid = outcome.statistics.invalid
        if outcome.best is not None:
            self._take(outcome.best)

    # Proof

    def _prove(self) -> None:
        """Open nodes of all choices of kept tensors until none can beat the best, or time is up."""
        if not self._provable:
            self.statistics.stopped_by = f"no proof: more than {MOST_CHAINS:,} chains of one dim or window"
            return
        self.tables = tuple(every_chain(chains) for chains in self.space.chains)
        parts = grouped(self.space.workload) or [(0,)]
        self.groups = [Group(self.space.arch, self.space.workload, self.tables, dims) for dims in parts]
        waiting = []
        for keep in self.space.every_keep():
            if self._late():
                return
            relaxed = Relaxation(self.groups, self.table, keep, self.costs.leakage)
            waiting.append(self._root(relaxed))
        self._branch(waiting)

    def _root(self, relaxed: Relaxation) -> Branching:
        self._start(relaxed, STARTS)
        some = np.zeros(len(self.groups), np.int64) if self.best is None else self._rows(self.best)
        return Branching(relaxed, self.objective, importance(relaxed, some))

    def _branch(self, waiting: list[Branching]) -> None:
        steps = 1
        while True:
            waiting = [one for one in waiting if one.least < self.recorder.best * (1 - ROUNDING)]
            self.pending = min((one.least for one in waiting), default=np.inf)
            if not waiting:
                seen_all = self.unresolved >= self.recorder.best * (1 - ROUNDING)
                self.statistics.stopped_by = "every mapping ruled out or seen" if seen_all else LEFT_OPEN
                return
            if self._late():
                return
            one = min(waiting, key=lambda each: each.least)

            def seen(rows: Ints, bounds: Floats, keep: Bools = one.relaxation.keep) -> None:
                self._evaluate(rows, bounds, keep)

            if steps % 32 == 0 and steps & (steps - 1) == 0:  # ever more rarely
                one.dive(lambda: self.recorder.best, seen)
                self._start(one.relaxation, 1)
            one.step(lambda: self.recorder.best, seen)
            steps += 1
            self._tell()

    def _late(self) -> bool:
        limit = self.options.time_limit
        if limit is None or time.monotonic() - self.began < limit:
            return False
        self.statistics.stopped_by = "time limit"
        return True

    def _tell(self) -> None:
        self.statistics.seconds = time.monotonic() - self.began
        if self.progress:
            self.progress(self.recorder)

    # Better mappings

    def _improve(self, relaxed: Relaxation, rows: Ints, value: float) -> None:
        """From the chains `rows` of this value, exchange those of one group, then of two, while that is better."""
        single = [(g,) for g in range(len(self.groups))]
        pairs = [(g, h) for g in range(len(self.groups)) for h in range(g) if self._together(g, h) <= MOST_PAIRS]
        before = np.inf
        while value < before:
            before = value
            for exchanged in [*single, *pairs]:
                if self._late():
                    return
                rows, value = self._exchange(relaxed, rows, value, exchanged)

    def _together(self, *exchanged: int) -> int:
        return prod(len(self.groups[g]) for g in exchanged)

    def _exchange(
        self, relaxed: Relaxation, rows: Ints, value: float, exchanged: tuple[int, ...]
    ) -> tuple[Ints, float]:
        """The best of the combinations with the least bounds that differ from `rows` in these groups alone."""
        n = self._together(*exchanged)
        grid = np.unravel_index(np.arange(n), [len(self.groups[g]) for g in exchanged])
        where = {g: grid[i] for i, g in enumerate(exchanged)}
        found = relaxed.bound(
            lambda g, column: relaxed.columns[g][column][where[g] if g in where else rows[g : g + 1]], n
        )
        bounds = np.where(found.possible, self.objective(found), np.inf)
        few = np.argsort(bounds)[:EXCHANGED]
        few = few[bounds[few] < value * (1 - ROUNDING)]
        if not len(few):
            return rows, value
        tried = np.repeat(rows[None], len(few), axis=0)
        for g in exchanged:
            tried[:, g] = where[g][few]
        values = self._evaluate_part(tried, np.full(len(few), np.inf), relaxed.keep)
        least = int(values.argmin())
        return (tried[least], float(values[least])) if values[least] < value else (rows, value)

    def _start(self, relaxed: Relaxation, most: int) -> None:
        """Improve the best so far, then a few mappings drawn at random, with what this relaxation keeps."""
        if self.best is not None and (self.best.keep[0] == relaxed.keep).all():
            self._improve(relaxed, self._rows(self.best), self.recorder.best)
        batch = self.space.sample(self.rng, DRAWN)
        batch = replace(batch, keep=np.repeat(relaxed.keep[None], len(batch), axis=0))
        batch = batch.take(np.flatnonzero(validity(batch) == 0))
        if len(batch):
            values = OBJECTIVES[self.options.objective](evaluate(batch, self.table, self.costs))
            for i in np.argsort(values)[:most].tolist():
                self._improve(relaxed, self._rows(batch.take([i])), float(values[i]))

    def _rows(self, batch: MappingBatch) -> Ints:
        rows = combination(self.groups, batch.factors[0])
        assert rows is not None, "a mapping of the mapspace has chains of the mapspace"
        return rows

    # Evaluation

    def _evaluate(self, rows: Ints, bounds: Floats, keep: Bools) -> None:
        """Give each combination of chains its best orders, as long as its bound is below the best found."""
        for start in range(0, len(rows), EVALUATED):
            part = slice(start, start + EVALUATED)
            hope = (bounds[part] < self.recorder.best * (1 - ROUNDING)) | np.isinf(bounds[part])
            if hope.any():
                self._evaluate_part(rows[part][hope], bounds[part][hope], keep)

    def _evaluate_part(self, rows: Ints, bounds: Floats, keep: Bools) -> Floats:
        """Evaluate each with its best orders; inf where invalid. # (combination,)"""
        values = np.full(len(rows), np.inf)
        batch = self._batch(rows, keep)
        valid = np.flatnonzero(validity(batch) == 0)
        self.statistics.evaluated += len(batch)
        self.statistics.valid += len(valid)
        if not len(valid):
            return values
        batch, bounds = batch.take(valid), bounds[valid]
        costs = evaluate(batch, self.table, self.costs)
        values[valid] = OBJECTIVES[self.options.objective](costs)
        self._take(batch.take([int(values[valid].argmin())]))
        # energy of words on wires is in no bound, and in no order's gain
        wires = self.costs.network and self.options.objective != "delay"
        self._settle(batch, bounds, ~costs.counts.exact | (costs.cycles > costs.counts.cycles) | wires)
        return values

    def _charges(self, keep: Bools) -> list[Charge]:
        return charges(self.space.arch, self.space.workload, self.table, keep)

    def _batch(self, rows: Ints, keep: Bools) -> MappingBatch:
        chains = np.zeros((len(rows), len(self.tables)), np.int64)
        for g, group in enumerate(self.groups):
            for d, of_group in group.rows.items():
                chains[:, d] = of_group[rows[:, g]]
        n, arch = len(rows), self.space.arch
        order = np.zeros((n, len(arch.levels), len(self.tables)), np.int8)
        kept = np.repeat(keep[None], n, axis=0)
        batch = MappingBatch(arch, self.space.workload, self.tables, chains, order, kept)
        return replace(batch, order=best_orders(batch, self._charges(keep), self.space.orders.levels))

    def _settle(self, batch: MappingBatch, bounds: Floats, doubtful: Bools) -> None:
        """Try every loop order of the chains for which the least energy by closed form does not decide."""
        for i in np.flatnonzero(doubtful).tolist():
            if not bounds[i] < self.recorder.best * (1 - ROUNDING):
                continue
            every = None if self._late() else self._every_order(batch.take([i]))
            if every is None:
                self.unresolved = min(self.unresolved, float(bounds[i]))
                continue
            costs = evaluate(every, self.table, self.costs)
            least = [int(OBJECTIVES[self.options.objective](costs).argmin())]
            for j in least if costs.counts.exact.all() else range(len(every)):
                self._take(every.take([j]))

    def _every_order(self, batch: MappingBatch) -> MappingBatch | None:
        """The one mapping of `batch` in every order that can make a difference; None if there are too many."""
        temporal = [s for s, slot in enumerate(batch.arch.slots) if not slot.spatial]
        choices = []
        for s, level in zip(temporal, self.space.orders.levels, strict=True):
            moving = [d for d in level.free if batch.tables[d].bounds[batch.rows[0, d], s] > 1]
            front = (*level.outermost, *level.idle, *(d for d in level.free if d not in moving))
            choices.append([(*front, *middle, *level.innermost) for middle in permutations(moving)])
        if prod(map(len, choices)) > MOST_ORDERS:
            return None
        orders = np.array(list(product(*choices)), np.int8)
        return replace(batch.take(np.zeros(len(orders), np.int64)), order=orders)

    def _take(self, batch: MappingBatch) -> None:
        """Take the one mapping of `batch` if it is better than the best, counted exactly."""
        costs = evaluate(batch, self.table, self.costs, recount(batch))
        value = float(OBJECTIVES[self.options.objective](costs)[0])
        if value < self.recorder.best:
            self.best, self.recorder.best = batch, value
            self.statistics.trace.append((self.statistics.evaluated, value))
