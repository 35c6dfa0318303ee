"""The point of a result in a roofline: what it does per cycle, and what limits that."""

from dataclasses import dataclass

from ..model.figures import binding
from .result import Result


@dataclass(frozen=True)
class RooflinePoint:
    """What a result does per cycle, and what keeps it from more."""

    intensity: float  # MACs per word that the outermost level reads, writes, or both: what takes longest
    macs_per_cycle: float
    binds: str  # the outermost level whose bandwidth sets the cycles, or the compute units


def roofline_point(result: Result) -> RooflinePoint:
    """The point of a result in a roofline, and the level that binds it."""
    costs = result.costs
    if costs is None:
        raise ValueError(f"no valid mapping of {result.workload.name} was found, so it has no costs")
    outer, counts = result.arch.levels[0], costs.counts
    words = [float(counts.reads[0, 0].sum()), float((counts.fills + counts.updates)[0, 0].sum())]  # of one instance
    if outer.dram is not None:  # which moves those of whole bursts
        words = [float(counts.origin_reads[0, 0]), float(counts.origin_writes[0, 0])]
    limited = [(number / limit.rate, number) for limit in outer.bandwidths if (number := limit.of(*words))]  # not rows
    limits = binding(result.arch, costs)
    return RooflinePoint(
        result.macs / (max(limited)[1] if limited else max(words)),
        result.macs / result.cycles,
        limits[0].level if limits else result.arch.compute.name,
    )
