"""report.html of a sweep: one file, no network; the page and its scripts are page.html and page_*.js beside this."""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from ..comparison import MACS, OTHERS, Stored, pieces
from ..report import Json, energy_unit
from ..report.pictures import PALETTE
from .fronts import ALL, MEASURES, Candidate, MedianFrontier, candidates
from .mapping_pages import MappingPages
from .proofs import gap_text
from .result import SweepResult
from .store import FOUND, PointOutcome
from .tables import Place, design_label, given_once, parameter_columns, short_names, shown_values
from .unsearched import unsearched_json

SCRIPTS = ("state", "plot", "parallel", "tables", "controls")  # in the order in which they run


def report_html(swept: SweepResult, pages: MappingPages | None = None) -> str:
    """Fill the page with the data of a sweep, and links to the pages of mappings that were written beside it."""
    page = _file("page.html").replace("SCRIPTS", "".join(_file(f"page_{name}.js") for name in SCRIPTS), 1)
    data = json.dumps(_data(swept, pages or MappingPages()), allow_nan=False)
    # inside a script element only its end tag and comments could be misread
    return page.replace(">DATA<", ">" + data.replace("<", "\\u003c") + "<", 1)


def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _data(swept: SweepResult, pages: MappingPages) -> Json:
    plan = swept.plan
    layers = {place: _layers(swept.outcomes[number]) for place, number in swept.best_seeds.items()}
    parts = _parts(layers)
    largest = max((sum(layer["energy"].values()) for own in layers.values() for layer in own), default=1.0)
    unit, size = energy_unit(largest)
    designs = []
    figures = _figures(swept)
    for candidate, on, knee in _placed(swept):
        place = (candidate.design, candidate.workload, candidate.mapspace)
        layer_rows = [_scaled(layer, parts, size) for layer in layers[place]]
        more = {"front": on, "knee": knee, "layers": layer_rows, "figures": figures[place]}
        links = {"page": pages.links.get(place, ""), "no_page": pages.faults.get(place, "")}
        designs.append(_design(swept, candidate) | more | links)
    return {
        "sweep": plan.name,
        "counts": "; ".join(text for text in (swept.title, swept.plans_note) if text),
        "axes": [{"name": MEASURES[axis].name, "unit": MEASURES[axis].unit} for axis in plan.axes],
        "measures": [{"name": measure.name, "unit": measure.unit} for measure in MEASURES.values()],
        "drawn": [list(MEASURES).index(axis) for axis in plan.axes],
        "parameters": list(plan.parameters),
        "short": short_names(plan.parameters),
        "columns": [{"head": head, "names": names} for head, names in parameter_columns(plan).items()],
        "once": list(given_once(plan, swept.values)),
        "workloads": list(dict.fromkeys(front.workload for front in swept.fronts)),
        "mapspaces": list(plan.mapspaces),
        "palette": list(PALETTE),
        "parts": parts,
        "compute": parts.index(MACS) if layers else -1,
        "energy_unit": unit.replace("u", "\N{MICRO SIGN}"),
        "designs": designs,
        "fronts": [_front(swept, front) for front in swept.fronts],
        "problems": list(_problems(swept)),
        "unsearched": unsearched_json(swept) | {"workloads": list(plan.workloads)},
        "pages": pages.note,
    }  # fmt: skip


def _front(swept: SweepResult, front: MedianFrontier) -> Json:
    knee = design_label(swept.plan, swept.values, front.knee.design)
    low, high = front.volumes
    return {"workload": front.workload, "mapspace": front.mapspace, "size": len(front.members),
            "hypervolume": front.hypervolume, "volumes": f"{low:.4f} to {high:.4f}",
            "surely": sum(member.surely for member in front.members), "may_join": len(front.joining),
            "knee": f"{knee}; {front.knee.mapspace}", "knees": len(front.knees)}  # fmt: skip


def _figures(swept: SweepResult) -> dict[Place, list[float]]:
    """Of each design, workload and mapspace the median of every measure, in its unit."""
    sizes = [measure.size for measure in MEASURES.values()]
    return {(one.design, one.workload, one.mapspace): (one.middle / sizes).tolist()
            for one in candidates(swept.found_points(), tuple(MEASURES))}  # fmt: skip


def _layers(outcome: PointOutcome) -> list[dict[str, Any]]:
    """Cycles and energy in pJ by level of each layer, or part of a plan, all its occurrences; the rest of the energy is
    leakage."""
    return [
        {"name": own.name, "count": own.count, "energy": own.energy_pj, "cycles": own.cycles,
         "utilization": own.utilization}
        for own in pieces(Stored.model_validate(outcome.result))
    ]  # fmt: skip


def _parts(layers: dict[Place, list[dict[str, Any]]]) -> list[str]:
    """The levels, the MAC units, the network and leakage, as far as there are any."""
    names = dict.fromkeys(name for own in layers.values() for layer in own for name in layer["energy"])
    return [*(name for name in names if name not in OTHERS), *(name for name in OTHERS if name in names)]


def _scaled(layer: dict[str, Any], parts: list[str], size: float) -> Json:
    return {**layer, "energy": [layer["energy"].get(name, 0.0) / size for name in parts]}


def _placed(swept: SweepResult) -> Iterator[tuple[Candidate, bool, bool]]:
    """Yield every candidate, with whether it is on the frontier of its mapspace, and whether it is its knee."""
    own = [front for front in swept.fronts if front.mapspace != ALL]
    members = {(member.design, member.workload, member.mapspace): member for front in own for member in front.members}
    knees = {(front.knee.design, front.workload, front.mapspace) for front in own}
    for candidate in candidates(swept.found_points(), swept.plan.axes):
        key = (candidate.design, candidate.workload, candidate.mapspace)
        yield members.get(key, candidate), key in members, key in knees


def _design(swept: SweepResult, candidate: Candidate) -> Json:
    """A candidate as the page shows it: its values, and the median and range of each measure in its unit."""
    sizes = [MEASURES[axis].size for axis in swept.plan.axes]
    return {
        "design": candidate.design,
        "values": shown_values(swept.plan, swept.values[candidate.design]),
        "workload": candidate.workload,
        "mapspace": candidate.mapspace,
        "seeds": len(candidate.seeds),
        "share": candidate.share,
        "surely": candidate.surely,
        "label": design_label(swept.plan, swept.values, candidate.design),
        "brief": design_label(swept.plan, swept.values, candidate.design, names=False),
        "proof": gap_text(candidate.gap),
        "least": (candidate.least / sizes).tolist(),
        "middle": (candidate.middle / sizes).tolist(),
        "low": (candidate.values.min(axis=0) / sizes).tolist(),
        "high": (candidate.values.max(axis=0) / sizes).tolist(),
    }


def _problems(swept: SweepResult) -> Iterator[Json]:
    """Yield the points without a mapping."""
    for number, outcome in swept.outcomes.items():
        if outcome.status != FOUND:
            point = swept.plan.point(number)
            yield {"design": point.design, "values": shown_values(swept.plan, swept.values[point.design]),
                   "workload": point.workload, "mapspace": point.mapspace, "seed": point.seed, "status": outcome.status,
                   "message": outcome.message}  # fmt: skip
