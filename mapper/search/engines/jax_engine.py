"""The model compiled by JAX for one mapspace: first which mappings are valid, then what those left are worth.

What is compiled is `validity` and `evaluate` of cost.py, on the arrays of a draw; XLA leaves out what no result needs.
Arrays have one size per function, so each is compiled once: a batch is cut and filled up to it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ....arch import Architecture
from ....energy import EnergyTable
from ...mapping import Bools, Floats, Ints
from ...mapspace import LazyBatch, Mapspace
from ...model import CostOptions, NestAnalysis, Objective, evaluate, rate, validity

BLOCK = 8192  # mappings evaluated at once: their arrays stay in cache, and calls cost little beside them
SMALL_BLOCK = 1024  # where bounds have left few: a block is filled up
MOST_ENGINES = 16  # mapspaces whose compiled functions are kept


class JaxEngine:
    """See engine.Engine."""

    def __init__(
        self,
        space: Mapspace,
        table: EnergyTable,
        costs: CostOptions,
        objectives: tuple[Objective, ...],
        block: int,
    ) -> None:
        jax.config.update("jax_enable_x64", True)  # counts go beyond 2^31, energies are double precision
        self.space, self.table, self.costs, self.objectives, self.block = space, table, costs, objectives, block
        self._values: dict[bytes, Callable[..., Any]] = {}  # by what is kept

    def look(self, draw: LazyBatch) -> "JaxSight":
        """Begin to find out which mappings are valid, and their cycles."""
        return JaxSight(*self._look(_rows(draw), draw.keep if self._free else None))

    def values(self, draw: LazyBatch) -> Floats:
        """The objectives of every mapping. # (mapping, objective)"""
        values = np.empty((len(draw), len(self.objectives)))
        for keep in self.space.every_keep():
            where = np.flatnonzero((draw.keep == keep).all(axis=(1, 2))) if self._free else slice(None)
            part = draw.take(where) if self._free else draw
            if len(part):
                values[where] = self._values_of(part, keep)
        return values

    def _values_of(self, draw: LazyBatch, keep: Bools) -> Floats:
        """The same of mappings that all keep the same."""
        if keep.tobytes() not in self._values:
            keeps = np.broadcast_to(keep, (self.block, *keep.shape))
            self._values[keep.tobytes()] = jax.jit(partial(self._evaluate, keeps))
        run, rows, digits, outputs = self._values[keep.tobytes()], _rows(draw), draw.digits, []
        for start in range(0, len(draw), self.block):
            block, left = slice(start, start + self.block), min(self.block, len(draw) - start)
            parts = [part[:, block] for part in (rows, digits)]
            if left < self.block:  # filled up with the same again
                parts = [part[:, np.arange(self.block) % left] for part in parts]
            outputs.append(run(*parts, self._bandwidths))
        return np.concatenate([np.asarray(values).T for values in outputs])[: len(draw)]

    # What is compiled

    @cached_property
    def _look(self) -> Callable[..., Any]:
        compiled: Callable[..., Any] = jax.jit(self._first)
        return compiled

    def _first(self, rows: Any, keep: Any) -> tuple[Any, Any]:
        batch = self._batch(self.space.arch, rows, None, keep)
        nest = NestAnalysis(batch)
        return validity(batch, nest), nest.cycles()

    def _evaluate(self, keep: Bools, rows: Any, digits: Any, bandwidths: Any) -> Any:
        """# (objective, mapping)"""
        batch = self._batch(with_bandwidths(self.space.arch, bandwidths), rows, digits, keep)
        costs = evaluate(batch, self.table, self.costs)
        return jax.numpy.stack([objective.of(costs) for objective in self.objectives])

    def _batch(self, arch: Architecture, rows: Any, digits: Any, keep: Any) -> LazyBatch:
        tables = tuple(self.space.table(d) for d in range(len(rows)))
        if keep is None:
            keep = np.broadcast_to(self.space.every_keep(), (rows.shape[1], *self.space.every_keep().shape[1:]))
        space = self.space
        return LazyBatch(arch, space.workload, tables, rows.T, keep, space.orders, lambda _: digits)

    @property
    def _free(self) -> bool:
        """Whether mappings differ in what they keep."""
        return self.space.size.bypass > 1

    @cached_property
    def _bandwidths(self) -> dict[tuple[int, str], Any]:
        """Words of `rate`, by level and name, where there is one. # (mapping of a block,) each"""
        levels, names = self.space.arch.levels, ("read_bandwidth", "write_bandwidth")
        bandwidths = {(i, name): getattr(level, name) for i, level in enumerate(levels) for name in names}
        given = {key: value for key, value in bandwidths.items() if value is not None}
        return {key: jax.numpy.full(self.block, float(rate(value)[0])) for key, value in given.items()}


class JaxSight:
    """See engine.Sight."""

    def __init__(self, reasons: Any, cycles: Any) -> None:
        self._reasons, self._cycles = reasons, cycles

    def reasons(self) -> NDArray[np.int8]:
        """# (mapping,)"""
        return np.asarray(self._reasons)

    def cycles(self) -> Floats:
        """# (mapping,)"""
        return np.asarray(self._cycles)


def with_bandwidths(arch: Architecture, bandwidths: dict[tuple[int, str], Any]) -> Architecture:
    """`arch` with a `rate` per mapping for bandwidths.

    By a number for all, XLA would multiply with its inverse, and what is rounded up could then be another number.
    """
    levels = list(arch.levels)
    for (level, name), each in bandwidths.items():
        several: Any = each, rate(getattr(levels[level], name))[1]
        levels[level] = replace(levels[level], **{name: several})
    return replace(arch, levels=tuple(levels))


def _rows(draw: LazyBatch) -> Ints:
    return draw.rows.T.astype(np.int32)


@lru_cache(maxsize=MOST_ENGINES)
def jax_engine(
    space: Mapspace, table: EnergyTable, costs: CostOptions, objectives: tuple[Objective, ...], block: int
) -> JaxEngine:
    """The engine of a mapspace: the same at every call in this process, with what it has compiled."""
    return JaxEngine(space, table, costs, objectives, block)
