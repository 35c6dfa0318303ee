"""Pages of the mappings of points, which report.html of a sweep links: of the best designs, as many as files may be."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from ...workloads import InputError
from ..comparison import Stored
from ..exploration import Transfer
from ..exploration.sets import stored_plan
from ..problem import OBJECTIVES
from ..report import NetworkResult, Result, Searched, index_html, mapping_html
from ..report.plan_pages import write_plan_pages
from ..search.outcome import Evidence
from .plan import Plan, Point
from .proofs import gap_text
from .result import SweepResult, measures
from .tables import Place, design_label
from .transfer import mappings_of, study_of

FOLDER = "mappings"
PLAN_PAGE, PLAN_FILE = "plan.html", "plan.yaml"  # of a network with a plan
GENERATOR, HEAD = '<meta name="generator" content="ruby-map">', 500  # stands in the first characters of each page
# what is written below it, so that pages that earlier runs wrote can be told from files of the user
OWN_FILE = re.compile(
    r"design_\d+_[\w+-]+_\d+(\.html|/index\.html|/\d+/mapping\.html|/plan\.html|/parts/\d+_[^/]+/mapping\.html)"
)


@dataclass(frozen=True)
class MappingPages:
    """The pages of points: their files relative to the report, and why points have none."""

    links: Mapping[Place, str] = field(default_factory=dict)
    faults: Mapping[Place, str] = field(default_factory=dict)  # of points whose mapping could not be read
    files: frozenset[str] = frozenset()  # all that were written, below their folder
    note: str = ""  # which points have no page, and how they get one


def write_pages(swept: SweepResult, folder: Path) -> MappingPages:
    """Write a page for each point with a mapping, of several seeds the best, to `folder`.

    As many as there may be files, `mapping_pages` of the plan: a layer takes one, a network one for each layer, and an
    index. First the best design, then knees, frontiers, and the others by the objective.
    """
    links, faults, files = dict[Place, str](), dict[Place, str](), 0
    places = _ranked(swept)
    for place in places:
        result: Any = swept.outcomes[swept.best_seeds[place]].result
        files += len(result.get("plan", {}).get("groups", result["layers"])) + 1 if "layers" in result else 1
        if files > swept.plan.mapping_pages:
            break
        try:
            links[place] = _write_page(swept, place, folder)
        except InputError as error:  # the other results must not be lost with it
            faults[place] = "; ".join(dict.fromkeys(map(str, error.faults)))
    written = frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    return MappingPages(links, faults, written, _note(swept.plan, len(links) + len(faults), len(places)))


def _note(plan: Plan, linked: int, places: int) -> str:
    if linked == places:
        return ""
    which = "the best, those on a frontier, then others by the objective"
    most = f"{linked:,} of {places:,} mappings have a page ({which}), as mapping_pages is {plan.mapping_pages:,} files."
    how = "put a larger number into the sweep's file and run ruby-sweep with the same folder again"
    return f"{most} For more {how}; nothing is searched twice."


def _ranked(swept: SweepResult) -> Sequence[Place]:
    """The points with a mapping, in the order in which they get pages."""
    column = OBJECTIVES[swept.plan.options.objectives[0]].column
    known = {(point.design, point.workload, point.mapspace) for point in swept.found_points()}

    def objective(place: Place) -> float:
        return measures(swept.outcomes[swept.best_seeds[place]])[column]

    ranked = dict.fromkeys([*_first(swept), *sorted(sorted(known), key=objective)])
    return [place for place in ranked if place in known]


def _first(swept: SweepResult) -> Iterator[Place]:
    """Yield the points of the best design, of knees, and of frontiers."""
    if not swept.plan.grid or swept.plan.question.explicit:
        answer = swept.answer
        for row in [*([] if answer.row is None else [answer.row]), *answer.rows.tolist()]:
            design, mapspace = answer.optimised.candidates.place(row)
            yield from ((design, workload, mapspace) for workload in swept.plan.workloads)
    for members in ([(front.knee,) for front in swept.fronts], [front.members for front in swept.fronts]):
        yield from ((one.design, one.workload, one.mapspace) for own in members for one in own)


def _write_page(swept: SweepResult, place: Place, folder: Path) -> str:
    """Write the page of a point, of a network an index with a page per layer, of a plan its page with one per part;
    returns its address in the report."""
    point, outcome = swept.plan.point(swept.best_seeds[place]), swept.outcomes[swept.best_seeds[place]]
    stored = Stored.model_validate(outcome.result)
    study = study_of(swept.plan, point)
    result = Transfer(study, mappings_of(outcome.result), {}).own_result()
    facts = _facts(swept, point, stored)
    # numbers, as names of workloads are the user's
    name = f"design_{point.design}_{point.mapspace}_{list(swept.plan.workloads).index(point.workload) + 1}"
    folder.mkdir(exist_ok=True)
    if isinstance(result, Result):
        (folder / f"{name}.html").write_text(mapping_html(_proven(result, stored), facts), encoding="utf-8")
        return f"{folder.name}/{name}.html"
    if outcome.plan_file:
        known: Any = outcome.result
        bound = inf if outcome.none_keeps else float(outcome.least or 0.0)
        plan = stored_plan(study, result, outcome.plan_file, known["plan"], bound)
        (folder / name).mkdir()
        write_plan_pages(plan, folder / name, facts)
        (folder / name / PLAN_FILE).write_text(outcome.plan_file, encoding="utf-8")
        return f"{folder.name}/{name}/{PLAN_PAGE}"
    pairs = zip(result.layers, stored.own_layers(), strict=True)
    network = replace(result, layers=tuple((_proven(layer, own), count) for (layer, count), own in pairs))
    _write_network(network, folder / name, facts)
    return f"{folder.name}/{name}/index.html"


def _write_network(network: NetworkResult, folder: Path, facts: Mapping[str, str]) -> None:
    folders = {place: f"{place + 1:02d}" for place in range(len(network.layers))}
    for own, (layer, _) in zip(folders.values(), network.layers, strict=True):
        (folder / own).mkdir(parents=True)
        (folder / own / "mapping.html").write_text(mapping_html(layer, facts), encoding="utf-8")
    (folder / "index.html").write_text(index_html(network, folders, (), facts), encoding="utf-8")


def _proven(result: Result, stored: Stored) -> Result:
    """The result with what its search proved."""
    evidence = Evidence(stored.lower_bound, bool(stored.optimal))
    return replace(result, search=Searched(mapspace=stored.mapspace), evidence=evidence)


def _facts(swept: SweepResult, point: Point, stored: Stored) -> dict[str, str]:
    """What the pages of a point say of it."""
    label = design_label(swept.plan, swept.values, point.design)
    seed = {"seed": f"{point.seed}, the best"} if len(swept.plan.seeds) > 1 else {}
    proof = {} if stored.layers is None else {"proof of the whole": gap_text(stored.gap)}
    return {
        "sweep": swept.plan.name,
        "design": f"{point.design} ({label})",
        "mapspace": point.mapspace,
        **seed,
        **proof,
    }


def remove_other_pages(pages: MappingPages, folder: Path) -> None:
    """Remove the pages in `folder` that earlier runs wrote of points that have none now; all other files stay."""
    for path in sorted(folder.rglob("*.html")):
        own = path.relative_to(folder)
        if OWN_FILE.fullmatch(own.as_posix()) and own.as_posix() not in pages.files:
            with suppress(OSError, UnicodeDecodeError):
                if GENERATOR not in path.read_text(encoding="utf-8")[:HEAD]:
                    continue  # a file of the user of such a name
                path.unlink()
                if path.name == PLAN_PAGE:
                    path.with_name(PLAN_FILE).unlink(missing_ok=True)
                for parent in own.parents:
                    (folder / parent).rmdir()  # not where it holds more
