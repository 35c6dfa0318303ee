"""`--search gbt`: boosted trees rank mappings, annealing finds those ranked best (AutoTVM, Chen et al. 2018)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, override

import numpy as np

from ...mapping import Floats
from ...mapspace import Mapspace
from ...search.options import setting
from ...search.variation import Individuals
from .annealing import anneal, diverse
from .candidates import new_ones
from .embedding import embedded
from .learner import Learner, Lesson
from .packages import missing_package
from .ranking import Ranking, learnt
from .relations import Relations

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
    def chosen(self, lesson: Lesson) -> tuple[Individuals, Any]:
        """Fit the trees, anneal, and choose a diverse batch; the rest is drawn. The chains persist."""
        history, space, features = lesson.history, lesson.space, self._features(lesson.space)
        ranking = learnt(features(history.some), history.ranks, prior=self.prior, rounds=self.trees)
        found = anneal(
            lesson.ground, self._chains(lesson), lambda some: ranking.of(features(some)), lesson.rng, self.steps,
            self.temperature,
        )  # fmt: skip
        order = np.argsort(found.energies, kind="stable")
        tried = new_ones(space, [found.tried.take(order)], history.seen)
        number = round(self.batch * (1 - self.greedy))
        tried = tried.take(slice(round(self.pool * self.batch)))
        if len(tried):
            tried = tried.take(diverse(space, tried, ranking.of(features(tried)), number, self.diversity))
        return tried, found.chains.plain()

    def _features(self, space: Mapspace) -> Features:
        if self.features == "config":
            return lambda some: embedded(space, some, "scores")
        return Relations(space).of

    def _chains(self, lesson: Lesson) -> Individuals:
        """Return the chains of the generation before; at first mappings of the history, the newest first."""
        if lesson.own is not None:
            return Individuals.of_plain(lesson.own)
        newest = lesson.history.some.take(np.arange(len(lesson.history))[::-1])
        return newest.take(np.arange(self.chains) % len(newest))
