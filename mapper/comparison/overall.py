"""Two folders as a whole: the ratios of their cases, the geometric mean, its limits, the verdicts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

from ..problem import OBJECTIVES
from .cases import Matched
from .limits import CYCLES, EDP, ENERGY, Interval, Verdict, mean_limits, ratio_limits
from .stored import Stored

NAMES = {EDP: "EDP", ENERGY: "energy", CYCLES: "cycles"}


@dataclass(frozen=True)
class Ratio:
    """A figure of B over that of A, of a case: that of the mappings at hand, and the limits for the best ones."""

    case: str
    value: float
    limits: Interval


@dataclass(frozen=True)
class Overall:
    """The ratios of all cases that have one."""

    column: str  # of the figure
    ratios: tuple[Ratio, ...]  # one at least

    @property
    def name(self) -> str:
        """The figure in sentences."""
        return NAMES[self.column]

    @property
    def mean(self) -> float:
        """The geometric mean."""
        values = [one.value for one in self.ratios]
        return values[0] if len(values) == 1 else exp(fsum(map(log, values)) / len(values))

    @property
    def limits(self) -> Interval:
        """The limits of the geometric mean of the best mappings."""
        return mean_limits(one.limits for one in self.ratios)

    @property
    def verdicts(self) -> Mapping[Verdict, int]:
        """How many cases have each verdict."""
        counts = Counter(one.limits.verdict for one in self.ratios)
        return {verdict: counts[verdict] for verdict in Verdict}


def headline(matched: Matched) -> str:
    """The column of the figure that is compared first: the objective of all searches, where it is one; else the EDP.

    Cycles where energies are not known.
    """
    results = [result for pair in matched.pairs if pair.comparable for result in pair.results]
    names = {(result.objective or "").split(",")[0] for result in results}
    column = OBJECTIVES[names.pop()].column if len(names) == 1 and names <= OBJECTIVES.keys() else EDP
    return column if all(getattr(result, column) is not None for result in results) else CYCLES


def overall(matched: Matched) -> Overall | None:
    """Compare two folders; None where no case has a mapping of the same layers on both sides."""
    column = headline(matched)
    ratios = tuple(_ratios(matched, column))
    return Overall(column, ratios) if ratios else None


def ratio_of(label: str, sides: Sequence[Stored], column: str) -> Ratio | None:
    """The ratio of a figure of two sides; None where a side has none, or it is 0."""
    a, b = (getattr(side, column) for side in sides)
    return Ratio(label, b / a, ratio_limits(sides, column)) if a and b else None


def _ratios(matched: Matched, column: str) -> Iterator[Ratio]:
    for pair in matched.pairs:
        if pair.comparable and (ratio := ratio_of(pair.label, pair.results, column)):
            yield ratio
