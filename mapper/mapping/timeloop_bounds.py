"""The factors of a mapping file: whether they make the sizes of a workload and fit the axes."""

import numpy as np

from ...arch import Architecture
from ...workloads import Keys, Workload
from ...workloads.timeloop import Factor, Reader


class Bounds:
    """The bounds and residuals of a mapping as its file gives them, and whether they make a nest of the workload."""

    def __init__(self, reader: Reader, arch: Architecture, workload: Workload) -> None:
        self.reader, self.arch, self.workload, self.dims = reader, arch, workload, workload.dims
        self.bounds = np.ones((len(arch.slots), len(self.dims)), np.int64)  # (slot, dim)
        self.residuals = np.zeros_like(self.bounds)  # as written, 0: not written. (slot, dim)
        self.where: dict[tuple[int, int], Keys] = {}  # (slot, dim) -> the factors that speak of it

    def put(self, path: Keys, slot: int, factor: Factor) -> None:
        """Take in one factor of the entry at `path`."""
        d = self.dims.index(factor.dim)
        self.bounds[slot, d] = min(factor.bound, 2**62)  # more than any dim has, and in int64
        self.residuals[slot, d] = factor.residual or 0
        self.where[slot, d] = (*path, "factors")

    def check(self, root: Keys) -> None:
        """Report what does not make the sizes or does not fit the axes; bring the bounds to canonical form."""
        for d in range(len(self.dims)):
            self._chain(root, d)
        self._fanouts(root)

    def _chain(self, root: Keys, d: int) -> None:
        """Check that the bounds and residuals of dim `d` make its size; bring the bounds to canonical form."""
        dim, size = self.dims[d], self.workload.sizes[d]
        bounds, given = self.bounds[:, d].tolist(), self.residuals[:, d].tolist()
        at = next((self.where[slot, d] for slot in range(len(bounds)) if (slot, d) in self.where), root)
        explicit = any(given)
        total = 0  # the last index along the dim: the residuals are its digits
        for bound, residual in zip(bounds, given, strict=True):
            total = total * bound + (residual if explicit and residual else bound) - 1
        text = self._product(d)
        if total + 1 < size or (explicit and total + 1 != size):
            return self.reader.fault(
                at, f"the factors of {dim} must make its size {size}, but {text} makes {total + 1}"
            )
        remaining = size
        for slot in range(len(bounds) - 1, -1, -1):
            if bounds[slot] > remaining and not explicit:
                tiles = f"only {remaining} tiles are" if remaining > 1 else "one tile is"
                return self.reader.fault(
                    self.where[slot, d],
                    f"the factors of {dim} must make its size {size}, but {text} is more: "
                    f"at {self.arch.slots[slot].name} {tiles} left for a bound of {bounds[slot]}",
                )
            bounds[slot] = min(bounds[slot], remaining)  # one tile is left outside: only the residual ever runs
            remaining = -(-remaining // bounds[slot])
        self.bounds[:, d] = bounds
        return None

    def _product(self, d: int) -> str:
        """`2 * 3 * 4,2`, outermost first, ones left out."""
        pairs = zip(self.bounds[:, d], self.residuals[:, d], strict=True)
        factors = [f"{bound},{last}" if last else str(bound) for bound, last in pairs if bound > 1 or last]
        return " * ".join(factors) or "1"

    def _fanouts(self, root: Keys) -> None:
        """The spatial bounds must fit their axes."""
        for number, slot in enumerate(self.arch.slots):
            used = 1
            for bound in self.bounds[number]:
                used *= int(bound)
            if slot.axis is not None and used > slot.axis.size:
                at = next((self.where[number, d] for d in range(len(self.dims)) if (number, d) in self.where), root)
                size = slot.axis.size
                self.reader.fault(
                    at, f"{slot.name} has {size} instances on mesh {slot.axis.mesh}, the loops need {used}"
                )
