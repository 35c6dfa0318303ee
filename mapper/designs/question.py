"""What is asked of a design space: what to minimise, which limits to keep, which frontier to draw."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from ..mapping import Bools, Floats
from ..problem import OBJECTIVES
from .results import ALONE, Constraint, Expression, Known, objective_of
from .standing import Score, Wanted


@dataclass(frozen=True)
class Question:
    """What a sweep is to find. An expression is summed over the workloads, each times its weight."""

    minimise: Expression | None = None
    limits: tuple[Constraint, ...] = ()
    axes: tuple[Expression, ...] = ()  # of the frontier; none: no frontier is asked for
    weights: tuple[float, ...] = (1.0,)  # by workload
    objective: str = "edp"  # what the mappings of a design are searched for
    gap: float = 0.0
    proofs: int | None = None  # of layers, at most
    width: int = 1  # sets of designs that are taken up at a time
    explicit: bool = False  # asked for by the user: the best, or within limits
    sensitivity: bool = False  # designs beside the best are asked about, too
    places: Mapping[str, str] = field(default_factory=dict)  # by the text of an expression or limit, for messages

    def faults_of(self, known: Sequence[Known]) -> list[str]:
        """Say why a design cannot be judged, each with where that is asked. # known: (workload,)"""
        asked: tuple[Expression | Constraint, ...] = (*self._expressions, *self.limits)
        rules = dict[str, None]()
        for own in asked:
            for facts in known:
                try:
                    rule = self._misfit(own, facts)
                except ValueError as error:
                    rule = str(error)
                if rule:
                    rules[": ".join(part for part in (self.places.get(own.text), rule) if part)] = None
        return list(rules)

    def _misfit(self, own: Expression | Constraint, known: Known) -> str:
        """Say what is wrong with an expression or a limit of a design. Raises ValueError that says it."""
        if isinstance(own, Constraint):
            _ = own.holds(known) if own.alone else own.factor(known)
            return ""
        factor = own.factor(known)
        if factor <= 0 and self.sensitivity and own is self.minimise:
            return f"a sensitivity is of what is above 0; minimised is {own.text!r}"
        if factor <= 0 and own.powers != ALONE:
            return f"what is minimised must be above 0: {own.text!r}"
        return ""

    @property
    def _expressions(self) -> tuple[Expression, ...]:
        return (*((self.minimise,) if self.minimise else ()), *self.axes)

    def _keeps(self, known: Known) -> bool:
        return all(limit.holds(known) for limit in self.limits if limit.alone)

    def possible(self, known: Sequence[Known]) -> bool:
        """Test whether a design keeps the limits that it alone decides. # known: (workload,)"""
        return all(map(self._keeps, known))

    def wanted(self, known: Sequence[Sequence[Known] | None]) -> Wanted:
        """Compute the scores of all candidates; None: one cannot be made. # (candidate, workload)"""
        shape, expressions, ceilings = (len(known), len(self.weights)), self._expressions, self._ceilings
        possible: Bools = np.zeros(len(known), bool)
        most, factors = np.full(shape, inf), [np.ones(shape) for _ in expressions]
        for row, own in enumerate(known):
            if own is not None:
                possible[row] = self.possible(own)
                for plain, expression in zip(factors, expressions, strict=True):
                    plain[row] = [expression.factor(facts) for facts in own]
                if ceilings:
                    most[row] = [min(_most(limit, power, facts) for limit, power in ceilings) for facts in own]
        scores = list(map(self._score, expressions, factors))
        minimise = None if self.minimise is None else scores.pop(0)
        return Wanted(minimise, tuple(scores), possible, most, self.gap, bool(self.other_limits))

    def _score(self, expression: Expression, plain: Floats) -> Score:
        """The score of an expression by its factors. # plain: (candidate, workload)"""
        factors = plain * self.weights
        if expression.powers == ALONE:
            if (plain == plain[:, :1]).all():  # of the design alone: not a sum over workloads
                factors = plain * (np.arange(len(self.weights)) == 0)
            return Score(expression.text, factors, 0.0, expression.unit)
        power = expression.powers.of(OBJECTIVES[self.objective])
        assert power is not None, "it was read so"
        return Score(expression.text, factors, float(power), expression.unit)

    @property
    def _ceilings(self) -> list[tuple[Constraint, float]]:
        """The limits that are of the objective, each with its power."""
        every = [(own, own.powers.of(OBJECTIVES[self.objective])) for own in self.limits if not own.alone]
        return [(limit, float(power)) for limit, power in every if power is not None]

    def broken(self, known: Known, energy_pj: float | None = None, cycles: float = 0.0) -> list[str]:
        """Say which limits a design breaks on a workload, with a mapping of such costs; None: those of it alone."""
        figures = () if energy_pj is None else (energy_pj, cycles)
        return [text for limit in self.limits if limit.alone or figures if (text := limit.broken(known, *figures))]

    @property
    def other_limits(self) -> tuple[Constraint, ...]:
        """The limits of results that are not of the objective: the mapping with its least may break them."""
        objective = OBJECTIVES[self.objective]
        return tuple(own for own in self.limits if not own.alone and own.powers.of(objective) is None)

    def limits_of(self, known: Known) -> tuple[tuple[tuple[float, float], float], ...]:
        """The powers of energy and cycles of each of these, and the most that their product may be on a workload."""
        every = ((limit.powers, limit.factor(known)) for limit in self.other_limits)
        return tuple(
            ((float(powers.energy), float(powers.cycles)), 1 / factor if factor else inf) for powers, factor in every
        )


def objective_asked(expressions: Sequence[Expression], limits: Sequence[Constraint]) -> str | None:
    """Return the objective that mappings are to be searched for: that of the first expression that is of one."""
    powers = [*(own.powers for own in expressions), *(limit.powers for limit in limits if not limit.alone)]
    objectives = (objective_of(own) for own in powers if own != ALONE)
    return next((own[0] for own in objectives if own is not None), None)


def unsuited(expressions: Mapping[str, Expression], objective: str) -> dict[str, str]:
    """Say of each expression that is of another objective why it cannot be minimised beside this one."""
    faults = {}
    for key, own in expressions.items():
        asked = objective_of(own.powers)
        if asked is None and own.powers != ALONE:
            known = ", ".join(OBJECTIVES)
            faults[key] = f"must be {known}, or a power of it times what the design alone decides; got {own.text!r}"
        elif asked is not None and asked[0] != objective:
            rule = f"mappings are searched for one objective, here {objective}; {own.text!r} is of {asked[0]}"
            faults[key] = f"{rule}: ask for it in a sweep of its own"
    return faults


def _most(limit: Constraint, power: float, known: Known) -> float:
    """The most that the objective may be on a workload, by a limit that is of it."""
    factor = limit.factor(known)
    return factor ** (-1 / power) if factor else inf
