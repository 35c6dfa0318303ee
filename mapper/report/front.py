"""The Pareto front of the mappings of a search: counted exactly, as a table, as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...energy import EnergyTable
from ..mapping import MappingBatch, Numbers, uncovered_by_earlier, write_mapping
from ..model import Costs, check_physical, evaluate, exactly, recount
from ..problem import OBJECTIVES, CostOptions
from .tables import TextTable


@dataclass(frozen=True, eq=False)
class FrontMapping:
    """A mapping that no other mapping of the search dominates."""

    batch: MappingBatch  # of a single mapping
    costs: Costs

    def value(self, axis: str) -> float:
        """Its place on the axis: pJ, cycles or pJ * cycles."""
        return _number(OBJECTIVES[axis].of(self.costs))

    @property
    def cycles(self) -> float:
        return _number(self.costs.cycles)

    @property
    def energy_pj(self) -> float:
        return _number(self.costs.energy_pj)

    @property
    def edp(self) -> float:
        return _number(self.costs.edp)


def _number(column: Numbers) -> float:
    """The only number of a column; cycles stay whole."""
    (number,) = column.tolist()
    return number  # type: ignore[no-any-return]


def exact_front(
    batches: Sequence[MappingBatch], axes: Sequence[str], table: EnergyTable, options: CostOptions | None
) -> tuple[FrontMapping, ...]:
    """Count the mappings of a search's front exactly, and order them by their first axis.

    Mappings that the search was given may join its front unseen, and beyond 2^53 it rounds, so some mapping may cover
    another: the other is left out.
    """
    mappings = []
    for batch in map(exactly, batches):
        costs = evaluate(batch, table, options, recount(batch))
        check_physical(batch, costs)
        mappings.append(FrontMapping(batch, costs))
    mappings.sort(key=lambda mapping: [mapping.value(axis) for axis in axes])
    # as Python numbers: exact counts may pass what a float64 holds
    points = np.array([[mapping.value(axis) for axis in axes] for mapping in mappings], object)  # (mapping, axis)
    # in this order whatever covers a point comes before it
    return tuple(mappings[row] for row in uncovered_by_earlier(points, points))


def front_table(
    front: Sequence[FrontMapping], axes: Sequence[str], cycles: int, energy_pj: float, of: str = ""
) -> TextTable:
    """Tabulate the mappings of a front (`of` a layer); the mapping of so many cycles and pJ is marked as reported."""
    rows = []
    for i, member in enumerate(front, 1):
        mark = "reported" if (member.cycles, member.energy_pj) == (cycles, energy_pj) else ""
        places = [format(member.value(axis), "," if OBJECTIVES[axis].whole else ".6g") for axis in axes]
        rows.append([str(i), *places, mark])
    title = f"front of {of}" if of else "front"
    return TextTable(["", *(OBJECTIVES[axis].label for axis in axes), ""], rows, left=(len(axes) + 1,), title=title)


def front_json(front: Sequence[FrontMapping]) -> list[dict[str, object]]:
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
