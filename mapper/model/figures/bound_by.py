"""What bounds the cycles of a mapping: compute, or bandwidths of memories."""

from dataclasses import dataclass

from ....arch import Architecture, Bandwidth
from ..cost import Costs, transfer_cycles

COMPUTE = "compute"


@dataclass(frozen=True)
class Binding:
    """A bandwidth of a memory."""

    level: str
    bandwidth: Bandwidth

    @property
    def text(self) -> str:
        """As `read bandwidth of DRAM`, the words of `--why`."""
        return f"{self.bandwidth.kind} bandwidth of {self.level}"


def binding(arch: Architecture, costs: Costs, number: int = 0) -> tuple[Binding, ...]:
    """The bandwidths that set the cycles of mapping `number`, outermost first; none where its steps take as long.

    `costs` are those of the memories of `arch` (by_memory.py).
    """
    cycles, counts = costs.cycles[number], costs.counts
    if counts.cycles[number] >= cycles:
        return ()
    return tuple(
        Binding(level.name, bandwidth)
        for place, level in enumerate(arch.levels)
        for bandwidth in level.bandwidths
        if transfer_cycles(counts.limited(bandwidth)[number : number + 1, place], bandwidth.rate)[0]
        + counts.starts[number]
        >= cycles
    )


def bound_text(binds: tuple[Binding, ...]) -> str:
    """Name what bounds the cycles: `compute`, or bandwidths."""
    return " and ".join(binding.text for binding in binds) or COMPUTE
