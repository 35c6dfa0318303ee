"""What proofs say of the points of a sweep: how far each may be from the best of its mapspace."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..comparison import Interval, Stored, limits
from ..problem import ROUNDING, at_most
from ..report import Json

CERTIFIED, NOT_PROVEN = "certified", "not proven"


@dataclass(frozen=True)
class Bounds:
    """What is proven about the search of a point."""

    gap: float | None  # share of the objective by which its best mapping may be lower; None: not proven
    limits: Mapping[str, Interval]  # by measure: between which every best mapping is


def bounds(result: Json, measures: Mapping[str, float]) -> Bounds:
    """Read what the object of `ruby-map --json` says of the best mappings by the objective of the search.

    `limits` of comparison says what is known of them; power is energy over cycles.
    """
    stored = Stored.model_validate(result)
    known = dict.fromkeys(measures, Interval()) | limits(stored)
    known["power_pj_per_cycle"] = known["energy_pj"].over(known["cycles"])
    known["area_um2"] = Interval(measures["area_um2"], measures["area_um2"])
    return Bounds(stored.gap, known)


def together(seeds: Sequence[Bounds]) -> Bounds:
    """Join the proofs of all seeds, which search the same mapspace: the largest gap, where each has one; the limits
    that all leave."""
    joined = {name: _common([proof.limits[name] for proof in seeds]) for name in seeds[0].limits}
    gaps = [proof.gap for proof in seeds if proof.gap is not None]
    return Bounds(max(gaps) if len(gaps) == len(seeds) else None, joined)


def _common(intervals: Sequence[Interval]) -> Interval:
    low, high = max(interval.low for interval in intervals), min(interval.high for interval in intervals)
    return Interval(min(low, high), high)


def gap_text(gap: float | None) -> str:
    """Say how far a point may be from its best."""
    if gap is None:
        return NOT_PROVEN
    return f"within {at_most(gap)}" if gap > ROUNDING else CERTIFIED
