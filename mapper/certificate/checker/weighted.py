"""Weighted products, bounds with a score per chain: docs/optimal.md, section 3, implemented again for the checker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np

from ...mapping import Floats, Ints
from .claim import ObjectiveLimit
from .columns import Columns, Product, Words

Factor = tuple[float, Product, float]  # power, product, logarithm of what the product is multiplied by
LARGEST = 1e9  # power of a limit on an objective
ROUNDED = 2e-14  # relative to power * logarithm and to the power: exceeds the rounding error, also of their sums


class Weighted:
    """A bound as a constant plus a score per group, in logarithms; `scores`: # (row,) each."""

    def __init__(self, constant: float, scores: tuple[Floats, ...]) -> None:
        self.constant, self.scores = constant, scores

    def of_rows(self, g: int) -> Floats:
        """Bound all combinations with each row of group g, as a logarithm. # (row,)"""
        rest = sum(float(score.min()) for h, score in enumerate(self.scores) if h != g)
        bound: Floats = self.scores[g] + (self.constant + rest)
        return bound


@dataclass(frozen=True)
class Powers:
    """The powers of energy and cycles in a product: those of the objective, and of the limits on others.

    A mapping within a limit has (objective / limit)**power of at most 1, for any power.
    """

    energy: float
    cycles: float
    limits: tuple[Factor, ...]  # 1 / limit**power

    @classmethod
    def of(cls, powers: tuple[int, int], limits: Sequence[ObjectiveLimit], weights: Mapping[str, float]) -> "Powers":
        """Read the power of each limit from the weights. Raises ValueError where one is too large."""
        energy, cycles, factors = float(powers[0]), float(powers[1]), list[Factor]()
        for limit in limits:
            name = f"limit:{limit.objective.name}"
            power = weights.get(name, 0.0)
            if power > LARGEST:
                raise ValueError(f"the weight of {name} is beyond {LARGEST:g}")
            if power > 0 and limit.most > 0:
                energy, cycles = energy + power * limit.objective.powers[0], cycles + power * limit.objective.powers[1]
                factors.append((power, (), -float(np.log(limit.most))))
        return cls(energy, cycles, tuple(factors))


def log_of(value: float) -> float:
    """Compute the natural logarithm; -inf for 0."""
    with np.errstate(divide="ignore"):
        return float(np.log(value))


def weighted(columns: Columns, weights: Mapping[str, float], powers: Powers, rows: Sequence[Ints]) -> Weighted:
    """Bound energy**powers.energy * cycles**powers.cycles, divided by the limits to their powers, by these weights, for
    the chains `rows` of each group.

    Raises ValueError where they cannot be weights.
    """
    terms = _terms(columns, weights, powers.energy, rows) if powers.energy else []
    terms += [*powers.limits, *_limits(columns, weights)]
    terms += _cycles(columns, weights, powers.cycles, rows) if powers.cycles else []
    scores = [np.zeros(len(group_rows)) for group_rows in rows]
    for power, product, _ in terms:
        for g, group_rows in enumerate(rows if product else ()):
            with np.errstate(divide="ignore"):
                scores[g] += _times(power, np.log(columns.columns[g][product[g]][group_rows]))
    return Weighted(sum(float(_times(power, np.float64(constant))) for power, _, constant in terms), tuple(scores))


def _times(power: float, logarithm: Floats | np.float64) -> Floats:
    """Multiply a power and a logarithm, less the rounding error: large powers cancel, their errors do not."""
    lost = np.where(np.isfinite(logarithm), ROUNDED * power * (1 + np.abs(logarithm)), 0.0)
    product: Floats = power * logarithm - lost if power else np.zeros_like(lost)
    return product


def _terms(columns: Columns, weights: Mapping[str, float], power: float, rows: Sequence[Ints]) -> list[Factor]:
    """List (power, product, logarithm of its constant) of each term of the energy. Raises ValueError."""
    owners: list[dict[str, tuple[Product, float]]] = [{"compute": ((), columns.macs_pj)}]
    owners.append({"leak": (columns.cycles, columns.leak_pj)})
    for words in columns.words:
        owners.append(_of_charge(columns, words, rows))
        wires = {name: (product, words.charge.hop_pj * hops) for name, (hops, product) in words.crossing.items()}
        owners.append(wires)
    total = sum(weights.get(name, 0.0) for terms in owners for name in terms)
    if not 0 < total < np.inf:
        raise ValueError("the weights of what makes up the energy must not all be 0, nor add up to more than a float")
    factors = []
    for terms in owners:
        share = sum(weights.get(name, 0.0) for name in terms) / total
        for name, (product, pj) in terms.items():
            if weights.get(name, 0.0) > 0:
                weight = weights[name] / total
                if not weight > 0:
                    raise ValueError(f"the weight of {name} is too small beside the others")
                constant = np.log(pj) - np.log(share) if pj > 0 else -np.inf
                factors.append((power * weight, product, float(constant)))
    return factors


def _of_charge(
    columns: Columns, words: Words, rows: Sequence[Ints], flow: str = ""
) -> dict[str, tuple[Product, float]]:
    """List each term of a charge, by name: the product, and what a word of it costs at least."""
    terms = {}
    for name, product in words.terms(flow):
        pj = words.charge.pj
        if words.first is not None:  # at least `again` times as many words as distinct ones
            again = _least_product(columns, (product, words.first), rows)
            pj -= words.charge.first_pj / max(again, 1.0)
        terms[name] = product, pj
    return terms


def _cycles(columns: Columns, weights: Mapping[str, float], power: float, rows: Sequence[Ints]) -> list[Factor]:
    """List the same for the cycles: no less than the compute cycles, and than the sum of each flow; to both are added
    those in which tiles begin. Raises ValueError.

    Without any weight of theirs the compute cycles have the whole power.
    """
    flows = {"cycles": [{"cycles": (columns.cycles, 1.0)}, *_starts(columns, "")]}
    for flow, flow_words in columns.flows.items():
        flows[flow] = [_of_charge(columns, words, rows, flow) for words in flow_words] + _starts(columns, f"{flow}:")
    weight = {
        flow: sum(weights.get(name, 0.0) for terms in flow_terms for name in terms)
        for flow, flow_terms in flows.items()
    }
    total = sum(weight.values())
    if not total > 0:
        return [(power, columns.cycles, 0.0)]
    if not total < np.inf:
        raise ValueError("the weights of the cycles must not add up to more than a float")
    factors = list[Factor]()
    for flow, flow_terms in flows.items():
        for terms in flow_terms:
            of_charge = sum(weights.get(name, 0.0) for name in terms)
            share = of_charge / weight[flow] if of_charge > 0 else 0.0
            factors += [
                (power * weights[name] / total, *_by_share(name, terms[name], share))
                for name in terms
                if weights.get(name, 0.0) > 0
            ]
    return factors


def _starts(columns: Columns, prefix: str) -> list[dict[str, tuple[Product, float]]]:
    """List the cycles in which tiles of each memory begin, as charges of one term."""
    return [{prefix + name: (tiles, float(cycles))} for name, (cycles, tiles) in columns.starts.items()]


def _by_share(name: str, term: tuple[Product, float], share: float) -> tuple[Product, float]:
    """List the product of a term and the logarithm of its cycles over its `share` in the sum. Raises ValueError."""
    product, cycles = term
    if not share > 0:
        raise ValueError(f"the weight of {name} is too small beside the others")
    return product, float(np.log(cycles) - np.log(share) if cycles > 0 else -np.inf)


def _limits(columns: Columns, weights: Mapping[str, float]) -> list[Factor]:
    """List the same for the limits: each is at most 1, to any power. Raises ValueError."""
    factors = []
    for capacity, tiles in columns.capacities:
        total = sum(weights.get(name, 0.0) for name, _, _ in tiles)
        for name, bits, tile in tiles:
            if weights.get(name, 0.0) > 0 and capacity:
                part = weights[name] / total
                if not part > 0:
                    raise ValueError(f"the weight of {name} is too small beside the others")
                factors.append((weights[name], tile, float(np.log(bits / capacity) - np.log(part))))
    for name, size, _, spread, _ in columns.axes:
        if weights.get(name, 0.0) > 0:
            factors.append((weights[name], spread, float(-np.log(size))))
    return factors


def _least_product(columns: Columns, products: Sequence[Product], rows: Sequence[Ints]) -> float:
    """Bound the product of several products from below over the combinations of `rows`."""
    least = 1.0
    for g, group_rows in enumerate(rows):
        least *= float(reduce(mul, (columns.columns[g][product[g]][group_rows] for product in products)).min())
    return least
