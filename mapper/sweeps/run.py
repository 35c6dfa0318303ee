"""Design-space sweeps: every design x workload x mapspace x seed searched, in parallel, and resumed where it stopped.

from ruby_map.mapper import sweep

result = sweep("experiments/array_sizes.yaml", "DIR", jobs=2)
print(result)       # counts, and the frontier of each mapspace
"""

import csv
import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...workloads import Fault, InputError, collect, written_together
from ..exploration.sets import NONE
from ..report import Json, Rows
from ..report.pictures import PICTURES, save_picture
from ..runtime import cluster_faults, csv_cell, in_order
from .candidates import Candidates, DescribeProgress
from .file import read_sweep
from .mapping_pages import FOLDER, MappingPages, remove_other_pages, write_pages
from .optimise import Optimiser
from .optimised import OptimiseProgress
from .page import report_html
from .pieces import PointPiece, search_point
from .plan import Plan, Point
from .renderers import draw_sweep
from .result import SweepResult, flat_rows, result_rows
from .store import FAILED, PointOutcome, Store, open_store
from .tornado import draw_tornado, why_no_tornado
from .transfer import with_transfers


def write_outputs(swept: SweepResult, folder: Path) -> None:
    """Write the results to `folder`, over those of an earlier run, all or none; a picture if a point has a mapping.

    Raises InputError where that fails.
    """
    with written_together(folder, "results.json", "make room and run the same command again to write them") as part:
        pages = _write(swept, part)
    remove_other_pages(pages, folder / FOLDER)


def _write(swept: SweepResult, folder: Path) -> MappingPages:
    rows = list(result_rows(swept))
    _write_csv(flat_rows(swept), folder / "results.csv")
    whole = [row | _stored_json(swept.outcomes[number]) for number, row in zip(swept.outcomes, rows, strict=True)]
    _write_json({"sweep": swept.plan.name, "points": whole}, folder / "results.json")
    _write_json(swept.pareto_json(), folder / "pareto.json")
    pages = write_pages(swept, folder / FOLDER)
    (folder / "report.html").write_text(report_html(swept, pages), encoding="utf-8")
    if swept.fronts:
        save_picture(partial(draw_sweep, swept), folder / "pareto", PICTURES, dpi=150)
    if not why_no_tornado(swept):
        save_picture(partial(draw_tornado, swept), folder / "tornado", PICTURES)
    return pages


def _stored_json(outcome: PointOutcome) -> Json:
    """What results.json has of a point beside its figures."""
    return {"result": outcome.result, **({"plan_file": outcome.plan_file} if outcome.plan_file else {})}


def _write_json(value: object, path: Path) -> None:
    path.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _write_csv(rows: Rows, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        if rows:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: csv_cell(value) for name, value in row.items()} for row in rows)


@dataclass(frozen=True)
class SweepProgress:
    """A point that is done, and how far the sweep is."""

    point: Point
    outcome: PointOutcome
    done: int  # points, those of earlier runs too
    points: int
    failed: int  # in this run


# called after each point, or step of a designer, which first describes its designs
Progress = Callable[[SweepProgress | OptimiseProgress | DescribeProgress], None]


def sweep(
    given: Path | str | Mapping[str, Any],
    out: Path | str | None = None,
    *,
    jobs: int | str = 1,
    limit: int | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> SweepResult:
    """Run the sweep in the file `given`, or what is left of it; write the results to the folder `out`.

    `jobs` is a number of processes, or the name of a cluster: dask://HOST:PORT, or ray.

    A sweep may also be given as a mapping with the keys of such a file, `sweep({"architecture": ...})`.

    Points that are in `out` already are not run again unless `fresh`; those that failed are. Ctrl-C ends the sweep
    with the points that are done. Raises InputError with every fault of the file, and for an `out` of another sweep.
    """
    folder, faults = None if out is None else Path(out), list[Fault]()
    if isinstance(jobs, str):
        faults += cluster_faults(jobs)
    elif jobs < 1:
        faults.append(Fault("jobs", None, "", f"must be at least 1, got {jobs}"))
    plan = collect(faults, lambda: read_sweep(given, limit))
    if faults or plan is None:
        raise InputError(faults)
    result = _run(plan, folder, jobs, fresh, progress)
    if folder is not None:
        write_outputs(result, folder)
    return result


def _run(plan: Plan, folder: Path | None, jobs: int | str, fresh: bool, progress: Progress | None) -> SweepResult:
    if not plan.grid:
        return _optimised(plan, folder, jobs, fresh, progress)
    if plan.question.limits:
        Candidates.judged(plan, jobs)
    keys = [plan.key(plan.point(number)) for number in range(plan.points)]
    with open_store(folder, plan.fingerprint, plan.identity, fresh) as store:
        outcomes = _stored(store, keys)
        missing = [number for number in range(plan.points) if number not in outcomes]
        interrupted = False
        try:
            with closing(in_order(run_point, plan, missing, jobs, most=1)) as results:
                failed = 0  # those of an earlier run are not among `outcomes`
                for number, outcome in zip(missing, results, strict=True):
                    store.add(keys[number], outcome)
                    outcomes[number] = outcome
                    failed += outcome.status == FAILED
                    if progress:
                        progress(SweepProgress(plan.point(number), outcome, len(outcomes), plan.points, failed))
        except KeyboardInterrupt:
            interrupted = True
            outcomes |= _stored(store, keys)  # it may have come between the store and us
        # a mapping of another design may break the limits that are asked of mappings, and is part of no plan
        if plan.transfer and not (interrupted or plan.question.other_limits or plan.fuse != NONE):
            try:
                outcomes = with_transfers(plan, outcomes, jobs)
            except KeyboardInterrupt:
                interrupted = True
    return SweepResult(plan, dict(sorted(outcomes.items())), interrupted)


def _optimised(plan: Plan, folder: Path | None, jobs: int | str, fresh: bool, progress: Progress | None) -> SweepResult:
    with ExitStack() as every:
        store = every.enter_context(open_store(folder, plan.fingerprint, plan.identity, fresh))
        return SweepResult.of(every.enter_context(closing(Optimiser(plan, store, jobs, progress))).run())


def _stored(store: Store, keys: list[str]) -> dict[int, PointOutcome]:
    done = store.outcomes(set(keys))
    return {number: done[key] for number, key in enumerate(keys) if key in done}


def run_point(plan: Plan, number: int) -> PointOutcome:
    """The search of one point."""
    return search_point(plan, PointPiece(plan.point(number)))
