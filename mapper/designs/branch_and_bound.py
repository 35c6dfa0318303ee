"""Branch and bound over sets of designs: the set that may hold the best design is divided first.

A bound of the machine of a set (relaxed.py) holds for all its candidates. A candidate is done with once nothing below
its bound could change the answer; what is left of a set is bounded again as two parts, down to single designs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..mapping import Floats, Ints
from .designer import Finding, Settings, Trial, note
from .space import Space
from .standing import Standing


@dataclass(eq=False)
class _Node:
    """A set of candidates."""

    rows: Ints
    trial: Trial | None  # that bounded it or a set that holds it
    bounded: bool = False  # it is bounded itself


class BranchAndBound:
    """See Designer. It takes up as many sets at a time as its width says."""

    def __init__(self, space: Space, standing: Standing, settings: Settings) -> None:
        self.space, self.standing, self.width = space, standing, settings.width
        rows = np.flatnonzero(~standing.excluded & ~standing.searched)
        self.nodes = [_Node(own, None) for own in space.roots(rows)]
        self.asked: dict[int, _Node] = {}
        self.trials = settings.first

    def ask(self) -> list[Trial]:
        """Ask for the sets with the largest potential, or for the parts of those that are bounded."""
        potential = self.standing.waiting()
        score = self._urgency(potential)
        self.nodes = [node for node in self.nodes if (potential[node.rows] > 0).any()]
        first = sorted(range(len(self.nodes)), key=lambda number: score(self.nodes[number].rows))[: self.width]
        chosen = [self.nodes[number] for number in first]
        self.nodes = [node for number, node in enumerate(self.nodes) if number not in first]
        parts = [part for node in chosen for part in self._parts(node, potential)]
        return [self._trial(part) for part in parts]

    def _urgency(self, potential: Floats) -> Callable[[Ints], tuple[float, float]]:
        """Return the order of sets: the largest potential first, then the least bound."""
        first = self.standing.wanted.questions[0]
        lower = self.standing.values(first, self.standing.lower)[:, -1]

        def urgency(rows: Ints) -> tuple[float, float]:
            return -float(potential[rows].max()), float(lower[rows].min())

        return urgency

    def _parts(self, node: _Node, potential: Floats) -> list[_Node]:
        """What is left of a set, or its two parts where it is bounded."""
        rows = node.rows[potential[node.rows] > 0]
        if not node.bounded or len(rows) == 1:
            return [_Node(rows, node.trial)]
        return [_Node(part, node.trial) for part in self.space.divided(rows)]

    def _trial(self, node: _Node) -> Trial:
        parent = None if node.trial is None else node.trial.number
        node.trial = Trial(self.trials, node.rows, parent)
        self.trials += 1
        self.asked[node.trial.number] = node
        return node.trial

    def tell(self, trial: Trial, finding: Finding) -> None:
        """Take note of a bound, and of the mappings of a single design."""
        node = self.asked.pop(trial.number)
        note(self.space, self.standing, trial, finding)
        if not trial.single:
            node.bounded = True
            self.nodes.append(node)
