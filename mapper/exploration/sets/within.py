"""Searches layers on a machine of which another one allows more, at no higher cost, and was searched before.

A bound proven there holds here. Where the best mapping of there is valid here and costs as much, nothing is left to
search: it is the best here too. Otherwise the search begins with it, made valid.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, override

from ....workloads import Document
from ...mapping import MappingBatch
from ...mapspace import Mapspace
from ...model.figures import Mapped
from ...problem import ROUNDING
from ...report import Json, Result, Searched
from ...runtime import Part
from ...search import Task
from ...search.options import SearchOptions
from ...search.outcome import Ended, Statistics
from ..layer import Progress
from ..start_mappings import StartMappings
from ..time_slices import Study
from ..transfer import Entries


@dataclass(frozen=True)
class KnownLayer:
    """What is known of a layer on a machine that allows more."""

    lower_bound: float  # of the objective
    mapping: Entries | None


@dataclass(frozen=True)
class KnownStudy(Study):
    """A study of layers that were searched before, on a machine that allows more."""

    known: Mapping[str, KnownLayer] = field(default_factory=dict, compare=False)  # by the layer's name

    @override
    def search(
        self, number: int, space: Mapspace, options: SearchOptions, progress: Progress | None, part: Part
    ) -> Result:
        """Search a layer, unless what is known answers it."""
        known = self.known.get(self.problems[number].workload.name)
        task = self.task(number, space, options)
        start = None if known is None or known.mapping is None else _nearest(task, known.mapping)
        if known is None or start is None:
            return super().search(number, space, options, progress, part)
        value, gap = _value(task, start), task.options.limits.gap
        if value * (1 - gap) > known.lower_bound * (1 + ROUNDING):
            beginning = replace(self, starts=self._with(number, start.batch))
            return _at_least(Study.search(beginning, number, space, options, progress, part), known.lower_bound)
        searched = Searched(
            Statistics(ended=(Ended.GIVEN,)),
            self.mapspace,
            options.strategy,
            options.seed,
            space.imperfect,
            space.reason,
        )
        return _at_least(Result(task.problem, start, searched), known.lower_bound)

    def _with(self, number: int, start: MappingBatch) -> tuple[MappingBatch | None, ...]:
        """The mappings that searches begin with, that of one layer put in."""
        starts = self.starts or (None,) * len(self.problems)
        return (*starts[:number], start, *starts[number + 1 :])


def _nearest(task: Task, entries: Entries) -> Mapped | None:
    """Return the best of what a mapping becomes when it is made valid; None where it cannot be."""
    batch = StartMappings((Document("its mapping", entries, {}),)).start(task)
    return None if batch is None else Mapped.of(task.problem, batch.take([0]).own())


def _at_least(result: Result, bound: float) -> Result:
    """A result with what is known of all mappings, where its own proof says less."""
    if result.mapped is None or (result.lower_bound is not None and bound <= result.lower_bound):
        return result
    value = result.mapped.value(result.problem.goal.objectives[0])
    bound = min(bound, value)
    return replace(
        result, evidence=replace(result.evidence, lower_bound=bound, optimal=value <= bound * (1 + ROUNDING))
    )


def _value(task: Task, mapped: Mapped) -> float:
    return mapped.value(task.goal.objectives[0])


def known_layers(result: Json) -> dict[str, KnownLayer]:
    """Read what an object of `--json` says of its layers, as far as something is proven of them, by their names."""
    whole: Any = result
    return {
        layer["workload"]: KnownLayer(layer["lower_bound"], layer.get("mapping"))
        for layer in whole.get("layers", [whole])
        if layer.get("lower_bound") is not None
    }
