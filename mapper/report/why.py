"""What holds the best mapping back: changes of the machine or the mapspace, and the best value under each alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import override

from ..mapping import MappingBatch
from ..problem import ROUNDING, at_most, first_objective
from .proof_text import gap_between
from .show import Printable
from .tables import TextTable

SAME = "each change alone; energies per access, and leakage, stay those of the machine as it is"


@dataclass(frozen=True, eq=False)
class Neighbour:
    """The best mapping under one change, and what is proven of it."""

    change: str
    value: float | None = None  # of the objective; None where nothing was searched, for the `reason`
    lower_bound: float | None = None  # no mapping under the change is below it
    batch: MappingBatch | None = None  # the mapping, on the changed machine
    reason: str = ""

    @property
    def gap(self) -> float | None:
        """The share of the value by which the best mapping under the change may be lower."""
        if self.value is None or self.lower_bound is None:
            return None
        return gap_between(self.value, self.lower_bound)

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no mapping under the change has a lower value."""
        return self.gap is not None and self.gap <= ROUNDING


@dataclass(frozen=True, eq=False, repr=False)
class Why(Printable):
    """The neighbours of a result, those with the lowest values first."""

    workload: str
    objective: str
    value: float  # of the result
    gap: float | None  # of the result
    neighbours: tuple[Neighbour, ...]
    left: tuple[str, ...] = ()  # the changes that Ctrl-C left untried

    @classmethod
    def of(
        cls, workload: str, objective: str, figures: tuple[float, float | None], neighbours: Sequence[Neighbour],
        untried: Sequence[str] = (),
    ) -> "Why":  # fmt: skip
        """Sort the neighbours of a result with `figures`, its value and gap."""
        ranked = sorted(
            neighbours,
            key=lambda neighbour: (inf if neighbour.value is None else neighbour.value, not neighbour.optimal),
        )
        return cls(workload, objective, *figures, tuple(ranked), tuple(untried))

    def ratio(self, neighbour: Neighbour) -> float | None:
        """The value of a neighbour over that of the result; None where one is missing or the result's is 0."""
        return neighbour.value / self.value if neighbour.value is not None and self.value else None

    def gains(self, neighbour: Neighbour) -> bool:
        """Whether the value of a neighbour is lower."""
        return neighbour.value is not None and neighbour.value < self.value * (1 - ROUNDING)

    def within_gap(self, neighbour: Neighbour) -> bool:
        """Whether the result's gap explains the value: a mapping as good may exist without the change."""
        if not self.gap or self.gap <= ROUNDING or neighbour.value is None:
            return False
        return neighbour.value >= self.value * (1 - self.gap) * (1 - ROUNDING)

    @override
    def _title(self) -> str:
        return f"{self.workload}: {sum(map(self.gains, self.neighbours))} of {len(self.neighbours)} changes gain"

    @override
    def _parts(self) -> list[str | TextTable]:
        """The changes that gain, or may; then those that the gap explains, and those that provably do not gain."""
        objective = first_objective(self.objective)
        open_ones = self._open
        shown = [neighbour for neighbour in open_ones if not self.within_gap(neighbour)]
        head = ["change", objective.label, "ratio", "proof"]
        rows = [[neighbour.change, *self._figures(neighbour), _proof(neighbour)] for neighbour in shown]
        title = f"what holds the {objective.title} back: {SAME}"
        parts: list[str | TextTable] = [TextTable(head, rows, left=(0, 3), title=title) if rows else title]
        if within := [neighbour.change for neighbour in open_ones if self.within_gap(neighbour)]:
            changes = f"{len(within)} change{'s' * (len(within) > 1)}"
            parts.append(f"{changes} within the gap of {at_most(self.gap or 0.0)}: {'; '.join(within)}")
        if self.gap is None or self.gap > ROUNDING:
            known = f"the mapping above is not proven best ({self._known})"
            parts.append(f"{known}: so much of a gain may not be the change's")
        if same := [neighbour.change for neighbour in self.neighbours if neighbour not in open_ones]:
            parts.append(f"no gain, proven: {'; '.join(same)}")
        if self.left:
            parts.append(f"interrupted; not tried: {'; '.join(self.left)}")
        return parts

    @property
    def _known(self) -> str:
        return "nothing is proven of it" if self.gap is None else f"the lowest is at most {at_most(self.gap)} below"

    @property
    def _open(self) -> list[Neighbour]:
        """The changes that gain, or of which it is not proven that they do not."""
        return [neighbour for neighbour in self.neighbours if self.gains(neighbour) or not neighbour.optimal]

    def _figures(self, neighbour: Neighbour) -> list[str]:
        """The value, and its ratio to that of the result."""
        ratio = self.ratio(neighbour)
        return ["" if neighbour.value is None else f"{neighbour.value:.5g}", "" if ratio is None else f"x{ratio:.4g}"]


def _proof(neighbour: Neighbour) -> str:
    if neighbour.value is None:
        return neighbour.reason
    return "optimal" if neighbour.optimal else f"the lowest is at most {at_most(neighbour.gap or 0.0)} below"
