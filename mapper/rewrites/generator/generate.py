"""From an alphabet to equations: graphs, those of equal fingerprints, and what pruning leaves of these."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ..equation import Equation, bound, holds
from .alphabet import Alphabet
from .graphs import Graphs
from .pool import Pool
from .prune import Pruner, renamed

FIRST_ROUNDS, ROUNDS = 5, 20  # of random inputs that two sides have to agree on: before pruning, and after it


@dataclass
class Generated:
    """Equations, and how many there were at each stage."""

    equations: list[Equation] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def generated(alphabet: Alphabet, operators: int, seed: int = 0) -> Generated:
    """Return the equations between graphs of at most so many operators, none of them another one with its inputs
    renamed, or a smaller one with something around it that both sides have. They are tested, not proven."""
    pool, rng = Pool(alphabet, seed), np.random.default_rng(seed + 1)
    graphs = Graphs(pool, seed)
    graphs.enumerate(operators)
    counts = {"graphs": sum(len(level.nodes) for level in graphs.levels)}
    pairs = [*_pairs(pool, graphs), *_of_tensors(pool, graphs)]
    counts["equal fingerprints"] = len(pairs)
    every = [own for own in pairs if holds(own, rng, FIRST_ROUNDS)]
    counts["equal on more inputs"] = len(every)
    every = list(renamed(every))
    counts["inputs renamed"] = len(every)
    pruner = Pruner(rng)
    every = [part for own in every for part in pruner.smallest(own) if holds(part, rng, ROUNDS)]
    every = list(renamed(every))
    counts["common subgraphs"] = len(every)
    return Generated(every, counts)


def _pairs(pool: Pool, graphs: Graphs) -> Iterator[Equation]:
    """Yield two graphs that have one fingerprint, where one of them has all inputs of the other."""
    for equal in graphs.equals():
        sides = [sorted(graphs.outputs(graphs.graph(*own)), key=pool.marks.__getitem__) for own in equal]
        for one, other in combinations(sides, 2):
            if [pool.marks[tensor] for tensor in one] == [pool.marks[tensor] for tensor in other]:
                yield from _usable(pool, one, other)


def _of_tensors(pool: Pool, graphs: Graphs) -> Iterator[Equation]:
    """Yield tensors that are others that they are made of."""
    for tensor, other in graphs.equal.items():
        yield from _usable(pool, [tensor], [other])


def _usable(pool: Pool, one: Sequence[int], other: Sequence[int]) -> Iterator[Equation]:
    left, right = (tuple(pool.term(tensor) for tensor in side) for side in (one, other))
    equation = Equation.of(left, right, pool.alphabet.inputs)
    if bound(equation) or bound(equation.swapped()):
        yield equation
