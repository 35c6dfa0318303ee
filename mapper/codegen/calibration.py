"""Times of programs, predicted: a sum of terms, each with the seconds that one of it takes, fitted to measured runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...workloads import Fault, InputError
from .data_types import DataType
from .nest import Nest
from .program import Backend, Measurement, ProgramError
from .program_counts import ProgramCounts

Floats = NDArray[np.float64]
ENOUGH = 0.01  # of the error on the held-out half, which a further term must remove to be in


@dataclass(frozen=True)
class Sample:
    """A program that ran: its terms, and the seconds it took."""

    terms: Mapping[str, float]
    seconds: float


def measured_nest(backend: Backend, nest: Nest, kind: DataType, seed: int = 0) -> Measurement:
    """Write a nest to a folder of its own, run and compare it. Raises ProgramError."""
    with TemporaryDirectory(prefix="ruby-code-") as name:
        folder = Path(name)
        for file, text in backend.files(nest, kind).items():
            (folder / file).write_text(text)
        return backend.measured(folder, nest, kind, seed)


def sampled(backend: Backend, nest: Nest, kind: DataType, seed: int = 0) -> Sample:
    """Run a nest as a sample. Raises ProgramError, also where its output is wrong."""
    ran = measured_nest(backend, nest, kind, seed)
    if not ran.correct:
        raise ProgramError(f"{nest.workload.name}: the output is not what NumPy computes")
    return Sample(ProgramCounts(nest, kind).terms, ran.seconds)


def fitted(samples: Sequence[Sample], seed: int = 0) -> dict[str, float]:
    """Fit the seconds of each term, by non-negative least squares of the relative errors (Lawson and Hanson, 1974).

    Terms come in one by one, the best first, as long as one improves the error on a half of the samples that the fit
    does not see; the weights are then fitted to all samples. Raises ProgramError where scipy is not installed.
    """
    names = list(dict.fromkeys(name for sample in samples for name in sample.terms))
    terms = np.array([[sample.terms.get(name, 0.0) for name in names] for sample in samples])
    seconds = np.array([sample.seconds for sample in samples])
    order = np.random.default_rng(seed).permutation(len(samples))
    halves = order[::2], order[1::2]
    chosen, least = list[int](), np.inf
    while True:
        errors = _held_out_errors(terms, seconds, halves, chosen)
        best = min(errors, key=lambda column: errors[column], default=None)
        if best is None or errors[best] > least * (1 - ENOUGH):
            break
        chosen, least = [*chosen, best], errors[best]
    weights = _weights(terms[:, chosen], seconds)
    return {names[column]: float(f"{weight:.4g}") for column, weight in zip(chosen, weights, strict=True) if weight}


def _held_out_errors(
    terms: Floats, seconds: Floats, halves: Sequence[NDArray[np.integer[Any]]], chosen: list[int]
) -> dict[int, float]:
    """The errors with one more column of `terms` # (sample, term), by its number, where it is not all 0.

    Each of two halves of the samples is fitted in turn, and the error is that on the other.
    """
    errors = {}
    for column in range(terms.shape[1]):
        if column not in chosen and terms[:, column].any():
            columns = [*chosen, column]
            errors[column] = sum(
                _error(terms[held][:, columns] @ _weights(terms[own][:, columns], seconds[own]), seconds[held])
                for own, held in (halves, halves[::-1])
            )
    return errors


def predicted(weights: Mapping[str, float], effort: ProgramCounts) -> float:
    """The seconds of a program: its terms by their weights, shared by its threads."""
    terms = effort.terms
    return sum(weight * terms.get(name, 0.0) for name, weight in weights.items()) / effort.threads


def predicted_seconds(effort: ProgramCounts) -> float | None:
    """The same by the calibration of its machine; None where there is none, or it is of another data type.

    Raises InputError for terms that no program has, times that are not finite, and weights that are all 0.
    """
    arch, calibration = effort.nest.arch, effort.nest.arch.calibration
    if calibration is None or not calibration.seconds or calibration.dtype != effort.kind.name:
        return None
    faults = [
        Fault(arch.name, None, f"calibration.seconds.{name}", f"unknown term; known: {', '.join(effort.terms)}")
        for name, _ in calibration.seconds
        if name not in effort.terms
    ]
    seconds = predicted(dict(calibration.seconds), effort)
    if not 0 <= seconds < math.inf or not any(weight for _, weight in calibration.seconds):
        faults.append(Fault(arch.name, None, "calibration.seconds", f"a program would take {seconds:g} s by these"))
    if faults:
        raise InputError(faults)
    return seconds


def _weights(terms: Floats, seconds: Floats) -> Floats:
    """The weights of the terms, all 0 or more, with the least sum of squared relative errors."""
    try:
        from scipy.optimize import nnls
    except ImportError:
        raise ProgramError("a fit needs scipy: pip install 'ruby-map[milp]', or scipy itself") from None
    largest = np.maximum(terms.max(axis=0), 1.0)  # so that all columns are of one size
    weights, _ = nnls(terms / largest / seconds[:, None], np.ones(len(seconds)))
    return np.asarray(weights / largest, np.float64)


def _error(predictions: Floats, seconds: Floats) -> float:
    """The mean squared logarithm of the ratios: half and twice as long are as wrong."""
    return float(np.mean(np.log(np.maximum(predictions, seconds * 1e-3) / seconds) ** 2))
