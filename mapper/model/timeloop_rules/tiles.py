"""What Timeloop makes of its walk: the words read, filled and updated at each memory, per instance."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil, prod

from ....workloads import Tensor
from .boxes import rounded
from .nest import TimeloopNest
from .walk import Rules, Walk


@dataclass
class Tile:
    """One tensor at one memory, from the walk to the words of an instance."""

    size: float  # words of its largest tile
    array_size: float | None  # of all tiles of the array below it, where there is one
    accesses: dict[tuple[int, int], float]  # by (multicast, scatter)
    links: float
    fanout: int
    instances: float  # in use, on average
    partition: float = 0
    share: float = 0  # words that the memory outside delivers
    peers: float = 0  # words that a neighbour delivers
    reads: float = 0
    fills: float = 0
    updates: float = 0

    @property
    def content(self) -> float:
        return sum(self.accesses.values())


@dataclass(frozen=True)
class TimeloopCounts:
    """What Timeloop reports of one mapping; words per instance, by (level, tensor) of those kept."""

    cycles: int
    steps: int  # the cycles without bandwidths
    computes: float
    tiles: dict[tuple[int, int], Tile] = field(default_factory=dict)


def walked(nest: TimeloopNest, rules: Rules) -> tuple[Walk, ...]:
    """A walk for each tensor. It takes most of the time, and depends on `rules.of_walks` alone."""
    return tuple(Walk(nest, tensor, rules) for tensor in nest.batch.workload.tensors)


def timeloop_counts(nest: TimeloopNest, rules: Rules, walks: tuple[Walk, ...] = ()) -> TimeloopCounts:
    """The counts by Timeloop's rules (native analysis of its version of March 2025), dense, from `walks` if given."""
    batch, tiles = nest.batch, dict[tuple[int, int], Tile]()
    walks = walks or walked(nest, rules)
    for v, walk in enumerate(walks):
        for level, tile in _tiles(nest, walk, rules, v):
            tiles[level, v] = tile
    computes, used = _computes(nest, walks[0], rules)
    steps = _steps(nest, computes, used)
    waiting = [_throttled(nest, level, steps, tiles) for level in range(len(batch.arch.levels))]
    return TimeloopCounts(max(steps, *waiting), steps, computes, tiles)


def _cut(value: float, rules: Rules) -> float:
    return int(value) if rules.truncated else value


def _computes(nest: TimeloopNest, walk: Walk, rules: Rules) -> tuple[float, float]:
    """The MACs, and the units in use."""
    array = nest.blocks[0].spatial
    outside = nest.used[len(array) - 1] if array else nest.used[0]
    used = _cut(outside * nest.blocks[0].fanout, rules)
    mean = sum(walk.computes.values()) / len(walk.computes)
    return _cut(mean * used, rules), used


def _throttled(nest: TimeloopNest, level: int, steps: int, tiles: dict[tuple[int, int], Tile]) -> int:
    """The cycles that a level's bandwidths ask for, of averages over its instances in use."""
    storage = nest.batch.arch.levels[level]
    block = next(number for number, block in enumerate(nest.blocks) if block.level == level)
    spread = prod(loop.bound for loop in nest.loops[nest.ends[block] + 1 :] if loop.mesh)
    asked, slow = [0.0, 0.0], 1.0  # words a cycle, read and written
    for v in range(len(nest.batch.workload.tensors)):
        if (level, v) in tiles:
            tile = tiles[level, v]
            for at, total in enumerate((tile.reads, tile.fills + tile.updates)):
                asked[at] += ceil(total / (spread / tile.instances)) / steps
    for bandwidth in storage.bandwidths:
        if bandwidth.rate < (words := bandwidth.of(*asked)):
            slow = min(slow, bandwidth.rate / words)
    return ceil(steps / slow)


def _steps(nest: TimeloopNest, computes: float, used: float) -> int:
    """Steps in time: from the full bounds where any loop is imperfect."""
    if all(loop.perfect for loop in nest.loops):
        return -int(-computes // used)
    steps = 1
    for loop in nest.loops:
        steps *= 1 if loop.mesh else loop.bound
    return steps


def _tiles(nest: TimeloopNest, walk: Walk, rules: Rules, v: int) -> Iterator[tuple[int, Tile]]:
    """The tiles of one tensor at the levels that keep it."""
    keep = nest.batch.keep[0]
    kept = [block.level is not None and bool(keep[block.level, v]) for block in nest.blocks]
    tiles = [_collected(nest, walk, rules, block) for block in range(len(nest.blocks))]
    _partitions(tiles, rules)
    for block, tile in enumerate(tiles[:-1]):
        outside = tiles[block + 1]
        tile.share = sum(n * m for (m, _), n in outside.accesses.items()) / outside.fanout
    _bypassed(tiles, kept)
    for block, tile in enumerate(tiles):
        if tile.links and block:
            tiles[block - 1].peers += tile.links / tiles[block - 1].instances
    outermost = max(block for block, keeps in enumerate(kept) if keeps)
    for block, tile in enumerate(tiles):
        level = nest.blocks[block].level
        if kept[block] and level is not None:
            _words(tile, walk.tensor, block == outermost, rules)
            yield level, tile


def _collected(nest: TimeloopNest, walk: Walk, rules: Rules, block: int) -> Tile:
    movement, array = walk.movements[block], nest.blocks[block].spatial
    return Tile(
        size=walk.at_memory[block].most,
        array_size=walk.at_array[block].most if array else None,
        accesses=dict(sorted(movement.accesses.items())),
        links=movement.links,
        fanout=nest.blocks[block].fanout,
        instances=_cut(nest.used[nest.ends[block]], rules),
    )


def _partitions(tiles: list[Tile], rules: Rules) -> None:
    """The distinct words that an instance has over time, as if all instances had equally many."""
    tiles[-1].partition = tiles[-1].size
    for tile, outside in zip(tiles[-2::-1], tiles[:0:-1], strict=True):
        whole = tile.size if outside.array_size is None else outside.array_size
        share = outside.partition * tile.size / whole
        tile.partition = share // 1 if rules.truncated else share


def _bypassed(tiles: list[Tile], kept: list[bool]) -> None:
    """Let the next memory outside that keeps the tensor serve what one that bypasses it would."""
    for block, keeps in enumerate(kept):
        if keeps:
            continue
        tile, outside = tiles[block], next(iter(tiles[block + 1 :]), None)
        if outside is not None:
            asked = sum(n * m for (m, _), n in outside.accesses.items())
            factor = tile.content * outside.fanout / asked
            outside.accesses = {key: n * factor for key, n in outside.accesses.items()}
            outside.links = 0.0
        tiles[block] = replace(tile, share=0, links=0.0, accesses={(1, 1): 0.0})
    tiles[max(block for block, keeps in enumerate(kept) if keeps)].share = 0


def _words(tile: Tile, tensor: Tensor, outermost: bool, rules: Rules) -> None:
    """The words that an instance reads, and that are written to it."""
    whole = rounded if rules.truncated else float
    cut = int if rules.truncated else float
    filled = tile.share + tile.peers
    if not tensor.output:
        tile.reads, tile.fills = whole(tile.content + tile.peers), cut(filled)
        return
    tile.updates = whole(tile.content)
    tile.reads = whole(tile.content + tile.peers - tile.partition)
    tile.fills = whole(filled - (0 if outermost or rules.first else tile.partition))
