"""Proofs about results, as text and numbers: of a mapping, of a front, of a network."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import takewhile

import numpy as np

from ..bounds.sums import least_by_edp
from ..model.figures import Mapped
from ..problem import ROUNDING, at_most, first_objective
from ..search.outcome import Coverage, Ended, FrontProof, StageProof, Statistics
from .tables import TextTable

LONGER = 6  # times the time limit
MOST_NAMED = 8  # layers; of more the number is said


def proof_line(
    objective: str, mapspace: str, gap: float, statistics: Statistics, stages: Sequence[StageProof] = ()
) -> str:
    """Say how far a result can be from the best of its mapspace, by its objective or by several in turn."""
    proven = stages or [StageProof(objective, 1.0, 1 - gap, gap <= ROUNDING)]
    closed = list(takewhile(lambda stage: stage.optimal, proven))
    parts = [f"no mapping of {mapspace} has a lower {_title(stage)}" for stage in closed[:1]]
    parts += [f"of these none a lower {_title(stage)}" for stage in closed[1:]]
    if len(closed) == len(proven):
        return f"proof        optimal: {', and '.join(parts)}"
    unproven, *later_stages = proven[len(closed) :]
    lowest = f"of these the lowest {_title(unproven)}" if closed else f"the lowest {_title(unproven)} of {mapspace}"
    parts.append(f"{lowest} is at most {at_most(stage_gap(unproven) or 0.0)} below this one")
    later = "".join(f"; the {_title(stage)} comes after that" for stage in later_stages[:1])
    return f"proof        {', and '.join(parts)}{later}{_more_effort(statistics)}"


def network_choice_line(objective: str, mapspace: str, gap: float, alone: float) -> str:
    """Say that a mapping was chosen for its network; `alone`: the value of a better mapping, which suits it less."""
    name = _with_article(first_objective(objective).title)
    below = f"the lowest of {mapspace} is at most {at_most(gap)} below"
    return f"proof        best for the network; alone, a mapping with {name} of {alone:.5g} is better; {below}"


def open_stage(name: str, gap: float, stages: Sequence[StageProof]) -> tuple[str, float]:
    """Return the name and gap of a layer that is not proven best: of several objectives those of the first open one."""
    unproven = next((stage for stage in stages if not stage.optimal), None)
    if unproven is None or unproven is stages[0]:
        return name, gap
    return f"{name} ({_title(unproven)})", stage_gap(unproven) or 0.0


def _title(stage: StageProof) -> str:
    return first_objective(stage.objective).title


def found_line(objective: str, searched: float) -> str:
    """Say that the proof found the mapping; `searched`: the value of the search's own."""
    name = _with_article(first_objective(objective).title)
    return f"proof        it found this mapping: the search had {name} of {searched:.5g}"


def _with_article(name: str) -> str:
    return f"an {name}" if name[0] in "aeioEAIO" else f"a {name}"


def gap_between(value: float, lower_bound: float) -> float:
    """Return the share of a value that lies above its lower bound; 0 where the value is 0."""
    return max(0.0, 1 - lower_bound / value) if value else 0.0


def stage_gap(stage: StageProof) -> float | None:
    """Return the share of an objective by which a mapping as good by those before may be lower; None: nothing is
    proven."""
    if stage.lower_bound is None or stage.value is None:
        return None
    return gap_between(stage.value, stage.lower_bound)


def stages_json(stages: Sequence[StageProof], searched: Mapping[str, float]) -> list[dict[str, object]]:
    """Write what is proven by each of several objectives, as `--json` does; null where a stage has not begun.

    `searched` has the search's own value by the objective whose proof found a better mapping.
    """
    return [
        {
            "objective": stage.objective,
            "optimal": stage.optimal,
            "lower_bound": stage.lower_bound,
            "gap": stage_gap(stage),
            "combinations": combinations_json(stage.coverage) if stage.coverage else None,
            **({"searched": searched[stage.objective]} if stage.objective in searched else {}),
        }
        for stage in stages
    ]


def combinations_json(coverage: Coverage) -> dict[str, int]:
    """Write what became of all combinations of chains."""
    return {"all": coverage.total, **asdict(coverage)}


def _more_effort(statistics: Statistics) -> str:
    """Say what may close a gap, where effort or time ended the search."""
    ended = set(statistics.ended)
    if Ended.TIME_LIMIT in ended:
        return f"; --time-limit {LONGER * max(1, round(statistics.seconds))} may close it"
    return "; --effort thorough may close it" if {Ended.EFFORT, Ended.TOO_SHORT} & ended else ""


def network_bound(objective: str, layers: Iterable[tuple[float, int]]) -> float:
    """A lower bound for a network from those of its layers, each with its count, for energy, delay or EDP."""
    if all(first_objective(objective).powers):
        return least_by_edp(layers)
    return sum(count * bound for bound, count in layers)


def network_line(
    objective: str, optimal: bool, gap: float, layers: Sequence[tuple[str, float, bool]], variant: str = ""
) -> str:
    """Say how far a network can be from its best.

    `layers`: of each its name, the gap of its own best mapping, and whether another mapping is better for the network.
    `variant`: what transformations made of layers, as `padded`.
    Layers that are best by delay, or by energy, in turn with other objectives make a network that is, too.
    """
    name, *titles = (first_objective(objective_name).title for objective_name in objective.split(","))
    open_layers = [(layer, layer_gap) for layer, layer_gap, _ in layers if layer_gap > ROUNDING]
    given_up = [layer for layer, _, other in layers if other]
    network = f"the network of {variant} layers" if variant else "the network"
    parts = [f"the best {name} possible of {network} is at most {at_most(gap)} below this one"]
    if gap <= ROUNDING:
        lower = ", and ".join([f"a lower {name}", *(f"of these none a lower {other}" for other in titles if optimal)])
        parts = [f"optimal: no choice of mappings gives {network} {lower}"]
    gaps = [f"{layer} within {at_most(layer_gap)}" for layer, layer_gap in open_layers]
    parts += [_few(gaps, "not proven best: {}", "{} layers not proven best")] if gaps else []
    best = f"best for the network, not by their own {name}:"
    parts += [_few(given_up, f"{best} {{}}", f"{best} {{}} layers")] if given_up else []
    if not open_layers and not given_up:
        parts.append("every layer's mapping is the best of its mapspace")
    return f"proof        {'; '.join(parts)}"


def _few(names: Sequence[str], few: str, many: str) -> str:
    """Put names into the sentence `few`, or where there are many their number into `many`."""
    return few.format(", ".join(names)) if len(names) <= MOST_NAMED else many.format(len(names))


def front_gap(front: Sequence[Mapped], proof: FrontProof) -> float:
    """The share by which some mapping may lie below the whole front on both axes; 0 where the front is proven."""
    points = sorted((member.cycles, member.energy_pj) for member in front)
    cycles, energy_pj = np.array(points, np.float64).reshape(-1, 2).T
    return proof.gap(energy_pj, cycles)


def least_energy_pj(member: Mapped, proof: FrontProof) -> tuple[float, bool]:
    """The least energy of mappings with at most the cycles of `member`, in pJ; and whether `member` has it."""
    own, least = member.energy_pj, proof.energy_pj(member.cycles)
    return (own, True) if least >= own * (1 - ROUNDING) else (least, False)


def front_proof_parts(front: Sequence[Mapped], proof: FrontProof, mapspace: str) -> list[str | TextTable]:
    """Say what is proven of a front: a line, and where the proof is not complete, a table with each of its mappings."""
    if not proof.corners:
        return [f"proof        no mapping of {mapspace} has fewer cycles or less energy without losing on the other"]
    gap = front_gap(front, proof)
    claim = "no mapping is lower by more in both energy and cycles"
    line = f"proof        within {at_most(gap)} of the front possible: {claim}"
    rows = []
    for i, member in enumerate(front, 1):
        least, proven = least_energy_pj(member, proof)
        rows.append([str(i), f"{member.cycles:,}", f"{least:.6g}", "yes" if proven else ""])
    return [line, TextTable(["", "with at most [cycles]", "energy at least [pJ]", "reached"], rows)]


def front_proof_json(front: Sequence[Mapped], proof: FrontProof) -> dict[str, object]:
    """`front_optimal`, `front_gap`, and for each mapping of the front what `least_energy_pj` says."""
    known = [least_energy_pj(member, proof) for member in front]
    gap = front_gap(front, proof)
    proofs = [{"energy_lower_bound_pj": least, "optimal": proven} for least, proven in known]
    return {"front_optimal": gap == 0.0, "front_gap": gap, "front_proof": proofs}
