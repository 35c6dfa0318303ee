"""Proofs about results, as text and numbers: of a mapping, of a front, of a network."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..model import first_objective
from ..model.bounds import ROUNDING
from ..search import Ended, FrontProof, Statistics
from .front import FrontMapping
from .network_edp import least_by_edp
from .tables import TextTable

LONGER = 6  # times the time limit


def proof_line(
    objective: str,
    mapspace: str,
    gap: float,
    statistics: Statistics,
    *,
    searched: float | None = None,
    alone: float | None = None,
) -> str:
    """Say how far a result can be from the best of its mapspace.

    `searched`: the value before the proof found it; `alone`: that of a better mapping, which suits its network less.
    """
    name = first_objective(objective).title
    if alone is not None:
        below = f"the lowest of {mapspace} is at most {gap:.2%} below"
        return f"proof        best for the network; alone, a mapping with an {name} of {alone:.5g} is better; {below}"
    if searched is not None:
        found = f"proof        it found this mapping: the search had an {name} of {searched:.5g}\n"
        return found + proof_line(objective, mapspace, gap, statistics)
    if gap <= ROUNDING:
        return f"proof        optimal: no mapping of {mapspace} has a lower {name}"
    return f"proof        the lowest {name} of {mapspace} is at most {gap:.2%} below this one{_more_time(statistics)}"


def _more_time(statistics: Statistics) -> str:
    """Say what may close a gap, where time ended the search."""
    if Ended.TIME_LIMIT not in statistics.ended:
        return ""
    return f"; --time-limit {LONGER * max(1, round(statistics.seconds))} may close it"


def network_bound(objective: str, layers: Iterable[tuple[float, int]]) -> float:
    """A lower bound for a network from those of its layers, each with its count, for energy, delay or EDP."""
    if all(first_objective(objective).powers):
        return least_by_edp(layers)
    return sum(count * bound for bound, count in layers)


def network_line(objective: str, gap: float, layers: Sequence[tuple[str, float, bool]]) -> str:
    """Say how far a network can be from its best.

    `layers`: of each its name, the gap of its own best mapping, and whether another mapping is better for the network.
    """
    name = first_objective(objective).title
    open_layers = [(layer, each) for layer, each, _ in layers if each > ROUNDING]
    given_up = [layer for layer, _, other in layers if other]
    parts = [f"the best {name} possible of the network is at most {gap:.2%} below this one"]
    if gap <= ROUNDING:
        parts = [f"optimal: no choice of mappings gives the network a lower {name}"]
    if open_layers:
        gaps = ", ".join(f"{layer} within {each:.2%}" for layer, each in open_layers)
        parts.append(
            f"not proven best: {gaps}" if len(open_layers) < 9 else f"{len(open_layers)} layers not proven best"
        )
    if given_up:
        names = ", ".join(given_up) if len(given_up) < 9 else f"{len(given_up)} layers"
        parts.append(f"best for the network, not by their own {name}: {names}")
    if not open_layers and not given_up:
        parts.append("every layer's mapping is the best of its mapspace")
    return f"proof        {'; '.join(parts)}"


def front_gap(front: Sequence[FrontMapping], proof: FrontProof) -> float:
    """The share by which some mapping may lie below the whole front on both axes; 0 where the front is proven."""
    points = sorted((member.cycles, member.energy_pj) for member in front)
    cycles, energy_pj = np.array(points, np.float64).reshape(-1, 2).T
    return proof.gap(energy_pj, cycles)


def least_energy_pj(member: FrontMapping, proof: FrontProof) -> tuple[float, bool]:
    """The least energy of mappings with at most the cycles of `member`, in pJ; and whether `member` has it."""
    own, least = member.energy_pj, proof.energy_pj(member.cycles)
    return (own, True) if least >= own * (1 - ROUNDING) else (least, False)


def front_proof_parts(front: Sequence[FrontMapping], proof: FrontProof) -> list[str | TextTable]:
    """Say what is proven of a front: a line, and where the proof is not complete, a table with each of its mappings."""
    if not proof.corners:
        return ["proof        no mapping of this mapspace has fewer cycles or less energy without losing on the other"]
    gap = front_gap(front, proof)
    line = f"proof        within {gap:.2%} of the front possible: no mapping is lower by more in both energy and cycles"
    rows = []
    for i, member in enumerate(front, 1):
        least, proven = least_energy_pj(member, proof)
        rows.append([str(i), f"{member.cycles:,}", f"{least:.6g}", "yes" if proven else ""])
    return [line, TextTable(["", "with at most [cycles]", "energy at least [pJ]", "reached"], rows)]


def front_proof_json(front: Sequence[FrontMapping], proof: FrontProof) -> dict[str, object]:
    """`front_optimal`, `front_gap`, and for each mapping of the front what `least_energy_pj` says."""
    known = [least_energy_pj(member, proof) for member in front]
    gap = front_gap(front, proof)
    each = [{"energy_lower_bound_pj": least, "optimal": proven} for least, proven in known]
    return {"front_optimal": gap == 0.0, "front_gap": gap, "front_proof": each}
