"""Records for the certificate which sets of chains a proof divided, and how it ruled out or evaluated the others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..certificate import BOUNDED, EVALUATED, WEIGHED, Tree
from ..mapping import Bools, Ints
from .chain_tree import Tree as ChainTree


@dataclass(frozen=True, eq=False)
class _Event:
    """The verdicts on some sets, as small as they can be: a proof has millions."""

    sets: Ints  # their numbers
    letters: NDArray[np.uint8]  # a letter of certificate/format.py for each
    parts: tuple[Ints, NDArray[np.int32]] | None = None  # where they are divided: the first part of each, how many


class ProofLog:
    """The sets of a branch and bound, by number; the whole is number 0. Nodes have their number in a last column.

    A trail that continues another does not change it, so a step that Ctrl-C ends has no effect.
    """

    def __init__(self, before: "ProofLog | None" = None) -> None:
        self.before = before
        self.sets: int = before.sets if before else 1
        self.events: list[_Event] = []

    def going_on(self) -> "ProofLog":
        return ProofLog(self)

    def divide(self, nodes: Ints, along: Ints, parts: Ints, owner: Ints) -> None:
        """Record that `nodes` are divided along these groups, and number their parts; `owner`: each part's node."""
        parts[:, -1] = self.sets + np.arange(len(parts))
        self.sets += len(parts)
        owners, first, number = np.unique(owner, return_index=True, return_counts=True)
        letters = (ord("a") + along[owners]).astype(np.uint8)
        self.events.append(_Event(nodes[owners, -1], letters, (parts[first, -1], number.astype(np.int32))))

    def evaluate(self, nodes: Ints) -> None:
        """Record that these single combinations are evaluated."""
        self._end(nodes, np.full(len(nodes), ord(EVALUATED), np.uint8))

    def rule_out(self, nodes: Ints, weighted: Bools) -> None:
        """Record that these are ruled out, some by weighted products."""
        self._end(nodes, np.where(weighted, np.uint8(ord(WEIGHED)), np.uint8(ord(BOUNDED))))

    def _end(self, nodes: Ints, letters: NDArray[np.uint8]) -> None:
        self.events.append(_Event(nodes[:, -1].copy(), letters))  # a view would hold all columns

    def verdicts(self) -> str:
        """Return a letter for each set, level by level. Every set that is reached must have an event."""
        letters, parts = np.zeros(self.sets, np.uint8), np.zeros(self.sets, np.int32)
        first = np.zeros(self.sets, np.int64)
        proof_log: ProofLog | None = self
        while proof_log:
            for event in proof_log.events:
                letters[event.sets] = event.letters
                if event.parts is not None:
                    first[event.sets], parts[event.sets] = event.parts
            proof_log = proof_log.before
        level, texts = np.zeros(1, np.int64), []
        while len(level):
            texts.append(letters[level].tobytes().decode())
            number = parts[level].astype(np.int64)
            place = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
            level = np.repeat(first[level], number) + place
        return "".join(texts)


def certified_tree(tree: ChainTree, names: Ints) -> Tree:
    """Convert a tree over chains for the certificate, its chains from left to right; `names`: each row's number."""
    start = np.zeros(len(tree), np.int64)
    for node in range(len(tree)):  # parts have larger numbers than their node
        place = start[node]
        for part in range(tree.first[node], tree.first[node] + tree.children[node]):
            start[part] = place
            place += tree.size[part]
    ends = np.flatnonzero(tree.children == 0)
    rows = tree.row[ends[np.argsort(start[ends])]]
    return Tree(chains=names[rows].tolist(), parts=tree.children.tolist())
