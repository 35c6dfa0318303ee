"""Searches and proofs of one mapspace, called as most tests do."""

from ruby_map.mapper import search as _room
from ruby_map.mapper.model import CostOptions
from ruby_map.mapper.search import Task, Watch
from ruby_map.mapper.search import optimal as _proofs


def search(space, table, options, costs=None, progress=None, part=None):
    """The outcome of the strategy that the options name."""
    return _room.search(Task(space, table, options, costs or CostOptions()), Watch(progress, part))


def optimal(space, table, options, costs=None, progress=None, part=None):
    """The outcome of a proof."""
    return _proofs.Proof().run(Task(space, table, options, costs or CostOptions()), Watch(progress, part))


def lower_bound(space, table, options, best, costs=None, progress=None):
    """The outcome of a proof that begins with `best`."""
    return _proofs.lower_bound(Task(space, table, options, costs or CostOptions()), best, Watch(progress))
