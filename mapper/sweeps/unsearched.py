"""The designs that a designer left unsearched, at what no mapping of theirs is below: for report.html of a sweep."""

import numpy as np

from ..problem import OBJECTIVES
from ..report import Json
from .fronts import MEASURES
from .result import SweepResult
from .tables import design_label, shown_values

MOST = 5_000  # marks on the page, those that come nearest to being better


def unsearched_json(swept: SweepResult) -> Json:
    """List the candidates that were not searched and may keep the limits: area and, by workload, the bound of the
    objective, in the units of the page's measures; `without` are those of which nothing is proven yet."""
    column = OBJECTIVES[swept.plan.question.objective].column
    measure = list(MEASURES).index(column)
    if swept.plan.grid:
        return {"measure": measure, "marks": [], "without": 0, "more": 0, "what": ""}
    standing, candidates = swept.answer.standing, swept.answer.optimised.candidates
    left = standing.wanted.possible & ~standing.excluded & ~standing.searched
    bounded = left & (standing.lower > 0).all(axis=1)
    rows = np.flatnonzero(bounded)
    rows = rows[np.argsort(-standing.potential()[rows], kind="stable")]
    marks, may_change = list[Json](), standing.open()
    for row in rows[:MOST]:
        (design, mapspace), own = candidates.place(int(row)), candidates.described(int(row))
        marks.append({
            "design": design,
            "mapspace": mapspace,
            "values": shown_values(swept.plan, own.values),
            "label": design_label(swept.plan, {design: own.values}, design),
            "area": own.area_um2 / MEASURES["area_um2"].size,
            "bounds": (standing.lower[row] / MEASURES[column].size).tolist(),
            "open": bool(may_change[row]),
        })  # fmt: skip
    what = "no mapping that keeps the limits" if swept.plan.question.other_limits else "no mapping"
    return {"measure": measure, "marks": marks, "without": int((left & ~bounded).sum()),
            "more": max(0, len(rows) - MOST), "what": what}  # fmt: skip
