"""What bounds are made of, each made once: for a choice of kept and resident tensors, or all with the same chains."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ...workloads import Tensor
from ..mapping import Bools, Floats
from .charge_bounds import ChargeBound, charge_bound
from .charges import MovementCost
from .dim_groups import DimGroup
from .products import Least, Product, Products

Axis = tuple[str, int, int, Product, Product]  # name, size, least bound, and the products of the bound and its inverse
Start = tuple[str, int, Product]  # name, cycles, and the product of the tiles that begin


class Terms:
    """The products of some groups of dims that do not depend on what is kept, and those of charges and tiles."""

    def __init__(self, groups: Sequence[DimGroup], *, coarse: bool = False, least: Least | None = None) -> None:
        """Begin with none; `coarse` and `least` are those of a Relaxation."""
        self.groups, self.coarse = groups, coarse
        self.products = Products(groups, merged=not coarse, least=least)
        self._charges: dict[MovementCost, ChargeBound] = {}
        self._tiles: dict[tuple[str, int], Product] = {}
        self._most_loops: dict[tuple[int, ...], Product] = {}
        arch = groups[0].arch
        self._temporal = [] if coarse else [s for s, slot in enumerate(arch.slots) if not slot.spatial]

    @cached_property
    def cycles(self) -> Product:
        """The steps of all loops."""
        return self.products.of(lambda g: g.steps(len(g.arch.levels)))

    @cached_property
    def starts(self) -> list[Start]:
        """The tiles that each memory begins, with the cycles of one."""
        levels, arch = self.groups[0].arch.levels, self.groups[0].arch
        return [
            (f"start:{levels[level].of_memory}", cycles, self.products.of(lambda g, level=level: g.steps(level)))  # type: ignore[misc]
            for level, cycles in arch.starts
        ]

    @cached_property
    def still(self) -> list[Product]:
        """Per temporal slot 1 where it has no loop, else inf; none in a coarse bound: innermost loops say nothing."""
        return [self.products.of(lambda g, s=s: _where(g.loops(s) == 0)) for s in self._temporal]  # type: ignore[misc]

    @cached_property
    def loops(self) -> list[dict[int, Product]]:
        """Per temporal slot, by the dims that may have a loop there, 1 where they have, else inf."""
        return [
            {d: self.products.of(lambda g, s=s, d=d: _where(g.repeats(d, s)) if d in g.rows else _one(g))  # type: ignore[misc]
             for group in self.groups for d in group.dims if group.repeats(d, s).any()}
            for s in self._temporal
        ]  # fmt: skip

    @cached_property
    def axes(self) -> list[Axis]:
        """The axes, with the products of all bounds on them."""
        return [
            (f"axis:{slot.name}", slot.axis.size, slot.least,
             self.products.of(lambda g, s=s: g.bound(s).astype(float)),  # type: ignore[misc]
             self.products.of(lambda g, s=s: 1.0 / g.bound(s)))  # type: ignore[misc]
            for s, slot in enumerate(self.groups[0].arch.slots) if slot.axis is not None
        ]  # fmt: skip

    def charge(self, charge: MovementCost) -> ChargeBound:
        """Bound what a charge moves."""
        if charge not in self._charges:
            self._charges[charge] = charge_bound(charge, self.products, coarse=self.coarse)
        return self._charges[charge]

    def tile(self, tensor: Tensor, level: int) -> Product:
        """The words of the largest tile of a tensor at a level; of the whole tensor at level 0."""
        key = tensor.name, level
        if key not in self._tiles:
            self._tiles[key] = self.products.of(lambda g: g.tile(tensor, level))
        return self._tiles[key]

    def most_loops(self, slots: tuple[int, ...]) -> Product:
        """How many loops there are at some slots, as a power of 2: so it is a product over the groups, too."""
        if slots not in self._most_loops:
            self._most_loops[slots] = self.products.of(lambda g: np.asarray(2.0 ** sum(g.loops(s) for s in slots)))
        return self._most_loops[slots]


def _where(holds: Bools) -> Floats:
    return np.where(holds, 1.0, np.inf)


def _one(group: DimGroup) -> Floats:
    return np.ones(len(group))
