"""The result of a search of pipelines: printed, and as the object of `--json`."""

from dataclasses import dataclass, field
from typing import Any, override

from ...mapping import write_mapping
from ...networks import Cores, PartCosts, Pipeline, PlacedPart, Stage
from ...problem import ROUNDING, Goal, at_most
from ...search.outcome import Statistics
from ..loop_nest import loop_nest
from ..network_result import NetworkResult
from ..tables import TextTable, energy_unit, with_article

Json = dict[str, Any]
MOST_NAMES = 3  # of a stage, in text


@dataclass(frozen=True, eq=False)
class PipelineResult:
    """The best pipeline that was found, what none is below, and all layers in turn on all cores."""

    network: str
    cores: Cores
    items: int
    goal: Goal
    mapspace: str
    seed: int
    whole: NetworkResult  # the layers on all cores
    alone: Pipeline | None = None  # all in turn on all cores, item after item; None: some layer has no mapping there
    best: Pipeline | None = None
    least: float = 0.0  # no pipeline is below it by the objective
    statistics: Statistics = field(default_factory=Statistics)
    searched: int = 0  # prices of parts that were bounded or searched

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a search."""
        return self.statistics.interrupted or self.whole.statistics.interrupted

    @property
    def gap(self) -> float | None:
        """The share by which some pipeline may be below the best."""
        if self.best is None:
            return None
        value = self._value(self.best)
        return max(0.0, 1 - self.least / value) if value else 0.0

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no pipeline is better."""
        return self.gap is not None and self.gap <= ROUNDING

    @property
    def saved(self) -> float | None:
        """The share of the objective of all in turn that the pipeline saves."""
        if self.best is None or self.alone is None:
            return None
        before = self._value(self.alone)
        return 1 - self._value(self.best) / before if before else 0.0

    def _value(self, own: Pipeline) -> float:
        return float(self.goal.minimised[0].value(own.energy_pj, float(own.cycles)))

    def json(self) -> Json:
        """Write it as the object of `--json`; figures are null where some layer has no mapping."""
        best = self.best
        return {
            "arch": self.cores.arch.name,
            "network": self.network,
            "mapspace": self.mapspace,
            "objective": self.goal.text,
            "seed": self.seed,
            "axis": self.cores.axis.name,
            "cores": self.cores.axis.size,
            "items": self.items,
            **({"edp": None, "energy_pj": None, "cycles": None} if best is None else _figures(best)),
            "fill_cycles": None if best is None else best.fill,
            "item_cycles": None if best is None else best.slowest,
            "leakage_pj": None if best is None else best.leakage_pj,
            "optimal": self.optimal,
            "lower_bound": None if best is None else self.least,
            "gap": self.gap,
            "in_turn": None if self.alone is None else _figures(self.alone),
            "saved": self.saved,
            "stages": [] if best is None else [_stage_json(stage) for stage in best.stages],
            "search": {
                "seconds": self.statistics.seconds + self.whole.statistics.seconds,
                "steps": self.statistics.steps + self.whole.statistics.steps,
                "searched": self.searched,
                "stopped_by": self.statistics.stopped_by or self.whole.statistics.stopped_by,
            },
        }

    @override
    def __str__(self) -> str:
        """The stages, the figures beside those of all in turn, and what is proven."""
        arch, axis = self.cores.arch.name, self.cores.axis
        title = (
            f"pipeline     {self.network} on {arch}, {axis.size} of {axis.name}, {self.items:,} items, {self.mapspace}"
        )
        if self.best is None or self.alone is None:
            without = [layer.workload.name for layer, _ in self.whole.layers if not layer.found]
            if not without:
                return f"{title}\n\nnone: the layers were not searched; stopped by: {self.whole.statistics.stopped_by}"
            return f"{title}\n\nnone: without a mapping on all cores are {', '.join(without)}"
        return "\n".join([title, "", str(_stage_table(self.best)), "", *self._lines(self.best, self.alone)])

    def _lines(self, best: Pipeline, alone: Pipeline) -> list[str]:
        objective, lines = self.goal.minimised[0], []
        for name, own in (("in turn", alone), ("pipeline", best)):
            unit, size = energy_unit(own.energy_pj)
            figures = f"{own.cycles:,} cycles, {own.energy_pj / size:,.5g} {unit}"
            lines.append(f"{name:<12} {objective.short} {self._value(own):.5g} {objective.unit}; {figures}")
        lines.append(f"saved        {self.saved or 0.0:.1%} of the {objective.short}")
        lines.append(f"time         the first item after {best.fill:,} cycles, then one every {best.slowest:,}")
        proven = f"no pipeline has a lower {objective.short}"
        if not self.optimal:
            proven = f"no pipeline has {with_article(objective.short)} more than {at_most(self.gap or 0.0)} lower"
        lines.append(f"proof        {proven}")
        how = f"{self.searched:,} prices of parts bounded or searched; {self.statistics.seconds:.2f} s"
        return [*lines, f"search       {how}; ended by: {self.statistics.stopped_by}"]


def _figures(own: Pipeline) -> Json:
    return {"edp": own.edp, "energy_pj": own.energy_pj, "cycles": own.cycles}


def _stage_table(best: Pipeline) -> TextTable:
    """A row for each stage, with what an item takes in it."""
    unit, size = energy_unit(max(stage.energy_pj for stage in best.stages))
    rows = []
    for number, stage in enumerate(best.stages, 1):
        busy = f"{stage.cycles / best.slowest:.0%}" if best.slowest else ""
        figures = [f"{stage.cycles:,}", f"{stage.energy_pj / size:,.4g}"]
        rows.append([str(number), _names(stage), str(stage.cores), *figures, busy])
    title = "stages; cycles and energy of an item, without leakage; busy: while items follow each other"
    return TextTable(["stage", "parts", "cores", "cycles", f"energy\n[{unit}]", "busy"], rows, left=(1,), title=title)


def _names(stage: Stage) -> str:
    names = [name for placed in stage.placed for name in placed.part.names]
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{names[0]}, ..., {names[-1]} ({len(names)})"


def _stage_json(stage: Stage) -> Json:
    return {
        "cores": stage.cores,
        "energy_pj": stage.energy_pj,
        "cycles": stage.cycles,
        "parts": [_part_json(*own) for own in zip(stage.placed, stage.costs, strict=True)],
    }


def _part_json(placed: PlacedPart, costs: PartCosts) -> Json:
    mapped = [] if costs.layers is None else list(costs.layers.mapped.values())
    return {
        "layers": list(placed.part.layers),
        "operations": list(placed.part.operations),
        "energy_pj": costs.energy_pj,
        "cycles": costs.cycles,
        "mapping": write_mapping(mapped[0].batch) if mapped else [],
        "nest": loop_nest(mapped[0].batch).splitlines() if mapped else [],
    }
