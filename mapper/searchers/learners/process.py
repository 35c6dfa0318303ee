"""A Gaussian process over mappings, and batches by expected improvement, for Bayesian optimisation."""

import warnings
from dataclasses import dataclass

import numpy as np

from ...mapping import Floats, Ints
from .packages import one_thread


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a Gaussian process believes of some candidates, in units of standardised targets."""

    mean: Floats  # (candidate,)
    covariance: Floats  # (candidate, candidate), with the noise of an observation on the diagonal
    noise: float  # variance
    best: float  # the least target so far


def posterior(known: Floats, targets: Floats, candidates: Floats, seed: int) -> Posterior:
    """Fit a process with a Matern kernel (nu = 2.5) by maximum likelihood to points # (point, column) and their
    targets # (point,), and predict the candidates # (candidate, column)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    scaled = (targets - targets.mean()) / (targets.std() or 1.0)
    kernel = ConstantKernel(1.0, (1e-2, 1e2)) * Matern(1.0, (1e-1, 1e2), nu=2.5) + WhiteKernel(1e-2, (1e-6, 1.0))
    process = GaussianProcessRegressor(kernel, random_state=seed)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its limit
        process.fit(known, scaled)
        mean, covariance = process.predict(candidates, return_cov=True)
    return Posterior(mean, covariance, float(process.kernel_.k2.noise_level), float(scaled.min()))


def improvement(mean: Floats, variance: Floats, best: float) -> Floats:
    """Compute the expected improvement on `best`, to be minimised, of normal values. # (candidate,)"""
    from scipy.special import ndtr

    sd = np.sqrt(np.maximum(variance, 1e-12))
    z = (best - mean) / sd
    expected: Floats = (best - mean) * ndtr(z) + sd * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return expected


def batch_by_lies(belief: Posterior, n: int) -> Ints:
    """Choose `n` candidates one after the other by expected improvement. Returns places. # (chosen,)

    Each is then taken as if it had been seen to be as good as the best (the constant liar, Ginsbourger et al. 2010).
    Adding a lie is a rank-one update of mean and covariance, the same as fitting again with parameters held.
    """
    mean, covariance, chosen = belief.mean.copy(), belief.covariance.copy(), list[int]()
    open_ = np.ones(len(mean), bool)
    for _ in range(min(n, len(mean))):
        expected = improvement(mean, covariance.diagonal() - belief.noise, belief.best)
        place = int(np.where(open_, expected, -np.inf).argmax())
        gain = covariance[:, place] / covariance[place, place]
        mean += gain * (belief.best - mean[place])
        covariance -= np.outer(gain, covariance[place].copy())
        open_[place] = False
        chosen.append(place)
    return np.array(chosen, np.int64)
