"""What bounds the cycles of a mapping: compute, or bandwidths of memories."""

from dataclasses import dataclass

from ....arch import Architecture
from ..cost import Costs, transfer_cycles

COMPUTE = "compute"


@dataclass(frozen=True)
class Bandwidth:
    """A bandwidth of a memory."""

    level: str
    direction: str  # read or write

    @property
    def text(self) -> str:
        """As `read bandwidth of DRAM`, the words of `--why`."""
        return f"{self.direction} bandwidth of {self.level}"


def binding(arch: Architecture, costs: Costs, number: int = 0) -> tuple[Bandwidth, ...]:
    """The bandwidths that set the cycles of mapping `number`, outermost first; none where its steps take as long.

    `costs` are those of the memories of `arch` (by_memory.py).
    """
    cycles, counts = costs.cycles[number], costs.counts
    if counts.cycles[number] >= cycles:
        return ()
    return tuple(
        Bandwidth(level.name, direction)
        for place, level in enumerate(arch.levels)
        for direction, rate, words in (
            ("read", level.read_bandwidth, counts.origin_reads),
            ("write", level.write_bandwidth, counts.origin_writes),
        )
        if rate is not None and transfer_cycles(words[number : number + 1, place], rate)[0] >= cycles
    )


def bound_text(binds: tuple[Bandwidth, ...]) -> str:
    """Name what bounds the cycles: `compute`, or bandwidths."""
    return " and ".join(bandwidth.text for bandwidth in binds) or COMPUTE
