"""Projected gradient descent over mappings, by the gradient of a network (Mind Mappings, Hegde et al. 2021)."""

from dataclasses import dataclass, replace

import numpy as np

from ...mapping import Bools, Floats, Ints
from ...mapspace import Mapspace, Order
from ...search.variation import Ground, Individuals
from .candidates import ROUNDS
from .network import Network
from .samples import Columns

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
    ground: Ground, network: Network, starts: Individuals, rng: np.random.Generator, steps: int, rate: float
) -> Descended:
    """Descend from each of `starts`.

    A step moves the bound or score with the steepest gradient by up to `rate`, a bound in log2, and all others in
    proportion. Its length is drawn, so that a descent whose step could not be repaired takes another.
    """
    columns, open_ = Columns(ground.space), ground.repair.high > 1
    points = mappings = columns.inputs(starts)
    tried, predicted, descents = [starts], [network.of(points)], [np.arange(len(starts))]
    for step in range(1, steps + 1):
        length = rate * (1 - rng.random((len(points), 1)))
        points = _moved(columns, open_, points, network.gradient(points), length)
        near, of = ground.repair.fitted_each(_nearest(columns, open_, points, starts), rng, ROUNDS)
        before, mappings = mappings, mappings.copy()
        mappings[of] = columns.inputs(near)
        tried.append(near)
        predicted.append(network.of(mappings[of]))
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
