"""The Pareto front of the mappings of one search: counted exactly, as a table, as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...energy import EnergyTable
from ..mapping import MappingBatch, uncovered_by_earlier, write_mapping
from ..model import FIGURES, UNITS, CostOptions, Costs, check_physical, evaluate, exactly, recount
from .tables import TextTable


@dataclass(frozen=True, eq=False)
class FrontMapping:
    """A mapping that no other of the search beats on one axis without losing on another."""

    batch: MappingBatch  # of one mapping
    costs: Costs

    def value(self, axis: str) -> float:
        """Its place on the axis: pJ, cycles or pJ * cycles."""
        (value,) = getattr(self.costs, FIGURES[axis]).tolist()
        return value  # type: ignore[no-any-return]


def exact_front(
    batches: Sequence[MappingBatch], axes: Sequence[str], table: EnergyTable, options: CostOptions | None
) -> tuple[FrontMapping, ...]:
    """The mappings of a search's front counted exactly, by their first axis.

    The search may rank by a bound on reads, so exact counts can show that one beats another: that one is left out.
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
    """A line per mapping of the front (`of` a layer); the one of so many cycles and pJ is what the search reports."""
    forms = {"delay": ","}
    rows = []
    for i, one in enumerate(front, 1):
        mark = "reported" if (one.value("delay"), one.value("energy")) == (cycles, energy_pj) else ""
        rows.append([str(i), *(format(one.value(axis), forms.get(axis, ".6g")) for axis in axes), mark])
    title = f"front of {of}" if of else "front"
    return TextTable(["", *(UNITS[axis] for axis in axes), ""], rows, left=(len(axes) + 1,), title=title)


def front_json(front: Sequence[FrontMapping]) -> list[dict[str, object]]:
    """Costs and mapping of each, as in the object of `--json`."""
    return [
        {
            "cycles": one.value("delay"),
            "energy_pj": one.value("energy"),
            "edp": one.value("edp"),
            "mapping": write_mapping(one.batch),
        }
        for one in front
    ]
