"""Array libraries that run the model: NumPy, or the same functions compiled by JAX.

There is one model, cost.py and what it calls, written against the Python array API. JAX compiles it once per layer and
machine (jax_engine.py) and tells of many mappings which could improve on what is known (prefilter.py); those few NumPy
evaluates again, so what a search records does not depend on the engine, to the last bit.
"""

from importlib.util import find_spec
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ....workloads import Fault, near
from ...mapping import Floats
from ...mapspace import LISTED, LazyBatch, Mapspace
from ...model import CostOptions, outside

ENGINES = ("numpy", "jax")
MOST_CHOICES = 16  # of what is kept: each is compiled apart
MOST_PAIRS = 1 << 19  # chains of a window's dims together: a table of all of them is compiled in


class Sight(Protocol):
    """What an engine finds out about a draw before all else, while the reader may do something different."""

    def reasons(self) -> NDArray[np.int8]:
        """The code of `validity`. # (mapping,)"""

    def cycles(self) -> Floats:
        """Cycles of compute. # (mapping,)"""


class Engine(Protocol):
    """The model compiled for one mapspace and some objectives."""

    def look(self, draw: LazyBatch) -> Sight:
        """Begin to find out which mappings are valid."""

    def values(self, draw: LazyBatch) -> Floats:
        """The objectives, up to rounding. # (mapping, objective)"""


def engine_faults(engine: str, strategy: str = "random") -> list[Fault]:
    """What is wrong with the choice of `engine`, in the user's words."""
    if engine not in ENGINES:
        return [_fault(f'must be one of {", ".join(ENGINES)}; got "{engine}"{near(engine, ENGINES)}')]
    if engine == "numpy":
        return []
    found = []
    if find_spec("jax") is None:
        found.append(_fault("jax is not installed: pip install 'ruby-map[jax]' brings it; numpy does without"))
    if strategy != "random":
        found.append(_fault(f"jax goes with --search random, got {strategy}; or use numpy"))
    return found


def space_faults(engine: str, space: Mapspace, costs: CostOptions | None) -> list[Fault]:
    """Why `engine` cannot evaluate the mappings of `space`, in the user's words."""
    if engine == "numpy":
        return []
    found, layer = [], f"{space.workload.name} on {space.arch.name}"
    if costs and costs.network:
        found.append("charges no network: leave out hop-pj, wire-pj-per-bit-mm and tile-mm")
    if space.distinct:
        found.append("draws all loop orders: leave out distinct")
    if space.size.bypass > MOST_CHOICES:
        rule = f"compiles each choice of what is kept, at most {MOST_CHOICES}: {layer} has {space.size.bypass:,}"
        found.append(f"{rule}; name more tensors in keep or bypass")
    totals = zip(space.workload.dims, (chains.total for chains in space.chains), strict=True)
    large = [(name, total) for name, total in totals if total > LISTED]
    found += [f"needs tables of all chains, at most {LISTED:,} a dim: {name} of {layer} has {n:,}" for name, n in large]
    if not large and (most := _most_pairs(space)) > MOST_PAIRS:
        found.append(f"needs tables of all chains of a window, at most {MOST_PAIRS:,}: {layer} has {most:,}")
    return [_fault(f"jax {message}; or use numpy") for message in found]


def _fault(message: str) -> Fault:
    return Fault("engine", None, "", message)


def _most_pairs(space: Mapspace) -> int:
    """Rows of the largest table over the chains of dims that share a rank; no more than its upper bound if that is
    below MOST_PAIRS."""
    dims = space.workload.dims
    ranks = {frozenset(dims.index(t.dim) for t in rank) for tensor in space.workload.tensors for rank in tensor.ranks}
    windows = [rank for rank in ranks if len(rank) > 1]
    above = max((prod(int(space.chains[d].total) for d in rank) for rank in windows), default=0)
    if above <= MOST_PAIRS:
        return above
    boundaries = range(len(space.arch.levels) + 1)
    seen = {
        (d, c): len(outside(space.table(d), space.arch, c)[0].bounds) for r in windows for d in r for c in boundaries
    }
    return max(prod(seen[d, c] for d in rank) for rank in windows for c in boundaries)
