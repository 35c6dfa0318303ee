"""Designers that search one design after the other, for comparison, and for spaces of which bounds know little.

They pass over designs that can no longer change the answer. What they find is certified once none is left.
"""

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..mapping import Ints
from .designer import Finding, Settings, Trial, note
from .space import Space
from .standing import Score, Standing

if TYPE_CHECKING:
    from optuna.trial import Trial as Suggestion

REPEATS = 1_000  # suggestions in a row that name nothing new, after which a sampler is at its end


class RandomOrder:
    """Draws designs at random, each once, so many at a time as its width says. See Designer."""

    def __init__(self, space: Space, standing: Standing, settings: Settings) -> None:
        self.space, self.standing, self.width = space, standing, settings.width
        self.order: Ints = np.random.default_rng(settings.seed).permutation(len(space.kind))
        self.trials = settings.first

    def ask(self) -> list[Trial]:
        """Ask for the next designs that may still change the answer."""
        waiting = self.standing.waiting()
        rows = self.order[waiting[self.order] > 0][: self.width].tolist()
        trials = [Trial(self.trials + at, np.array([row])) for at, row in enumerate(rows)]
        self.trials += len(trials)
        return trials

    def tell(self, trial: Trial, finding: Finding) -> None:
        """Take note of the mappings of a design."""
        note(self.space, self.standing, trial, finding)


class Optuna:
    """Draws what a multi-objective sampler of optuna suggests (its TPE; the extra `optuna`). See Designer."""

    def __init__(self, space: Space, standing: Standing, settings: Settings) -> None:
        import optuna  # takes half a second

        self.space, self.standing, self.width = space, standing, settings.width
        every = (score for question in standing.wanted.questions for score in question)
        self.scores = list({score.text: score for score in every}.values())
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings(action="ignore", category=optuna.exceptions.ExperimentalWarning):
            self.study = optuna.create_study(
                directions=["minimize"] * len(self.scores), sampler=optuna.samplers.TPESampler(seed=settings.seed)
            )
        places = [np.unique(column, return_inverse=True) for column in space.places.T]
        self.distributions: dict[str, Any] = {
            str(at): optuna.distributions.IntDistribution(0, len(values) - 1)
            if space.by_size[at]
            else optuna.distributions.CategoricalDistribution(range(len(values)))
            for at, (values, _) in enumerate(places)
        }
        steps = np.stack([inverse for _, inverse in places], axis=1)
        self.rows = {tuple(own): row for row, own in enumerate(steps.tolist())}
        self.asked: dict[int, Suggestion] = {}
        self.trials = settings.first

    def ask(self) -> list[Trial]:
        """Ask for designs that the sampler suggests; of those that need no search it is told at once."""
        return list(self._suggested())

    def _suggested(self) -> Iterator[Trial]:
        waiting, left = self.standing.waiting() > 0, self.width
        repeats = 0
        while left and waiting.any() and repeats < REPEATS:
            suggestion = self.study.ask(self.distributions)
            row = self.rows.get(tuple(suggestion.params[name] for name in self.distributions))
            if row is not None and waiting[row]:
                waiting[row], left, repeats = False, left - 1, 0
                self.asked[self.trials] = suggestion
                yield Trial(self.trials, np.array([row]))
                self.trials += 1
            else:
                repeats += 1
                self._tell(suggestion, row)

    def tell(self, trial: Trial, finding: Finding) -> None:
        """Take note of the mappings of a design."""
        note(self.space, self.standing, trial, finding)
        self._tell(self.asked.pop(trial.number), int(trial.rows[0]))

    def _tell(self, suggestion: "Suggestion", row: int | None) -> None:
        """Tell the sampler the scores of a design; it failed where it keeps no limit, or is none."""
        import optuna

        if row is None or not self.standing.known[row]:
            self.study.tell(suggestion, state=optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(suggestion, [value(score, self.standing, row) for score in self.scores])


def value(score: Score, standing: Standing, row: int) -> float:
    """The score of a searched design."""
    return float(score.of(standing.upper, np.array([row]))[0])
