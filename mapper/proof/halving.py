"""Halves a set of combinations of chains again and again, each half with weighted products of its own.

Beside opening nodes of trees: where bounds of large sets are loose, weights of its own bound a small set far better
than those of the whole. A set of few combinations is joined: they are listed as far as its weights do not rule them
out, and bounded one by one (joins.py). docs/optimal.md, section 4, has the argument, decision 129 what it brings.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod

import numpy as np

from ..bounds import ABSENT, Ascended, Geometric, SetAscent, WeightedTerms
from ..mapping import Bools, Floats, Ints
from ..problem import ROUNDING
from ..search.outcome import Coverage
from .chain_tree import FAR
from .incumbents import BestIncumbent
from .joins import ADMISSIBLE, Tables, admissible, joined
from .leaves import LeafEvaluator
from .parts import LITTLE, ZERO

TOGETHER = 32  # sets halved at once: their ascents go side by side
FEW = 2_000  # combinations that are joined at once
STEPS_A_TERM = 8  # steps of a proof for the ascent of a half, for each term and group
FIGURES_A_STEP = 500  # entries of columns looked at in a step


@dataclass(frozen=True, eq=False)
class HalfSet:
    """A set of combinations: rows of each group, by their places among those of the whole."""

    rows: tuple[Ints, ...]
    bound: float  # the logarithm of what no mapping of it is below
    ascended: Ascended | None = None  # its own weights; none: the whole, which has not ascended yet
    joinable: float = ADMISSIBLE  # combinations that its weights may leave for it to be joined

    @property
    def number(self) -> int:
        """The number of combinations."""
        return prod(map(len, self.rows))


@dataclass(frozen=True, eq=False)
class _State:
    """The open sets in the order of a heap, by their bounds; replaced as a whole, as Ctrl-C may come at any time."""

    heap: tuple[tuple[float, int, HalfSet], ...]
    closed_coverage: Coverage = Coverage()


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
        whole = HalfSet(tuple(np.arange(len(own)) for own in self.rows), -np.inf)
        self._order = count()
        self.state = _State(((-np.inf, next(self._order), whole),))
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
        """The coverage of all combinations of the whole."""
        return self.state.closed_coverage + Coverage(open=sum(own.number for _, _, own in self.state.heap))

    def step(self, leaves: LeafEvaluator) -> None:
        """Halve some sets, those with the least bounds; or join them. May raise TimeUp, which leaves all as it was."""
        self._begin()
        with np.errstate(divide="ignore"):  # nothing is below a value of 0
            limit = float(np.log(self.incumbents.cutoff * (1 - ROUNDING)))
        heap, chosen, coverage = list(self.state.heap), list[HalfSet](), self.state.closed_coverage
        while heap and len(chosen) < TOGETHER:
            own = heapq.heappop(heap)[2]
            if own.bound >= limit:
                coverage += Coverage(ruled_out=own.number)
            else:
                chosen.append(own)
        divided = list[HalfSet]()
        for own in chosen:
            seen, left = self._joined(own, limit, leaves)
            coverage, divided = coverage + seen, [*divided, *left]
        after, ruled_out = self._halved(divided, limit)
        for own in after:
            heapq.heappush(heap, (own.bound, next(self._order), own))
        self.state = _State(tuple(heap), coverage + Coverage(ruled_out=ruled_out))

    def _begin(self) -> None:
        """Take logarithms and pack columns, once."""
        if self._terms is None:
            relaxed, incumbents = self.geometric.relaxed, self.incumbents
            terms = WeightedTerms(self.geometric, self.rows)
            bounding = relaxed.bounding(incumbents.bound_value, incumbents.valued_by)
            packed = [
                bounding.packed(g, [column[own] for column in columns])
                for g, (columns, own) in enumerate(zip(relaxed.columns, self.rows, strict=True))
            ]
            self._tables = Tables(bounding, packed)
            self._terms = terms

    def _count(self, steps: int) -> None:
        """Count steps that follow. May raise TimeUp."""
        self.steps += steps
        self.geometric.relaxed.groups[0].deadline(steps)

    def _joined(self, own: HalfSet, limit: float, leaves: LeafEvaluator) -> tuple[Coverage, list[HalfSet]]:
        """Evaluate the combinations of a set if they are few: their coverage, and the set if it has to be halved."""
        if own.ascended is None:
            return Coverage(), [own]
        if own.number > FEW and admissible(own.ascended, limit) > own.joinable:
            return Coverage(), [own]
        listed = joined(own.rows, own.ascended, limit, self._tables, self._count)
        if listed is None:  # too many after all
            return Coverage(), [replace(own, joinable=own.joinable / 8)]
        places, bounds = listed
        chosen = np.stack([of[places[:, g]] for g, of in enumerate(self.rows)], axis=1)
        seen = leaves.see(chosen, bounds, self.geometric.relaxed) if len(chosen) else Coverage()
        return seen + Coverage(ruled_out=own.number - len(chosen)), []

    def _halved(self, sets: Sequence[HalfSet], limit: float) -> tuple[list[HalfSet], int]:
        """Halve sets, and bound the halves: return those still open, and the number of combinations ruled out."""
        terms, rows, logs, parents = self._terms, list[tuple[Ints, ...]](), list[list[Floats]](), list[HalfSet]()
        assert terms is not None, "it has begun"
        for own in sets:
            figures = sum(columns.shape[1] * len(r) for columns, r in zip(terms.logs, own.rows, strict=True))
            self._count(1 + figures // FIGURES_A_STEP)
            of_set = [columns[r] for columns, r in zip(terms.logs, own.rows, strict=True)]
            for mask_group, mask in self._halves(own, of_set):
                own_rows, own_logs = list(own.rows), list(of_set)
                if mask_group is not None:
                    own_rows[mask_group] = own_rows[mask_group][mask]
                    own_logs[mask_group] = own_logs[mask_group][mask]
                rows.append(tuple(own_rows))
                logs.append(own_logs)
                parents.append(own)
        if not rows:
            return [], 0
        self._count(STEPS_A_TERM * len(rows) * len(terms.names) * len(terms.logs))
        begin = [self._known if own.ascended is None else own.ascended.log_weights for own in parents]
        ascended = SetAscent(terms, rows, logs, begin, limit).run()
        still, ruled_out = list[HalfSet](), 0
        for of_half, parent, best in zip(rows, parents, ascended, strict=True):
            half = self._narrowed(of_half, parent, best, limit)
            ruled_out += prod(map(len, of_half)) - (0 if half is None else half.number)
            still += [] if half is None else [half]
        return still, ruled_out

    @property
    def _known(self) -> Floats:
        assert self._terms is not None, "it has begun"
        return np.log([max(self.known.get(name, 0.0), 1e-300) for name in self._terms.names])

    def _narrowed(self, rows: tuple[Ints, ...], parent: HalfSet, best: Ascended, limit: float) -> HalfSet | None:
        """A half without the rows that its weights rule out; None where nothing is left of it."""
        if max(best.bound, parent.bound) >= limit:
            return None
        stay = best.without(limit)
        rows = tuple(own[mask] for own, mask in zip(rows, stay, strict=True))
        scores = tuple(score[mask] for score, mask in zip(best.scores, stay, strict=True))
        whole = self._tables.whole(rows)
        if whole >= np.exp(limit):
            return None
        bound = max(best.bound, parent.bound, float(np.log(whole)) if whole > 0 else -np.inf)
        return HalfSet(rows, bound, Ascended(best.bound, scores, best.log_weights), parent.joinable)

    def _halves(self, own: HalfSet, logs: Sequence[Floats]) -> list[tuple[int | None, Bools]]:
        """The group to halve, and the rows of each half # (row,); None: the whole has no weights of its own yet."""
        if own.ascended is None:
            return [(None, np.zeros(0, bool))]
        terms = self._terms
        assert terms is not None, "it has begun"
        highest, chosen = -1.0, (0, np.zeros(0, bool))
        weights = terms.weights(own.ascended.log_weights)
        for g, (columns, members) in enumerate(zip(logs, terms.members, strict=True)):
            if len(columns) < 2:
                continue
            most, least = columns.max(axis=0), columns.min(axis=0)
            mixed = (least == ABSENT) & (most > ABSENT)
            if mixed.any():
                own_columns = columns[:, mixed]
                least[mixed] = np.where(own_columns == ABSENT, np.inf, own_columns).min(axis=0)
            spread = most - least + np.log(FAR) * mixed
            score = spread * (weights @ members + LITTLE + ZERO * mixed)
            widest = int(score.argmax())
            if score[widest] > highest:
                highest = float(score[widest])
                middle = (most[widest] + least[widest]) / 2
                first = columns[:, widest] <= (ABSENT if mixed[widest] else middle)
                chosen = g, first if 0 < first.sum() < len(first) else np.arange(len(first)) < len(first) // 2
        g, first = chosen
        return [(g, first), (g, ~first)]
