"""The result of a sweep: its points, their measures, the frontiers; as rows, JSON and text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from statistics import median
from typing import Any, Self, override

from ..designs import Values
from ..model.figures import RATES
from ..problem import OBJECTIVES
from ..report import Json, Printable, Rows, TextTable
from ..report.plans import PARTLY_TRIED
from .answer import Answer
from .asked import column_of
from .fronts import ALL, MEASURES, Candidate, MedianFrontier, Seeded, candidate_json, candidates, corners, fronts
from .optimised import Optimised, of_grid
from .plan import Plan, design_values
from .proofs import bounds
from .store import FAILED, FOUND, NOTHING_VALID, ORIGIN, PointOutcome, taken
from .tables import Place, Rates, front_parts, value_text


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult(Printable):
    """The outcome of every point of a sweep; the frontiers follow from them."""

    plan: Plan
    outcomes: Mapping[int, PointOutcome]  # by the point's number; an interrupted sweep lacks some
    interrupted: bool = False
    optimised: Optimised | None = None  # what a designer found, where it was not a grid

    @classmethod
    def of(cls, optimised: Optimised) -> Self:
        """What a designer found."""
        outcomes = dict(sorted(optimised.outcomes.items()))
        return cls(optimised.candidates.plan, outcomes, optimised.interrupted, optimised)

    def count(self, status: str) -> int:
        """How many points ended so."""
        return sum(outcome.status == status for outcome in self.outcomes.values())

    @cached_property
    def values(self) -> Mapping[int, Values]:
        """The parameters' values of each design that has an outcome."""
        by_design: dict[int, Values] = {}
        for number in self.outcomes:
            design = self.plan.point(number).design
            if design not in by_design:
                by_design[design] = design_values(self.plan, design)
        return by_design

    @cached_property
    def fronts(self) -> tuple[MedianFrontier, ...]:
        """Of each workload: the frontier of each mapspace, then of all mapspaces together where there are several."""
        pool = candidates(self.found_points(), self.plan.axes)
        all_fronts: list[MedianFrontier] = []
        for workload in self.plan.workloads:
            own = fronts([candidate for candidate in pool if candidate.workload == workload], self.plan.mapspaces)
            all_fronts += [front for front in own if front.mapspace != ALL or len(self.plan.mapspaces) > 1]
        return tuple(all_fronts if self._decided else map(_undecided, all_fronts))

    @property
    def _decided(self) -> bool:
        """Whether designs that were not searched are proven not to be on these frontiers: a grid leaves none out."""
        if self.plan.grid:
            return True
        columns = tuple(column_of(axis.text) for axis in self.plan.question.axes)
        alone = len(self.plan.workloads) == len(self.plan.mapspaces) == 1
        return alone and columns == self.plan.axes and not (self.answer.open or self.plan.question.gap)

    def found_points(self) -> list[Seeded]:
        """The points with a mapping and their measures."""
        points: list[Seeded] = []
        for number, outcome in self.outcomes.items():
            if outcome.status == FOUND and self._within_limits(number):
                point = self.plan.point(number)
                assert outcome.result is not None, "it has a mapping"
                figures = measures(outcome)
                proof = bounds(outcome.result, figures)
                points.append(Seeded(point.design, point.workload, point.mapspace, point.seed, figures, proof))
        return points

    @cached_property
    def best_seeds(self) -> Mapping[Place, int]:
        """Of each design, workload and mapspace with a mapping the point of the seed with the least objective."""
        column = OBJECTIVES[self.plan.options.objectives[0]].column
        best: dict[Place, tuple[float, int]] = {}
        for number, outcome in self.outcomes.items():
            if outcome.status == FOUND:
                point = self.plan.point(number)
                place = point.design, point.workload, point.mapspace
                best[place] = min(best.get(place, (inf, number)), (measures(outcome)[column], number))
        return {place: number for place, (_, number) in best.items()}

    def _within_limits(self, number: int) -> bool:
        """Whether the design of a point keeps the limits that are asked for, as far as is known."""
        if not self.plan.question.limits:
            return True
        row, _ = self.answer.optimised.candidates.row(self.plan.point(number))
        return bool(self.answer.standing.known[row])

    def pareto_json(self) -> Json:
        """The object of pareto.json: frontiers with their knee and hypervolume, by workload and mapspace."""
        pool, axes = candidates(self.found_points(), self.plan.axes), self.plan.axes
        workloads: dict[str, Json] = {}
        for front in self.fronts:
            ideal, reference = corners([candidate for candidate in pool if candidate.workload == front.workload])
            entry = workloads.setdefault(front.workload, {
                "ideal": dict(zip(axes, ideal.tolist(), strict=True)),
                "reference": dict(zip(axes, reference.tolist(), strict=True)), "fronts": {}})  # fmt: skip
            inner = entry["fronts"]
            assert isinstance(inner, dict)
            inner[front.mapspace] = {
                "hypervolume": front.hypervolume,
                "hypervolume_at_least": front.volumes[0],
                "hypervolume_at_most": front.volumes[1],
                "knee": front.knee.design,
                "may_be_knee": _names(front.knees),
                "points": [candidate_json(member, axes, self.values[member.design]) for member in front.members],
                "may_join": _names(front.joining),
            }
        return {"sweep": self.plan.name, "axes": list(axes), "workloads": workloads}

    def summary_json(self) -> Json:
        """The object of `ruby-sweep --json`: counts of points, and the frontiers."""
        counts = {
            "points": self.plan.points,
            "found": self.count(FOUND),
            "nothing_valid": self.count(NOTHING_VALID),
            "failed": self.count(FAILED),
            "missing": self.plan.points - len(self.outcomes),
        }
        return {"sweep": self.plan.name, **counts, "pareto": self.pareto_json(), **self.answer.json()}

    @cached_property
    def answer(self) -> Answer:
        """The best design and the frontier, with what is proven."""
        return Answer(self.optimised or of_grid(self.plan, self.outcomes))

    @property
    def title(self) -> str:
        """How many points there are, and what came of them."""
        if not self.plan.grid:
            return self.answer.title
        plan, counts = self.plan, [f"{self.count(FOUND):,} found"]
        counts += [f"{self.count(status):,} {status}" for status in (NOTHING_VALID, FAILED) if self.count(status)]
        taking = sum(map(taken, self.outcomes.values()))
        counts += [f"{taking:,} with a mapping of {ORIGIN}, better than their search's"] if taking else []
        missing = plan.points - len(self.outcomes)
        counts += [f"{missing:,} not run"] if missing else []
        points = f"{plan.points:,} points" if plan.points == plan.size else f"{plan.points:,} points drawn"
        return f"{plan.name}: {points} ({plan.size_text}); {', '.join(counts)}"

    @override
    def _title(self) -> str:
        """The same."""
        return self.title

    @override
    def _parts(self) -> list[str | TextTable]:
        """The counts and the frontiers."""
        note = [self.plans_note] if self.plans_note else []
        if not self.plan.grid:
            return [self._title(), *self.answer.parts(), *note]
        best = list(self.answer.parts()) if self.plan.question.explicit else []
        return [self._title(), *best, *front_parts(self.plan, self.values, self.fronts, self._rates()), *note]

    @cached_property
    def plans_note(self) -> str:
        """What proofs of plans are about, where some have fused groups among what was tried; else empty."""
        results: list[Any] = [outcome.result for outcome in self.outcomes.values() if outcome.plan_file]
        return f"proofs of plans: {PARTLY_TRIED}" if any(own["plan"]["groups_tried"] for own in results) else ""

    def _rates(self) -> Rates:
        """The medians over the seeds of what a clock gives, by design, workload and mapspace."""
        rows: dict[Place, list[Json]] = {}
        for number, outcome in self.outcomes.items():
            if outcome.status == FOUND and outcome.result is not None:
                point = self.plan.point(number)
                rows.setdefault((point.design, point.workload, point.mapspace), []).append(outcome.result)
        return {
            place: {name: median(float(row[name]) for row in own) for name in RATES if own[0].get(name) is not None}  # type: ignore[arg-type]
            for place, own in rows.items()
        }


def _undecided(front: MedianFrontier) -> MedianFrontier:
    """The frontier of the designs that were searched, where others may dominate any of them."""
    members = tuple(replace(member, surely=False) for member in front.members)
    return replace(front, members=members, knee=replace(front.knee, surely=False))


def _names(designs: Sequence[Candidate]) -> list[Json]:
    return [{"design": one.design, "mapspace": one.mapspace} for one in designs]


def measures(outcome: PointOutcome) -> dict[str, float]:
    """The measures of a point that has a mapping, by column."""
    assert outcome.result is not None
    known = outcome.result | {"power_pj_per_cycle": outcome.power_pj_per_cycle}
    return {column: float(known[column]) for column in MEASURES}  # type: ignore[arg-type]  # numbers, as it has a mapping


def result_rows(swept: SweepResult) -> Iterator[Json]:
    """A row per point: what it is, how it ended, and its figures, null where there is no mapping."""
    for number, outcome in swept.outcomes.items():
        point = swept.plan.point(number)
        result = outcome.result or {}
        figures = measures(outcome) if outcome.status == FOUND else dict.fromkeys(MEASURES)
        search = result.get("search")
        assert search is None or isinstance(search, dict)
        yield {
            "design": point.design,
            "parameters": swept.values[point.design],
            "workload": point.workload,
            "mapspace": point.mapspace,
            "seed": point.seed,
            "status": outcome.status,
            **figures,
            **{key: result.get(key) for key in (*RATES, "lower_bound", "gap")},
            "utilization": result.get("utilization"),
            "macs": result.get("macs"),
            **{key: (search or {}).get(key) for key in ("evaluated", "valid", "seconds")},
            "origin": ORIGIN if taken(outcome) else None,
            "message": outcome.message,
            "warnings": list(outcome.warnings),
        }


def flat_rows(swept: SweepResult) -> Rows:
    """The rows with a column per parameter."""
    return list(_flat(swept))


def _flat(swept: SweepResult) -> Iterator[Json]:
    for row in result_rows(swept):
        values = row.pop("parameters")
        assert isinstance(values, dict)
        design = {"design": row.pop("design")} | {name: values.get(name) for name in swept.plan.parameters}
        yield {name: _cell(value) for name, value in (design | row).items()}


def _cell(value: object) -> object:
    """Lists and levels as text."""
    if isinstance(value, Mapping):
        return value_text(value)
    return "; ".join(map(str, value)) if isinstance(value, list) else value
