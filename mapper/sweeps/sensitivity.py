"""How much each parameter matters: the best design beside those one step from it, each with what is proven."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from ..comparison import Interval, Verdict
from ..designs import Values
from ..model.figures import plain
from ..problem import ROUNDING
from ..report import Json, TextTable, gap_between
from .neighbours import Neighbour, neighbour_row, neighbours_of
from .optimised import Optimised
from .plan import Plan
from .proofs import gap_text
from .store import FOUND
from .tables import APART, five_digits, short_names, short_value

NO_LIMIT = Interval()


@dataclass(frozen=True)
class SensitivityRow:
    """A design beside the best."""

    parameters: tuple[str, ...]  # that change together
    before: Values
    after: Values
    step: int  # 1: more, -1: less, 0: another value
    design: int
    value: float | None = None  # by what is minimised; None: no mapping is known
    lower_bound: float | None = None  # no mapping of it is below; None: nothing is proven, or there is no mapping
    limits: Interval = NO_LIMIT  # of its best mappings to those of the best design, by what is proven
    factor: float | None = None  # of the values
    area_mm2: float | None = None
    broken: tuple[str, ...] = ()  # limits
    message: str = ""  # why there is no value

    @property
    def effect(self) -> float:
        """How far it is from the best: the logarithm of the factor, up or down; -1 where nothing is known."""
        return -1.0 if self.factor is None else abs(log(self.factor)) if self.factor else inf

    @property
    def verdict(self) -> Verdict | None:
        """Whether it is worse or better than the best, by what is proven; None where it has no mapping."""
        return None if self.factor is None else self.limits.verdict

    @property
    def factor_text(self) -> str:
        """The factor, or its limits where proofs are open."""
        closed = self.limits.high <= self.limits.low * (1 + ROUNDING)
        if self.factor is not None and (closed or self.limits == NO_LIMIT):
            return f"{self.factor:.5g}"
        return self.limits.text if self.limits != NO_LIMIT else ""

    def change(self, plan: Plan) -> str:
        """The change, as `128 -> 256`."""
        return " -> ".join(
            APART.join(short_value(plan, name, values.get(name)) for name in self.parameters)
            for values in (self.before, self.after)
        )

    def label(self, plan: Plan) -> str:
        """The parameters by their short names."""
        short = short_names(plan.parameters)
        return APART.join(short[name] for name in self.parameters)

    def json(self) -> Json:
        """An entry of `--json`."""
        return {
            "parameters": list(self.parameters),
            "step": self.step,
            "from": dict(self.before),
            "to": dict(self.after),
            "design": self.design,
            **{name: None if (own := getattr(self, name)) is None else plain(own)
               for name in ("value", "lower_bound", "factor")},
            "factor_at_least": plain(self.limits.low) if self.limits.low > 0 else None,
            "factor_at_most": plain(self.limits.high) if self.limits.high < inf else None,
            "verdict": self.verdict,
            "area_mm2": None if self.area_mm2 is None else plain(self.area_mm2),
            "broken_limits": list(self.broken),
            "message": self.message,
        }  # fmt: skip


def sensitivity(optimised: Optimised, best: int) -> tuple[SensitivityRow, ...]:
    """The designs beside the best one, those with the largest effect first."""
    plan, design = optimised.candidates.plan, optimised.candidates.place(best)[0]
    rows = [_row(optimised, best, neighbour) for neighbour in neighbours_of(plan, design)]
    return tuple(sorted(rows, key=lambda row: -row.effect))


def _row(optimised: Optimised, best: int, neighbour: Neighbour) -> SensitivityRow:
    plan, candidates = optimised.candidates.plan, optimised.candidates
    at, group = neighbour_row(candidates, best, neighbour), neighbour.group
    before, after = candidates.described(best).values, plan.values(neighbour.design) if at is None else {}
    after = after if at is None else candidates.described(at).values
    what = (
        group.names,
        {name: before.get(name) for name in group.names},
        {name: after.get(name) for name in group.names},
        neighbour.step,
        neighbour.design,
    )
    if at is None:
        return SensitivityRow(*what, message="not among the designs that were drawn")
    if message := candidates.why_not(at):
        return SensitivityRow(*what, message=message)
    own, beside = _interval(optimised, at), _interval(optimised, best)
    area = candidates.described(at).area_um2 * 1e-6
    bound = None if own.low in (0, inf) else own.low
    broken = tuple(_broken(optimised, at))
    if own.high == inf:
        limits = NO_LIMIT if bound is None else own.over(beside)
        return SensitivityRow(*what, None, bound, limits, None, area, broken, _why_no_value(optimised, at))
    factor = own.high / beside.high if beside.high else None  # energies may be 0
    return SensitivityRow(*what, own.high, bound, own.over(beside), factor, area, broken)


def _interval(optimised: Optimised, row: int) -> Interval:
    """Between which the best mappings of a candidate are, by what is minimised."""
    standing, at = optimised.standing, np.array([row])
    score = standing.wanted.minimise
    assert score is not None, "it was asked for"
    low, high = (float(score.of(objective, at)[0]) for objective in (standing.lower, standing.upper))
    return Interval(high if gap_between(high, low) <= ROUNDING and high < inf else low, high)


def _broken(optimised: Optimised, row: int) -> Iterator[str]:
    """The limits that a candidate breaks with its best known mappings, each once."""
    plan, facts = optimised.candidates.plan, optimised.candidates.known[row]
    assert facts is not None, "it can be made"
    texts = dict[str, None]()
    for workload, known in zip(plan.workloads, facts, strict=True):
        alone = plan.question.broken(known)
        texts |= dict.fromkeys(alone)
        result = None if (outcome := optimised.outcome(row, workload)) is None else outcome.result
        if result is not None and result.get("cycles") is not None:
            with_mapping = plan.question.broken(known, float(result["energy_pj"]), float(result["cycles"]))  # type: ignore[arg-type]
            where = f" on {workload}" if len(plan.workloads) > 1 else ""
            texts |= {f"{text}{where}": None for text in with_mapping if text not in alone}
    yield from texts


def _why_no_value(optimised: Optimised, row: int) -> str:
    """Why no mapping of a candidate that can be made is known."""
    outcomes = [optimised.outcome(row, workload) for workload in optimised.candidates.plan.workloads]
    known = [outcome for outcome in outcomes if outcome is not None]
    if messages := dict.fromkeys(f"{own.status}: {own.message}" for own in known if own.status != FOUND):
        return "; ".join(messages)
    if any(outcome.none_keeps for outcome in known):
        return "no mapping keeps the limits"
    if not optimised.standing.searched[row]:
        return "not searched"
    limited = optimised.candidates.plan.question.other_limits
    return "no mapping is known that keeps the limits" if limited else "no mapping is known"


def sensitivity_table(plan: Plan, rows: Sequence[SensitivityRow], figure: str, best: float) -> TextTable:
    """The rows as a table; `figure` is what is minimised, with its unit, and `best` its value of the best design."""
    head = ["parameter", "change", figure, "factor", "area [mm2]", "proof", ""]
    cells = []
    for row in rows:
        value, area = ("" if own is None else five_digits(own) for own in (row.value, row.area_mm2))
        bound = row.lower_bound or 0.0
        proof = "" if row.value is None else gap_text(gap_between(row.value, bound) if bound else None)
        remarks = [*row.broken, *([row.message] if row.message else [])]
        remarks += [row.verdict] if row.verdict in (Verdict.UNDECIDED, Verdict.EQUAL) else []
        cells.append([row.label(plan), row.change(plan), value, row.factor_text, area, proof, "; ".join(remarks)])
    return TextTable(head, cells, (0, 1, 5, 6), f"one step from the best, {five_digits(best)}, all else equal")
