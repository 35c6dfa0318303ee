"""`ruby-sweep SWEEP.yaml` searches every point of a sweep, resumes where it stopped, and shows the frontiers."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from math import inf
from pathlib import Path

from ..runtime import print_message, print_result
from ..sweeps import (
    FAILED,
    DescribeProgress,
    OptimiseProgress,
    Progress,
    SweepProgress,
    SweepResult,
    gap_text,
    measures,
    sweep,
)
from ..sweeps import FOUND as HAS_MAPPING
from ..sweeps import NOTHING_VALID as NOTHING
from .guard import FOUND, INTERRUPTED, NOTHING_VALID, echo_json
from .progress import Part, live_line, write_line
from .ruby_sweep import SweepRequest

POINTS_FAILED = 3  # beside the statuses of all commands
SHOWN = 10  # designs printed one by one, of those that failed and of those without a valid mapping


def run(request: SweepRequest) -> int:
    """Search every design x workload x mapspace x seed of SWEEP.yaml and show the Pareto frontiers.

    Exit status: 0 every point has a mapping, 1 some have no valid one, 2 bad input, 3 some points failed,
    130 interrupted (what is done is kept in the folder).
    """
    with _progress(request.log) as progress:
        result = sweep(
            request.path,
            request.out,
            jobs=request.jobs if request.cluster is None else request.cluster,
            limit=request.limit,
            fresh=request.fresh,
            progress=progress,
        )
    if request.as_json:
        echo_json(result.summary_json())
    else:
        print_result(str(result))
    _tell(result, request.out)
    if result.interrupted:
        return INTERRUPTED
    if result.count(FAILED):
        return POINTS_FAILED
    if result.optimised is not None:
        if result.optimised.faulty:
            return POINTS_FAILED
        return FOUND if result.answer.any_design else NOTHING_VALID
    return NOTHING_VALID if result.count(NOTHING) else FOUND


def _tell(result: SweepResult, out: Path | None) -> None:
    """Print warnings, failures and an interruption to standard error."""
    for message in dict.fromkeys(warning for outcome in result.outcomes.values() for warning in outcome.warnings):
        print_message(f"warning: {message}")
    for status in (FAILED, NOTHING):
        for line in _reasons(result, status, out):
            print_message(f"{status}: {line}")
    if result.optimised is not None and (faulty := result.optimised.faulty):
        for message, times in islice(Counter(faulty.values()).items(), SHOWN):
            print_message(f"failed: {times:,} designs: {message}; the answer is about the others")
    if result.interrupted:
        how = "nothing is kept without --out" if out is None else "the same command goes on from here"
        done = f"{len(result.outcomes):,} of {result.plan.points:,} points done"
        if result.optimised is not None:
            done = f"{result.answer.open:,} designs may still change the answer"
        print_message(f"interrupted: {done}; {how}")


def _reasons(result: SweepResult, status: str, out: Path | None) -> Iterator[str]:
    """Yield the reasons of a status: a line for each of the first designs and messages, then how many are left."""
    counts = Counter(
        (result.plan.point(number).design, outcome.message)
        for number, outcome in result.outcomes.items()
        if outcome.status == status
    )
    for (design, message), times in list(counts.items())[:SHOWN]:
        values = ", ".join(f"{name} {value}" for name, value in result.values[design].items())
        points = f"{times} of {result.plan.per_design} points of design {design}" + (f" ({values})" if values else "")
        yield f"{points}: {message}"
    more = sum(list(counts.values())[SHOWN:])
    if more:
        yield f"{more:,} more points" + (f", see {out / 'results.csv'}" if out else "; with --out each is recorded")


@contextmanager
def _progress(log: bool) -> Iterator[Progress | None]:
    """Show progress as log lines, or as a live line on standard error; yields None where that is no terminal."""
    pace = _Pace()
    if log:
        yield lambda step: None if isinstance(step, DescribeProgress) else write_line(pace.line(step, whole=True))
        return
    with live_line("reading") as show:
        yield None if show is None else lambda step: show([Part(pace.line(step))])


class _Pace:
    """The progress of a sweep, with an estimate of the time left."""

    def __init__(self) -> None:
        self.began, self.before = time.monotonic(), -1

    def line(self, step: SweepProgress | OptimiseProgress | DescribeProgress, *, whole: bool = False) -> str:
        """Format how far the sweep is; `whole`: with the point that is done."""
        if isinstance(step, DescribeProgress):
            return f"{step.done:,} of {step.designs:,} designs described"
        if isinstance(step, OptimiseProgress):
            return _designer_line(step)
        return f"{self._points(step)}; {_point_line(step)}" if whole else self._points(step)

    def _points(self, step: SweepProgress) -> str:
        """Format how many points are done, how many failed, and the seconds left."""
        if self.before < 0:
            self.before = step.done - 1  # by earlier runs
        remaining = (step.points - step.done) * (time.monotonic() - self.began) / (step.done - self.before)
        bad = f", {step.failed:,} failed" if step.failed else ""
        return f"{step.done:,} of {step.points:,} points{bad}, about {remaining:,.0f} s left"


def _designer_line(step: OptimiseProgress) -> str:
    """Format how far a designer is."""
    best = "no design yet"
    if step.best < inf:
        best = f"best {step.best:.5g}, {gap_text(step.gap)}"
    return f"{step.proofs:,} proofs, {step.open:,} of {step.candidates:,} designs open, {best}"


def _point_line(step: SweepProgress) -> str:
    """Format the point of a step, and its outcome."""
    point, outcome = step.point, step.outcome
    has_mapping = outcome.status == HAS_MAPPING
    text = f"EDP {measures(outcome)['edp']:.4g} pJ cycles" if has_mapping else f"{outcome.status}: {outcome.message}"
    return f"design {point.design}, {point.workload}, {point.mapspace}, seed {point.seed}: {text}"
