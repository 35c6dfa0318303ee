"""`--search surrogate`: a network for the cost, and descent by its gradient (Mind Mappings, Hegde et al. 2021)."""

from dataclasses import dataclass, replace
from typing import Any, Self, override

import numpy as np

from ...search import Task
from ...search.options import setting
from ...search.variation import Individuals
from .candidates import drawn, new_ones
from .descent import descend
from .history import no_individuals
from .learner import ENOUGH, Learner, Lesson
from .network import Network, trained
from .packages import missing_package, one_thread
from .samples import Columns, samples


@dataclass(frozen=True)
class Surrogate(Learner):
    """A network trained before the search, then descent by its gradient to the mappings of each batch. See Proposer.

    The paper's: samples of the mapspace, sizes of the layer among the inputs, projected gradient descent, new starts at
    random. Ours: few samples of the exact model, loop orders as scores, log costs in place of energies by level, and
    refinement: the network learns from what came back. Costs in other units than the model's are shifted to them.
    """

    pretrain: int = setting(2048, "samples of the exact model before the search, not counted as mappings", least=0)
    layers: int = setting(0, "other layers, with sizes up to twice or half, that share the samples", least=0)
    width: int = setting(64, "units of each of the two hidden layers", least=1)
    epochs: int = setting(40, "passes over the samples before the search", least=1)
    refine: int = setting(20, "passes over the history in each generation", least=1)
    starts: int = setting(
        64, "descents side by side, from the best of the history and as many from drawn ones", least=2
    )
    steps: int = setting(24, "steps of a descent", least=1)
    rate: float = setting(2.0, "most of a step of the steepest bound, in log2", least=1e-6)
    explore: float = setting(0.1, "share of a batch that is drawn at random", least=0, most=1)
    task: Task | None = None  # of the search, for samples

    @override
    def missing(self) -> list[str]:
        """List scikit-learn where it is not installed."""
        return missing_package("scikit-learn", "sklearn", "learn")

    def informed(self, task: Task) -> Self:
        """Return the same with the task whose exact model gives the samples."""
        return replace(self, task=task)

    @override
    def first(self, lesson: Lesson) -> tuple[Individuals, Any]:
        """Train on samples, where there are any, and choose by them."""
        none = no_individuals(lesson.space), None
        if self.task is None or not self.pretrain:
            return none
        inputs, targets = samples(self.task, lesson.rng, self.pretrain, self.layers)
        if len(targets) < ENOUGH:
            return none
        with one_thread():
            network = trained(inputs, targets, self.epochs, _seed(lesson), (self.width, self.width))
            return self._by(network, lesson), network.plain()

    @override
    def chosen(self, lesson: Lesson) -> tuple[Individuals, Any]:
        """Refine the network, and choose by it."""
        with one_thread():
            network = self._refined(lesson)
            return self._by(network, lesson), network.plain()

    def _refined(self, lesson: Lesson) -> Network:
        """Train the network of the generation before on the history; a new one where there is none."""
        inputs, targets = Columns(lesson.space).inputs(lesson.history.some), lesson.history.targets
        if lesson.own is None:
            return trained(inputs, targets, self.epochs, _seed(lesson), (self.width, self.width))
        before = Network.of_plain(lesson.own)
        shift = float(np.median(targets - before.of(inputs)))
        return trained(inputs, targets - shift, self.refine, _seed(lesson), before)

    def _by(self, network: Network, lesson: Lesson) -> Individuals:
        """Choose the mappings that descents find best."""
        best = lesson.history.best(self.starts // 2)
        others = drawn(lesson.ground, lesson.rng, self.starts - len(best), lesson.history.seen)
        starts = Individuals.joined([best, others])
        if not len(starts):
            return starts
        found = descend(lesson.ground, network, starts, lesson.rng, self.steps, self.rate)
        tried = new_ones(lesson.space, [found.in_turn()], lesson.history.seen)
        return tried.take(slice(round(self.batch * (1 - self.explore))))


def _seed(lesson: Lesson) -> int:
    return int(lesson.rng.integers(2**31))
