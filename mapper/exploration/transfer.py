"""Mappings of the same layers on other machines: whether one of them is better here than the answer of the search."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...workloads import Document, Network, Workload
from ..bounds.sums import best_choice
from ..mapping import MappingBatch, frontier, read_mapping
from ..model import Costs, evaluate
from ..model.figures import Mapped
from ..problem import OBJECTIVES, ROUNDING, Problem
from ..report import NetworkResult, Result
from ..search import Task
from .inputs import layers_of
from .start_mappings import StartMappings
from .time_slices import NoMapspaceError, Study

MOST = 64  # mappings of a layer that are counted exactly, those of the least objective

Entries = list[dict[str, Any]]  # of a mapping, as JSON has them


@dataclass(frozen=True)
class Transfer:
    """A layer or a network on a machine, its answer, and mappings of its layers that were found elsewhere."""

    study: Study
    own: Mapping[str, Entries]  # by the layer's name; none where the search found none
    donated: Mapping[str, Sequence[Entries]]

    def result(self) -> Result | NetworkResult | None:
        """The answer with the mappings of others in place of its own where the whole is better with them; else None.

        A mapping that is valid here is taken as it is, others are adapted, as those of `--start-from`. The result has
        no proof and no search. None also where a layer has no mapping.
        """
        study, layers = self.study, layers_of(self.study.work)
        groups = [[layers[number] for number in group] for group in study.groups]
        known = [self._known(number, group) for number, group in enumerate(groups)]
        if not all(known):
            return None
        chosen = self._chosen(known, study.counts)
        if not any(chosen) and all(group[0].name in self.own for group in groups):
            return None
        return study.result({number: own[at] for number, (own, at) in enumerate(zip(known, chosen, strict=True))})

    def own_result(self) -> Result | NetworkResult:
        """The answer itself, its mappings counted anew; of a network the layers that have one.

        Raises InputError where an entry is no mapping of its layer.
        """
        layers = enumerate(self.study.problems)
        known = {number: problem for number, problem in layers if problem.workload.name in self.own}
        return self.study.result({number: self._own(problem) for number, problem in known.items()})

    def _own(self, problem: Problem) -> Result:
        entries = self.own[problem.workload.name]
        batch = read_mapping(Document("its mapping", entries, {}), problem.arch, problem.workload)
        return Result(problem, Mapped.of(problem, batch))

    def _known(self, number: int, group: Sequence[Workload]) -> list[Result]:
        """The mapping of a layer, then those of others, counted exactly; none of a layer without a mapspace."""
        study, layer = self.study, group[0]
        try:
            task = study.task(number, study.space(number), study.options)
        except NoMapspaceError:
            return []
        every = [entries for name in dict.fromkeys(one.name for one in group) for entries in self.donated.get(name, ())]
        own = [self._own(task.problem)] if layer.name in self.own else []
        return own + [Result(task.problem, Mapped.of(task.problem, batch)) for batch in self._best(task, every)]

    def _best(self, task: Task, every: Iterable[Entries]) -> list[MappingBatch]:
        """Adapt mappings, and leave out those that others beat; in a network, where sums over layers decide, on both
        energy and cycles."""
        documents = tuple(Document("a mapping of another point", entries, {}) for entries in every)
        batch = StartMappings(documents).adapted(task.space, task.options.seed) if documents else None
        if batch is None:
            return []
        costs = evaluate(batch, task.table, task.charges)
        rows = np.lexsort(_values(task.goal.objectives, costs)[::-1])
        exact = costs.counts.exact[rows]
        if isinstance(self.study.work, Network):
            points = np.stack([costs.cycles, costs.energy_pj], axis=1).astype(np.float64)[rows]
            rows = rows[~exact | frontier(np.where(exact[:, None], points, np.inf))]
        else:
            rows = np.concatenate([rows[exact][:1], rows[~exact]])  # the others may come down when counted exactly
        return [batch.take([row]) for row in rows[:MOST]]

    def _chosen(self, known: Sequence[Sequence[Result]], counts: Sequence[int]) -> list[int]:
        """The place of the best mapping of each layer, 0 for its own; of a network's EDP those best together."""
        names = self.study.options.objectives
        if isinstance(self.study.work, Network) and all(OBJECTIVES[names[0]].powers):
            return best_choice(counts, [[(float(one.cycles), one.energy_pj) for one in own] for own in known])
        chosen = []
        for own in known:
            best = 0
            for at, one in enumerate(own):
                if _less(_figures(names, one), _figures(names, own[best])):
                    best = at
            chosen.append(best)
        return chosen


def _values(names: Sequence[str], costs: Costs) -> list[Any]:
    return [OBJECTIVES[name].of(costs) for name in names]


def _figures(names: Sequence[str], result: Result) -> list[float]:
    return [float(values[0]) for values in _values(names, result.valid_costs)]


def _less(values: Sequence[float], best_values: Sequence[float]) -> bool:
    """Test whether the first objective in which they differ is less."""
    apart = (pair for pair in zip(values, best_values, strict=True) if abs(pair[0] - pair[1]) > ROUNDING * pair[1])
    value, other = next(apart, (0.0, 0.0))
    return value < other
