"""The cheapest change of the best design by which it would be better by far: the least area of all that are so good."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from ..designs import Standing, outdone
from ..model.figures import plain
from ..report import Json, gap_between
from .candidates import Candidates
from .tables import APART, five_digits, short_names, short_value

BETTER = 0.1  # a share of the value by which a design has to be lower


def cheaper(candidates: Candidates, standing: Standing, best: int) -> Standing:
    """What is known of all designs, of which the one with the least area is wanted that is better by far than `best`.

    It need not keep the limits that a design alone decides.
    """
    score = standing.wanted.minimise
    assert score is not None, "something is minimised"
    most = (1 - BETTER) * float(score.of(standing.upper, np.array([best]))[0])
    asked = standing.asked(candidates.area, score, most, candidates.made)
    asked.outdone = outdone(candidates.space, asked.wanted)
    return asked


@dataclass(frozen=True)
class CheapestChange:
    """The design with the least area that is better by far than the best within the limits, as far as is known."""

    design: int | None  # its number; None: none is known
    mapspace: str
    changes: Mapping[str, tuple[Any, Any]]  # by parameter, and of the mapspace: from, to
    area_mm2: float
    more_mm2: float  # than the best has
    value: float
    lower: float  # share of the value of the best
    open: int  # designs that may be so good with less area

    @property
    def proof(self) -> str:
        """What is proven of it."""
        return "undecided" if self.open else "certified" if self.design is not None else "none"

    def json(self) -> Json:
        """The object of `--json`."""
        changes = {name: {"from": before, "to": after} for name, (before, after) in self.changes.items()}
        figures = ("area_mm2", "more_mm2", "value", "lower")
        known: Json = {name: plain(getattr(self, name)) for name in figures}
        if self.design is None:
            known = dict.fromkeys(figures)
        return {"proof": self.proof, "open": self.open, "design": self.design, "mapspace": self.mapspace or None,
                "changes": changes, **known}  # fmt: skip

    def text(self, candidates: Candidates, minimised: str) -> str:
        """A line that says it."""
        if self.design is None:
            all_drawn = len(candidates.plan.designs) == candidates.plan.all_designs
            which, may = ("of the space", "") if all_drawn else ("that was drawn", "that were drawn ")
            if self.open:
                return f"cheapest change: undecided: {_designs(self.open)} {may}may be {BETTER:.0%} better"
            return f"cheapest change: proven: no design {which} is {BETTER:.0%} better"
        plan, short = candidates.plan, short_names(candidates.plan.parameters)
        parts = [
            f"{short.get(name, name)} {short_value(plan, name, before)} -> {short_value(plan, name, after)}"
            for name, (before, after) in self.changes.items()
        ]
        sign = "+" if self.more_mm2 >= 0 else ""
        proof = f"undecided: {_designs(self.open)} with less area may be, too" if self.open else self.proof
        area = f"area {sign}{five_digits(self.more_mm2)} mm2"
        return f"cheapest change: {APART.join(parts)} ({area}): {minimised} {self.lower:.1%} lower, {proof}"


def _designs(number: int) -> str:
    return "1 design" if number == 1 else f"{number:,} designs"


def cheapest_change(candidates: Candidates, standing: Standing, best: int) -> CheapestChange:
    """What is known of the cheapest change of the best design."""
    wanted = cheaper(candidates, standing, best)
    score, row, left = wanted.wanted.ceilings[0].score, wanted.best_row, int(wanted.open().sum())
    if row is None:
        return CheapestChange(None, "", {}, inf, inf, inf, 0.0, left)
    (design, mapspace), (_, before_space) = candidates.place(row), candidates.place(best)
    own, before = candidates.described(row).values, candidates.described(best).values
    changes = {name: (before[name], own[name]) for name in own if before[name] != own[name]}
    changes |= {"mapspace": (before_space, mapspace)} if mapspace != before_space else {}
    (area, area_before) = candidates.area.of(standing.upper, np.array([row, best])).tolist()
    (value, value_before) = score.of(standing.upper, np.array([row, best])).tolist()
    lower = gap_between(value_before, value)
    return CheapestChange(design, mapspace, changes, area, area - area_before, value, lower, left)
