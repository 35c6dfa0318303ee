"""Costs of the mappings of a problem, counted exactly."""

import numpy as np

from ...energy import stacked_table
from ..mapping import MappingBatch
from ..mapspace import violations
from ..model import evaluate, recount, validity
from .problem import Problem

Costs = tuple[float, int]  # energy in pJ, cycles


def exact_costs(problem: Problem, batch: MappingBatch) -> list[Costs | None]:
    """Count each mapping of `batch`; None where it does not fit the machine, or violates its constraints."""
    table = stacked_table(problem.table, batch.arch)
    found: list[Costs | None] = []
    for i in range(len(batch)):
        one = batch.take([i])
        if validity(one)[0] or violations(one):
            found.append(None)
            continue
        costs = evaluate(one, table, problem.costs, recount(one))
        found.append((float(np.ravel(costs.energy_pj)[0]), int(np.ravel(costs.cycles)[0])))
    return found
