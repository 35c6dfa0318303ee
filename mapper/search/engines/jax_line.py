"""The row of ENGINES for JAX: it checks which mapspaces it can evaluate, and scores their chunks."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from math import prod

from ...mapspace import LISTED, LazyBatch, Mapspace
from ...model.nests import outside
from ...problem import Charges
from ..proposer import CHUNK
from ..recorder import RecordThreshold, Scores
from ..score import ScoringTask
from .prefilter import Prefilter

MOST_CHOICES = 16  # choices of kept tensors: each is compiled separately
MOST_PAIRS = 1 << 19  # combinations of chains of a window's dims: the compiled code contains a table of all


class JaxLine:
    """See EngineLine."""

    exact = False

    def missing(self) -> list[str]:
        """List JAX where it is not installed: it is an optional package."""
        if find_spec("jax") is None:
            return ["jax is not installed: pip install 'ruby-map[jax]' brings it; numpy does without"]
        return []

    def space_faults(self, space: Mapspace, costs: Charges) -> list[str]:
        """List features that it does not support, and tables that would be too large."""
        faults, layer = [], f"{space.workload.name} on {space.arch.name}"
        if costs.has_interconnect:
            faults.append("charges no network: leave out hop-pj, wire-pj-per-bit-mm and tile-mm")
        if space.distinct:
            faults.append("draws all loop orders: leave out distinct")
        if (choices := space.keep_choices.number) > MOST_CHOICES:
            rule = f"compiles each choice of what is kept, at most {MOST_CHOICES}: {layer} has {choices:,}"
            faults.append(f"{rule}; name more tensors in keep or bypass")
        totals = zip(space.workload.dims, (chains.total for chains in space.chains), strict=True)
        large = [(name, total) for name, total in totals if total > LISTED]
        faults += [
            f"needs tables of all chains, at most {LISTED:,} a dim: {name} of {layer} has {n:,}" for name, n in large
        ]
        if not large and (most := _most_pairs(space)) > MOST_PAIRS:
            faults.append(f"needs tables of all chains of a window, at most {MOST_PAIRS:,}: {layer} has {most:,}")
        return [f"jax {message}; or use numpy" for message in faults]

    def score(self, task: ScoringTask, chunks: Sequence[int], known: RecordThreshold) -> list[Scores]:
        """Score each of `chunks`: the mappings that may improve on `known`."""
        screened = prefilter(task).screen(_batches(task, chunks), known, chunks[0] * CHUNK)
        return [
            task.scores(chunk, prefiltered.reasons, prefiltered.where, prefiltered.values)
            for chunk, prefiltered in zip(chunks, screened, strict=True)
        ]


def prefilter(task: ScoringTask) -> Prefilter:
    """Make the screen that selects the mappings for NumPy."""
    pruning = task.pruning if task.prunes else None
    return Prefilter(task.space, task.valuation, pruning)


def _batches(task: ScoringTask, chunks: Sequence[int]) -> Iterator[LazyBatch]:
    for chunk in chunks:
        batch = task.propose(chunk)
        assert isinstance(batch, LazyBatch), "options are checked: the strategy compiles"
        yield batch


def _most_pairs(space: Mapspace) -> int:
    """Count the rows of the largest table over the chains of dims that share a rank; an upper bound if that is at most
    MOST_PAIRS."""
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
