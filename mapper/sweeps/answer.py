"""What a designer answers: the best design and the frontier, each with what is proven, and how much was searched."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from ..designs import Score, Standing
from ..mapping import Ints
from ..model.figures import plain
from ..report import Json, TextTable, gap_between
from .optimise import Optimised
from .plan import Plan
from .proofs import gap_text
from .tables import APART, parameter_columns, short_value, value_cells


@dataclass(frozen=True)
class Answer:
    """The answer of a designer, as far as it came."""

    optimised: Optimised

    @property
    def plan(self) -> Plan:
        return self.optimised.candidates.plan

    @property
    def standing(self) -> Standing:
        return self.optimised.standing

    @cached_property
    def area(self) -> Score:
        """The area of candidates, mm2."""
        known = self.optimised.candidates.known
        figures = np.array([[inf if own is None else own[0].area_um2 * 1e-6] for own in known])
        return Score("area", figures, 0.0, "mm2")

    @cached_property
    def row(self) -> int | None:
        """The best candidate; None where none is asked for, or none keeps all limits."""
        score = self.standing.wanted.minimise
        rows = np.flatnonzero(self.standing.known)
        return None if score is None or not len(rows) else int(rows[score.of(self.standing.upper, rows).argmin()])

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

    def json(self) -> Json:
        """The keys that it adds to the object of `ruby-sweep --json`."""
        return {
            "best": self._best_json(),
            "frontier": [self._point_json(int(row)) for row in self.rows],
            "proofs": {"made": self.optimised.proofs, "of": self.possible * self.optimised.layers},
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
        return f"{every:,} designs ({self.plan.designs_text}){limits}: {searched:,} searched, {proofs}{left}"

    def parts(self) -> Iterator[str | TextTable]:
        """What is printed."""
        if (score := self.standing.wanted.minimise) is not None:
            yield self._best_line(score)
        if len(self.rows):
            yield self._table()

    def _best_line(self, score: Score) -> str:
        if self.row is None:
            proven = "; proven: no design keeps them" if self.standing.excluded.all() else ""
            return f"best  no design found that keeps all limits{proven}"
        value, bound = self.best
        own_values = self.optimised.candidates.described(self.row).values
        values = (
            APART.join(f"{name} {short_value(self.plan, name, own)}" for name, own in own_values.items())
            or "the design"
        )
        figure = f"{score.text} {five_digits(value)}{score.unit and f' {score.unit}'}"
        space = f", {self.optimised.candidates.place(self.row)[1]}" if len(self.plan.mapspaces) > 1 else ""
        return f"best  {figure}, {gap_text(gap_between(value, bound))}: {values}{space}"

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
            rows.append([str(point["design"]), *cells, str(point["mapspace"]), *figures, gap_text(gap)])
        left = (len(columns) + 1, len(head) - 1)
        what = f"{self.open:,} designs may still change it"
        if not self.open:
            what = f"proven within {self.plan.question.gap:.2%}" if self.plan.question.gap else "certified"
        return TextTable(head, rows, left, f"frontier of {len(rows)}, {what}")


def five_digits(value: float) -> str:
    """Five digits."""
    return format(value, ",.5g")
