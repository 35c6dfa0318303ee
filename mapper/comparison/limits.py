"""What proofs leave open: limits of the figures of a best mapping, of ratios of two of them, and of means of ratios.

A search answers a mapping, an upper limit of its objective; its proof is a lower limit. The best mapping may be any
other between them, so the other figures have limits only as far as they follow (docs/decisions/110-intervals.md).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, fsum, inf, log

from ..problem import OBJECTIVES, ROUNDING
from .stored import Stored

DIGITS = (4, 6, 8, 12)  # of limits: the first by which they differ
FIGURES = tuple(objective.column for objective in OBJECTIVES.values())
EDP, ENERGY, CYCLES = FIGURES


class Verdict(StrEnum):
    """What is proven of B against A, where less is better."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Interval:
    """Limits of a figure that is not negative; `low` 0 and `high` infinite where nothing is known on that side."""

    low: float = 0.0
    high: float = inf

    def over(self, other: "Interval") -> "Interval":
        """The limits of this figure over the other, wherever both are within theirs."""
        high = self.high / other.low if other.low > 0 and self.high < inf else inf
        return Interval(self.low / other.high if other.high > 0 else 0.0, high)

    @property
    def verdict(self) -> Verdict:
        """What a ratio within these limits says, whatever it is; differences of rounding are none."""
        if self.high < 1 - ROUNDING:
            return Verdict.BETTER
        if self.low > 1 + ROUNDING:
            return Verdict.WORSE
        equal = self.low >= 1 - ROUNDING and self.high <= 1 + ROUNDING
        return Verdict.EQUAL if equal else Verdict.UNDECIDED

    @property
    def text(self) -> str:
        """Both limits for a reader, who is shown an open side."""
        if self.low <= 0 and self.high == inf:
            return "no limits"
        if self.low <= 0:
            return f"at most {self.high:.4g}, no lower limit"
        if self.high == inf:
            return f"at least {self.low:.4g}, no upper limit"
        digits = next((own for own in DIGITS if f"{self.low:.{own}g}" != f"{self.high:.{own}g}"), DIGITS[0])
        return f"{self.low:.{digits}g} to {self.high:.{digits}g}"


def limits(result: Stored) -> dict[str, Interval]:
    """The limits of EDP, energy (pJ) and cycles of every best mapping by the objectives of the search, where known.

    Proven best, an objective is its value; others of equal worth may differ in all other figures. Where the proof is
    open the objective is between its lower bound, or the ideal, and the value that was reached. Other figures have the
    limits of the ideal, and those that follow from the EDP = energy x cycles.
    """
    values = {name: float(value) for name in FIGURES if (value := getattr(result, name)) is not None}
    names = (result.objective or "").split(",")
    columns = [OBJECTIVES[name.strip()].column if name.strip() in OBJECTIVES else "" for name in names]
    closed = _closed(result, len(columns))
    least = _least(result, columns[0])
    proven = {name: values[name] for name in columns[:closed] if name in values}
    if len(proven) > 1:  # of two figures follows the third
        proven = values
    most = {name: values[name] if name in columns[: closed + 1] and name in values else inf for name in FIGURES}
    most |= proven
    least |= proven if result.optimal else {}
    _follow(least, most)
    return {name: Interval(min(least[name], most[name]), most[name]) for name in values}


def _closed(result: Stored, objectives: int) -> int:
    """Count the objectives, in turn, whose values are proven to be those of the best; of layers searched alone none."""
    if result.alone is not None:
        return 0
    return objectives if result.optimal else int(result.gap is not None and result.gap <= ROUNDING)


def _least(result: Stored, objective: str) -> dict[str, float]:
    """What no mapping is below: the ideal; of the objective its lower bound, and of the EDP the product of both."""
    ideal = result.ideal
    least = {name: 0.0 if ideal is None else float(getattr(ideal, name) or 0.0) for name in FIGURES}
    if objective in least and result.lower_bound is not None:
        least[objective] = max(least[objective], result.lower_bound)
    least[EDP] = max(least[EDP], least[ENERGY] * least[CYCLES])
    return least


def _follow(least: dict[str, float], most: dict[str, float]) -> None:
    """Narrow the limits of figures by what follows from the EDP = energy x cycles."""
    for own, other in ((ENERGY, CYCLES), (CYCLES, ENERGY)):
        if least[other] > 0:
            most[own] = min(most[own], most[EDP] / least[other])
    most[EDP] = min(most[EDP], most[ENERGY] * most[CYCLES])
    for own, other in ((ENERGY, CYCLES), (CYCLES, ENERGY)):
        if most[other] > 0:
            least[own] = max(least[own], least[EDP] / most[other])


def ratio_limits(sides: Sequence[Stored], name: str) -> Interval:
    """The limits of the figure `name` of B over that of A; open where a side has no such figure."""
    a, b = (limits(side).get(name, Interval()) for side in sides)
    return b.over(a)


def mean_limits(ratios: Iterable[Interval]) -> Interval:
    """The limits of the geometric mean of ratios. Raises ValueError where there is none."""
    every = list(ratios)
    if not every:
        raise ValueError("a mean of nothing")
    low = 0.0 if any(one.low <= 0 for one in every) else _mean(one.low for one in every)
    high = inf if any(one.high == inf for one in every) else _mean(one.high for one in every)
    return Interval(low, high)


def _mean(values: Iterable[float]) -> float:
    """The geometric mean of figures that are not negative; the figure itself where there is one."""
    every = list(values)
    if len(every) == 1:
        return every[0]
    return exp(fsum(map(log, every)) / len(every)) if min(every) > 0 else 0.0
