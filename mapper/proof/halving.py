"""Divides a set of combinations of chains again and again, each part with weighted products of its own.

Beside opening nodes of trees: where bounds of large sets are loose, weights of its own bound a small set far better
than those of the whole. A set is halved, or divided by the innermost loop of a level (half_sets.py). One of few
combinations is joined: they are listed as far as its weights do not rule them out, and bounded one by one (joins.py).
docs/optimal.md, section 4, has the argument, decision 129 what it brings.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from ..bounds import Ascended, Geometric, InnermostLoops, SetAscent, WeightedTerms
from ..mapping import Floats, Ints
from ..problem import ROUNDING
from ..search.outcome import Coverage
from .half_sets import ROWS, Divided, Divisions, Gains, HalfSet, best_way, rates
from .incumbents import BestIncumbent
from .joins import Tables, admissible, joined
from .leaves import LeafEvaluator

TOGETHER = 32  # sets divided at once: their ascents go side by side,
MOST_FIGURES = 2**24  # as long as they copy no more entries of columns than these: 128 MiB
AHEAD = 24  # sets halved before any other way is tried, each in a half of the one before
FEW = 2_000  # combinations that are joined at once
# steps of a proof for the ascent of a part: for itself, for each term, and for so many entries of columns one
PART_STEPS, TERM_STEPS, FIGURES_A_STEP = 700, 2, 80
CHOICE_FIGURES = 500  # entries looked at in a step to choose where to halve


@dataclass(frozen=True, eq=False)
class _State:
    """The open sets in the order of a heap, by their bounds; replaced as a whole, as Ctrl-C may come at any time."""

    heap: tuple[tuple[float, int, HalfSet], ...]
    closed: int = 0  # pairs of a combination and innermost loops
    seen: Coverage = Coverage()  # combinations evaluated among them


@dataclass(eq=False)
class Halving:
    """The open sets of a choice of kept tensors, as far as halving has come."""

    geometric: Geometric
    rows: Sequence[Ints]  # of each group, those of the whole
    incumbents: BestIncumbent
    known: Mapping[str, float]  # weights of the whole, by name
    state: _State = field(init=False)
    steps: int = 0  # of the proof, so far

    def __post_init__(self) -> None:
        self._divisions = Divisions(InnermostLoops(self.geometric.relaxed), self.rows)
        self._gains, self._order = Gains(), count()
        self._evaluated: set[bytes] = set()  # combinations, with all innermost loops
        self.state = _State(((-np.inf, next(self._order), self._divisions.whole),))
        self._terms: WeightedTerms | None = None  # with the tables, once it begins

    @property
    def least(self) -> float:
        """The least bound of the open sets; inf when there are none."""
        heap = self.state.heap
        return float(np.exp(min(heap[0][0], 700.0))) if heap else np.inf

    @property
    def open(self) -> int:
        """The number of open sets."""
        return len(self.state.heap)

    @property
    def coverage(self) -> Coverage:
        """The coverage of all combinations of the whole.

        One is open while it is with any innermost loops; one that is in several open sets counts in each, as far as
        there are that many.
        """
        state, pairs = self.state, self._divisions.pairs_each
        open_pairs = sum(self._divisions.pairs(own) for _, _, own in state.heap)
        total = (state.closed + open_pairs) // pairs
        still_open = min(sum(own.combinations for _, _, own in state.heap), total)
        evaluated = min(state.seen.evaluated, total - still_open)
        invalid = min(state.seen.invalid, total - still_open - evaluated)
        return Coverage(evaluated, invalid, total - still_open - evaluated - invalid, still_open)

    def step(self, leaves: LeafEvaluator) -> None:
        """Divide some sets, those with the least bounds; or join them. May raise TimeUp, which leaves all as it was."""
        with np.errstate(divide="ignore"):  # nothing is below a value of 0
            limit = float(np.log(self.incumbents.cutoff * (1 - ROUNDING)))
        self._begin(limit)
        heap, chosen, pairs, seen = list(self.state.heap), list[HalfSet](), 0, self.state.seen
        while heap and len(chosen) < TOGETHER:
            own = heapq.heappop(heap)[2]
            pairs += self._divisions.pairs(own)
            if own.bound < limit:
                chosen.append(own)
        left = list[HalfSet]()
        for own in chosen:
            coverage, still = self._joined(own, limit, leaves)
            seen, left = seen + coverage, [*left, *still]
        parts = self._divided(left, limit)
        for own in parts:
            heapq.heappush(heap, (own.bound, next(self._order), own))
            pairs -= self._divisions.pairs(own)
        self.state = _State(tuple(heap), self.state.closed + pairs, seen)

    def _look_ahead(self, limit: float) -> None:
        """Learn what halving rows brings to small sets, too: halve a set, then a half, and so on."""
        own: HalfSet | None = self._divisions.whole
        for _ in range(AHEAD):
            if own is None or own.combinations < 2:
                break
            (parts,) = self._bounded([(own, self._divisions.divided(own, ROWS, self._weighted))], limit)
            if own.ascended is not None:
                self._gains.add(ROWS, float(rates([_gains(own.bound, limit, parts)])[0]))
            own = min((part for part in parts if part is not None), key=lambda part: part.bound, default=None)

    def _begin(self, limit: float) -> None:
        """Take logarithms, pack columns and look ahead, once."""
        if self._terms is None:
            terms = WeightedTerms(self.geometric, self.rows)
            self._tables = Tables.of(self.geometric.relaxed, self.rows, self.incumbents)
            self._terms = terms
            self._look_ahead(limit)

    def _count(self, steps: int) -> None:
        """Count steps that follow. May raise TimeUp."""
        self.steps += steps
        self.geometric.relaxed.groups[0].deadline(steps)

    def _joined(self, own: HalfSet, limit: float, leaves: LeafEvaluator) -> tuple[Coverage, list[HalfSet]]:
        """Evaluate the combinations of a set if they are few: their coverage, and the set if it has to be divided."""
        if own.ascended is None:
            return Coverage(), [own]
        if own.combinations > FEW and admissible(own.ascended, limit) > own.joinable:
            return Coverage(), [own]
        places = joined(own.rows, own.loops, own.ascended, limit, self._tables, self._count)
        if places is None:  # too many after all
            return Coverage(), [replace(own, joinable=own.joinable / 8)]
        if not len(places):
            return Coverage(), []
        chosen = np.stack([of[places[:, g]] for g, of in enumerate(self.rows)], axis=1)
        bounds = self._tables.bounds(places)  # evaluated they are with all innermost loops
        return replace(leaves.see(chosen, bounds, self.geometric.relaxed, own.loops, self._evaluated), ruled_out=0), []

    def _divided(self, sets: Sequence[HalfSet], limit: float) -> list[HalfSet]:
        """Divide sets, each in the way that brings most, and bound the parts: return those still open."""
        tried = [
            (own, way, self._divisions.divided(own, way, self._weighted)) for own in sets for way in self._ways(own)
        ]
        parts = self._bounded([(own, parts) for own, _, parts in tried], limit)
        of_ways = rates([_gains(own.bound, limit, of_set) for (own, _, _), of_set in zip(tried, parts, strict=True)])
        by_set: dict[int, dict[int, float]] = {}
        for (own, way, _), rate in zip(tried, of_ways.tolist(), strict=True):
            by_set.setdefault(id(own), {})[way] = rate
            if own.ascended is not None:
                self._gains.add(way, rate)
        best = {own: best_way(of_set) for own, of_set in by_set.items()}
        kept = (of_set for (own, way, _), of_set in zip(tried, parts, strict=True) if best[id(own)] == way)
        return [part for of_set in kept for part in of_set if part is not None]

    def _ways(self, own: HalfSet) -> list[int]:
        """The ways in which to divide a set."""
        figures = sum(len(of) * columns.shape[1] for columns, of in zip(self._weighted.logs, own.rows, strict=True))
        self._count(1 + figures // CHOICE_FIGURES)
        return [ROWS] if own.ascended is None else self._gains.worth_trying(self._divisions.ways(own))

    @property
    def _weighted(self) -> WeightedTerms:
        assert self._terms is not None, "it has begun"
        return self._terms

    def _bounded(
        self, divided: Sequence[tuple[HalfSet, Sequence[Divided]]], limit: float
    ) -> list[list[HalfSet | None]]:
        """Bound parts of sets by ascents side by side; None for those that are closed."""
        terms, every = self._weighted, [(own, part) for own, parts in divided for part in parts]
        ascended = dict[int, Ascended]()
        for fixed in (False, True):  # sets with an innermost loop have more terms
            of_kind = [pair for pair in every if pair[1].fixed is fixed]
            for own in lots(of_kind, lambda pair: self._figures(pair[1]), MOST_FIGURES):
                self._count(sum(self._ascent_steps(part) for _, part in own))
                begin = [self._known if of.ascended is None else of.ascended.log_weights for of, _ in own]
                loops = np.array([part.loops for _, part in own])
                best = SetAscent(terms, [part.rows for _, part in own], loops, begin, limit).run()
                ascended |= {id(part): of_part for (_, part), of_part in zip(own, best, strict=True)}
        return [[self._narrowed(part, own, ascended[id(part)], limit) for part in parts] for own, parts in divided]

    def _figures(self, part: Divided) -> int:
        """The entries of columns that the ascent of a part looks at."""
        columns = (self._weighted.columns(g, any_order=not part.fixed) for g in range(len(part.rows)))
        return sum(len(of_group) * number for of_group, number in zip(part.rows, columns, strict=True))

    def _ascent_steps(self, part: Divided) -> int:
        terms = self._weighted.number(any_order=not part.fixed)
        return PART_STEPS + TERM_STEPS * terms + self._figures(part) // FIGURES_A_STEP

    @property
    def _known(self) -> Floats:
        return np.log([max(self.known.get(name, 0.0), 1e-300) for name in self._weighted.names])

    def _narrowed(self, part: Divided, parent: HalfSet, best: Ascended, limit: float) -> HalfSet | None:
        """A part without the rows that its weights rule out; None where nothing is left of it."""
        if max(best.bound, parent.bound) >= limit:
            return None
        stay = best.without(limit)
        rows = tuple(own[mask] for own, mask in zip(part.rows, stay, strict=True))
        scores = tuple(score[mask] for score, mask in zip(best.scores, stay, strict=True))
        whole = self._tables.whole(rows, part.loops)
        if whole >= np.exp(limit):
            return None
        bound = max(best.bound, parent.bound, float(np.log(whole)) if whole > 0 else -np.inf)
        return HalfSet(rows, part.loops, bound, Ascended(best.bound, scores, best.log_weights), parent.joinable)


def _gains(bound: float, limit: float, parts: Sequence[HalfSet | None]) -> list[float]:
    """What parts are nearer to the limit, as a share of the distance before; 1 for those that are closed."""
    room = max(limit - bound, 1e-300)
    return [1.0 if part is None else (part.bound - bound) / room if np.isfinite(room) else 0.0 for part in parts]


def lots[T](every: Sequence[T], size: Callable[[T], int], most: int) -> list[list[T]]:
    """Cut a sequence into lots of `most` together at most, or of one that is larger."""
    cut, total = list[list[T]](), most + 1
    for own in every:
        total += size(own)
        if total > most:
            cut.append([])
            total = size(own)
        cut[-1].append(own)
    return cut
