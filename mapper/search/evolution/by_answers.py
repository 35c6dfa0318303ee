"""`--search evolve` with a cost model: small populations, one after the other, that its answers select."""

from dataclasses import replace
from math import inf

from ..outcome import Ended
from ..rounds import Rounds
from ..strategy import Task
from .grounds import Grounds
from .population import Population, Sizes
from .populations import Populations

SMALL = Sizes(32, 32)  # an answer may take seconds


def evolved_by_answers(task: Task) -> Rounds:
    """Evolve populations by the values that come back, until new ones bring nothing."""
    grounds = Grounds(replace(task, options=replace(task.options, front="")))
    every, best = Populations(grounds), inf
    while not every.settled:
        population = Population(grounds, every.number, SMALL)
        while not population.over:
            some = population.propose()
            values = yield some.batch(task.space)
            best = min(best, float(values.min()))
            population.settle(some, values[:, None])
        every.end(best)
    return Ended.SETTLED
