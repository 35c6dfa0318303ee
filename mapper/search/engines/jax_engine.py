"""Compiles the model with JAX for one mapspace: one function for validity and cycles, one for the objectives.

The functions are `validity` and `evaluate` of cost.py, on the arrays of a draw; XLA drops what no result needs. Each
function has a fixed array size, so JAX compiles it once: batches are cut and padded to that size.
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
from ...model import count, evaluate, least_counts, rate, validity
from ...model.nests import NestAnalysis
from ...problem import Charges, Objective

BLOCK = 8192  # mappings evaluated at once: their arrays stay in cache, and calls cost little beside them
SMALL_BLOCK = 1024  # where bounds have left few mappings: a block is padded
MOST_ENGINES = 16  # engines in the cache


class JaxEngine:
    """See engine.Engine."""

    def __init__(
        self,
        space: Mapspace,
        table: EnergyTable,
        costs: Charges,
        objectives: tuple[Objective, ...],
        block: int,
    ) -> None:
        jax.config.update("jax_enable_x64", True)  # counts go beyond 2^31, energies are double precision
        self.space, self.table, self.costs, self.objectives, self.block = space, table, costs, objectives, block
        self._values: dict[bytes, Callable[..., Any]] = {}  # by kept tensors

    def look(self, draw: LazyBatch) -> "JaxSight":
        """Start to compute which mappings are valid, and their cycles."""
        return JaxSight(*self._look(_rows(draw), draw.keep if self._free else None))

    def values(self, draw: LazyBatch) -> tuple[Floats, Floats]:
        """Bound the objectives of every mapping from below and above. # (mapping, objective) each"""
        values = np.empty((len(draw), 2, len(self.objectives)))
        for keep in self.space.every_keep():
            where = np.flatnonzero((draw.keep == keep).all(axis=(1, 2))) if self._free else slice(None)
            part = draw.take(where) if self._free else draw
            if len(part):
                values[where] = self._values_of(part, keep)
        return values[:, 0], values[:, 1]

    def _values_of(self, draw: LazyBatch, keep: Bools) -> Floats:
        """Bound the objectives of mappings that all keep the tensors of `keep`. # (mapping, bound, objective)"""
        if keep.tobytes() not in self._values:
            keeps = np.broadcast_to(keep, (self.block, *keep.shape))
            self._values[keep.tobytes()] = jax.jit(partial(self._evaluate, keeps))
        run, rows, digits, outputs = self._values[keep.tobytes()], _rows(draw), draw.digits, []
        for start in range(0, len(draw), self.block):
            block, size = slice(start, start + self.block), min(self.block, len(draw) - start)
            parts = [part[:, block] for part in (rows, digits)]
            if size < self.block:  # padded with copies
                parts = [part[:, np.arange(self.block) % size] for part in parts]
            outputs.append(run(*parts, self._bandwidths))
        return np.concatenate([np.moveaxis(np.asarray(values), 2, 0) for values in outputs])[: len(draw)]

    # Compiled functions

    @cached_property
    def _look(self) -> Callable[..., Any]:
        compiled: Callable[..., Any] = jax.jit(self._first)
        return compiled

    def _first(self, rows: Any, keep: Any) -> tuple[Any, Any]:
        batch = self._batch(self.space.arch, rows, None, keep)
        nest = NestAnalysis(batch)
        return validity(batch, nest), nest.cycles()

    def _evaluate(self, keep: Bools, rows: Any, digits: Any, bandwidths: Any) -> Any:
        """Bound the objectives from below and above; XLA computes equal figures once. # (bound, objective, mapping)"""
        batch = self._batch(with_bandwidths(self.space.arch, bandwidths), rows, digits, keep)
        counts = count(batch)
        bounds = [
            evaluate(batch, self.table, self.costs, bound_counts)
            for bound_counts in (least_counts(batch, counts), counts)
        ]
        return jax.numpy.stack(
            [jax.numpy.stack([objective.of(costs) for objective in self.objectives]) for costs in bounds]
        )

    def _batch(self, arch: Architecture, rows: Any, digits: Any, keep: Any) -> LazyBatch:
        tables = tuple(self.space.table(d) for d in range(len(rows)))
        if keep is None:
            keep = np.broadcast_to(self.space.every_keep(), (rows.shape[1], *self.space.every_keep().shape[1:]))
        space = self.space
        return LazyBatch(arch, space.workload, tables, rows.T, keep, space.orders, lambda _: digits)

    @property
    def _free(self) -> bool:
        """Whether mappings differ in the tensors that they keep."""
        return self.space.keep_choices.number > 1

    @cached_property
    def _bandwidths(self) -> dict[tuple[int, str], Any]:
        """The limited bandwidths, as words of `rate`, by level and name. # (mapping of a block,) each"""
        return {
            (i, limit.key): jax.numpy.full(self.block, float(rate(limit.rate)[0]))
            for i, level in enumerate(self.space.arch.levels)
            for limit in level.bandwidths
        }


class JaxSight:
    """See engine.Sight."""

    def __init__(self, reasons: Any, cycles: Any) -> None:
        self._reasons, self._cycles = reasons, cycles

    def reasons(self) -> NDArray[np.int8]:
        """Return the codes of `validity`. # (mapping,)"""
        return np.asarray(self._reasons)

    def cycles(self) -> Floats:
        """Return the compute cycles. # (mapping,)"""
        return np.asarray(self._cycles)


def with_bandwidths(arch: Architecture, bandwidths: dict[tuple[int, str], Any]) -> Architecture:
    """Give `arch` bandwidths as a `rate` per mapping.

    XLA would turn division by a constant into multiplication by its inverse, which may round up to another number.
    """
    levels = list(arch.levels)
    for (level, name), bandwidth in bandwidths.items():
        several: Any = bandwidth, rate(getattr(levels[level], name))[1]
        levels[level] = replace(levels[level], **{name: several})
    return replace(arch, levels=tuple(levels))


def _rows(draw: LazyBatch) -> Ints:
    return draw.rows.T.astype(np.int32)


@lru_cache(maxsize=MOST_ENGINES)
def jax_engine(
    space: Mapspace, table: EnergyTable, costs: Charges, objectives: tuple[Objective, ...], block: int
) -> JaxEngine:
    """Return the engine of a mapspace, cached in this process with its compiled functions."""
    return JaxEngine(space, table, costs, objectives, block)
