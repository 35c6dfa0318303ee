"""Branch and bound over the chains of a mapspace, for one choice of kept tensors.

A node has a set of chain combinations per group of dims. The node with the least bound is opened first: one of its sets
is replaced by each of its subsets, namely the set whose subsets come closest to being ruled out. Nodes that cannot beat
the best mapping are dropped; nodes with one chain per dim are evaluated. The least bound of the open nodes is a bound
on all mappings not yet seen.

The invariant of the proof: a node is open until it is evaluated, ruled out by its bound, or replaced by parts that
cover it. `Branching.state` is replaced as a whole, with the count of the combinations that left (coverage.py).
"""

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field

import numpy as np

from ..bounds import Relaxation
from ..mapping import Floats, Ints
from ..problem import ROUNDING
from ..search.outcome import Coverage
from .forest import Forest
from .proof_log import ProofLog

OPENED = 4096  # nodes opened at once
OPEN_STEPS = 8_000  # steps of opening nodes at once, for itself
FIGURES_A_STEP = 8  # charges of groups of nodes that are bounded in a step
EVALUATED = 256  # single combinations evaluated at once, if there are nodes to open meanwhile: fewer take as long
DIVERS = 512  # nodes of one generation of a dive
MOST_OPEN = 8_000_000  # nodes; with more, those with the highest bounds are opened first
GAP_POWER = 4  # tuned: the number of nodes needed grows about as this power of a bound's gap to the limit

# (chain combination per group, bounds) of nodes with one chain per dim -> their coverage
Evaluate = Callable[[Ints, Floats], Coverage]


@dataclass(frozen=True, eq=False)
class State:
    """The open nodes, and the coverage of the combinations that are in none of them."""

    nodes: Ints  # (node, group): a node of each group's tree; with a log, a last column has the node's number there
    bounds: Floats  # (node,)
    closed_coverage: Coverage
    proof_log: ProofLog | None = None  # for a certificate


@dataclass(eq=False)
class Branching:
    """The branch and bound for one choice of kept tensors, or for a part of it."""

    forest: Forest
    certify: bool = False  # record what a certificate needs
    start: InitVar[tuple[Ints, Floats] | None] = None  # open nodes and their bounds; None: all of the forest
    known: InitVar[float] = -np.inf  # a bound of all of the forest
    state: State = field(init=False)
    opened: int = 0  # nodes so far

    def __post_init__(self, start: tuple[Ints, Floats] | None, known: float) -> None:
        if start is not None:
            self.state = State(*start, Coverage())
            return
        number = len(self.forest.remaining.rows)
        self.state = State(np.zeros((0, number), np.int64), np.zeros(0), Coverage())
        if self.forest.trees:
            root = np.zeros((1, number + self.certify), np.int64)
            bounds = np.maximum(self.forest.bound(root), known)
            self.state = State(root, bounds, Coverage(), ProofLog() if self.certify else None)

    @property
    def least(self) -> float:
        """The least bound of the open nodes; inf when there are none."""
        return float(self.state.bounds.min(initial=np.inf))

    @property
    def open(self) -> int:
        """The number of open nodes."""
        return len(self.state.bounds)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of the forest."""
        state = self.state
        return state.closed_coverage + Coverage(open=self.forest.number(state.nodes))

    def step(self, best: Callable[[], float], evaluate: Evaluate) -> None:
        """Open some nodes; `evaluate` takes those of their parts with single chains, and may lower `best`.

        The opened nodes stay open until all their parts are accounted for: Ctrl-C or TimeUp may come any time.
        """
        before, chosen = self.state, self._choose()
        self.opened += len(chosen)
        unopened = np.ones(len(before.bounds), bool)
        unopened[chosen] = False
        proof_log = before.proof_log and before.proof_log.going_on()
        nodes, bounds, coverage = self._opened(before.nodes[chosen], before.bounds[chosen], best, evaluate, proof_log)
        limit = best() * (1 - ROUNDING)
        keep, still = bounds < limit, unopened & (before.bounds < limit)
        gone = np.concatenate([nodes[~keep], before.nodes[unopened & ~still]])
        if proof_log:
            proof_log.rule_out(gone, self.forest.weighted(gone) >= limit)
        self.state = State(
            np.concatenate([before.nodes[still], nodes[keep]]),
            np.concatenate([before.bounds[still], bounds[keep]]),
            before.closed_coverage + coverage + Coverage(ruled_out=self.forest.number(gone)),
            proof_log,
        )

    def dive(self, best: Callable[[], float], evaluate: Evaluate) -> None:
        """Search for a better mapping: open the nodes with the least bounds, then the best of their parts, and so on.

        Does not change the open nodes.
        """
        nodes, bounds = self.state.nodes, self.state.bounds
        while len(nodes):
            few = np.argsort(bounds)[:DIVERS]
            nodes, bounds, _ = self._opened(nodes[few], bounds[few], best, evaluate)
            hope = bounds < best() * (1 - ROUNDING)
            nodes, bounds = nodes[hope], bounds[hope]

    def _opened(
        self,
        nodes: Ints,
        bounds: Floats,
        best: Callable[[], float],
        evaluate: Evaluate,
        proof_log: ProofLog | None = None,
    ) -> tuple[Ints, Floats, Coverage]:
        """Divide nodes, evaluate or rule out the parts with single chains, and return the others, with coverage.

        Few single combinations wait among the others until they are many, or all that is left.
        """
        self.forest.check(OPEN_STEPS + len(nodes) * self.forest.figures // FIGURES_A_STEP)
        single, limit = self.forest.single(nodes), best() * (1 - ROUNDING)
        parts, below, owner, along = self._parts(nodes[~single], bounds[~single], limit)
        if proof_log:
            proof_log.divide(nodes[~single], along, parts, owner)
        nodes, bounds = np.concatenate([nodes[single], parts]), np.concatenate([bounds[single], below])
        single, hope = self.forest.single(nodes), bounds < limit
        closed = single & ~hope
        coverage = Coverage(ruled_out=int(closed.sum()))
        if proof_log:
            proof_log.rule_out(nodes[closed], self.forest.weighted(nodes[closed]) >= limit)
        if (single & hope).sum() >= EVALUATED or not np.isfinite(limit) or not (hope & ~single).any():
            if proof_log:
                proof_log.evaluate(nodes[single & hope])
            coverage += self._evaluate(nodes[single & hope], bounds[single & hope], evaluate)
            closed = single
        return nodes[~closed], bounds[~closed], coverage

    def _choose(self) -> Ints:
        bounds = self.state.bounds
        n = len(bounds)
        if n <= OPENED:
            return np.arange(n)
        if n > MOST_OPEN:
            return np.argpartition(bounds, n - OPENED)[n - OPENED :]
        return np.argpartition(bounds, OPENED)[:OPENED]

    def _parts(self, nodes: Ints, bounds: Floats, limit: float) -> tuple[Ints, Floats, Ints, Ints]:
        """Divide each node along the group whose children leave the least work.

        Returns the children, their bounds, the index of their node # (child,) each; and the group of each node.
        """
        every = [self.forest.children(nodes, bounds, g) for g in range(len(self.forest.trees))]
        if np.isfinite(limit):
            work = np.stack([_remaining_work(below, owner, limit, len(nodes)) for owner, _, below in every], axis=1)
        else:  # before there is a best mapping: along the group whose rows are least alike
            work = -self.forest.spread(nodes)
        work = np.minimum(work, np.finfo(float).max)  # a single row has no parts, however much the others leave
        along = np.where(self.forest.spread(nodes) > 0, work, np.inf).argmin(axis=1)
        chosen = [along[owner] == g for g, (owner, _, _) in enumerate(every)]
        parts = [children[mask] for mask, (_, children, _) in zip(chosen, every, strict=True)]
        least = [below[mask] for mask, (_, _, below) in zip(chosen, every, strict=True)]
        owners = [owner[mask] for mask, (owner, _, _) in zip(chosen, every, strict=True)]
        return np.concatenate(parts), np.concatenate(least), np.concatenate(owners), along

    def _evaluate(self, nodes: Ints, bounds: Floats, evaluate: Evaluate) -> Coverage:
        order = np.argsort(bounds)
        return evaluate(self.forest.rows_of(nodes)[order], bounds[order])


def _remaining_work(bounds: Floats, owner: Ints, limit: float, n: int) -> Floats:
    """Estimate the work that parts with these bounds leave to their owners, from their gaps to the limit. # (n,)"""
    gaps: Floats = np.bincount(owner, np.clip(1 - bounds / limit, 0.0, None) ** GAP_POWER, n)
    return gaps


def importance(relaxation: Relaxation, rows: Ints) -> list[list[float]]:
    """Weigh each column, per group: its share in energy, capacity and cycles at the combination `rows` # (group,)."""
    weights = [[0.0] * len(columns) for columns in relaxation.columns]
    for product, share in relaxation.shares(lambda g, column: relaxation.columns[g][column][rows[g : g + 1]]):
        for g, column in enumerate(product):
            weights[g][column] += share
    return weights
