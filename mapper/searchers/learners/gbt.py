"""`--search gbt`: boosted trees rank mappings, annealing finds those ranked best (AutoTVM, Chen et al. 2018).

The trees learn from pairs. Depth, rate and penalties are those of TVM's XGBoost tuner. The loss is equation 2 over all
pairs: XGBoost's own `rank:pairwise` takes a selection of pairs and normalises their gradients. Parallel simulated
annealing over the model then chooses a diverse batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, override

import numpy as np

from ...mapping import Bools, Floats, Ints, unique_rows
from ...mapspace import Mapspace
from ...search.options import setting
from ...search.variation import Individuals, MappingSampler
from .candidates import ROUNDS, new_ones
from .embedding import embedded
from .learner import Learner, LearnerState
from .nests import loops_in_order
from .packages import missing_package
from .relations import Relations

Energy = Callable[[Individuals], Floats]  # (individual,) lower is better
PARAMETERS = {"max_depth": 3, "eta": 0.3, "lambda": 1.0, "gamma": 1e-4, "min_child_weight": 0.1}
EXACT = {"nthread": 1, "verbosity": 0, "seed": 0, "base_score": 0.0, "disable_default_eval_metric": True}


@dataclass(frozen=True, eq=False)
class Annealed:
    """The chains after annealing, and all states that they tried, each with its energy."""

    chains: Individuals
    tried: Individuals
    energies: Floats  # (tried,)


def anneal(
    sampler: MappingSampler,
    chains: Individuals,
    energy: Energy,
    rng: np.random.Generator,
    steps: int,
    temperature: float,
) -> Annealed:
    """Anneal chains side by side, from `temperature` linearly to 0, in units of the energy.

    A move that repair cannot make valid is refused.
    """
    current = energy(chains)
    tried, energies = [chains], [current]
    for step in range(steps):
        moved, of = sampler.repair.fitted_each(sampler.variation.neighbours(chains, rng), rng, ROUNDS)
        if not len(moved):
            continue
        new = energy(moved)
        tried.append(moved)
        energies.append(new)
        warm = temperature * (1 - step / steps)
        accepted = rng.random(len(of)) < np.exp(np.minimum(0.0, (current[of] - new) / warm))
        chains, current = _replaced(chains, moved, of, accepted), current.copy()
        current[of[accepted]] = new[accepted]
    return Annealed(chains, Individuals.joined(tried), np.concatenate(energies))


def _replaced(chains: Individuals, moved: Individuals, of: Ints, accepted: Bools) -> Individuals:
    """Put the accepted moves in the places of the chains they were made `of`."""
    places = np.arange(len(chains))
    places[of[accepted]] = len(chains) + np.flatnonzero(accepted)
    return Individuals.joined([chains, moved]).take(places)


def diverse(space: Mapspace, individuals: Individuals, energies: Floats, n: int, alpha: float) -> Ints:
    """Choose `n` of `individuals` greedily for L(S) = -sum of energies + alpha * number of different components
    (equation 3).

    Components are the chain of each dim, the loops of each level, and what is kept. Returns places. # (chosen,)
    """
    parts = _components(space, individuals)
    starts = np.concatenate([[0], np.cumsum(parts.max(axis=0, initial=-1) + 1)])
    parts = parts + starts[:-1]
    covered = np.zeros(starts[-1], bool)
    open_, chosen = np.ones(len(individuals), bool), []
    for _ in range(min(n, len(individuals))):
        gain = np.where(open_, alpha * (~covered[parts]).sum(axis=1) - energies, -np.inf)
        place = int(gain.argmax())
        chosen.append(place)
        open_[place], covered[parts[place]] = False, True
    return np.array(chosen, np.int64)


def _components(space: Mapspace, individuals: Individuals) -> Ints:
    """Number the components of each mapping, equal ones alike. # (individual, component)"""
    loops = loops_in_order(space, individuals)
    columns = [unique_rows(individuals.bounds[:, :, d])[1] for d in range(individuals.bounds.shape[2])]
    columns += [unique_rows(loops[:, level])[1] for level in range(loops.shape[1])]
    return np.stack([*columns, unique_rows(individuals.keep)[1]], axis=1)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Predicts a number per mapping, lower for one that costs less. With a `prior` it is the sum of both (equation 4):
    a global model of other layers, and a local one that learns what that leaves."""

    booster: Any  # xgboost.Booster
    prior: "Ranking | None" = None

    def of(self, features: Floats) -> Floats:
        """Predict # (mapping,) from features # (mapping, feature)."""
        own: Floats = np.asarray(self.booster.inplace_predict(features, predict_type="margin"), np.float64)
        return own if self.prior is None else own + self.prior.of(features)


def learnt(
    features: Floats, ranks: Ints, layers: Ints | None = None, *, prior: Ranking | None = None, rounds: int = 50
) -> Ranking:
    """Learn a ranking of mappings from their features # (mapping, feature) and ranks # (mapping,), the best 0.

    `layers` # (mapping,) says which layer each mapping is of, where there are several: only mappings of one layer are
    compared. A `prior` must have learnt from the same features.
    """
    import xgboost

    data = xgboost.DMatrix(features, nthread=1)
    if prior is not None:
        data.set_base_margin(prior.of(features))
    order = pair_signs(ranks, layers)

    def objective(predicted: Floats, _: Any) -> tuple[Floats, Floats]:
        return pair_gradient(np.asarray(predicted, np.float64), order)

    return Ranking(xgboost.train({**PARAMETERS, **EXACT}, data, rounds, obj=objective), prior)


def pair_signs(ranks: Ints, layers: Ints | None = None) -> Floats:
    """Compute sign(c_i - c_j) of each pair; 0 for mappings of different layers. # (mapping, mapping)"""
    order = np.sign(ranks[:, None] - ranks[None, :]).astype(float)
    return order if layers is None else order * (layers[:, None] == layers[None, :])


def pair_gradient(predicted: Floats, order: Floats) -> tuple[Floats, Floats]:
    """Compute gradient and second derivative of equation 2, scaled by the pairs of a mapping. # (mapping,) each"""
    differs = order != 0
    wrong = 1 / (1 + np.exp(np.clip(order * (predicted[:, None] - predicted[None, :]), -50, 50)))
    number = np.maximum(1, differs.sum(axis=1))
    gradient: Floats = -(order * wrong).sum(axis=1) / number
    second: Floats = (differs * wrong * (1 - wrong)).sum(axis=1) / number
    return gradient, np.maximum(second, 1e-6)


Features = Callable[[Individuals], Floats]


@dataclass(frozen=True)
class Gbt(Learner):
    """Algorithm 1 of AutoTVM. See Proposer.

    Refused mappings rank after all others, which teaches the trees to avoid them.
    """

    features: str = setting(
        "relations", "relations: context relation features; config: bounds and orders", one_of=("relations", "config")
    )
    trees: int = setting(50, "boosting rounds of each model", least=1)
    chains: int = setting(64, "chains of the annealing, which persist", least=1)
    steps: int = setting(50, "steps of each chain in a generation", least=1)
    temperature: float = setting(1.0, "of the first step, in units of the model; it falls to 0", least=1e-9)
    greedy: float = setting(0.05, "share of a batch that is drawn at random (epsilon)", least=0, most=1)
    diversity: float = setting(0.02, "value of a new component in a batch (alpha of equation 3)", least=0)
    pool: float = setting(3.0, "batches among which a diverse one is chosen (lambda)", least=1)
    prior: Ranking | None = None  # a model of other layers (equation 4), with relations as features

    @override
    def missing(self) -> list[str]:
        """List XGBoost where it is not installed."""
        return missing_package("xgboost", "xgboost", "trees")

    @override
    def chosen(self, state: LearnerState) -> tuple[Individuals, Any]:
        """Fit the trees, anneal, and choose a diverse batch; the rest is drawn. The chains persist."""
        history, space, features = state.history, state.space, self._features(state.space)
        ranking = learnt(features(history.individuals), history.ranks, prior=self.prior, rounds=self.trees)
        annealed = anneal(
            state.sampler,
            self._chains(state),
            lambda individuals: ranking.of(features(individuals)),
            state.rng,
            self.steps,
            self.temperature,
        )
        order = np.argsort(annealed.energies, kind="stable")
        tried = new_ones(space, [annealed.tried.take(order)], history.seen)
        number = round(self.batch * (1 - self.greedy))
        tried = tried.take(slice(round(self.pool * self.batch)))
        if len(tried):
            tried = tried.take(diverse(space, tried, ranking.of(features(tried)), number, self.diversity))
        return tried, annealed.chains.plain()

    def _features(self, space: Mapspace) -> Features:
        if self.features == "config":
            return lambda individuals: embedded(space, individuals, "scores")
        return Relations(space).of

    def _chains(self, state: LearnerState) -> Individuals:
        """Return the chains of the generation before; at first mappings of the history, the newest first."""
        if state.own is not None:
            return Individuals.of_plain(state.own)
        newest = state.history.individuals.take(np.arange(len(state.history))[::-1])
        return newest.take(np.arange(self.chains) % len(newest))
