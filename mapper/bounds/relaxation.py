"""A lower bound on the energy and cycles of all mappings with chains from given sets, whatever their loop orders.

docs/optimal.md has the argument. In short: look at one temporal level and at one thing r (a rank of a tensor) that
changes there or further in. Every tile of r, and everything that depends on loops outside it, is moved again in each
context of the irrelevant loops outside r; so a product over the dims of numbers of contexts and of summed tiles is
moved at least. Which loops stand outside r depends on the innermost loop of the level alone, if r has it; a minimum
over the choices of this loop, level by level, holds for every order.

All is written as products of one column per group of dims. Of a set of chains the least entry of each column stands
for the set, so the bound holds for the set; of a single chain per dim it is mostly the exact energy.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any, override

import numpy as np

from ...energy import EnergyTable
from ..mapping import Bools, Floats
from ..problem import ROUNDING, Charges
from .charge_bounds import ChargeBound, Chosen
from .charges import charges, flows
from .dim_groups import DimGroup
from .kernels import Bounding, PlainBounds, Program, compiled
from .loop_sums import Allowed, LoopSum
from .products import OwnColumns, Product, Shape, Value
from .terms import Terms

Pick = Callable[[int, int], Floats]  # (group, column) -> its least entries, one per set of chains looked at
Convert = Callable[[Floats, Floats], Floats]  # energy and cycles -> a value that grows with both # (set,) each


@dataclass(frozen=True)
class Bound:
    """Of each set of chains looked at. # (set,) each"""

    energy_pj: Floats
    cycles: Floats
    possible: Bools  # False: no mapping in it is valid
    # per level, where its innermost loop may cost cycles, and of each that may be there: energy and cycles with it
    by_loop: Sequence[tuple[Bools, Sequence[tuple[Floats, Floats]]]] = ()

    def value(self, values: Floats, convert: Convert) -> Floats:
        """Bound a value that grows with energy and cycles: at least `values`, `convert` makes it of both. # (set,)

        A mapping has one innermost loop at each level, or none: both its energy and its cycles are those with it.
        """
        for matters, cases in self.by_loop:
            least = reduce(np.minimum, (convert(*case) for case in cases))
            values = np.where(matters, np.maximum(values, least), values)
        return np.where(self.possible, values, np.inf)


@dataclass(eq=False)
class Relaxation:
    """The bound for one choice of kept tensors; a `coarse` is lower, with few columns, for more chains than fit."""

    groups: Sequence[DimGroup]
    table: EnergyTable
    keep: Bools  # (level, tensor)
    costs: Charges = Charges()
    coarse: bool = False
    terms: Terms | None = None  # of other choices, too: with the same groups; else it has its own

    def __post_init__(self) -> None:
        self.arch, self.workload = self.groups[0].arch, self.groups[0].workload
        terms = self.terms or Terms(self.groups, coarse=self.coarse)
        own = OwnColumns(terms.products)
        self.columns = own.columns  # per group
        self.compute_pj = self.workload.macs * self.table.compute.mac_pj(self.workload)
        self.leak_pj = self.costs.leak_pj_per_cycle(self.arch, self.table)
        self.cycles = own.numbered(terms.cycles)
        self.starts = [(name, cycles, own.numbered(tiles)) for name, cycles, tiles in terms.starts]
        self.charges = [
            terms.charge(charge).numbered(own.numbered)
            for charge in charges(self.arch, self.workload, self.table, self.keep, self.costs)
        ]
        self.flows: list[tuple[str, list[ChargeBound]]] = [
            (flow.name, [terms.charge(charge).numbered(own.numbered) for charge in flow.charges])
            for flow in flows(self.arch, self.workload, self.keep, self.costs)
        ]
        self.still = [own.numbered(product) for product in terms.still]
        self.loops = [{d: own.numbered(product) for d, product in by_dim.items()} for by_dim in terms.loops]
        self._programs: dict[Hashable, Program | None] = {}
        self._limits(terms, own)

    @override
    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: no programs, as there may be no compiled form there, and its columns."""
        return vars(self) | {"_programs": {}, "terms": None}

    def bound(self, pick: Pick, n: Shape, chosen: Chosen | None = None) -> Bound:
        """The bound for `n` sets of chains, or for a grid of them of this shape, along which entries are broadcast.

        With `chosen` it is that of their mappings with those innermost loops alone.
        """
        products: dict[Product, Floats] = {(): np.ones(n)}

        def value(ids: Product) -> Floats:
            if ids not in products:
                outer = value(ids[:-1])
                products[ids] = outer * pick(len(ids) - 1, ids[-1])
            return products[ids]

        allowed = cache(partial(self._allowed, value, chosen))
        steps, flows = value(self.cycles), [LoopSum.of(flow, allowed, value, n, chosen) for _, flow in self.flows]
        words, none = LoopSum.of(self.charges, allowed, value, n, chosen), np.zeros(n)
        cycles = self._with_starts(_slowest(steps, [flow.total(none) for flow in flows]), value)
        by_loop = []
        for level in sorted({level for flow in flows for level in flow.least_added}):
            cases = [
                (
                    d,
                    absent,
                    self._with_starts(_slowest(steps, [flow.with_loop(none, level, d) for flow in flows]), value),
                )
                for d, absent in allowed(level).items()
            ]
            # else energy alone says as much
            matters = reduce(np.logical_or, ((absent == 0) & (slower > cycles) for _, absent, slower in cases))
            if matters.any():
                costs = [(words.with_loop(self._paid(own), level, d) + absent, own) for d, absent, own in cases]
                by_loop.append((matters, costs))
        possible = self._possible(value, n)
        if chosen is not None:
            for level in range(len(self.loops)):
                possible &= reduce(np.minimum, allowed(level).values()) < np.inf
        return Bound(words.total(self._paid(cycles)), cycles, possible, by_loop)

    @property
    def flows_with_starts(self) -> list[tuple[int, str]]:
        """The number of each flow, with what the names of its starts begin with; -1 of the steps of all loops."""
        return [*((i, f"{name}:") for i, (name, _) in enumerate(self.flows)), (-1, "")] if self.starts else []

    def _with_starts(self, cycles: Floats, value: Value) -> Floats:
        """Add the cycles in which tiles begin. # (set,)"""
        for _, start, tiles in self.starts:
            cycles = cycles + start * value(tiles)
        return cycles

    def _paid(self, cycles: Floats) -> Floats:
        """The energy of the MACs, and of the leakage in so many cycles. # (set,)"""
        paid = np.full(np.shape(cycles), self.compute_pj)
        return paid + self.leak_pj * cycles if self.leak_pj else paid  # cycles may be infinite

    def _allowed(self, value: Value, chosen: Chosen | None, level: int) -> Allowed:
        """What the innermost loop of a level may be, for each set."""
        products = {None: self.still[level]} | self.loops[level]
        allowed: Allowed = {d: np.where(np.isinf(value(product)), np.inf, 0.0) for d, product in products.items()}
        return allowed if chosen is None else {d: entry + chosen.absent[level, d] for d, entry in allowed.items()}

    def program(self, convert: Convert, key: Hashable) -> Program | None:
        """What computes the bound of a value for rows of each group, compiled; None where that cannot be.

        `convert` makes the value of energy and cycles, the same for the same `key`.
        """
        if key not in self._programs:
            self._programs[key] = compiled(lambda load: [self._value(load, (), convert)], len(self.groups))
        return self._programs[key]

    def bounding(self, convert: Convert, key: Hashable) -> Bounding:
        """The same, by NumPy where there is no program."""
        program = self.program(convert, key)
        return PlainBounds(lambda pick, n: self._value(pick, n, convert)) if program is None else program

    def bounding_by_loops(self, convert: Convert, key: Hashable) -> Bounding:
        """The same, of mappings with some innermost loops; one table more has which (InnermostLoops.entries)."""
        table, places = len(self.groups), {loop: i for i, loop in enumerate(self.innermost_loops)}

        def value(pick: Pick, n: Shape) -> Any:
            absent, only = ({loop: pick(table, i + first) for loop, i in places.items()} for first in (0, len(places)))
            return self._value(pick, n, convert, Chosen(absent, only))

        if (key, "loops") not in self._programs:
            self._programs[key, "loops"] = compiled(lambda load: [value(load, ())], table + 1)
        program = self._programs[key, "loops"]
        return PlainBounds(value) if program is None else program

    @property
    def innermost_loops(self) -> list[tuple[int, int | None]]:
        """All levels with what their innermost loops may be: a dim, or None."""
        return [(level, d) for level, by_dim in enumerate(self.loops) for d in (None, *by_dim)]

    def _value(self, pick: Pick, n: Shape, convert: Convert, chosen: Chosen | None = None) -> Any:
        bound = self.bound(pick, n, chosen)
        return bound.value(convert(bound.energy_pj, bound.cycles), convert)

    def bound_of_all(self) -> Bound:
        """Bound all combinations of rows together, by the least entry of each column. # (1,)"""
        return self.bound(lambda g, column: self.columns[g][column].min(keepdims=True), 1)

    def least_of_tensors(self) -> tuple[float, Floats]:
        """The least cycles of any mapping with this choice, and the least energy that each tensor's words cost.

        # (tensor,), in pJ; the first with what is paid for in any case.
        """

        def value(ids: Product) -> Floats:
            return np.array([np.prod([self.columns[g][column].min() for g, column in enumerate(ids)])])

        cycles = float(self._with_starts(value(self.cycles), value)[0])
        energies = np.zeros(len(self.workload.tensors))
        energies[0] = self.compute_pj + self.leak_pj * cycles
        for charge in self.charges:
            energies[self.workload.tensors.index(charge.charge.tensor)] += charge.energy(value, 1)[0][0]
        return cycles, energies

    def shares(self, pick: Pick) -> list[tuple[Product, float]]:
        """Of one mapping: each product with its weight, energies by their share in the total."""

        def value(ids: Product) -> float:
            return float(np.prod([pick(g, column)[0] for g, column in enumerate(ids)]))

        weighted_products = [(self.cycles, 2.0)]  # tried: the weights that opened the fewest nodes
        total = self.compute_pj
        energies = []
        for bound in self.charges:
            products = bound.every()
            words = max(v for v in map(value, products) if np.isfinite(v))
            pj = bound.charge.pj + float(bound.wires(lambda ids: np.array([value(ids)]), 1)[0])
            energies.append((products, pj * words))
            total += pj * words
        weighted_products += [
            (product, energy / (total or 1.0)) for products, energy in energies for product in products
        ]
        weighted_products += [(spread, 1.0) for _, _, _, spread, _ in self.axes]
        steps = value(self.cycles)
        for charge in (charge for _, flow in self.flows for charge in flow):
            for _, product in charge.terms():
                weighted_products.append((product, 2.0 * min(1.0, charge.charge.pj * value(product) / steps)))
        return weighted_products

    def _limits(self, terms: Terms, own: OwnColumns) -> None:
        """What fits: tiles in capacities, bounds on axes, loops at levels."""
        levels = self.arch.levels
        self.tiles = [
            (levels[stack[0]].capacity_bits // levels[stack[0]].multiple_buffering,  # type: ignore[operator]
             [(f"tile:{levels[level].name}:{tensor.name}", levels[level].bits(tensor.name, tensor.word_bits),
               own.numbered(terms.tile(tensor, 0 if tensor.name in levels[level].resident else level)))
              for level in stack for v, tensor in enumerate(self.workload.tensors) if self.keep[level, v]])
            for stack in self.arch.stacks if levels[stack[0]].capacity_bits is not None
        ]  # fmt: skip
        self.axes = [
            (name, size, least, own.numbered(spread), own.numbered(inverse))
            for name, size, least, spread, inverse in terms.axes
        ]
        self.most_loops = [(most, own.numbered(terms.most_loops(slots))) for most, slots in self._loop_limits()]

    def _loop_limits(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """List how many loops there may be at some slots together: of a memory, a level without tensors, or all."""
        temporal = [s for s, slot in enumerate(self.arch.slots) if not slot.spatial]
        if self.arch.max_loops is not None:
            yield self.arch.max_loops, tuple(temporal)
        for stack in self.arch.stacks:
            most = self.arch.levels[stack[0]].temporal.max_loops
            if most is not None:
                yield most, tuple(temporal[level] for level in stack)
            yield from ((0, (temporal[level],)) for level in stack[:-1] if not self.keep[level].any())

    def _possible(self, value: Value, n: Shape) -> Bools:
        possible = np.ones(n, bool)
        for capacity, tiles in self.tiles:
            possible &= sum((bits * value(tile) for _, bits, tile in tiles), np.zeros(n)) <= capacity
        for _, size, least, spread, inverse in self.axes:
            possible &= value(spread) <= size
            if least:
                possible &= least * value(inverse) <= 1 + ROUNDING
        for most, loops in self.most_loops:
            possible &= value(loops) <= 2.0**most
        return possible


def _slowest(steps: Floats, flows: Sequence[Floats]) -> Floats:
    """The cycles of the loops, and of flows: a level's busiest instance takes as long as its words over its bandwidth.
    # (set,)"""
    return reduce(np.maximum, (np.ceil(flow * (1 - ROUNDING)) for flow in flows), steps)
