"""`--search bayes`: Bayesian optimisation with a Gaussian process, as GPTune's for one task (Liu et al. 2021)."""

from dataclasses import dataclass
from typing import Any, override

from ...search import CHUNK
from ...search.options import setting
from ...search.variation import Individuals
from .candidates import around
from .embedding import EMBEDDINGS, embedded
from .learner import Learner, Lesson
from .packages import missing_package
from .process import batch_by_lies, posterior


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
    def chosen(self, lesson: Lesson) -> tuple[Individuals, Any]:
        """Fit the process, and choose a batch among candidates around the best and drawn ones."""
        history = lesson.history
        some = around(lesson.ground, lesson.rng, history, self.candidates, self.parents)
        if not len(some):
            return some, None
        places = embedded(lesson.space, Individuals.joined([history.some, some]), self.orders)
        known, new = places[: len(history)], places[len(history) :]
        belief = posterior(known, history.targets, new, int(lesson.rng.integers(2**31)))
        return some.take(batch_by_lies(belief, self.batch)), None
