"""Saves and restores the state of a proof: mappings by their numbers in the mapspace."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from ..mapspace import Mapspace
from ..runtime import State
from ..search.outcome import Coverage, Evidence, FrontProof, Outcome, StageProof, Statistics


def state_of(space: Mapspace, outcome: Outcome, *, finished: bool) -> State:
    """Convert an outcome to plain values; `restored` reads them."""
    statistics = outcome.statistics if finished else replace(outcome.statistics, ended=())
    return {
        "statistics": statistics.plain(),
        "best": None if outcome.best is None else space.index(outcome.best)[0],
        "lower_bound": outcome.lower_bound,
        "optimal": outcome.optimal,
        "front": [space.index(batch)[0] for batch in outcome.front],
        "corners": None if outcome.proof is None else outcome.proof.corners,
        "coverage": _counted(outcome.coverage),
        "stages": [vars(stage) | {"coverage": _counted(stage.coverage)} for stage in outcome.stages],
    }


def restored(space: Mapspace, state: Mapping[str, Any]) -> Outcome:
    """Restore the outcome from that state."""
    best = None if state["best"] is None else space[state["best"]]
    front = tuple(space[index] for index in state["front"])
    corners = state["corners"]
    proof = None if corners is None else FrontProof(tuple((cycles, energy_pj) for cycles, energy_pj in corners))
    coverage, statistics = _coverage(state.get("coverage")), Statistics.of_plain(state["statistics"])
    stages = tuple(
        StageProof(**stage | {"coverage": _coverage(stage["coverage"])}) for stage in state.get("stages", [])
    )
    return Outcome(best, statistics, Evidence(state["lower_bound"], state["optimal"], proof, coverage, stages), front)


def _counted(coverage: Coverage | None) -> State | None:
    return None if coverage is None else asdict(coverage)


def _coverage(counted: Mapping[str, int] | None) -> Coverage | None:
    return Coverage(**counted) if counted else None
