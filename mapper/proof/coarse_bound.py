"""Rules out most chains of long lists by weighted products with few columns, before all columns are computed for the
others.

Any weights give a bound, so those of a sample of the chains do: its ascent takes little, and then each chain is made,
weighed and forgotten.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np

from ..bounds import DimGroup, Factors, Geometric, Relaxation
from ..mapping import Floats, Ints
from ..problem import ROUNDING
from ..search.outcome import MOST_CHAINS
from .chain_groups import number_in
from .incumbents import BestIncumbent
from .long_lists import BLOCK, LongList
from .narrowing import SHRINKS
from .work import Piece, Work

LONG = 2**14  # chains of a group: with more, columns of all of them take longer than a coarse bound
SAMPLE = 2**12  # chains of a group whose ascent gives the weights for all

ROWS_A_STEP = 10  # rows of a block, all its columns weighed, that are a step
MISJUDGED = 0.01  # of the bound's logarithm: the sample gave a wrong idea of the chains, another look is worth it


@dataclass(frozen=True, eq=False)
class CoarseBound:
    """The chains of each group that a coarse bound leaves, and the weights that ruled the others out, in turn."""

    rows: tuple[Ints, ...]  # per group # (row left,)
    looks: tuple[dict[str, float], ...]
    ruled_out: int  # combinations
    least: float  # the lower bound of all combinations, by the first look

    @property
    def wide(self) -> bool:
        """Whether more chains of a group are left than a proof divides."""
        return max(map(len, self.rows)) > MOST_CHAINS


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The logarithms of a group's factors # (row left,), and its share in `Rewritten.again` of each such term."""

    scores: Floats
    again: Floats


@dataclass(eq=False)
class CoarseBounds:
    """Rules out chains of `groups`, piece by piece; in between the incumbent may improve."""

    groups: Sequence[DimGroup | LongList]
    relaxation: Callable[[Sequence[DimGroup]], Relaxation]  # the coarse bound of some chains
    incumbent: BestIncumbent

    def __post_init__(self) -> None:
        self._single = [group.take(np.array([0])) for group in self.groups]  # to stand beside a block of another group
        self._rows: list[Ints | None] = [None] * len(self.groups)  # that are left; None: all
        self._again: dict[str, float] = {}

    def bound(self) -> Work[CoarseBound]:
        """Rule out chains while that brings much; those of the best mapping stay."""
        looks, least, go_on = list[dict[str, float]](), -np.inf, True
        while go_on and all(self._lengths):
            before, product = sum(self._lengths), self._sampled()
            if not product.weights:  # nothing is known to cost anything
                break
            weighed = []
            for g in range(len(self.groups)):
                weighed.append((yield from self._weighed(product, g)))
            constant = self._constant(product, weighed)
            least = least if looks else self._bound(constant, weighed)
            looks.append(product.weights)
            self._rule_out(constant, weighed)
            go_on = sum(self._lengths) <= SHRINKS * before or constant < product.constant - MISJUDGED
        rows = [np.arange(len(group)) if group_rows is None else group_rows
                for group, group_rows in zip(self.groups, self._rows, strict=True)]  # fmt: skip
        if (best := self._best) is not None:
            rows = [np.union1d(group_rows, [own]) for group_rows, own in zip(rows, best, strict=True)]
        return CoarseBound(tuple(rows), tuple(looks), prod(map(len, self.groups)) - prod(map(len, rows)), least)

    @property
    def _lengths(self) -> list[int]:
        """The number of chains left of each group."""
        return [len(group) if rows is None else len(rows) for group, rows in zip(self.groups, self._rows, strict=True)]

    @property
    def _best(self) -> list[int] | None:
        """The row of each group that the best mapping has; None before there is one."""
        best = self.incumbent.best
        return None if best is None else [number_in(group, best) for group in self.groups]

    def _sampled(self) -> Factors:
        """Find weights by the ascent of some of the chains left, evenly chosen, and those of the best mapping."""
        chosen, best = [], self._best
        for g, (rows, number) in enumerate(zip(self._rows, self._lengths, strict=True)):
            few = np.unique(np.linspace(0, number - 1, min(SAMPLE, number)).astype(np.int64))
            few = few if rows is None else rows[few]
            chosen.append(few if best is None else np.union1d(few, [best[g]]))
        relaxed = self.relaxation([group.take(few) for group, few in zip(self.groups, chosen, strict=True)])
        powers = self.incumbent.objectives[0].powers
        geometric = Geometric(relaxed, powers, self.incumbent.limits, again=self._again)
        return geometric.factors([np.arange(len(few)) for few in chosen])

    def _constant(self, product: Factors, weighed: Sequence[_Weighed]) -> float:
        """Correct the constant, which is that of the sample, for all chains left."""
        again = np.prod([weighed_group.again for weighed_group in weighed], axis=0).tolist()
        self._again |= {term.name: ratio for term, ratio in zip(product.rewritten, again, strict=True)}
        return product.constant_with(again)

    @staticmethod
    def _bound(constant: float, weighed: Sequence[_Weighed]) -> float:
        """The bound of all chains left."""
        with np.errstate(over="ignore"):
            return float(np.exp(constant + sum(float(weighed_group.scores.min()) for weighed_group in weighed)))

    def _rule_out(self, constant: float, weighed: Sequence[_Weighed]) -> None:
        """Rule out the chains whose combinations are all no better than the best."""
        cutoff = self.incumbent.cutoff * (1 - ROUNDING)
        limit = log(cutoff) if 0 < cutoff < np.inf else cutoff or -np.inf
        lowest = [float(weighed_group.scores.min()) for weighed_group in weighed]
        for g, (rows, weighed_group) in enumerate(zip(self._rows, weighed, strict=True)):
            offset = constant + sum(low for h, low in enumerate(lowest) if h != g)
            stay = np.flatnonzero(offset + weighed_group.scores < limit)
            self._rows[g] = stay if rows is None else rows[stay]

    def _weighed(self, product: Factors, g: int) -> Work[_Weighed]:
        """Weigh all chains left of group g, some at a time."""
        scores, again = list[Floats](), np.full(len(product.rewritten), np.inf)
        for block in self._blocks(g):
            yield Piece()
            block.deadline(len(block) // ROWS_A_STEP)
            columns = self.relaxation([*self._single[:g], block, *self._single[g + 1 :]]).columns[g]
            score = np.zeros(len(block))
            with np.errstate(divide="ignore"):  # a term that is 0 bounds nothing
                for weight, column in zip(product.columns[g], columns, strict=True):
                    score += weight * np.log(column) if weight else 0.0
            scores.append(score)
            moved = [float((columns[term.product[g]] * columns[term.first[g]]).min()) for term in product.rewritten]
            again = np.minimum(again, moved)
        return _Weighed(np.concatenate(scores), again)

    def _blocks(self, g: int) -> Iterable[DimGroup]:
        """The chains left of a group, some at a time."""
        group, rows = self.groups[g], self._rows[g]
        if rows is None:
            return group.blocks
        return (group.take(rows[start : start + BLOCK]) for start in range(0, len(rows), BLOCK))
