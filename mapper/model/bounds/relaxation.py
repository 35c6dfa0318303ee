"""A lower bound on the energy and cycles of all mappings with chains from given sets, whatever their loop orders.

docs/optimal.md has the argument. In short: look at one temporal level and at one thing r (a rank of a tensor) that
changes there or further in. Every tile of r, and everything that depends on loops outside it, is moved again in each
context of the irrelevant loops outside r; so a product over the dims of numbers of contexts and of summed tiles is
moved at least. Which loops stand outside r depends on the innermost loop of the level alone, if r has it; a minimum
over the choices of this loop, level by level, holds for every order.

All is written as products of one column per group of dims. Of a set of chains the least entry of each column stands
for the set, so the bound holds for the set; of a single chain per dim it is mostly the exact energy.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from hashlib import blake2b

import numpy as np

from ....energy import EnergyTable
from ....workloads import Rank
from ...mapping import Bools, Floats
from ..cost import CostOptions
from .charges import Charge, charges
from .dim_groups import Cuts, DimGroup

Product = tuple[int, ...]  # a column per group
Pick = Callable[[int, int], Floats]  # (group, column) -> its least entries, one per set of chains looked at
ROUNDING = 1e-9  # relative; float sums and products in two orders differ by far less


@dataclass(frozen=True, eq=False)
class ChargeBound:
    """One charge's words: at least each of these products."""

    charge: Charge
    name: str
    ranks: tuple[int, ...]  # those that change, by their numbers
    always: Product
    any_order: tuple[tuple[Product, ...], ...]  # per level outside the child; of several, each holds
    innermost: tuple[dict[int, Product], ...]  # per level, by the dim of the innermost loop
    first: Product | None  # the reciprocal of at least the distinct words

    def terms(self) -> Iterator[tuple[str, Product]]:
        """What holds for all loop orders, each with the name that certificates have for it."""
        yield f"{self.name}:always", self.always
        for level, by_rank in enumerate(self.any_order):
            for rank, product in zip(self.ranks, by_rank, strict=True):
                yield f"{self.name}:{level}.{rank}", product


@dataclass(frozen=True)
class Bound:
    """Of each set of chains looked at. # (set,) each"""

    energy_pj: Floats
    cycles: Floats
    possible: Bools  # False: no mapping in it is valid


@dataclass(eq=False)
class Relaxation:
    """The bound for one choice of kept tensors."""

    groups: Sequence[DimGroup]
    table: EnergyTable
    keep: Bools  # (level, tensor)
    leakage: bool = False
    columns: list[list[Floats]] = field(init=False)  # per group

    def __post_init__(self) -> None:
        self.arch, self.workload = self.groups[0].arch, self.groups[0].workload
        self.columns = [[] for _ in self.groups]
        self._known: list[dict[bytes, int]] = [{} for _ in self.groups]
        self._temporal = [s for s, slot in enumerate(self.arch.slots) if not slot.spatial]
        self.compute_pj = self.workload.macs * self.table.compute.compute_pj
        self.leak_pj = CostOptions(leakage=self.leakage).leak_pj_per_cycle(self.arch, self.table)
        self.cycles = self._product(lambda g: g.steps())
        self.charges = [self._charge(c) for c in charges(self.arch, self.workload, self.table, self.keep)]
        self.still = [self._product(lambda g, s=s: _where(g.loops(s) == 0)) for s in self._temporal]  # type: ignore[misc]
        self.loops = [
            {d: self._product(lambda g, s=s, d=d: _where(g.repeats(d, s)) if d in g.rows else _one(g))  # type: ignore[misc]
             for group in self.groups for d in group.dims if group.repeats(d, s).any()}
            for s in self._temporal
        ]  # fmt: skip
        self._limits()

    def bound(self, pick: Pick, n: int) -> Bound:
        """The bound for `n` sets of chains."""
        products: dict[Product, Floats] = {(): np.ones(n)}

        def value(ids: Product) -> Floats:
            if ids not in products:
                outer = value(ids[:-1])
                products[ids] = outer * pick(len(ids) - 1, ids[-1])
            return products[ids]

        cycles = value(self.cycles)
        energy = np.full(n, self.compute_pj) + self.leak_pj * cycles
        extra = [{d: np.zeros(n) for d in loops} for loops in self.loops]
        for one in self.charges:
            energy += self._of_charge(one, value, extra, n)
        for level, by_dim in enumerate(extra):
            if by_dim and any(each.any() for each in by_dim.values()):
                least = np.where(np.isinf(value(self.still[level])), np.inf, 0.0)
                for d, each in by_dim.items():
                    least = np.minimum(least, np.where(np.isinf(value(self.loops[level][d])), np.inf, each))
                energy += least
        return Bound(energy, cycles, self._possible(value, n))

    def _of_charge(
        self, one: ChargeBound, value: Callable[[Product], Floats], extra: list[dict[int, Floats]], n: int
    ) -> Floats:
        """The least energy of a charge in any order; what an innermost loop adds to it goes to `extra`."""
        charge, least = one.charge, value(one.always)
        at = np.full(n, -1)
        reached = np.zeros(n)
        for level in reversed(range(len(one.any_order))):
            words = reduce(np.maximum, (value(each) for each in one.any_order[level]), np.zeros(n))
            at = np.where(words > reached, level, at)
            reached = np.maximum(reached, words)
        least = np.maximum(least, reached)
        first = 1.0 / value(one.first) if one.first is not None else np.zeros(n)

        def energy(words: Floats) -> Floats:
            found = charge.first_pj * np.maximum(words - first, 0.0) if charge.first_pj else np.zeros(n)
            if charge.pj > charge.first_pj:
                found += (charge.pj - charge.first_pj) * words
            return found

        lowest = energy(least)
        for level, by_dim in enumerate(one.innermost):
            here = at == level
            if here.any():
                for d, each in by_dim.items():
                    more = energy(np.maximum(value(each), least)) - lowest
                    extra[level][d] += np.where(here, more, 0.0)
        return lowest

    def shares(self, pick: Pick) -> list[tuple[Product, float]]:
        """Of one mapping: each product with its weight, energies by their share in the total."""

        def value(ids: Product) -> float:
            return float(np.prod([pick(g, column)[0] for g, column in enumerate(ids)]))

        found = [(self.cycles, 2.0)]  # tried: the weights that opened the fewest nodes
        total = self.compute_pj
        energies = []
        for one in self.charges:
            products = [one.always, *(each for level in one.any_order for each in level)]
            products += [each for level in one.innermost for each in level.values()]
            words = max(v for v in map(value, products) if np.isfinite(v))
            energies.append((products, one.charge.pj * words))
            total += one.charge.pj * words
        found += [(product, energy / total) for products, energy in energies for product in products]
        found += [(spread, 1.0) for _, _, _, spread, _ in self.axes]
        return found

    # Construction

    def _charge(self, charge: Charge) -> ChargeBound:
        levels, dims = len(self.arch.levels), range(len(self.workload.dims))
        first = self._product(lambda g: 1.0 / g.active(charge.tensor, charge.level)) if charge.first_pj else None
        if charge.child == levels:  # MACs hold nothing
            always = self._words(charge, (levels,) * len(dims), None)
            return ChargeBound(charge, self._name(charge), (), always, (), (), first)
        changing = [rank for group in self.groups for rank in group.ranks(charge.tensor)]
        numbers = tuple(charge.tensor.ranks.index(rank) for rank in changing)
        any_order, innermost = [], []
        for level in range(charge.child):
            inside = (level,) * len(dims)
            any_order.append(tuple(self._words(charge, inside, rank) for rank in changing))
            by_dim = {}
            for rank in changing:
                for d in {self.workload.dims.index(term.dim) for term in rank}:
                    if any(d in g.rows and g.repeats(d, self._temporal[level]).any() for g in self.groups):
                        cuts = tuple(level + (e != d) for e in dims)
                        by_dim[d] = self._words(charge, cuts, rank, d)
            innermost.append(by_dim)
        always = self._words(charge, (0,) * len(dims), None)
        return ChargeBound(charge, self._name(charge), numbers, always, tuple(any_order), tuple(innermost), first)

    def _name(self, charge: Charge) -> str:
        """Whose words, from where to where: `Inputs:DRAM>buffer`, or `Inputs:>buffer` of what the buffer receives."""
        names = [*(level.name for level in self.arch.levels), self.arch.compute.name]
        parent = "" if charge.parent is None else names[charge.parent]
        return f"{charge.tensor.name}:{parent}>{names[charge.child]}"

    def _words(self, charge: Charge, cuts: Cuts, changing: Rank | None, loop: int | None = None) -> Product:
        """Words moved at least when `changing` changes inside `cuts`; `loop`: only chains with that dim's loop at the
        level of its cut."""

        def column(group: DimGroup) -> Floats:
            found = np.ones(len(group))
            for d in group.dims:
                if self.workload.dims[d] not in charge.tensor.dims:
                    found = found * group.contexts(charge, d, cuts[d])
            for rank in group.ranks(charge.tensor):
                words = group.words(charge, rank)
                found = found * (words.again(cuts) if rank is changing else words.once(cuts))
            if loop in group.rows:
                assert loop is not None
                found = np.where(group.repeats(loop, self._temporal[cuts[loop]]), found, np.inf)
            return found

        return self._product(column)

    def _limits(self) -> None:
        """What fits: tiles in capacities, bounds on axes, loops at levels."""
        self.tiles = [
            (storage.capacity_bits // storage.multiple_buffering,
             [(f"tile:{storage.name}:{tensor.name}", storage.bits(tensor.name, tensor.word_bits),
               self._product(lambda g, t=tensor, lv=level: g.tile(t, lv)))  # type: ignore[misc]
              for v, tensor in enumerate(self.workload.tensors) if self.keep[level, v]])
            for level, storage in enumerate(self.arch.levels) if storage.capacity_bits is not None
        ]  # fmt: skip
        self.axes = [
            (f"axis:{slot.name}", slot.axis.size, slot.least,
             self._product(lambda g, s=s: g.bound(s).astype(float)),  # type: ignore[misc]
             self._product(lambda g, s=s: 1.0 / g.bound(s)))  # type: ignore[misc]
            for s, slot in enumerate(self.arch.slots) if slot.axis is not None
        ]  # fmt: skip
        # exponentials turn the sum over groups into a product
        self.most_loops = [
            (slot.constraint.max_loops, self._product(lambda g, s=s: 2.0 ** g.loops(s)))  # type: ignore[misc]
            for s, slot in enumerate(self.arch.slots) if slot.axis is None and slot.constraint.max_loops is not None
        ]  # fmt: skip

    def _possible(self, value: Callable[[Product], Floats], n: int) -> Bools:
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

    def _product(self, column: Callable[[DimGroup], Floats]) -> Product:
        """One column per group, equal ones kept once."""
        ids = []
        for g, group in enumerate(self.groups):
            group.deadline()
            array = np.ascontiguousarray(column(group), float)
            key = blake2b(array.data, digest_size=16).digest()
            if key not in self._known[g]:
                self._known[g][key] = len(self.columns[g])
                self.columns[g].append(array)
            ids.append(self._known[g][key])
        return tuple(ids)


def _where(holds: Bools) -> Floats:
    return np.where(holds, 1.0, np.inf)


def _one(group: DimGroup) -> Floats:
    return np.ones(len(group))
