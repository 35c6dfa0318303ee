"""What `ruby-rewrite` says of a rewritten network: what it costs beside the one that was read, and what is proven."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, override

from ..problem import ROUNDING, Objective, at_most
from ..report import TextTable, energy_unit
from ..rewrite_search import Applied, Outcome, Price

MOST_PLACES = 3  # of a rewrite that are named
MOST_REASONS = 3  # why networks have no price


@dataclass(frozen=True, eq=False)
class RewriteResult:
    """The outcome of a search of rewrites on a machine."""

    arch: str
    mapspace: str
    objective: Objective
    outcome: Outcome

    def json(self) -> dict[str, Any]:
        """Convert it to JSON values; its schema is `rewrite`."""
        outcome, seen = self.outcome, self.outcome.seen
        return {
            "arch": self.arch,
            "mapspace": self.mapspace,
            "objective": self.objective.name,
            "before": _price_json(outcome.before),
            "after": _price_json(outcome.after),
            "rewrites": [
                {"name": own.rule, "nodes": [list(place) for place in own.nodes], "saved": self._share(own.saved)}
                for own in outcome.applied
            ],
            "tried": list(self.tried),
            "regions": outcome.regions,
            "met": seen.met,
            "priced": seen.priced,
            "bounded": seen.bounded,
            "ended": seen.ended,
            "unpriced": dict(seen.unpriced),
        }

    @override
    def __str__(self) -> str:
        lines = [f"on {self.arch}, {self.mapspace}, by {self.objective.title}", str(self._table()), ""]
        lines += [f"verdict      {self.verdict}"]
        lines += [f"plans tried  {rule}" for rule in self.tried]
        lines += [f"rewrite      {text}" for text in map(self._rewrite, self.outcome.applied)]
        lines += self._counts()
        return "\n".join(lines)

    @property
    def tried(self) -> tuple[str, ...]:
        """What the plans that were tried have in common, of both networks: what is proven is of these."""
        return tuple(dict.fromkeys((*self.outcome.before.tried, *self.outcome.after.tried)))

    @property
    def verdict(self) -> str:
        """How much less the rewritten network costs, and how much of it is proven, of the plans that are tried."""
        before, after, title = self.outcome.before, self.outcome.after, self.objective.title
        if not self.outcome.applied:
            return f"no network that was priced has a lower {title}: it is written as it is"
        saved = f"{self._share(before.value - after.value):.2%} below the best known plan of the network before"
        if after.value < before.lower_bound * (1 - ROUNDING):
            least = f"proven to be at least {_at_least(before, after)} below every plan of it that is tried"
            return f"the {title} is {saved}, {least}"
        return f"the {title} is {saved}, of which one may be {at_most(_gap(before))} lower: not proven to be better"

    def _share(self, saved: float) -> float:
        """A difference of the objective as a share of what it was before; 0 where that was nothing."""
        return saved / self.outcome.before.value if self.outcome.before.value else 0.0

    def _table(self) -> TextTable:
        """The figures of both networks, and how far the best possible may be below."""
        prices = {"before": self.outcome.before, "after": self.outcome.after}
        unit, size = energy_unit(max(own.costs.energy_pj for own in prices.values()))
        rows = [
            [
                name,
                f"{own.costs.cycles:,}",
                f"{own.costs.energy_pj / size:,.5g}",
                f"{own.edp:.5g}",
                at_most(_gap(own)),
            ]
            for name, own in prices.items()
        ]
        head = ["network", "cycles", f"energy [{unit}]", "EDP [pJ cycles]", "the best possible is below by at most"]
        return TextTable(head, rows, left=(0,))

    def _rewrite(self, own: Applied) -> str:
        places = [" + ".join(place) for place in own.nodes]
        shown = ", ".join(places[:MOST_PLACES]) + (", ..." if len(places) > MOST_PLACES else "")
        number = "" if len(places) == 1 else f"{len(places)} places: "
        share = self._share(own.saved)
        effect = f"saves {share:.2%}" if share >= 0 else f"costs {-share:.2%}, for what follows"
        return f"{own.rule}, at {number}{shown}: {effect}"

    def _counts(self) -> Iterator[str]:
        seen = self.outcome.seen
        met = "1 network met" if seen.met == 1 else f"{seen.met:,} networks met"
        where = "" if self.outcome.regions == 1 else f" in {self.outcome.regions} regions"
        yield f"search       {met}{where}, {seen.priced:,} priced, {seen.bounded:,} ruled out by a bound"
        yield f"ended by     {seen.ended}"
        reasons = sorted(seen.unpriced.items(), key=lambda reason: -reason[1])
        for why, number in reasons[:MOST_REASONS]:
            yield f"no price     {number:,}: {why.splitlines()[0]}"
        if more := sum(number for _, number in reasons[MOST_REASONS:]):
            yield f"no price     {more:,} for other reasons"


def _gap(price: Price) -> float:
    """How far the best possible may be below the best known, as a share of it."""
    return max(0.0, 1 - price.lower_bound / price.value) if price.value else 0.0


def _at_least(before: Price, after: Price) -> str:
    """By how much the best known of one is below all of another: rounded down, as what is proven is no more."""
    return f"{int((1 - after.value / before.lower_bound) * 1e4) / 1e4:.2%}"


def _price_json(price: Price) -> dict[str, float]:
    """The figures of a network; the bound is of the objective."""
    costs = price.costs
    return {
        "edp": price.edp,
        "energy_pj": costs.energy_pj,
        "cycles": costs.cycles,
        "lower_bound": price.lower_bound,
    }
