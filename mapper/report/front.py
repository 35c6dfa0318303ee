"""The Pareto front of the mappings of a search: counted exactly, as a table, as JSON."""

from collections.abc import Sequence

import numpy as np

from ..mapping import MappingBatch, uncovered_by_earlier, write_mapping
from ..model.figures import Mapped
from ..problem import OBJECTIVES, Problem
from .tables import TextTable


def exact_front(problem: Problem, batches: Sequence[MappingBatch]) -> tuple[Mapped, ...]:
    """Count the mappings of a search's front exactly, and order them by the first axis of the problem's goal.

    Mappings that the search was given may join its front unseen, and beyond 2^53 it rounds, so some mapping may cover
    another: the other is left out.
    """
    axes, mappings = problem.goal.front, [Mapped.of(problem, batch) for batch in batches]
    mappings.sort(key=lambda mapping: [mapping.value(axis) for axis in axes])
    # as Python numbers: exact counts may pass what a float64 holds
    points = np.array([[mapping.value(axis) for axis in axes] for mapping in mappings], object)  # (mapping, axis)
    # in this order whatever covers a point comes before it
    return tuple(mappings[row] for row in uncovered_by_earlier(points, points))


def front_table(front: Sequence[Mapped], axes: Sequence[str], cycles: int, energy_pj: float, of: str = "") -> TextTable:
    """Tabulate the mappings of a front (`of` a layer); the mapping of so many cycles and pJ is marked as reported."""
    rows = []
    for i, member in enumerate(front, 1):
        mark = "reported" if (member.cycles, member.energy_pj) == (cycles, energy_pj) else ""
        places = [format(member.value(axis), "," if OBJECTIVES[axis].whole else ".6g") for axis in axes]
        rows.append([str(i), *places, mark])
    title = f"front of {of}" if of else "front"
    return TextTable(["", *(OBJECTIVES[axis].label for axis in axes), ""], rows, left=(len(axes) + 1,), title=title)


def front_json(front: Sequence[Mapped]) -> list[dict[str, object]]:
    """Write costs and mapping of each, as in the object of `--json`."""
    return [
        {
            "cycles": member.cycles,
            "energy_pj": member.energy_pj,
            "edp": member.edp,
            "mapping": write_mapping(member.batch),
        }
        for member in front
    ]
