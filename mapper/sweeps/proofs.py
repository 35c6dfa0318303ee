"""What proofs say of the points of a sweep: how far each may be from the best of its mapspace, and on which side of a
frontier it may then lie."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mapping import Bools, Floats
from ..model import OBJECTIVES
from ..model.bounds import ROUNDING
from ..report import Json

CERTIFIED, NOT_PROVEN = "certified", "not proven"


@dataclass(frozen=True)
class Bounds:
    """A proof about the search of a point: no mapping is better by more than `gap`."""

    gap: float  # share of the objective
    least: Mapping[str, float]  # by measure: what the best mapping may come down to


def bounds(result: Json, measures: Mapping[str, float]) -> Bounds | None:
    """Read the proof in the object of `ruby-map --json`; None where the search proved nothing.

    The best mapping of a search that is not certified may be any other: its objective is bounded by the proof, its
    energy and cycles by the ideal bounds, its power by nothing.
    """
    known: Any = result
    if known.get("gap") is None:
        return None
    if known["gap"] <= ROUNDING:
        return Bounds(0.0, dict(measures))
    column = OBJECTIVES[known["objective"].split(",")[0].strip()].column
    ideal = {each.column: float(known["ideal"][each.column]) for each in OBJECTIVES.values()}
    least = dict(measures) | ideal | {column: float(known["lower_bound"]), "power_pj_per_cycle": 0.0}
    return Bounds(float(known["gap"]), least)


def together(seeds: Sequence[Bounds | None]) -> Bounds | None:
    """Join the proofs of all seeds, which search the same mapspace: the largest gap, the largest bounds."""
    proven = [each for each in seeds if each is not None]
    if not proven or len(proven) < len(seeds):
        return None
    least = {name: max(each.least[name] for each in proven) for name in proven[0].least}
    return Bounds(max(each.gap for each in proven), least)


def gap_text(gap: float | None) -> str:
    """Say how far a point may be from its best."""
    if gap is None:
        return NOT_PROVEN
    return f"within {gap:.2%}" if gap > ROUNDING else CERTIFIED


def may_be_beaten(values: Floats, least: Floats) -> Bools:
    """Mark the points that another would dominate if it came down to its `least`. # (point,), of (point, axis) each"""
    beaten = np.zeros(len(values), bool)
    for row in _open(values, least):
        reached = (least[row] <= values).all(axis=1) & (least[row] < values).any(axis=1)
        reached[row] = False
        beaten |= reached
    return beaten


def may_join(values: Floats, least: Floats) -> Bools:
    """Mark the points with a gap that no other would dominate if they came down to their `least`. # (point,)"""
    joins = np.zeros(len(values), bool)
    for row in _open(values, least):
        joins[row] = not _beaten(least[row], np.delete(values, row, axis=0))
    return joins


def _open(values: Floats, least: Floats) -> list[int]:
    return np.flatnonzero((least < values).any(axis=1)).tolist()


def _beaten(value: Floats, others: Floats) -> bool:
    return bool(((others <= value).all(axis=1) & (others < value).any(axis=1)).any())


def named(designs: Iterable[tuple[int, str]]) -> str:
    """Name designs with their mapspaces."""
    return ", ".join(f"design {design} {mapspace}" for design, mapspace in designs)
