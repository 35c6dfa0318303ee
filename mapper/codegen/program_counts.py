"""What a program does, counted from its nest: the terms that its time is made of.

Nothing is executed: of each dim the number of tiles at a place of the nest is the size over the tile, rounded up, and a
program visits every combination. A cache holds what fits, and of that what was used last; prefetching is left out.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod

from .c import Kernel, Layout, Plan, packed_layouts
from .cache_lines import CacheLines
from .data_types import DataType
from .nest import Nest

SIDE_BY_SIDE = 8  # multiply-and-adds that a core has under way: a latency of 4 cycles, two a cycle


@dataclass(frozen=True, eq=False)
class ProgramCounts:
    """The counts of one program."""

    nest: Nest
    kind: DataType

    @cached_property
    def terms(self) -> dict[str, float]:
        """How often each thing is done, by name; of caches the lines that they fetch."""
        plan, output = self._plan, self.nest.output
        loads, gathered, sums, scattered = 0.0, 0.0, 0.0, 0.0
        for v in range(len(self.nest.relevant)):
            place = plan.sums if v == output else plan.tile
            vectors, words = self._vectors(v, place), self._number(v, place)
            apart = self._lane_step(v) > 1
            if v == output:
                sums, scattered = (0.0, words) if apart else (vectors, 0.0)
            elif apart:
                gathered += words
            else:
                loads += vectors
        counts = {
            "statement": float(prod(self._chunks.get(d, size) for d, size in enumerate(self.nest.workload.sizes))),
            "iteration": float(sum(self.nest.visits(place) for place in range(1, plan.tile + 1))),
            "load": loads,
            "gathered word": gathered,
            "sum": sums,
            "scattered word": scattered,
            **self._copied(),
            **self._waits(),
        }
        caches = CacheLines(plan, self._layouts, self.kind)
        for stack in self.nest.arch.stacks:  # of uneven placement: one memory
            level = self.nest.arch.levels[stack[0]]
            if level.capacity_bits is not None and level.code != "registers":
                counts[f"{level.of_memory} line"] = caches.fetched(level)
        return counts

    @cached_property
    def _plan(self) -> Plan:
        return self._kernel.plan

    @cached_property
    def _kernel(self) -> Kernel:
        return Kernel(self.nest, self.kind)

    @cached_property
    def _layouts(self) -> list[Layout]:
        """Where the innermost tile finds each tensor."""
        return packed_layouts(self._kernel)

    @property
    def threads(self) -> int:
        """The threads that share the work."""
        return self._kernel.plan.threads

    @cached_property
    def _chunks(self) -> dict[int, int]:
        """The vectors along the dim of the lanes: each step of lanes is as many as its number has binary ones."""
        if self._plan.lanes is None:
            return {}
        loop = self.nest.loops[self._plan.lanes]
        whole, rest = divmod(self.nest.workload.sizes[loop.dim], loop.bound)
        return {loop.dim: whole * loop.bound.bit_count() + rest.bit_count()}

    def _other_dims(self, v: int) -> list[int]:
        return [d for d in range(len(self.nest.workload.dims)) if d not in self.nest.relevant[v]]

    def _number(self, v: int, place: int) -> float:
        """The words of a tensor that tiles at `place` use, each tile once."""
        sizes = self.nest.workload.sizes
        return float(prod(sizes[d] for d in self.nest.relevant[v]) * self.nest.visits(place, self._other_dims(v)))

    def _vectors(self, v: int, place: int) -> float:
        """The same in vectors, along lanes that the tensor has."""
        sizes = self.nest.workload.sizes
        own = prod(self._chunks.get(d, sizes[d]) for d in self.nest.relevant[v])
        return float(own * self.nest.visits(place, self._other_dims(v)))

    def _lane_step(self, v: int) -> int:
        lanes = self._plan.lanes
        return 0 if lanes is None else self._layouts[v].inside.get(self.nest.loops[lanes].dim, 0)

    def _copied(self) -> dict[str, float]:
        """Words copied to and from buffers: side by side in both places, or strided in one.

        Of a tile that threads have in common each copies its own.
        """
        straight, strided, plan, loops = 0.0, 0.0, self._plan, self.nest.loops
        for copy in plan.copies:
            words = self._number(copy.tensor, copy.place) * (2 if copy.tensor == self.nest.output else 1)
            words *= prod(
                loops[i].bound for i in plan.later(copy) if loops[i].dim not in self.nest.relevant[copy.tensor]
            )
            if self._kernel.copies_in_rows(copy):
                straight += words
            else:
                strided += words
        return {"copied word": straight, "transposed word": strided}

    def _waits(self) -> dict[str, float]:
        """Where a sum waits for itself: for the addition before, as few sums run side by side; for a store just before.

        And statements whose sums find no register.
        """
        nest, plan, relevant = self.nest, self._plan, self.nest.relevant[self.nest.output]
        vectors = {d: min(nest.tile(d, plan.tile), nest.workload.sizes[d]) for d in range(len(nest.workload.dims))}
        if plan.lanes is not None:
            loop = nest.loops[plan.lanes]
            vectors[loop.dim] = ceil(vectors[loop.dim] / loop.bound) * loop.bound.bit_count()
        sums = prod(number for d, number in vectors.items() if d in relevant)
        additions = prod(vectors.values()) / sums  # additions to one sum, in one visit
        alone = plan.sums < plan.tile or additions > 1
        again = next((i for i in range(plan.sums - 1, -1, -1) if nest.loops[i].dim not in relevant), None)
        stored = 0.0
        if again is not None:
            between = self.nest.visits(plan.sums) / self.nest.visits(again + 1) * sums
            stored = self.nest.visits(again + 1) * max(0.0, 1 - between / SIDE_BY_SIDE)
        return {
            "wait for a sum": self.nest.visits(plan.tile) * additions * max(0.0, 1 - sums / SIDE_BY_SIDE)
            if alone
            else 0.0,
            "wait for a store": stored,
            "statement without register": self.nest.visits(plan.tile) * prod(vectors.values()) * self._spilled(sums),
        }

    def _spilled(self, sums: int) -> float:
        """The share of sums for which there is no register: each holds one vector, however few its lanes."""
        for level in self.nest.arch.levels:
            if level.code == "registers" and level.capacity_bits is not None:
                registers = level.capacity_bits // (level.width_bits or 1)
                return max(0.0, 1 - registers / sums)
        return 0.0
