"""The executor's count of what a DRAM does: the blocks of words, bursts or rows, that its transfers touch."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ...arch import Storage
from ...workloads import Tensor, Workload
from .counts import Counts
from .simulate_words import Instance, Words

Step = Iterable[tuple[Instance, Words]]  # the children with work in one step, each with its tile


@dataclass(frozen=True, eq=False)
class BurstCounter:
    """Adds to `counts` the bursts and the rows of a DRAM; what passes it at the spatial origin is in whole bursts."""

    counts: Counts
    level: int
    storage: Storage
    workload: Workload

    def add(self, v: int, steps: Callable[[], Iterator[Step]], *, held: bool) -> None:
        """Add those of tensor `v`; `held`: the children keep their tiles from one step to the next."""
        tensor = self.workload.tensors[v]
        blocks = self.storage.blocks(self.workload, tensor)
        words = blocks.words
        reads, updates = _blocks_moved(tensor, steps(), blocks.burst, held)
        self.counts.burst_reads[0, v], self.counts.burst_updates[0, v] = reads, updates
        self.counts.origin_reads[0, self.level] += words * reads
        self.counts.origin_writes[0, self.level] += words * updates
        if blocks.row is not None:
            self.counts.activations[0, v] = sum(_blocks_moved(tensor, steps(), blocks.row, held))


def _blocks_moved(tensor: Tensor, steps: Iterator[Step], box: tuple[int, ...], held: bool) -> tuple[int, int]:
    """Count the blocks read, and the blocks updated; blocks are boxes of so many indices per rank.

    The words that a child does not hold are a transfer, one for all children that need the same. It touches each block
    that has a word of it. Of an output it updates them, and reads before those that have words of earlier updates.
    """
    reads = updates = 0
    tiles, seen = dict[Instance, Words](), set[tuple[int, ...]]()
    for step in steps:
        transfers = set[Words]()
        for child, tile in step:
            transfers.add(tile - tiles.get(child, frozenset()) if held else tile)
            tiles[child] = tile
        for words in transfers:
            if not tensor.output:
                reads += _touched(words, box)
                continue
            updates += _touched(words, box)
            reads += _touched(words & seen if tensor.begins_empty else words, box)
        seen.update(*transfers)
    return reads, updates


def _touched(words: Iterable[tuple[int, ...]], box: tuple[int, ...]) -> int:
    return len({tuple(index // of for index, of in zip(word, box, strict=True)) for word in words})
