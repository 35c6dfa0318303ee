"""A choice of kept tensors in the proof of `--search optimal`: bounded as a whole, then branch by branch."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import prod

import numpy as np

from ..bounds import Bound, Factors, Geometric, Relaxation
from ..certificate import BOUNDED, WEIGHED, Choice, Tree
from ..mapping import Floats, Ints, pareto_rows
from ..problem import ROUNDING, Point
from ..search import Task
from ..search.outcome import Coverage
from .branch_and_bound import Branching, Evaluate, importance
from .certify import kept_names
from .chain_groups import rows_of
from .coarse_bound import CoarseBound
from .forest import Forest
from .halving import Halving
from .incumbents import BestIncumbent, FrontIncumbents, Incumbents
from .leaves import LeafEvaluator
from .narrowing import Narrowed, bound_of_all, narrowed, weighed
from .policy import Form, halves
from .proof_log import certified_tree
from .rounds import Rounds
from .turns import TreeSearch

MOST_CORNERS = 500_000  # open nodes with a corner of their own in the proof about a front


@dataclass(eq=False)
class KeepChoice:
    """A choice of kept tensors: its relaxation, and the branch and bound once it is needed."""

    relaxed: Relaxation
    incumbents: Incumbents
    weighing: tuple[Geometric, ...] = ()  # for sharper bounds: one for each of the powers that the incumbents weigh
    branching: Branching | None = None
    rounds: Rounds | None = None  # in place of `branching` once that takes long,
    halving: Halving | None = None  # and beside it: each is a proof of its own
    steps: int = 0  # of opening nodes one by one
    grown_for: float = np.inf  # the value to beat when its trees were grown
    outgrown: Branching | None = None  # the trees of a certificate before those that grew for the best mapping
    looks: tuple[Factors, ...] = ()  # the sharper bounds of the whole
    coarse_bound: CoarseBound | None = None  # what left these chains of long lists

    def __post_init__(self) -> None:
        self.bound = self.relaxed.bound_of_all()

    @property
    def form(self) -> Form:
        """How far its proof is."""
        if self.rounds is not None:
            return Form.ROUNDS
        return Form.WHOLE if self.branching is None else Form.BRANCHING

    @property
    def opened(self) -> int:
        """The nodes opened so far."""
        return 0 if self.branching is None else self.branching.opened

    @property
    def has_rounds(self) -> bool:
        """Whether it may go on in rounds: it has a single objective."""
        return len(self.weighing) == 1

    @property
    def rows(self) -> int:
        """The number of rows of all groups."""
        return sum(map(len, self.relaxed.groups))

    def grow(self, *, certify: bool) -> None:
        """Start the branch and bound, with weights from the chains of the best mapping known."""
        best, groups = self.incumbents.best, self.relaxed.groups
        rows = None if best is None else rows_of(groups, best)
        weights = importance(self.relaxed, np.zeros(len(groups), np.int64) if rows is None else rows)
        remaining = narrowed([np.arange(len(group)) for group in groups], self.weighing, self.incumbents)
        # the weights of the rows left may bound the whole lower than before; that bound stays, but in no certificate
        known = -np.inf if certify else self.least
        self.grown_for = self.incumbents.cutoff
        self.branching = Branching(Forest(self.relaxed, self.incumbents, weights, remaining), certify, known=known)

    def grow_again(self) -> None:
        """Have the trees of a certificate anew where halving has proven the best mapping, if they grew for a worse one.

        They are of the shape, and of the few chains, that the best mapping gives; the others stay, in case that effort
        ends before they prove as much.
        """
        if self._best_is_known and self.incumbents.cutoff < self.grown_for * (1 - ROUNDING):
            self.outgrown = self.branching
            self.grow(certify=True)

    def step(self, leaves: LeafEvaluator) -> None:
        """Open some nodes."""
        assert self.branching is not None
        statistics = leaves.recorder.statistics
        before = statistics.steps
        self.branching.step(lambda: self.incumbents.cutoff, self._evaluate(leaves))
        self.steps += statistics.steps - before

    def dive(self, leaves: LeafEvaluator) -> None:
        """Follow the best nodes down to single chains, for a better mapping."""
        assert self.branching is not None
        self.branching.dive(lambda: self.incumbents.cutoff, self._evaluate(leaves))

    def _evaluate(self, leaves: LeafEvaluator) -> Evaluate:
        return lambda rows, bounds: leaves.see(rows, bounds, self.relaxed)

    def go_in_rounds(self, task: Task) -> None:
        """Go on in rounds from the open nodes, where there is a single objective; `branching` is given up."""
        branching, incumbents = self.branching, self.incumbents
        assert branching is not None
        assert isinstance(incumbents, BestIncumbent), "there is a single objective"
        self.begin_halving()
        branching.forest.incumbents = incumbents.to_beat()  # a mapping is nothing that other processes need
        self.rounds = Rounds(TreeSearch(task, branching.forest), branching)
        self.branching = None

    def begin_halving(self) -> None:
        """Have halving beside the trees from now on, where weighted products left something."""
        assert isinstance(self.incumbents, BestIncumbent), "there is a single objective"
        (geometric,), remaining = self.weighing, self._narrowed
        if self.halving is None and remaining is not None and remaining.looks:
            self.halving = Halving(geometric, remaining.rows, self.incumbents, dict(geometric.known))

    def sharpen(self) -> None:
        """Raise the bound of the whole; TimeUp leaves it as it was."""
        every = [np.arange(len(group)) for group in self.relaxed.groups]
        self.looks = tuple(weighed(every, self.weighing, self.incumbents))

    @property
    def sharper(self) -> float:
        """The bound by weighted products."""
        return bound_of_all(self.looks, self.incumbents) if self.looks else -np.inf

    @property
    def least(self) -> float:
        """The bound value of all mappings left; inf where none is left."""
        running = self._running
        return max(self._by_columns, self.sharper) if running is None else running.least

    @property
    def _trees(self) -> Branching | None:
        """The trees that prove most."""
        grown = [trees for trees in (self.branching, self.outgrown) if trees is not None]
        return max(grown, key=lambda trees: trees.least, default=None)

    @property
    def _running(self) -> Rounds | Halving | Branching | None:
        """What proves most of all that prove beside each other."""
        beside: list[Rounds | Halving | Branching | None] = [self._trees]
        if self.rounds is not None:
            beside = [self.rounds, self.halving]
        return max((engine for engine in beside if engine is not None), key=lambda engine: engine.least, default=None)

    @property
    def _best_is_known(self) -> bool:
        """Whether halving has proven the best mapping."""
        return self.halving is not None and self.halving.least >= self.incumbents.cutoff * (1 - ROUNDING)

    @property
    def halves_next(self) -> bool:
        """Whether halving has had less than its share of the steps, and has something left.

        Beside the trees of a certificate, which alone prove anything there, it has as many as they have.
        """
        halving, rounds, limit = self.halving, self.rounds, self.incumbents.cutoff
        if halving is None or self._best_is_known:
            return False
        if rounds is None:
            return halving.steps < self.steps
        gap, gap_of_rounds = (max(0.0, 1 - engine.least / limit) for engine in (halving, rounds))
        return halves(halving.steps, rounds.steps, gap, gap_of_rounds)

    @property
    def _by_columns(self) -> float:
        values = self.incumbents.bound_value(self.bound.energy_pj, self.bound.cycles)
        return float(self.bound.value(values, self.incumbents.bound_value)[0])

    @property
    def open(self) -> int:
        """The number of open sets."""
        return 1 if self._running is None else self._running.open

    @property
    def _narrowed(self) -> Narrowed | None:
        """What weighted products left before it branched."""
        if self.rounds is not None:
            return self.rounds.search.forest.remaining
        return None if self._trees is None else self._trees.forest.remaining

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of chains with this choice."""
        gone = sum(narrowing.ruled_out for narrowing in (self.coarse_bound, self._narrowed) if narrowing is not None)
        running = self._running
        coverage = running.coverage if running else Coverage(open=prod(len(group) for group in self.relaxed.groups))
        return coverage + Coverage(ruled_out=gone)

    def certified(self, numbers: Sequence[Ints]) -> Choice:
        """Convert its sets of chains for the certificate; `numbers`: per group, the rows' numbers there."""
        keep = kept_names(self.relaxed.arch, self.relaxed.workload, self.relaxed.keep)
        branching, weights = self._trees, [] if self.coarse_bound is None else list(self.coarse_bound.looks)
        if self.coarse_bound is not None:
            numbers = [names[rows] for names, rows in zip(numbers, self.coarse_bound.rows, strict=True)]
        if branching is None:
            return self._certified_whole(keep, weights, numbers)
        weights += branching.forest.remaining.looks
        if branching.state.proof_log is None or not branching.forest.trees:
            trees = [
                Tree(chains=names[rows].tolist(), parts=[])
                for names, rows in zip(numbers, branching.forest.remaining.rows, strict=True)
            ]
            return Choice(keep=keep, weights=weights, trees=trees, verdicts="")
        trees = [certified_tree(tree, names) for tree, names in zip(branching.forest.trees, numbers, strict=True)]
        proof_log, nodes = branching.state.proof_log.going_on(), branching.state.nodes
        proof_log.rule_out(nodes, branching.forest.weighted(nodes) >= branching.state.bounds)
        return Choice(keep=keep, weights=weights, trees=trees, verdicts=proof_log.verdicts())

    def _certified_whole(
        self, keep: dict[str, list[str]], weights: list[dict[str, float]], numbers: Sequence[Ints]
    ) -> Choice:
        """Convert a choice that has not branched: a single set, of all chains or of those that a coarse bound
        leaves."""
        weighed = self.sharper > self._by_columns
        weights += [look.weights for look in self.looks] if weighed else []
        trees = []
        if self.coarse_bound is not None and self.coarse_bound.ruled_out:
            trees = [Tree(chains=names.tolist(), parts=_single(len(names))) for names in numbers]
        return Choice(keep=keep, weights=weights, trees=trees, verdicts=WEIGHED if weighed else BOUNDED)

    def corners(self, incumbents: FrontIncumbents) -> tuple[list[Point], float]:
        """List lower bounds of the open nodes, with one of the first objective.

        Bound values only grow, so old ones remain bounds.
        """
        if self.branching is None:
            return _points(self.bound), _least(incumbents, self.bound, np.zeros(1), ())
        nodes, reached, forest = self.branching.state.nodes, self.branching.state.bounds, self.branching.forest
        order = np.argsort(reached)
        order = order[reached[order] < 1 - ROUNDING]
        first, rest = order[:MOST_CORNERS], float(reached[order[MOST_CORNERS:]].min(initial=np.inf))
        bound = forest.relaxed(nodes[first])
        least = _least(incumbents, bound, reached[first], forest.products(nodes[first]))
        rest_points = [] if rest == np.inf else incumbents.times(rest)
        return _points(bound) + rest_points, min(least, float(incumbents.least_times(np.array([rest]))[0]))


def _single(rows: int) -> list[int]:
    """Return the parts of a tree whose root is divided into single rows at once."""
    return [0] if rows == 1 else [rows, *([0] * rows)]


def _least(incumbents: FrontIncumbents, bound: Bound, reached: Floats, products: Sequence[Floats]) -> float:
    """Return the least first objective that some nodes allow: by their bounds, reach # (node,) and products."""
    goal = BestIncumbent(incumbents.objectives[:1])
    own = [
        values for powers, values in zip(cycle(incumbents.weighed), products, strict=False) if powers in goal.weighed
    ]
    least = goal.bound_value(bound.energy_pj, bound.cycles, [*own, incumbents.least_times(reached)])
    return float(least[bound.possible].min(initial=np.inf))


def _points(bound: Bound) -> list[Point]:
    """List the possible bounds, without those above others."""
    possible = np.flatnonzero(bound.possible)
    low = possible[pareto_rows(bound.cycles[possible], bound.energy_pj[possible])]
    return list(zip(bound.cycles[low].tolist(), bound.energy_pj[low].tolist(), strict=True))
