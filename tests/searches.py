"""Searches and proofs of one mapspace, called as most tests do."""

from contextlib import contextmanager

import pytest
from ruby_map.mapper import proof as _proofs
from ruby_map.mapper import searchers as _room
from ruby_map.mapper.certificate.checker import cover as _cover
from ruby_map.mapper.problem import Charges
from ruby_map.mapper.proof import initial_evolution as _first_look
from ruby_map.mapper.proof import policy as _policy
from ruby_map.mapper.search import Observers, Task
from ruby_map.mapper.search.evolution import population as _population


def search(space, table, options, costs=None, progress=None, part=None):
    """The outcome of the strategy that the options name."""
    return _room.search(Task.of(space, table, options, costs or Charges()), Observers(progress, part))


def optimal(space, table, options, costs=None, progress=None, part=None):
    """The outcome of a proof."""
    return _proofs.Proof().run(Task.of(space, table, options, costs or Charges()), Observers(progress, part))


def lower_bound(space, table, options, best, costs=None, progress=None):
    """The outcome of a proof that begins with `best`."""
    return _proofs.lower_bound(Task.of(space, table, options, costs or Charges()), best, Observers(progress))


@contextmanager
def a_poor_beginning():
    """Proofs that evolve next to nothing: branch and bound must find the optimum itself."""
    with pytest.MonkeyPatch.context() as patch:
        begin_poorly(patch)
        yield patch


def begin_poorly(patch):
    """The same with the monkeypatch of a test."""
    patch.setattr(_population, "SIZES", _population.Sizes(128, 3))
    patch.setattr(_first_look, "FIRST_LOOK", 1)
    patch.setattr(_first_look, "MORE", 0)
    patch.setattr(_policy, "EVOLVED", 0.0)


@contextmanager
def few_are_many():
    """The checker of certificates has coarse columns first, however few chains there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_cover, "MANY", 0)
        yield


def done(work):
    """What a work in pieces returns; between the pieces nothing is done."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
