"""All terms of the weighted products of a choice, with their logarithms for some rows: for many sets of these at once.

As Geometric (geometric.py), but terms that are 0 for some row stay in the table: each set of rows says which of them it
can use. docs/optimal.md, sections 3 and 4.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np

from ..mapping import Bools, Floats, Ints
from .charge_bounds import ChargeBound
from .geometric import Geometric
from .products import Product

ROWS_A_STEP = 100  # rows of a column that are a step of a proof
ABSENT = -1e3  # stands for the logarithm of 0: below that of any float, and no weight makes it infinite


@dataclass(frozen=True)
class _Term:
    """A product, what it is multiplied by, and the charge or memory or flow that it belongs to."""

    name: str
    times: float
    product: Product
    owner: int
    flow: int = -1
    first: Product | None = None  # of an output: the reciprocal of at least the distinct words,
    first_times: float = 0.0  # each of which saves so much
    powers: tuple[int, int] = (0, 0)  # of energy and cycles, of a limit on an objective
    loop: tuple[int, int] | None = None  # it holds where the innermost loop of a level is that of a dim


class WeightedTerms:
    """The terms of the energy, then the limits, then the terms of the cycles."""

    def __init__(self, geometric: Geometric, rows: Sequence[Ints]) -> None:
        """List the terms of a choice, with the logarithms of their columns for `rows` of each group."""
        energy, limits, cycles = _listed(geometric)
        every = [*energy, *limits, *cycles]
        self.names = [term.name for term in every]
        self.base = np.array(geometric.powers, float)  # of energy and cycles in the objective
        # the terms of the energy, the limits, the terms of the cycles
        self.parts = slice(len(energy)), slice(len(energy), -len(cycles) or None), slice(len(every) - len(cycles), None)
        self.times = np.array([term.times for term in every])  # (term,)
        self.first_times = np.array([term.first_times for term in every])
        self.powers = np.array([term.powers for term in every], float).reshape(-1, 2)
        self.charges, self.memories, self.charges_of_cycles, self.flows = (
            _members([getattr(term, name) for term in every[part]])
            for part, name in zip((*self.parts, self.parts[2]), ("owner", "owner", "owner", "flow"), strict=True)
        )
        self.alone = np.array([term.owner < 0 for term in every[self.parts[1]]], bool)
        loops = np.array([term.loop or (-1, -1) for term in every]).reshape(-1, 2)
        self.loop_levels, self.loop_dims = loops.T  # (term,)
        self.outputs = [i for i, term in enumerate(every) if term.first is not None]
        # those that hold for all loop orders: how many terms, and per group how many columns, which are the first
        self.terms_in_any_order, self.columns_in_any_order = int((self.loop_levels < 0).sum()), list[int]()
        self.logs, self.members, self.again = self._columns(geometric, rows, every)

    def _columns(
        self, geometric: Geometric, rows: Sequence[Ints], every: Sequence[_Term]
    ) -> tuple[list[Floats], list[Floats], list[Floats]]:
        """Take logarithms, per group: of the columns that terms have # (row, column), ABSENT for 0; which term has
        which # (term, column); of words per distinct word of the outputs # (row, output)."""
        logs, members, again = list[Floats](), list[Floats](), list[Floats]()
        for g, group_rows in enumerate(rows):
            columns, check = geometric.relaxed.columns[g], geometric.relaxed.groups[g].deadline
            numbers = [term.product[g] if term.product else -1 for term in every]
            in_any_order = {number for number, term in zip(numbers, every, strict=True) if term.loop is None}
            used = np.array([*sorted(in_any_order), *sorted(set(numbers) - in_any_order)])
            place_of = {number: place for place, number in enumerate(used.tolist())}
            self.columns_in_any_order.append(len(in_any_order))
            check((len(used) + len(self.outputs)) * (1 + len(group_rows) // ROWS_A_STEP))
            own = np.zeros((len(group_rows), len(used)))
            for place, c in enumerate(used.tolist()):
                own[:, place] = _log(columns[c][group_rows]) if c >= 0 else 0.0
            logs.append(own)
            words = [
                _log(columns[term.product[g]][group_rows]) + _log(columns[term.first[g]][group_rows])
                for term in every
                if term.first is not None
            ]
            again.append(np.array(words).reshape(-1, len(group_rows)).T.copy())
            members.append(np.eye(len(used))[[place_of[number] for number in numbers]])
        return logs, members, again

    def number(self, *, any_order: bool) -> int:
        """The number of terms, or of those that hold for all loop orders."""
        return self.terms_in_any_order if any_order else len(self.names)

    def columns(self, g: int, *, any_order: bool) -> int:
        """How many of the columns of a group are looked at: all, or those of terms that hold for all loop orders."""
        return self.columns_in_any_order[g] if any_order else self.logs[g].shape[1]

    def taking(self, which: Bools) -> Self:
        """Some of the terms # (term,), for the same rows and columns."""
        own = copy(self)
        own.powers = self.powers[which]
        kept = [which[part] for part in self.parts]
        energy, limits, cycles = (int(mask.sum()) for mask in kept)
        own.parts = slice(energy), slice(energy, energy + limits), slice(energy + limits, energy + limits + cycles)
        own.charges, own.memories = self.charges[kept[0]], self.memories[kept[1]]
        own.charges_of_cycles, own.flows = self.charges_of_cycles[kept[2]], self.flows[kept[2]]
        own.alone = self.alone[kept[1]]
        own.members = [members[which] for members in self.members]
        return own

    def costs(self, least_again: Floats) -> Floats:
        """What each term is multiplied by, in sets with at least so many words per distinct word. # (set, term)

        `least_again` # (set, output): its logarithm.
        """
        costs = np.tile(self.times, (len(least_again), 1))
        own = self.outputs
        costs[:, own] -= self.first_times[own] / np.maximum(np.exp(least_again), 1.0)
        return costs

    def weights(self, log_weights: Floats) -> Floats:
        """Weights, those of energy and of cycles with the sums that the objective has. # (term,)"""
        weights = np.exp(log_weights)
        for power, part in ((self.base[0], self.parts[0]), (self.base[1], self.parts[2])):
            weights[part] *= power / max(float(weights[part].sum()), 1e-300)
        return weights

    def usable(self, zero: Sequence[Bools], costs: Floats, loops: Ints) -> Bools:
        """Which terms sets can use: those that cost something and are 0 for no row. # (set, term)

        `zero`: per group, the columns looked at that are 0 for some row # (set, column); `loops`: the innermost loops
        of the sets # (set, level).
        """
        lost = sum(
            own.astype(float) @ members[:, : own.shape[1]].T for own, members in zip(zero, self.members, strict=True)
        )
        holds = (self.loop_levels < 0) | (loops[:, self.loop_levels] == self.loop_dims)
        return np.asarray((lost == 0) & (costs > 0) & holds)


def _log(column: Floats) -> Floats:
    logs = np.where(column > 0, 0.0, ABSENT)  # rows without a loop, where a term is infinite, are in no set with it
    return np.log(column, out=logs, where=(column > 0) & (column < np.inf))


def _members(owners: Sequence[int]) -> Floats:
    """Which term has which owner. # (term, owner)"""
    numbers, place = np.unique(np.array(owners, np.int64), return_inverse=True)
    members: Floats = np.eye(len(numbers))[place]
    return members


def _listed(geometric: Geometric) -> tuple[list[_Term], list[_Term], list[_Term]]:
    """List the terms of the energy, the limits and the terms of the cycles, as far as the objective has them."""
    within = [limit for limit in geometric.within if limit.most > 0]
    of_energy, of_cycles = (
        any(powers) for powers in zip(geometric.powers, *(limit.objective.powers for limit in within), strict=True)
    )
    energy = list(_of_energy(geometric)) if of_energy else []
    limits = list(_of_capacities(geometric))
    limits += [
        _Term(f"limit:{limit.objective.name}", 1.0 / limit.most, (), -1, powers=limit.objective.powers)
        for limit in within
        if energy or not limit.objective.powers[0]
    ]
    return energy, limits, list(_of_cycles(geometric)) if of_cycles else []


def _of_capacities(geometric: Geometric) -> Iterator[_Term]:
    """Yield the limits of capacities and axes: shares of a capacity add up to at most 1."""
    for k, (capacity, tiles) in enumerate(geometric.relaxed.tiles):
        yield from (_Term(name, bits / capacity, tile, k) for name, bits, tile in tiles if capacity)
    for name, size, _, spread, _ in geometric.relaxed.axes:
        yield _Term(name, 1.0 / size, spread, -1)


def _of_energy(geometric: Geometric) -> Iterator[_Term]:
    """Yield the terms of the energy: a sum over owners, of each the largest of its terms."""
    relaxed = geometric.relaxed
    if relaxed.compute_pj > 0:
        yield _Term("compute", relaxed.compute_pj, (), 0)
    if relaxed.leak_pj > 0:
        yield _Term("leak", relaxed.leak_pj, relaxed.cycles, 1)
    for owner, bound in enumerate(relaxed.charges, 2):
        yield from _of_charge(bound, owner)
    for owner, bound in enumerate(relaxed.charges, 2 + len(relaxed.charges)):
        for name, figure, product in bound.crossing:
            yield _Term(name, bound.charge.hop_pj * figure, product, owner)


def _of_cycles(geometric: Geometric) -> Iterator[_Term]:
    """Yield the terms of the cycles: those of each flow, a sum over charges and starts, and the compute cycles, to
    which starts are added, too."""
    relaxed, owner = geometric.relaxed, 0
    for number, (flow, charges) in enumerate(relaxed.flows):
        for bound in charges:
            yield from _of_charge(bound, owner, f"{flow}:", number)
            owner += 1
    for number, prefix in relaxed.flows_with_starts:
        for name, cycles, tiles in relaxed.starts:
            yield _Term(prefix + name, float(cycles), tiles, owner, number)
            owner += 1
    yield _Term("cycles", 1.0, relaxed.cycles, owner)


def _of_charge(bound: ChargeBound, owner: int, prefix: str = "", flow: int = -1) -> Iterator[_Term]:
    charge, seen = bound.charge, set[Product]()
    first_pj = 0.0 if bound.first is None else charge.first_pj
    for name, product in bound.terms():
        if product not in seen and charge.pj > 0:
            seen.add(product)
            yield _Term(prefix + name, charge.pj, product, owner, flow, bound.first, first_pj)
    for level, by_dim in enumerate(bound.innermost):
        for d, product in by_dim.items():
            if product not in seen and charge.pj > 0:
                named = f"{prefix}{bound.name}:{level}@{d}"
                yield _Term(named, charge.pj, product, owner, flow, bound.first, first_pj, loop=(level, d))
