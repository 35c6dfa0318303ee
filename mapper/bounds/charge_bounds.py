"""What one charge moves at least, whatever the loop orders: products over the groups of dims.

docs/optimal.md has the argument, relaxation.py the short of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ...workloads import Rank
from ..mapping import Floats
from .charges import MovementCost
from .dim_groups import DimGroup
from .products import Numbered, Product, Products, Shape, Value
from .rank_words import Cuts
from .wires import Hops, hops_bound, shares


@dataclass(frozen=True)
class Chosen:
    """The innermost loops that some sets of mappings have, by level and dim; None: the level has no loop."""

    absent: Mapping[tuple[int, int | None], Floats]  # 0 where it may be that one, inf where not # (set,)
    only: Mapping[tuple[int, int | None], Floats]  # 1 where it can be no other, else 0 # (set,)


@dataclass(frozen=True, eq=False)
class ChargeBound:
    """One charge's words: at least each of these products."""

    charge: MovementCost
    name: str
    ranks: tuple[int, ...]  # those that change, by their numbers
    always: Product
    any_order: tuple[tuple[Product, ...], ...]  # per level outside the child; of several, each holds
    innermost: tuple[dict[int, Product], ...]  # per level, by the dim of the innermost loop
    first: Product | None  # the reciprocal of at least the distinct words
    hops: Hops | None = None  # of a word
    crossing: tuple[tuple[str, float, Product], ...] = ()  # words times hops: at least each product times its figure

    def numbered(self, by: Numbered) -> "ChargeBound":
        """The same, with columns by other numbers."""
        return replace(
            self,
            always=by(self.always),
            any_order=tuple(tuple(map(by, products)) for products in self.any_order),
            innermost=tuple({d: by(product) for d, product in products.items()} for products in self.innermost),
            first=None if self.first is None else by(self.first),
            hops=None if self.hops is None else self.hops.numbered(by),
            crossing=tuple((name, figure, by(product)) for name, figure, product in self.crossing),
        )

    def terms(self) -> Iterator[tuple[str, Product]]:
        """What holds for all loop orders, each with the name that certificates have for it."""
        yield f"{self.name}:always", self.always
        for level, by_rank in enumerate(self.any_order):
            for rank, product in zip(self.ranks, by_rank, strict=True):
                yield f"{self.name}:{level}.{rank}", product

    def every(self) -> list[Product]:
        """List all its products: for all loop orders, and for innermost loops."""
        any_order = (product for level in self.any_order for product in level)
        return [self.always, *any_order, *(product for level in self.innermost for product in level.values())]

    def energy(
        self, value: Value, n: Shape, chosen: Chosen | None = None
    ) -> tuple[Floats, list[tuple[int, int, Floats]]]:
        """The least energy in any order # (set,), for `n` sets of chains, and what innermost loops add to it.

        Each addition is of the loop of a dim at a level: (level, dim, pJ # (set,)). With `chosen`, the least is that of
        mappings with those innermost loops.
        """
        charge, least = self.charge, value(self.always)
        at = np.full(n, -1)
        reached = np.zeros(n)
        for level in reversed(range(len(self.any_order))):
            words = reduce(np.maximum, (value(product) for product in self.any_order[level]), np.zeros(n))
            at = np.where(words > reached, level, at)
            reached = np.maximum(reached, words)
        least = np.maximum(least, reached)
        if chosen is not None:
            for level, by_dim in enumerate(self.innermost):
                for d, product in by_dim.items():
                    words = value(product)  # infinite where no chain has that loop: no such mapping
                    holds = (chosen.only[level, d] > 0) & (words < np.inf)
                    least = np.maximum(least, np.where(holds, words, 0.0))
        first = 1.0 / value(self.first) if self.first is not None else np.zeros(n)
        word_pj = charge.pj - charge.first_pj + self.wires(value, n)

        def energy(words: Floats) -> Floats:
            again_pj = charge.first_pj * np.maximum(words - first, 0.0) if charge.first_pj else np.zeros(n)
            return again_pj + np.multiply(word_pj, words, out=np.zeros(n), where=word_pj > 0)  # words may be infinite

        lowest, additions = energy(least), []
        for level, by_dim in enumerate(self.innermost):
            at_level = at == level
            if at_level.any():
                for d, product in by_dim.items():
                    more = energy(np.maximum(value(product), least)) - lowest
                    additions.append((level, d, np.where(at_level, more, 0.0)))
        return lowest, additions

    def wires(self, value: Value, n: Shape) -> Floats:
        """The least energy of the wires that a word passes, for `n` sets of chains. # (set,)"""
        return np.zeros(n) if self.hops is None else self.charge.hop_pj * self.hops.least(value, n)


@dataclass(frozen=True)
class Rewritten:
    """A term of an output: its first words need no read, so what a word costs depends on how often each is moved."""

    name: str
    charge: MovementCost
    product: Product  # words
    first: Product  # the reciprocal of at least the distinct words
    again: float  # words per distinct word, at least, of the rows looked at

    def cost(self, again: float) -> float:
        """What a word costs at least where each distinct word is moved `again` times."""
        return self.charge.pj - self.charge.first_pj / max(again, 1.0)


def charge_bound(charge: MovementCost, products: Products, *, coarse: bool = False) -> ChargeBound:
    """The bound of `charge`, its columns added to `products`; a `coarse` has only what is moved in any case."""
    if coarse:
        return _coarse(charge, products)
    bound = _charge_bound(charge, products)
    if not charge.hop_pj:
        return bound
    assert charge.parent is not None, "words enter the array of a parent"
    crossing = [
        (f"{name}*{share}", figure, products.times(words, hops))
        for share, figure, hops in shares(products, charge.tensor, charge.parent)
        for name, words in bound.terms()
    ]
    return replace(bound, hops=hops_bound(products, charge.tensor, charge.parent), crossing=tuple(crossing))


def _coarse(charge: MovementCost, products: Products) -> ChargeBound:
    group = products.groups[0]
    first = products.of(lambda g: _share(charge, g) / g.active(charge)) if charge.first_pj else None
    levels = len(group.arch.levels)
    cut = levels if charge.child == levels else 0  # MACs hold nothing
    always = _words(charge, products, (cut,) * len(group.workload.dims), None)
    return ChargeBound(charge, _name(charge, group), (), always, (), (), first)


def _charge_bound(charge: MovementCost, products: Products) -> ChargeBound:
    coarse, group = _coarse(charge, products), products.groups[0]
    if charge.child == len(group.arch.levels):
        return coarse
    changing = [rank for group in products.groups for rank in group.ranks(charge.tensor)]
    numbers = tuple(charge.tensor.ranks.index(rank) for rank in changing)
    any_order, innermost = [], []
    for level in range(charge.child):
        inside = (level,) * len(group.workload.dims)
        any_order.append(tuple(_words(charge, products, inside, rank) for rank in changing))
        innermost.append(_by_innermost(charge, products, level, changing))
    return replace(coarse, ranks=numbers, any_order=tuple(any_order), innermost=tuple(innermost))


def _by_innermost(charge: MovementCost, products: Products, level: int, changing: list[Rank]) -> dict[int, Product]:
    """The words moved at least where the innermost loop of a level is that of a dim, by the dim; of those that can."""
    workload, arch = products.groups[0].workload, products.groups[0].arch
    slot = [s for s, slot in enumerate(arch.slots) if not slot.spatial][level]
    by_dim = {}
    for rank in changing:
        for d in {workload.dims.index(term.dim) for term in rank}:
            if any(d in g.rows and g.repeats(d, slot).any() for g in products.groups):
                cuts = tuple(level + (e != d) for e in range(len(workload.dims)))
                by_dim[d] = _words(charge, products, cuts, rank, d)
    return by_dim


def _name(charge: MovementCost, group: DimGroup) -> str:
    """Whose words, from where to where: `Inputs:DRAM>buffer`, or `Inputs:>buffer` of what the buffer receives; bursts
    and rows are `Inputs/bursts:DRAM>buffer`."""
    names = [*(level.name for level in group.arch.levels), group.arch.compute.name]
    parent = "" if charge.parent is None else names[charge.parent]
    what = f"{charge.tensor.name}/{charge.unit.name}" if charge.unit.name else charge.tensor.name
    return f"{what}:{parent}>{names[charge.child]}"


def _share(charge: MovementCost, group: DimGroup) -> Floats:
    """The instances over which a mean is taken."""
    return group.instances(charge.level) if charge.mean else np.ones(len(group))


def _words(
    charge: MovementCost, products: Products, cuts: Cuts, changing: Rank | None, loop: int | None = None
) -> Product:
    """Words moved at least when `changing` changes inside `cuts`; `loop`: only chains with that dim's loop at the
    level of its cut."""

    def column(group: DimGroup) -> Floats:
        moved_words = 1.0 / _share(charge, group)
        for d in group.dims:
            if group.workload.dims[d] not in charge.tensor.dims:
                moved_words = moved_words * group.contexts(charge, d, cuts[d])
        for rank in group.ranks(charge.tensor):
            words = group.words(charge, rank)
            moved_words = moved_words * (words.again(cuts) if rank is changing else words.once(cuts))
        if loop in group.rows:
            assert loop is not None
            temporal = [s for s, slot in enumerate(group.arch.slots) if not slot.spatial]
            moved_words = np.where(group.repeats(loop, temporal[cuts[loop]]), moved_words, np.inf)
        return moved_words

    return products.of(column)
