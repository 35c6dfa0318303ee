"""The rows of the data frame of a designer's answer: every design with every mapspace, and what is known of it."""

from collections.abc import Iterator

import numpy as np

from ..model.figures import plain
from ..report import Json, Rows
from .answer import Answer
from .tables import shown_values

# what became of a design, the first that holds
UNMADE, BEYOND, SEARCHED, OUTDONE, OPEN, CLOSED = (
    "cannot be made or judged",
    "beyond the limits of a design",
    "searched",
    "outdone by another",
    "may change the answer",
    "closed by a bound",
)


def design_rows(answer: Answer) -> Rows:
    """Make a row per design and mapspace: parameters, area in mm2, the values of what is asked and the bounds of it.

    A value is that of the best known mappings, empty where none is known; no mapping of the design is below the bound,
    which is empty where nothing is proven.
    """
    return list(_rows(answer))


def _rows(answer: Answer) -> Iterator[Json]:
    standing, candidates = answer.standing, answer.optimised.candidates
    scores = {score.text: score for scores in standing.wanted.questions for score in scores}
    values = {text: score.of(standing.upper) for text, score in scores.items()}
    bounds = {text: score.of(standing.lower) for text, score in scores.items() if score.power}
    frontier = set(answer.rows.tolist())
    states = _states(answer)
    for row in range(len(candidates)):
        (design, mapspace), own = candidates.place(row), candidates.described(row)
        made = candidates.made[row]
        yield {
            "design": design,
            **shown_values(candidates.plan, own.values),
            "mapspace": mapspace,
            "area_mm2": plain(own.area_um2 * 1e-6) if made else None,
            **{text: _finite(values[text][row]) if made else None for text in values},
            **{f"{text}, bound": _finite(bounds[text][row]) or None if made else None for text in bounds},
            "state": states[row],
            "best": row == answer.row,
            "on_frontier": row in frontier,
        }


def _states(answer: Answer) -> list[str]:
    """What became of each candidate."""
    standing = answer.standing
    made = answer.optimised.candidates.made
    conditions = [~made, ~standing.wanted.possible, standing.searched, standing.outdone, standing.open()]
    return list(map(str, np.select(conditions, [UNMADE, BEYOND, SEARCHED, OUTDONE, OPEN], CLOSED)))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
