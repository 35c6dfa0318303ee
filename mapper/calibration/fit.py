"""Fits of measurements: a sum of terms, each with a weight of 0 or more, and what such a fit is worth elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.integer[Any]]
ENOUGH = 0.01  # of the error on the held-out half, which a further term must remove to be in
HALVES = 10  # ways to hold out a half
OUTLYING = 0.1  # a relative error
NOTHING = 1e-9  # of the largest weight: what a solver that stays inside its bounds leaves of 0


class FitError(RuntimeError):
    """A fit cannot be made here."""


@dataclass(frozen=True)
class Sample:
    """Something that was measured, as seconds, cycles or pJ: its terms, and what was measured."""

    terms: Mapping[str, float]
    measured: float
    group: str = ""  # samples of one group are held out together, as the mappings of a layer


class Entered(NamedTuple):
    """A term of a fit, and the median relative error on held-out halves once it is in."""

    term: str
    weight: float
    error: float


def fitted(samples: Sequence[Sample], seed: int = 0, robust: bool = False) -> dict[str, float]:
    """Fit the weight of each term, by non-negative least squares of the relative errors (Lawson and Hanson, 1974).

    Terms come in one by one, the best first, as long as one improves the error on a half of the samples that the fit
    does not see; the weights are then fitted to all samples. A `robust` fit counts errors above OUTLYING by their size,
    not its square, so that a few that no sum of terms explains do not decide. Raises FitError where scipy is not
    installed.
    """
    return {entry.term: entry.weight for entry in entered(samples, seed, robust) if entry.weight}


def entered(samples: Sequence[Sample], seed: int = 0, robust: bool = False) -> list[Entered]:
    """Fit as `fitted`; the terms in turn, those whose weight is 0 in the end too. Raises FitError."""
    table = _Table(samples, robust)
    halves = table.halves(np.random.default_rng(seed))
    chosen = table.choose(halves)
    weights = table.weights(np.arange(len(samples)), chosen)
    return [
        Entered(table.names[column], float(f"{weight:.4g}"), float(np.median(table.off(halves, chosen[: i + 1]))))
        for i, (column, weight) in enumerate(zip(chosen, weights.tolist(), strict=True))
    ]


def held_out(samples: Sequence[Sample], halves: int = HALVES, robust: bool = False) -> Floats:
    """Return the relative errors of fits on the half that each did not see, of so many ways to halve. # (error,)

    Groups are halved, where there are several; terms and weights are chosen anew each time. Raises FitError.
    """
    table, errors = _Table(samples, robust), []
    for seed in range(halves):
        own, held = table.halves(np.random.default_rng(seed))
        weights = fitted([samples[i] for i in own.tolist()], seed, robust)
        predictions = np.array([weighted(weights, samples[i].terms) for i in held.tolist()])
        errors.append(abs(predictions / table.measured[held] - 1))
    return np.concatenate(errors)


def weighted(weights: Mapping[str, float], terms: Mapping[str, float]) -> float:
    """The sum of the terms by their weights."""
    return sum(weight * terms.get(name, 0.0) for name, weight in weights.items())


class _Table:
    """Samples as arrays."""

    def __init__(self, samples: Sequence[Sample], robust: bool) -> None:
        self.samples, self.robust = samples, robust
        self.names = list(dict.fromkeys(name for sample in samples for name in sample.terms))
        rows = [[sample.terms.get(name, 0.0) for name in self.names] for sample in samples]
        self.terms: Floats = np.array(rows, np.float64)  # (sample, term)
        self.measured: Floats = np.array([sample.measured for sample in samples], np.float64)  # (sample,)

    def halves(self, random: np.random.Generator) -> tuple[Places, Places]:
        """Halve the groups at random, or the samples where all are of one group; a single sample is both halves."""
        if len(self.samples) < 2:
            return np.arange(len(self.samples)), np.arange(len(self.samples))
        groups = list(dict.fromkeys(sample.group for sample in self.samples))
        if len(groups) < 2:
            order = random.permutation(len(self.samples))
            return order[::2], order[1::2]
        order = random.permutation(len(groups))
        first = {groups[i] for i in order[::2].tolist()}
        known = np.array([sample.group in first for sample in self.samples])
        return np.flatnonzero(known), np.flatnonzero(~known)

    def choose(self, halves: tuple[Places, Places]) -> list[int]:
        """Choose columns one by one, the best first, as long as one improves the error on what the fit does not see."""
        chosen, least = list[int](), np.inf
        while True:
            errors = {
                column: self.error(self.ratios(halves, [*chosen, column]))
                for column in range(len(self.names))
                if column not in chosen and self.terms[:, column].any()
            }
            best = min(errors, key=lambda column: errors[column], default=None)
            if best is None or errors[best] > least * (1 - ENOUGH):
                return chosen
            chosen, least = [*chosen, best], errors[best]

    def ratios(self, halves: tuple[Places, Places], columns: list[int]) -> Sequence[Floats]:
        """Predictions over measurements, on each half of a fit to the other."""
        return [
            self.terms[held][:, columns] @ self.weights(own, columns) / self.measured[held]
            for own, held in (halves, halves[::-1])
        ]

    def error(self, halves: Sequence[Floats]) -> float:
        """The mean logarithm of the ratios, squared or, of a robust fit, by its size: half and twice are as wrong."""
        logarithms = [np.log(np.maximum(ratios, 1e-3)) for ratios in halves]
        return sum(float(np.mean(abs(own) if self.robust else own**2)) for own in logarithms)

    def off(self, halves: tuple[Places, Places], columns: list[int]) -> Floats:
        """The relative errors of both halves."""
        return abs(np.concatenate(self.ratios(halves, columns)) - 1)

    def weights(self, samples: Places, columns: list[int]) -> Floats:
        """The weights of the columns, all 0 or more, with the least relative errors of these samples. # (column,)"""
        try:
            from scipy.optimize import least_squares, nnls
        except ImportError:
            raise FitError("a fit needs scipy: pip install 'ruby-map[milp]', or scipy itself") from None
        terms = self.terms[samples][:, columns]
        known = terms.any(axis=0)  # of what is 0 in all these samples nothing is known
        if not known.all():
            weights = np.zeros(len(columns))
            if known.any():
                weights[known] = self.weights(samples, np.array(columns)[known].tolist())
            return weights
        largest = terms.max(axis=0)  # so that all columns are of one size
        relative = terms / largest / self.measured[samples, None]
        weights, _ = nnls(relative, np.ones(len(samples)))
        if self.robust:
            solved = least_squares(
                lambda weights: relative @ weights - 1,
                weights,
                jac=lambda weights: relative,
                bounds=(0, np.inf),
                x_scale="jac",
                loss="soft_l1",
                f_scale=OUTLYING,
            )
            weights = np.where(solved.x > NOTHING * solved.x.max(), solved.x, 0.0)
        return np.asarray(weights / largest, np.float64)
