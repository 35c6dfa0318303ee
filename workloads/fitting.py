"""Whether what one layer makes is what another reads, rank by rank."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from .block_scales import blocks_of, joined_ranks
from .networks import Edge
from .spec import Rank, Workload


class FitError(ValueError):
    """The output of one layer is not what another reads."""


@dataclass(frozen=True)
class Made:
    """What a layer, an operation, or somebody outside the network makes."""

    name: str
    ranks: tuple[tuple[str, int], ...]  # the dims of the layer that makes it, and sizes
    count: int | None = None  # how often; None: of an input of the network
    layer: bool = True  # whether the dims are those of a layer

    @classmethod
    def of_layer(cls, layer: Workload, count: int = 1) -> "Made":
        """The output of a layer."""
        ranks = tuple((rank[0].dim, layer.size(rank[0].dim)) for rank in layer.output.ranks)
        return cls(layer.name, ranks, count)

    @classmethod
    def of_sizes(cls, name: str, sizes: Sequence[int], count: int | None = None) -> "Made":
        """A tensor of which the sizes are known, and no more."""
        return cls(name, tuple((f"rank {i}", size) for i, size in enumerate(sizes, 1)), count, layer=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes of its ranks."""
        return tuple(size for _, size in self.ranks)


def linked(made: Made, consumer: Workload, tensor: str, pad: Mapping[str, tuple[int, int]]) -> Edge:
    """Make the edge by which `consumer` reads what is `made` as `tensor`.

    Ranks of one word are left out on either side; the others run along each other in their order, or are joined or
    split. `pad` has the zeros before and after, by a dim of the window. Raises FitError.
    """
    read = next(own for own in consumer.tensors if own.name == tensor)
    divided = not read.dims.isdisjoint(consumer.block_dims)  # into blocks: a rank of the producer is two ranks here
    every = [_Read(rank, consumer, pad) for rank in joined_ranks(consumer, read)]
    pairs = _paired(made.ranks, every)
    if pairs is None and not _split(made.sizes, every):
        have = " x ".join(f"{dim}={size}" for dim, size in made.ranks)
        want = " x ".join(own.text for own in every)
        raise FitError(
            f"{consumer.name} reads {tensor}[{want}], and {made.name} makes [{have}]{_hint(made.ranks, every)}"
        )
    if pairs is None or not made.layer or divided:
        return Edge(made.name, consumer.name, tensor, whole=True)
    ranks = tuple((dim, own.zeros[0] if dim is not None else 0) for dim, own in zip(pairs, every, strict=True))
    return Edge(made.name, consumer.name, tensor, ranks)


class _Read:
    """A rank of a tensor that a layer reads."""

    def __init__(self, rank: Rank, layer: Workload, pad: Mapping[str, tuple[int, int]]) -> None:
        blocks = {blocks_of(dim) for dim in layer.block_dims}
        own = [term for term in rank if term.dim not in blocks]  # the dims before they were divided in blocks
        self.extent = sum(term.coef * (layer.size(term.dim) - 1) for term in rank) + 1
        self.zeros = next((pad[term.dim] for term in rank if term.dim in pad), (0, 0))
        self.dims = [term.dim for term in own]
        steps = [term.coef for term in own if term.dim in layer.output.dims]
        self.step = steps[0] if steps and (len(own) > 1 or steps[0] > 1) else 1  # a window may leave the last words
        self.plain = len(own) == 1 and steps in ([], [1]) and not any(self.zeros)  # one dim, and no padding
        self.text = f"{'+'.join(self.dims)}={self.extent}"

    def fits(self, size: int) -> bool:
        """Whether it runs along a dim of this size: to its end, or less than a step of the window before it."""
        return 0 <= size + sum(self.zeros) - self.extent < self.step


def _paired(made: Sequence[tuple[str, int]], every: Sequence[_Read]) -> list[str | None] | None:
    """Pair ranks in their order: for each that is read the dim that it runs along, None for one of one word alone."""
    if not every:
        return [] if all(size == 1 for _, size in made) else None
    if made and every[0].fits(made[0][1]):
        rest = _paired(made[1:], every[1:])
        if rest is not None:
            return [made[0][0], *rest]
    if every[0].extent == 1 and not any(every[0].zeros):
        rest = _paired(made, every[1:])
        if rest is not None:
            return [None, *rest]
    return _paired(made[1:], every) if made and made[0][1] == 1 else None


def _split(made: Sequence[int], every: Sequence[_Read]) -> bool:
    """Whether ranks fit where some of one side are joined in one of the other, as groups of channels in channels."""
    if not made or not every:
        return prod(made) == 1 and all(own.extent == 1 and not any(own.zeros) for own in every)
    if every[0].fits(made[0]) and _split(made[1:], every[1:]):
        return True
    for end in range(max(len(made), len(every)) + 1):
        if every[0].plain and prod(made[:end]) == every[0].extent and _split(made[end:], every[1:]):
            return True
        several = every[:end]
        if _all_of(made[0], several) and _split(made[1:], every[end:]):
            return True
    return False


def _all_of(size: int, several: Sequence[_Read]) -> bool:
    """Whether ranks that are read are together one of this size."""
    return all(own.plain for own in several) and prod(own.extent for own in several) == size


def _hint(made: Sequence[tuple[str, int]], every: Sequence[_Read]) -> str:
    """Say how much padding would make the ranks fit, where each is a window that reads more than there is."""
    sizes = [size for _, size in made if size > 1]
    wide = [own for own in every if own.extent > 1]
    if len(sizes) != len(wide):
        return ""
    needed = [(own, own.extent - size - sum(own.zeros)) for size, own in zip(sizes, wide, strict=True)]
    if any(more and (len(own.dims) == 1 or not 0 <= more <= own.extent) for own, more in needed):
        return ""  # zeros stand around windows, and not within them
    texts = [f"{own.dims[0]}: {(more + 1) // 2 + own.zeros[0]}" for own, more in needed if more]
    return f"; write pad: {{{', '.join(texts)}}} if zeros stand around them" if texts else ""
