"""Which tensors each level keeps: what is fixed, and every choice of the rest by number and by chance."""

import numpy as np

from ...arch import Architecture
from ...workloads import Workload
from ..mapping import Bools
from .integers import BigInts


class KeepChoices:
    """The choices to keep or bypass that the constraints of `arch` leave for the tensors of `workload`.

    A choice of all of them has a number: its bits, the first free choice the most significant.
    """

    def __init__(self, arch: Architecture, workload: Workload) -> None:
        names = [tensor.name for tensor in workload.tensors]
        self._may = np.array([[name not in level.bypass for name in names] for level in arch.levels])
        self._must = np.array([[name in level.keep or not i for name in names] for i, level in enumerate(arch.levels)])
        self.free = np.argwhere(self._may & ~self._must)  # (choice, 2): level and tensor
        count = len(self.free)
        dtype = np.int64 if count < 62 else object
        self._weights: BigInts = np.array([1 << i for i in reversed(range(count))], dtype=dtype)  # (choice,)

    @property
    def number(self) -> int:
        """How many choices of all there are."""
        return 1 << len(self.free)

    @property
    def tensors(self) -> int:
        """The number of tensors."""
        return len(self._may.T)

    @property
    def most_of_tensor(self) -> int:
        """The largest number of sets of levels that may keep a tensor."""
        free: list[int] = self.free[:, 1].tolist()
        return max(1 << free.count(tensor) for tensor in range(self.tensors))

    def of_tensor(self, tensor: int) -> Bools:
        """The sets of levels that may keep a tensor, whatever is kept of the others. # (set, level)"""
        levels = self.free[self.free[:, 1] == tensor, 0]
        kept = np.repeat(self._must[None, :, tensor], 1 << len(levels), axis=0)
        kept[:, levels] = np.arange(len(kept))[:, None] >> np.arange(len(levels))[::-1] & 1
        return kept

    def unrank(self, numbers: BigInts) -> Bools:
        """What the choices of these numbers keep. # (number, level, tensor)"""
        return self._kept((numbers.astype(self._weights.dtype)[:, None] & self._weights).astype(bool))

    def rank(self, keep: Bools) -> BigInts:
        """The number of each choice # (mapping, level, tensor); ValueError for one that the constraints exclude."""
        if (keep & ~self._may | ~keep & self._must).any():
            raise ValueError("a choice of kept tensors is not in the mapspace")
        numbers: BigInts = keep[:, self.free[:, 0], self.free[:, 1]] @ self._weights
        return numbers

    def every(self) -> Bools:
        """Every choice of what is kept. # (choice, level, tensor)"""
        return self.unrank(np.arange(self.number))

    def sample(self, rng: np.random.Generator, n: int) -> Bools:
        """`n` uniform choices; without a free one no random numbers are taken. # (n, level, tensor)"""
        if not len(self.free):
            return self._kept(np.empty((n, 0), bool))
        return self._kept(rng.integers(0, 2, (n, len(self.free)), np.int8).astype(bool))

    def _kept(self, chosen: Bools) -> Bools:
        """What each mapping keeps # (mapping, level, tensor) from its free choices # (mapping, choice)."""
        if not len(self.free):
            return np.broadcast_to(self._must, (len(chosen), *self._must.shape))
        keep = np.repeat(self._must[None], len(chosen), axis=0)
        keep[:, self.free[:, 0], self.free[:, 1]] = chosen
        return keep
