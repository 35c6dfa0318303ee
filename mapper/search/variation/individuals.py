"""Individuals of an evolution: mappings as arrays of what variation changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...mapping import Bools, Ints, MappingBatch
from ...mapspace import Mapspace, Order, sorted_placement
from .packing import packed, unpacked

GENES = {"bounds": np.int64, "order": np.int8, "keep": np.bool_}


@dataclass(frozen=True, eq=False)
class Individuals:
    """Bounds, loop orders and kept tensors of some mappings."""

    bounds: Ints  # (individual, slot, dim)
    order: Order  # (individual, level, position): the dim at each loop position, outermost first
    keep: Bools  # (individual, level, tensor)

    def __len__(self) -> int:
        return len(self.bounds)

    def take(self, where: Ints | Bools | slice) -> "Individuals":
        """Return those at `where`."""
        return Individuals(self.bounds[where], self.order[where], self.keep[where])

    def replaced(self, where: Ints, replacements: "Individuals") -> "Individuals":
        """Return the same with `replacements` at `where`."""
        arrays = {name: getattr(self, name).copy() for name in GENES}
        for name, array in arrays.items():
            array[where] = getattr(replacements, name)
        return Individuals(**arrays)

    def copied(self) -> "Individuals":
        """Return the same in arrays of its own."""
        return Individuals(**{name: getattr(self, name).copy() for name in GENES})

    @classmethod
    def of_batch(cls, batch: MappingBatch) -> Self:
        """Return the mappings of a batch."""
        return cls(batch.factors, batch.order, batch.keep)

    @classmethod
    def joined(cls, parts: "Sequence[Individuals]") -> Self:
        """Join individuals, in turn."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in GENES))

    def batch(self, space: Mapspace) -> MappingBatch:
        """Make the batch of them, with tables of their own, each the mapping that stands for those equal to it."""
        batch = MappingBatch.of(space.arch, space.workload, self.bounds, self.order, self.keep)
        return sorted_placement(space, batch)

    def plain(self) -> dict[str, Any]:
        """Convert to plain values for a checkpoint; `of_plain` reads them."""
        return {name: getattr(self, name).tolist() for name in GENES}

    @classmethod
    def of_plain(cls, values: Mapping[str, Any]) -> Self:
        """Read the values of `plain`."""
        return cls(*(np.array(values[name], kind) for name, kind in GENES.items()))

    def packed(self) -> dict[str, Any]:
        """Convert to plain values with the arrays as text, for memories of many; `of_packed` reads them."""
        return {name: packed(getattr(self, name)) for name in GENES}

    @classmethod
    def of_packed(cls, values: Mapping[str, Any]) -> Self:
        """Read the values of `packed`."""
        return cls(*(unpacked(values[name]).astype(kind) for name, kind in GENES.items()))
