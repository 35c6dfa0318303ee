"""`--search surrogate`: a network for the cost, and descent by its gradient (Mind Mappings, Hegde et al. 2021).

The descent is projected on mappings after each step.
"""

from dataclasses import dataclass, replace
from typing import Any, Self, override

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...mapspace import Mapspace, Order
from ...runtime import one_thread
from ...search import Task
from ...search.options import setting
from ...search.variation import Individuals, MappingSampler
from .candidates import ROUNDS, drawn, new_ones
from .history import no_individuals
from .learner import ENOUGH, Learner, LearnerState
from .neural_net import NeuralNet, trained
from .packages import missing_package
from .samples import Columns, samples

PROJECTED = 4  # steps after which a descent goes on from the mapping nearest to its point


@dataclass(frozen=True, eq=False)
class Descended:
    """The mappings nearest to the points of descents, with what the network predicts, and which descent each is of."""

    tried: Individuals
    predicted: Floats  # (tried,)
    descents: Ints  # (tried,)

    def in_turn(self) -> Individuals:
        """Return the best of each descent, the best first; then the second best of each, and so on."""
        order = np.lexsort((self.predicted, self.descents))
        first = np.searchsorted(self.descents[order], self.descents[order])
        turns = np.arange(len(order)) - first
        return self.tried.take(order[np.lexsort((self.predicted[order], turns))])


def descend(
    sampler: MappingSampler,
    neural_net: NeuralNet,
    starts: Individuals,
    rng: np.random.Generator,
    steps: int,
    rate: float,
) -> Descended:
    """Descend from each of `starts`.

    A step moves the bound or score with the steepest gradient by up to `rate`, a bound in log2, and all others in
    proportion. Its length is drawn, so that a descent whose step could not be repaired takes another.
    """
    columns, open_ = Columns(sampler.space), sampler.repair.high > 1
    points = mappings = columns.inputs(starts)
    tried, predicted, descents = [starts], [neural_net.of(points)], [np.arange(len(starts))]
    for step in range(1, steps + 1):
        length = rate * (1 - rng.random((len(points), 1)))
        points = _moved(columns, open_, points, neural_net.gradient(points), length)
        near, of = sampler.repair.fitted_each(_nearest(columns, open_, points, starts), rng, ROUNDS)
        before, mappings = mappings, mappings.copy()
        mappings[of] = columns.inputs(near)
        tried.append(near)
        predicted.append(neural_net.of(mappings[of]))
        descents.append(of)
        if step % PROJECTED == 0:
            points = mappings
        else:
            failed = np.setdiff1d(np.arange(len(points)), of)
            points[failed] = before[failed]
    return Descended(Individuals.joined(tried), np.concatenate(predicted), np.concatenate(descents))


def _moved(columns: Columns, open_: Bools, points: Floats, gradient: Floats, length: Floats) -> Floats:
    """Take a step along the surface on which the bounds of each dim multiply to its size, inside the box of each."""
    n, sizes = len(points), columns.sizes
    along = np.zeros_like(points)
    slopes = np.where(open_, gradient[:, columns.bounds].reshape(n, *open_.shape), 0.0)
    slopes = np.where(open_, slopes - slopes.sum(axis=1, keepdims=True) / np.maximum(1, open_.sum(axis=0)), 0.0)
    along[:, columns.bounds] = slopes.reshape(n, -1)
    along[:, columns.scores] = gradient[:, columns.scores]
    steepest = abs(along).max(axis=1, keepdims=True)
    moved = points - length * along / np.where(steepest > 0, steepest, 1.0)
    bounds = np.clip(moved[:, columns.bounds].reshape(n, -1, len(sizes)), 0.0, sizes)
    moved[:, columns.bounds] = bounds.reshape(n, -1)
    moved[:, columns.scores] = np.clip(moved[:, columns.scores], 0.0, 1.0)
    return moved


def _nearest(columns: Columns, open_: Bools, points: Floats, starts: Individuals) -> Individuals:
    """Round points to bounds and orders; repair makes them mappings. What is kept stays.

    The outermost slot that is open to a dim asks for all of it, so that it takes what those inside leave.
    """
    bounds = np.rint(2.0 ** points[:, columns.bounds]).astype(np.int64).reshape(starts.bounds.shape)
    dims = np.arange(open_.shape[1])
    bounds[:, open_.argmax(axis=0), dims] = columns.space.workload.sizes
    scores = points[:, columns.scores].reshape(starts.order.shape)
    return replace(starts, bounds=bounds, order=_sorted(columns.space, scores, starts.order))


def _sorted(space: Mapspace, scores: Floats, order: Order) -> Order:
    """Sort the free loops of each level by their scores # (individual, level, dim), the highest outermost."""
    order = order.copy()
    for i, level in enumerate(space.orders.levels):
        start, free = len(level.outermost) + len(level.idle), np.array(level.free, np.int8)
        if len(free) > 1:
            by_score = np.argsort(-scores[:, i][:, free], axis=1, kind="stable")
            order[:, i, start : start + len(free)] = free[by_score]
    return order


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
    def first(self, state: LearnerState) -> tuple[Individuals, Any]:
        """Train on samples, where there are any, and choose by them."""
        none = no_individuals(state.space), None
        if self.task is None or not self.pretrain:
            return none
        inputs, targets = samples(self.task, state.rng, self.pretrain, self.layers)
        if len(targets) < ENOUGH:
            return none
        with one_thread():
            neural_net = trained(inputs, targets, self.epochs, _seed(state), (self.width, self.width))
            return self._by(neural_net, state), neural_net.plain()

    @override
    def chosen(self, state: LearnerState) -> tuple[Individuals, Any]:
        """Refine the network, and choose by it."""
        with one_thread():
            neural_net = self._refined(state)
            return self._by(neural_net, state), neural_net.plain()

    def _refined(self, state: LearnerState) -> NeuralNet:
        """Train the network of the generation before on the history; a new one where there is none."""
        inputs, targets = Columns(state.space).inputs(state.history.individuals), state.history.targets
        if state.own is None:
            return trained(inputs, targets, self.epochs, _seed(state), (self.width, self.width))
        before = NeuralNet.of_plain(state.own)
        shift = float(np.median(targets - before.of(inputs)))
        return trained(inputs, targets - shift, self.refine, _seed(state), before)

    def _by(self, neural_net: NeuralNet, state: LearnerState) -> Individuals:
        """Choose the mappings that descents find best."""
        best = state.history.best(self.starts // 2)
        drawn_starts = drawn(state.sampler, state.rng, self.starts - len(best), state.history.seen)
        starts = Individuals.joined([best, drawn_starts])
        if not len(starts):
            return starts
        descended = descend(state.sampler, neural_net, starts, state.rng, self.steps, self.rate)
        tried = new_ones(state.space, [descended.in_turn()], state.history.seen)
        return tried.take(slice(round(self.batch * (1 - self.explore))))


def _seed(state: LearnerState) -> int:
    return int(state.rng.integers(2**31))
