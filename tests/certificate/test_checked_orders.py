"""The checker's verdict on a single combination of chains, against every loop order: settled where none is better."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ruby_map.mapper.certificate.checker.orders import Orders
from ruby_map.mapper.certificate.checker.problem import Problem
from ruby_map.mapper.model.cost import evaluate, validity
from ruby_map.mapper.model.recount import recount

from ..conftest import DEEP
from ..search.test_slow_orders import every_order, mappings_on_slow_machines


def chains_of(problem, mapping):
    """The number of the mapping's chain of each dim among the checker's own. # (1, dim)"""
    rows = []
    for d, dim in enumerate(problem.chains):
        bounds = mapping.tables[d].bounds[mapping.rows[0, d]]
        (found,) = np.flatnonzero((dim.bounds == bounds).all(axis=1))
        rows.append(int(found))
    return np.array([rows])


@settings(max_examples=2_000 if DEEP else 30)
@given(mappings_on_slow_machines(), st.booleans())
def test_settled_where_no_order_is_better(example, by_cycles):
    """By the least of all orders it is settled, and not by any more."""
    space, table, costs, mapping = example
    assume(not validity(mapping).any())
    problem = Problem(space.arch, space.workload, table, space.remainders, costs)
    exact = [evaluate(one, table, costs, recount(one)) for one in every_order(space, mapping)]
    every = [float((each.cycles if by_cycles else each.energy_pj)[0]) for each in exact]
    least, steps = min(every), np.array([float(exact[0].counts.cycles[0])])
    assume(least > 0)
    orders = Orders(problem, mapping.keep[0], chains_of(problem, mapping))

    def by(limit):
        return orders.settled(lambda energy_pj, cycles: (cycles if by_cycles else energy_pj) >= limit, steps)[0]

    assert by(least * (1 - 1e-9))
    assert not by(least * (1 + 1e-6))
