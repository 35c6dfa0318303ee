"""`--search bayes`: Bayesian optimisation with a Gaussian process, as GPTune's for one task (Liu et al. 2021).

Batches are by expected improvement.
"""

import warnings
from dataclasses import dataclass
from typing import Any, override

import numpy as np

from ...mapping import Floats, Ints
from ...runtime import one_thread
from ...search import CHUNK
from ...search.options import setting
from ...search.variation import Individuals
from .candidates import around
from .embedding import EMBEDDINGS, embedded
from .learner import Learner, LearnerState
from .packages import missing_package


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


@dataclass(frozen=True)
class Bayes(Learner):
    """A process over an embedding of mappings, expected improvement, batches by the constant liar. See Proposer.

    GPTune's: the process, log costs, expected improvement. Ours: candidates by variation in place of a swarm, as a
    mapspace is no box; one task alone.
    """

    batch: int = setting(32, "mappings of a generation, which are scored together", least=1, most=CHUNK)
    points: int = setting(256, "most mappings the process holds: the best half, and the newest others", least=8)
    orders: str = setting("scores", "loop orders as scores of importance, or as categories", one_of=EMBEDDINGS)
    candidates: int = setting(512, "mappings among which a batch is chosen", least=8)
    parents: int = setting(32, "the best mappings, of which half of the candidates are children", least=1)

    @override
    def missing(self) -> list[str]:
        """List scikit-learn where it is not installed."""
        return missing_package("scikit-learn", "sklearn", "learn")

    @override
    def chosen(self, state: LearnerState) -> tuple[Individuals, Any]:
        """Fit the process, and choose a batch among candidates around the best and drawn ones."""
        history = state.history
        candidates = around(state.sampler, state.rng, history, self.candidates, self.parents)
        if not len(candidates):
            return candidates, None
        places = embedded(state.space, Individuals.joined([history.individuals, candidates]), self.orders)
        known, new = places[: len(history)], places[len(history) :]
        belief = posterior(known, history.targets, new, int(state.rng.integers(2**31)))
        return candidates.take(batch_by_lies(belief, self.batch)), None
