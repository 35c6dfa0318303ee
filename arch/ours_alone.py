"""What a level may say that no other tool's files can."""

from collections.abc import Iterator

from .spec import Storage


def without_counterpart(level: Storage) -> Iterator[str]:
    """Yield what of a level neither Timeloop's files nor ZigZag's can say."""
    if level.placement == "uneven":
        yield f"{level.of_memory}: uneven placement"
    if any(axis.systolic for axis in level.fanout):
        yield f"{level.name}: systolic axes"
    if level.start_cycles:
        yield f"{level.name}: start_cycles"
    if level.dram is not None:
        yield f"{level.name}: bursts and rows of a dram"
