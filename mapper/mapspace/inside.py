"""Which mappings of any batch a mapspace has."""

import numpy as np

from ..mapping import Bools, Ints, MappingBatch
from .mapspace import Mapspace
from .orders import LevelOrder, Order
from .placement import sorted_placement


def inside(space: Mapspace, batch: MappingBatch) -> MappingBatch:
    """Return the mappings of `batch` that the mapspace has, in turn and in the form that it gives them.

    Where loops of bound 1 stand makes no difference. Architecture and workload are those of `space`, perhaps by
    other names.
    """
    bounds, order = batch.factors, batch.order.copy()
    for level, (slot, own) in enumerate(zip(space.orders.temporal, space.orders.levels, strict=True)):
        order[:, level] = _arranged(own, order[:, level], bounds[:, slot] > 1)
    every = MappingBatch.of(space.arch, space.workload, bounds, order, batch.keep)
    every, numbers = sorted_placement(space, every), list[int]()
    for i in range(len(every)):
        try:
            numbers += space.index(every.take([i]))
        except ValueError:  # a bound, an order or what is kept is not allowed
            continue
    return space.at(numbers)


def _arranged(own: LevelOrder, order: Order, over_one: Bools) -> Order:
    """Bring loops to the places that constraints give them, where only loops of bound 1 pass others.

    `order` # (mapping, position), `over_one` # (mapping, dim).
    """
    place = np.zeros(own.dims, np.int64)  # (dim,)
    place[list(own.outermost)] = np.arange(len(own.outermost)) - len(own.outermost)
    place[list(own.innermost)] = np.arange(len(own.innermost)) + 1
    wanted = np.take_along_axis(order, np.argsort(place[order], axis=1, kind="stable"), axis=1)
    same = (_over_one(order, over_one) == _over_one(wanted, over_one)).all(axis=1)
    return np.where(same[:, None], wanted, order)


def _over_one(order: Order, over_one: Bools) -> Ints:
    """The loops over 1 in their order, then -1 for the others. # (mapping, position)"""
    over = np.take_along_axis(over_one, order.astype(np.int64), axis=1)
    loops = np.where(over, order, -1)
    return np.take_along_axis(loops, np.argsort(~over, axis=1, kind="stable"), axis=1)
