"""Whether a slot can hold a dim, from the chains that the limits leave."""

from dataclasses import replace

from .chains import ChainSpace
from .constraints import Limit
from .coupling import Joint
from .mapspace import Mapspace


def can_hold(space: Mapspace, slot: int, dim: int) -> bool:
    """Return whether a mapping of `space`, valid or not, has a bound over 1 of `dim` at `slot`.

    Where bounds are counted in classes it may say so of a dim that an axis is too full for, never the other way round.
    """
    over_one = Limit("bound", slot, "a bound over 1", dim, lo=2)
    rules = replace(space.rules, limits=(*space.rules.limits, over_one))
    if rules.bounds(slot, dim)[1] < 2:
        return False
    chains = [
        ChainSpace(rules.sizes[dim], rules.of_dim(dim, space.width), rules.products(dim)) if d == dim else own
        for d, own in enumerate(space.chains)
    ]
    patterns = [pattern.slots(space.orders.temporal) for pattern in space.keep_choices.patterns]
    return chains[dim].total > 0 and any(Joint(chains, rules.with_loops(*slots)).total for slots in patterns)
