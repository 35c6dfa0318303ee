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


def _layouts(level: Storage, workload: Workload) -> list[Layout]:
    """List all layouts, that of the file first."""
    choices = [_choices(level, workload, tensor) for tensor in workload.tensors]
    return [sum(chosen, ()) for chosen in product(*choices)]


def _choices(level: Storage, workload: Workload, tensor: Tensor) -> list[Layout]:
    """List the layouts of a tensor that put its words into different bursts and rows; the first is that of the file."""
    assert level.dram is not None
    if tensor.name in dict(level.dram.layout):
        return [()]
    different = {level.blocks(workload, tensor): Layout()}
    for rank in reversed(tensor.ranks):
        own: Layout = ((tensor.name, (rank[0].dim,)),)
        different.setdefault(_of_level(level, own).blocks(workload, tensor), own)
    return [*different.values()]


def _of_level(level: Storage, layout: Layout) -> Storage:
    """Return a level with a layout of more tensors."""
    assert level.dram is not None
    return replace(level, dram=replace(level.dram, layout=tuple(sorted((*level.dram.layout, *layout)))))


def _of_machine(arch: Architecture, layout: Layout) -> Architecture:
    """Return a machine with a layout of more tensors."""
    return replace(arch, levels=(_of_level(arch.levels[0], layout), *arch.levels[1:]))


@dataclass(eq=False)
class Choice:
    """The running search of the layouts of a layer."""

    study: Study
    given: Result
    progress: Progress | None
    best: tuple[Mapped, Layout] = field(init=False)  # in a single attribute, so that Ctrl-C cannot separate them
    least: list[float | None] = field(default_factory=list)  # the lower bound of each layout searched

    def __post_init__(self) -> None:
        assert self.given.mapped is not None
        self.best, self.least = (self.given.mapped, ()), [self.given.lower_bound]
        arch, workload = self.given.arch, self.given.workload
        _, *self.waiting = _layouts(arch.levels[0], workload)
        self.number = 1 + len(self.waiting)
        self.objective = self.given.problem.goal.minimised[0]
        self.statistics = replace(self.given.statistics, invalid=dict(self.given.statistics.invalid))

    @property
    def value(self) -> float:
        """The objective of the best mapping."""
        return self.best[0].value(self.objective.name)

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

    def _problem(self, layout: Layout) -> Problem:
        return replace(self.given.problem, arch=_of_machine(self.given.arch, layout))

    def _moved(self, layout: Layout) -> MappingBatch:
        """Return the best mapping on the machine with another layout."""
        own, before = self.best[0].batch.own(), self.given.arch.levels[0]
        level = replace(own.arch.levels[0], dram=before.dram)
        arch = replace(own.arch, levels=(level, *own.arch.levels[1:]))
        return replace(own, arch=_of_machine(arch, layout))

    def _value_in(self, layout: Layout) -> float:
        """The objective of the best mapping in another layout."""
        return Mapped.of(self._problem(layout), self._moved(layout)).value(self.objective.name)

    def _search(self, layout: Layout) -> bool:
        """Prove that a layout has no better mapping, or take its best; return whether there is one."""
        study = replace(self.study, problems=(self._problem(layout),), starts=(self._moved(layout),))
        options = replace(study.options, effort=stop_rules(study.options).effort)
        options = replace(options, time_limit=None if options.time_limit == inf else options.time_limit)
        task = study.task(0, study.space(0), options)
        outcome = least_below(task, self.value, self._moved(layout), Observers(self._tell))
        if outcome.best is not None:
            better = Mapped.of(task.problem, outcome.best)
            if better.value(self.objective.name) >= self.value:
                raise InternalError("internal error: a layout's mapping is no better counted exactly; please report it")
            self.best = better, layout
        self.statistics.add(outcome.statistics)
        self.statistics.seconds += outcome.statistics.seconds
        self.statistics.ended = tuple(dict.fromkeys((*self.statistics.ended, *outcome.statistics.ended)))
        if outcome.best is not None:
            self.statistics.trace.append((self.statistics.evaluated, self.value))
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
        assert self.given.mapped is not None
        assert self.given.search is not None
        proven = [bound for bound in self.least if bound is not None]
        lower = min(self.value, *proven, self._ideal_value) if len(proven) == len(self.least) else None
        mapped, layout = self.best
        problem = self._problem(layout)
        dram = problem.arch.levels[0].dram
        assert dram is not None
        layouts = Layouts(
            dram.layout,
            self.number,
            len(self.least),
            self.given.mapped.value(self.objective.name),
        )
        search = replace(self.given.search, statistics=self.statistics)
        evidence = Evidence(lower, lower is not None and lower >= self.value * (1 - ROUNDING))
        return replace(self.given, problem=problem, mapped=mapped, search=search, evidence=evidence, layouts=layouts)

    @property
    def _ideal_value(self) -> float:
        """What no mapping is below in a layout not searched; inf where all are."""
        if len(self.least) == self.number:
            return inf
        least = self.given.ideal  # it knows words and no bursts: that of any layout
        return float(self.objective.value(np.array([least.energy_pj]), np.array([least.cycles]))[0])
