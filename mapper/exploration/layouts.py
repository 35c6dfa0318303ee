"""Chooses the layout of each tensor in a DRAM together with the mapping: which of its ranks lies innermost."""

from dataclasses import dataclass, field, replace
from itertools import product
from math import inf

import numpy as np

from ...arch import Architecture, Storage
from ...workloads import Fault, Tensor, Workload, option_fault
from ..mapping import MappingBatch
from ..model.figures import Mapped
from ..problem import ROUNDING, Problem
from ..proof import least_below
from ..report import Layout, Layouts, Result
from ..runtime import InternalError
from ..search import Observers, Recorder
from ..search.outcome import Ended, Evidence
from ..searchers import STRATEGIES, stop_rules
from .diagnose import idle_hint
from .layer import Progress
from .time_slices import Study


def layouts_faults(study: Study) -> list[Fault]:
    """Say why no layout can be chosen: it is a proof by one objective about one layer, and some tensor has a choice."""
    options, faults = study.options, list[Fault]()
    strategy = STRATEGIES.get(options.strategy)
    if strategy and not strategy.proves:
        faults.append(option_fault("layouts", f"needs a proof: give --search optimal; got {options.strategy}"))
    if options.cost_model is not None:
        faults.append(option_fault("layouts", "needs a proof, and of a cost model nothing is proven: leave one out"))
    if len(options.objectives) > 1 or options.front:
        got = f"{options.objective} with a front" if options.front else options.objective
        faults.append(option_fault("layouts", f"is about the best by one objective; got {got}"))
    if options.certify:
        rule = "a certificate is about one layout: write the chosen one in the machine's file, and prove that"
        faults.append(option_fault("layouts", rule))
    if options.bound is not None:
        faults.append(option_fault("layouts", "has a bound already: leave --bound out"))
    if options.budget:
        faults.append(option_fault("layouts", "searches layout after layout: give --time-limit, for each of them"))
    if not isinstance(study.work, Workload):
        faults.append(option_fault("layouts", "is about one layer: name it, as NETWORK/LAYER"))
    elif study.arch.levels[0].dram is None:
        faults.append(option_fault("layouts", f"needs a machine with a section dram; {study.arch.name} has none"))
    elif len(_layouts(study.arch.levels[0], study.layers[0])) == 1:
        name = study.layers[0].name
        faults.append(option_fault("layouts", f"has nothing to choose: the layout of every tensor of {name} is given"))
    return faults


def with_layouts(study: Study, result: Result, progress: Progress | None = None) -> Result:
    """Search the layouts other than that of the machine's file, which `result` is of, for a better mapping.

    The layouts of tensors that the file has none of are tried, each rank innermost, those first in which the best
    mapping so far is best. Of each is proven that it has no better mapping, or its best is the best so far. Each has
    the effort and the time limit of the search. Ctrl-C ends it with what is known.
    """
    if result.mapped is None:  # what is valid does not depend on layouts
        return result
    search = Choice(study, result, progress)
    search.run()
    return search.answer


def _layouts(level: Storage, workload: Workload) -> list[Storage]:
    """Return the level with every layout, that of the file first."""
    assert level.dram is not None
    choices = product(*(_choices(level, workload, tensor) for tensor in workload.tensors))
    return [replace(level, dram=level.dram.laid(dict(sum(chosen, ())))) for chosen in choices]


def _choices(level: Storage, workload: Workload, tensor: Tensor) -> list[Layout]:
    """List the layouts of a tensor that put its words into different bursts and rows; the first is that of the file."""
    assert level.dram is not None
    if tensor.name in dict(level.dram.layout):
        return [()]
    different = {level.blocks(workload, tensor): Layout()}
    for rank in reversed(tensor.ranks):
        own: Layout = ((tensor.name, (rank[0].dim,)),)
        laid = replace(level, dram=level.dram.laid(dict(own)))
        different.setdefault(laid.blocks(workload, tensor), own)
    return [*different.values()]


def _with_dram(arch: Architecture, level: Storage) -> Architecture:
    """Return a machine, which may have several levels for a memory, with the DRAM of `level`."""
    return replace(arch, levels=(replace(arch.levels[0], dram=level.dram), *arch.levels[1:]))


@dataclass(eq=False)
class Choice:
    """The running search of the layouts of a layer."""

    study: Study
    given: Result
    progress: Progress | None
    best: Result = field(init=False)  # with its layout in its machine
    least: list[float | None] = field(init=False)  # the lower bound of each layout searched

    def __post_init__(self) -> None:
        self.best, self.least = self.given, [self.given.lower_bound]
        _, *self.waiting = _layouts(self.given.arch.levels[0], self.given.workload)
        self.number = 1 + len(self.waiting)
        self.objective = self.given.problem.goal.minimised[0]
        self.statistics = replace(self.given.statistics, invalid=dict(self.given.statistics.invalid))

    def _value(self, mapped: Mapped | None) -> float:
        """The objective of a mapping."""
        assert mapped is not None
        return mapped.value(self.objective.name)

    def run(self) -> None:
        """Search layout after layout, or until Ctrl-C."""
        try:
            better = True
            while self.waiting and not self.statistics.interrupted:
                if better:
                    self.waiting.sort(key=self._value_in)
                better = self._search(self.waiting[0])
                del self.waiting[0]
        except KeyboardInterrupt:  # between two of them
            self.statistics.stop(Ended.INTERRUPTED)

    def _moved(self, level: Storage) -> tuple[Problem, MappingBatch]:
        """Return the problem with another layout, and the best mapping there."""
        assert self.best.batch is not None
        problem, batch = self.given.problem, self.best.batch.own()
        return (
            replace(problem, arch=_with_dram(problem.arch, level)),
            replace(batch, arch=_with_dram(batch.arch, level)),
        )

    def _value_in(self, level: Storage) -> float:
        """The objective of the best mapping in another layout."""
        return self._value(Mapped.of(*self._moved(level)))

    def _search(self, level: Storage) -> bool:
        """Prove that a layout has no better mapping, or take its best; return whether there is one."""
        problem, near = self._moved(level)
        study, stop, value = self.study, stop_rules(self.study.options), self._value(self.best.mapped)
        study = replace(study, problems=(problem,), starts=(near,))
        options = replace(study.options, effort=stop.effort, time_limit=stop.time_limit)
        task = study.task(0, study.space(0), options)
        outcome = least_below(task, value, near, Observers(self._tell))
        if outcome.best is not None:
            better = Mapped.of(problem, outcome.best)
            if self._value(better) >= value:
                raise InternalError("internal error: a layout's mapping is no better counted exactly; please report it")
            self.best = replace(self.given, problem=problem, mapped=better, hint=idle_hint(task.space, better))
        self.statistics.add(outcome.statistics)
        self.statistics.seconds += outcome.statistics.seconds
        self.statistics.ended = tuple(dict.fromkeys((*self.statistics.ended, *outcome.statistics.ended)))
        if outcome.best is not None:
            self.statistics.trace.append((self.statistics.evaluated, self._value(self.best.mapped)))
        self.least.append(outcome.lower_bound)  # last: until then Ctrl-C leaves the layout open
        return outcome.best is not None

    def _tell(self, recorder: Recorder) -> None:
        """Report how far the proof of a layout is."""
        if self.progress is not None:
            if recorder.proven:
                recorder.proven = f"layout {len(self.least) + 1} of {self.number}: {recorder.proven}"
            self.progress(self.given.workload, recorder)

    @property
    def answer(self) -> Result:
        """The best mapping with its layout, and what is proven of all layouts: of those not searched the ideal."""
        dram, search = self.best.arch.levels[0].dram, self.best.search
        assert dram is not None
        assert search is not None
        value, proven = self._value(self.best.mapped), [bound for bound in self.least if bound is not None]
        lower = min(value, *proven, self._ideal_value) if len(proven) == len(self.least) else None
        return replace(
            self.best,
            search=replace(search, statistics=self.statistics),
            evidence=Evidence(lower, lower is not None and lower >= value * (1 - ROUNDING)),
            layouts=Layouts(dram.layout, self.number, len(self.least), self._value(self.given.mapped)),
        )

    @property
    def _ideal_value(self) -> float:
        """What no mapping is below in a layout not searched; inf where all are."""
        if len(self.least) == self.number:
            return inf
        least = self.given.ideal  # it knows words and no bursts: that of any layout
        return float(self.objective.value(np.array([least.energy_pj]), np.array([least.cycles]))[0])
