"""How large the tiles are that a level has to hold: in words, and in bits of its capacity."""

from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from operator import add

import numpy as np

from ....workloads import Tensor
from ...mapping import Numbers, take_rows
from .nest_analysis import NestAnalysis


@dataclass(eq=False)
class TileSizes:
    """The largest tiles of one instance of each level, for every mapping of a batch."""

    nest: NestAnalysis
    _reaches: dict[tuple[int, int, int, int], Numbers] = field(default_factory=dict)

    def words(self, level: int, tensor: Tensor) -> Numbers:
        """Words of the largest tile of `tensor` at `level`, kept there or not; all of a resident one. # (mapping,)"""
        nest = self.nest
        level = 0 if tensor.name in nest.batch.arch.levels[level].resident else level
        index = {dim: d for d, dim in enumerate(nest.batch.workload.dims)}
        ranks = [[(index[t.dim], t.coef) for t in rank if index[t.dim] in nest.dims] for rank in tensor.ranks]
        # along a rank, 1 and the reaches of its dims; the 1 goes with the first
        sides = ([self._reach(level, d, coef, int(i == 0)) for i, (d, coef) in enumerate(terms)] for terms in ranks)
        return nest.product(reduce(add, side) for side in sides if side)

    def kept_words(self) -> Numbers:
        """Words of the largest tile of each tensor; 0 where it is bypassed. # (mapping, level, tensor)"""
        nest, tensors = self.nest, self.nest.batch.workload.tensors
        places = product(range(nest.levels), enumerate(tensors))
        columns = [nest.batch.keep[:, level, v] * self.words(level, tensor) for level, (v, tensor) in places]
        return nest.together(columns, nest.levels, len(tensors))

    def kept_bits(self, level: int) -> Numbers:
        """Bits of the tiles kept in one instance of `level`. # (mapping,)"""
        batch, storage = self.nest.batch, self.nest.batch.arch.levels[level]
        used = self.nest.zeros()
        for v, tensor in enumerate(batch.workload.tensors):
            keep = batch.keep[:, level, v]
            known = isinstance(keep, np.ndarray)  # while JAX traces, what is kept may be data
            if known and not keep.any():
                continue
            bits = self.words(level, tensor) * storage.bits(tensor.name, tensor.word_bits)
            used = used + (bits if known and keep.all() else keep * bits)
        return used

    def memory_bits(self, levels: range) -> Numbers:
        """Bits of the tiles kept in one instance of a memory, of all `levels` of its stack. # (mapping,)"""
        return reduce(add, map(self.kept_bits, levels))

    def _reach(self, level: int, d: int, coef: int, more: int) -> Numbers:
        """coef * (extent - 1) + more, of the largest tile of `level` along dim d. # (mapping,)"""
        key = (level, d, coef, more)
        if key not in self._reaches:
            nest = self.nest
            extent = np.minimum(nest.view(d, level, 0, 0).tile, nest.batch.workload.sizes[d])
            self._reaches[key] = take_rows(coef * (extent - 1).astype(nest.numbers) + more, nest.row(d))
        return self._reaches[key]
