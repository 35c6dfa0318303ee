"""What a designer answers: the best design and the frontier, each with what is proven, and how much was searched."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import override

import numpy as np

from ..designs import Score, Standing
from ..mapping import Ints
from ..model.figures import plain
from ..report import Json, Printable, TextTable, gap_between
from .bottlenecks import LayerBottleneck, bottleneck_table, bottlenecks
from .cheapest import CheapestChange, cheapest_change
from .optimised import Optimised
from .plan import Plan
from .proofs import gap_text
from .sensitivity import SensitivityRow, sensitivity, sensitivity_table
from .tables import APART, five_digits, parameter_columns, short_value, value_cells


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Printable):
    """The answer of a designer, as far as it came. Its data frame has a row per design and mapspace."""

    optimised: Optimised

    @property
    def plan(self) -> Plan:
        return self.optimised.candidates.plan

    @property
    def standing(self) -> Standing:
        return self.optimised.standing

    @cached_property
    def row(self) -> int | None:
        """The best candidate; None where none is asked for, or none keeps all limits."""
        return self.standing.best_row

    @cached_property
    def rows(self) -> Ints:
        """The candidates on the frontier, by the first axis."""
        axes = self.standing.wanted.axes
        return self.standing.best(axes) if axes else np.zeros(0, np.int64)

    @property
    def any_design(self) -> bool:
        """Whether some design keeps all limits, as far as is known."""
        return bool(self.standing.known.any())

    @cached_property
    def open(self) -> int:
        """Candidates that may change the answer by more than the gap."""
        return int(self.standing.open().sum())

    @cached_property
    def possible(self) -> int:
        """Candidates that can be made and keep the limits of a design alone."""
        return int(self.standing.wanted.possible.sum())

    @cached_property
    def best(self) -> tuple[float, float]:
        """The value of the best candidate by what is minimised, and what no candidate is below."""
        score = self.standing.wanted.minimise
        assert score is not None, "the best is asked for"
        assert self.row is not None, "there is one"
        value = float(score.of(self.standing.upper, np.array([self.row]))[0])
        return value, min(value, self.standing.least(score))

    @cached_property
    def sensitivity(self) -> tuple[SensitivityRow, ...]:
        """The designs beside the best one; none where they were not asked for, or there is no best."""
        asked = self.plan.question.sensitivity and self.row is not None and self.best[0] < inf
        return sensitivity(self.optimised, self.row) if asked and self.row is not None else ()

    @cached_property
    def cheapest_change(self) -> CheapestChange | None:
        """The cheapest change by which the best would be better by far; None where it was not asked for, or the value
        of the best has no share."""
        if not self.plan.question.sensitivity or self.row is None or not self.standing.comparable:
            return None
        return cheapest_change(self.optimised.candidates, self.standing, self.row)

    @cached_property
    def bottlenecks(self) -> tuple[LayerBottleneck, ...]:
        """What binds the best design in each layer; none where it was not asked for."""
        asked = self.plan.question.sensitivity and self.row is not None
        return bottlenecks(self.optimised, self.row) if asked and self.row is not None else ()

    def json(self) -> Json:
        """The keys that it adds to the object of `ruby-sweep --json`."""
        asked = self.plan.question.sensitivity
        cheapest = self.cheapest_change
        return {
            "best": self._best_json(),
            "frontier": [self._point_json(int(row)) for row in self.rows],
            "sensitivity": [row.json() for row in self.sensitivity] if asked else None,
            "cheapest_change": None if cheapest is None else cheapest.json(),
            "bottlenecks": [row.json() for row in self.bottlenecks] if asked else None,
            "proofs": {
                "made": self.optimised.proofs,
                "of": self.possible * self.optimised.layers,
                "sensitivity": self.optimised.proofs_beside if asked else None,
            },
            "designs": {
                "searched": int(self.standing.searched.sum()),
                "open": self.open,
                "within_limits": self.possible,
                "failed": len(self.optimised.faulty),
                "of": len(self.optimised.candidates),
            },
        }

    def _best_json(self) -> Json | None:
        if self.row is None:
            return None
        value, bound = self.best
        return {**self._named(self.row), "value": plain(value), "lower_bound": plain(bound),
                "gap": gap_between(value, bound), "workloads": self._by_workload(self.row)}  # fmt: skip

    def _point_json(self, row: int) -> Json:
        """A point of the frontier: its axes, and what no mapping of its design is below on the first that mappings
        decide."""
        axes, at = self.standing.wanted.axes, np.array([row])
        values = {axis.text: float(axis.of(self.standing.upper, at)[0]) for axis in axes}
        axis = next((axis for axis in axes if axis.power), axes[-1])
        bound = min(values[axis.text], float(axis.of(self.standing.lower, at)[0]))
        return {**self._named(row), "values": {name: plain(value) for name, value in values.items()},
                "lower_bound": plain(bound), "gap": gap_between(values[axis.text], bound)}  # fmt: skip

    def _named(self, row: int) -> Json:
        (design, mapspace), own = self.optimised.candidates.place(row), self.optimised.candidates.described(row)
        return {"design": design, "parameters": dict(own.values), "mapspace": mapspace}

    def _by_workload(self, row: int) -> Json:
        """The objective on each workload, and its bound."""
        pairs = zip(self.plan.workloads, self.standing.upper[row], self.standing.lower[row], strict=True)
        return {name: {"value": plain(float(value)), "lower_bound": plain(min(float(bound), float(value)))}
                for name, value, bound in pairs}  # fmt: skip

    @property
    def counts(self) -> str:
        """How many designs there are, and how many had to be searched."""
        every, possible = len(self.optimised.candidates), self.possible
        searched = int(self.standing.searched.sum())
        limits = f", {possible:,} within the limits of area and parameters" if possible < every else ""
        left = f"; {self.open:,} may still change the answer" if self.open else ""
        proofs = f"{self.optimised.proofs:,} of {possible * self.optimised.layers:,} proofs made"
        if self.plan.question.sensitivity:
            proofs += f", {self.optimised.proofs_beside:,} more for its sensitivity"
        return f"{every:,} designs ({self.plan.designs_text}){limits}: {searched:,} searched, {proofs}{left}"

    @property
    def title(self) -> str:
        """How many designs there are, and how many had to be searched."""
        return f"{self.plan.name}: {self.counts}"

    @override
    def _title(self) -> str:
        """The same."""
        return self.title

    @override
    def _parts(self) -> list[str | TextTable]:
        """The counts, the best, and the frontier."""
        return [self._title(), *self.parts()]

    def parts(self) -> Iterator[str | TextTable]:
        """What is printed."""
        if (score := self.standing.wanted.minimise) is not None:
            yield self._best_line(score)
        if len(self.rows):
            yield self._table()
        if score is not None and self.sensitivity:
            figure = f"{score.text}{score.unit and f' [{score.unit}]'}"
            yield sensitivity_table(self.plan, self.sensitivity, figure, self.best[0])
        if score is not None and self.cheapest_change is not None:
            yield self.cheapest_change.text(self.optimised.candidates, score.text)
        if self.bottlenecks:
            yield bottleneck_table(self.bottlenecks)

    def _best_line(self, score: Score) -> str:
        if self.row is None:
            limited = bool(self.plan.question.limits)
            none = "; proven: no design keeps them" if limited else "; proven: no design has a mapping"
            limits = " that keeps all limits" if limited else ""
            return f"best  no design found{limits}{none if self.standing.excluded.all() else ''}"
        value, bound = self.best
        own_values = self.optimised.candidates.described(self.row).values
        values = (
            APART.join(f"{name} {short_value(self.plan, name, own)}" for name, own in own_values.items())
            or "the design"
        )
        figure = f"{score.text} {five_digits(value)}{score.unit and f' {score.unit}'}"
        space = f", {self.optimised.candidates.place(self.row)[1]}" if len(self.plan.mapspaces) > 1 else ""
        return f"best  {figure}, {_proof(gap_between(value, bound))}: {values}{space}"

    def _table(self) -> TextTable:
        columns, axes = parameter_columns(self.plan), self.standing.wanted.axes
        head = [
            "design",
            *columns,
            "mapspace",
            *(f"{axis.text}{axis.unit and f' [{axis.unit}]'}" for axis in axes),
            "proof",
        ]
        rows = []
        for row in self.rows:
            own, point = self.optimised.candidates.described(int(row)).values, self._point_json(int(row))
            cells = value_cells(self.plan, own)
            values, gap = point["values"], point["gap"]
            assert isinstance(values, dict)
            assert isinstance(gap, float)
            figures = [five_digits(values[axis.text]) for axis in axes]
            rows.append([str(point["design"]), *cells, str(point["mapspace"]), *figures, _proof(gap)])
        left = (len(columns) + 1, len(head) - 1)
        what = f"{self.open:,} designs may still change it"
        if not self.open:
            what = f"proven within {self.plan.question.gap:.2%}" if self.plan.question.gap else "certified"
        return TextTable(head, rows, left, f"frontier of {len(rows)}, {what}")


def _proof(gap: float) -> str:
    """Say what is proven; with a gap of 1 nothing is."""
    return gap_text(gap if gap < 1 else None)
