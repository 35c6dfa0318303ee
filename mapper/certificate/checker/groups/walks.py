"""The traces of all loops that a group may share, each walked once, and which dims these are."""

from dataclasses import dataclass, field
from functools import cached_property

from .....workloads import Rank
from .stages import Stages
from .traces import NoGroupError, Trace

MOST_TRIED = 256  # tiles of a dim: if no group has any, the dim is not shared


@dataclass(eq=False)
class Walks:
    """The traces of loops, each walked once."""

    stages: Stages
    _traces: dict[tuple[str, int, bool], Trace | NoGroupError] = field(default_factory=dict)

    @cached_property
    def whole(self) -> Trace:
        """The stages without loops."""
        return Trace(self.stages, None, 1, retains=False)

    def trace(self, loop: str, tile: int, *, retains: bool) -> Trace:
        """Walk a loop. Raises NoGroupError."""
        key = loop, tile, retains
        if key not in self._traces:
            try:
                self._traces[key] = Trace(self.stages, loop, tile, retains=retains, whole=self.whole)
            except NoGroupError as error:
                self._traces[key] = error
        trace = self._traces[key]
        if isinstance(trace, NoGroupError):
            raise trace
        return trace

    def has(self, loop: str, tile: int, *, retains: bool) -> bool:
        """Whether a group may have a loop of this tile."""
        try:
            self.trace(loop, tile, retains=retains)
        except NoGroupError:
            return False
        return True

    def repeats(self, loop: str, tile: int) -> bool:
        """Whether words are computed again if they do not stay; also where there is no such group."""
        return not self.has(loop, tile, retains=False) or self.trace(loop, tile, retains=False).repeats

    @cached_property
    def indices(self) -> list[dict[str, set[int]]]:
        """Per stage and dim the indices that are computed whatever the tiles and whatever stays.

        Those that each index of a later stage needs, by itself along the dims that loops move: a larger tile may need
        those between as well, and where words stay the next may leave them out.
        """
        indices = [{dim: set(range(size)) for dim, size in sizes.items()} for sizes in self.stages.sizes]
        for stage in reversed(range(len(indices) - 1)):
            for dim in self.stages.layers[stage].output.dims:
                ranks = list(self.stages.along(stage, dim))
                needed = {i - zeros for own, rank, zeros in ranks for i in self._along(indices, own, rank)}
                indices[stage][dim] &= needed if ranks else {0}
        return indices

    def along(self, stage: int, rank: Rank) -> set[int]:
        """The words of a tensor along a rank that are needed whatever the tiles."""
        return self._along(self.indices, stage, rank)

    def _along(self, indices: list[dict[str, set[int]]], stage: int, rank: Rank) -> set[int]:
        moved, words = self._moved[stage], {0}
        for term in rank:
            own = indices[stage][term.dim]
            every = own if term.dim in moved else range(min(own), max(own) + 1) if own else own
            words = {word + term.coef * i for word in words for i in every}
        still = all(term.dim not in moved for term in rank)
        return set(range(min(words), max(words) + 1)) if still and words else words

    @cached_property
    def _moved(self) -> list[frozenset[str]]:
        """Per stage the dims that some shared loop moves."""
        every = [self.stages.moved(loop) for loop in self.shared]
        return [frozenset[str]().union(*(moved[stage] for moved in every)) for stage in range(len(self.stages.layers))]

    @cached_property
    def shared(self) -> list[str]:
        """The dims of the last stage that may be shared: of several steps, that move what a stage before computes.

        Of two that move one dim, or one window, of a stage the first is shared; dims of filters, which stand in a
        window and not in the output, are the last.
        """
        shared, last = list[str](), self.stages.last
        filters = [dim for dim in last.dims if self._in_window(dim) and dim not in last.output.dims]
        for dim in [*(dim for dim in last.dims if dim not in filters), *filters]:
            if self._may_share(dim) and not any(self._collide(dim, other) for other in shared):
                shared.append(dim)
        return shared

    def _in_window(self, dim: str) -> bool:
        ranks = [rank for tensor in self.stages.last.tensors for rank in tensor.ranks if len(rank) > 1]
        return any(term.dim == dim for rank in ranks for term in rank)

    def _collide(self, one: str, other: str) -> bool:
        """Whether two loops move one dim, or one window, of a stage."""
        for stage, layer in enumerate(self.stages.layers):
            moved = [self.stages.moved(loop)[stage] for loop in (one, other)]
            windows = [{term.dim for term in rank} for tensor in layer.tensors for rank in tensor.ranks]
            if any(together & moved[0] and together & moved[1] for together in [*windows, *({d} for d in layer.dims)]):
                return True
        return False

    def _may_share(self, dim: str) -> bool:
        last = self.stages.last
        tiles = range(1, min(last.size(dim) - 1, MOST_TRIED) + 1)
        return any(self.stages.moved(dim)[:-1]) and any(self.has(dim, tile, retains=False) for tile in tiles)
