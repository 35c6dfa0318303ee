"""The counts of a group beside those of its executor."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import override

from ...fusion import GroupCosts, KeptTensor, Pass, StepLayer, Transfer, layer_passes
from ...fusion.executor import Executed
from ...model.figures import counts_by_memory
from ..tables import table_text
from .group_text import Json
from .level_words import FIGURES, Words, add_pass, add_transfer, level_words, words_of_steps


@dataclass(frozen=True)
class Figure:
    """One figure of a group by the model and by the executor."""

    place: str  # a stage, a level or a memory
    of: str
    name: str
    model: int
    executor: int


@dataclass(frozen=True, eq=False)
class Comparison:
    """All figures of a group, and whether the values that it computes are those of its layers one by one."""

    figures: tuple[Figure, ...]
    values_equal: bool

    @property
    def different(self) -> int:
        """How many figures differ."""
        return sum(own.model != own.executor for own in self.figures)

    def json(self) -> Json:
        """Write the executor's figures, and whether all are equal."""
        rows = [{"place": own.place, "of": own.of, "figure": own.name, "value": own.executor} for own in self.figures]
        return {"figures": rows, "equal": not self.different, "values_equal": self.values_equal}

    @override
    def __str__(self) -> str:
        """Tabulate both side by side; a figure that differs is marked."""
        lines = [
            [own.place, own.of, own.name, f"{own.model:,}", f"{own.executor:,}",
             "" if own.model == own.executor else f"{own.model - own.executor:+,}"]
            for own in self.figures
        ]  # fmt: skip
        head = ["where", "of", "figure", "model", "executor", "difference"]
        number = len(self.figures)
        counted = (
            f"{self.different} of {number} figures differ" if self.different else f"all {number} figures are equal"
        )
        values = "values are" if self.values_equal else "values are NOT"
        return f"{table_text(head, lines, left=(0, 1, 2))}\n{counted}; {values} those of the layers one by one"


def compared(costs: GroupCosts, executed: Executed, *, values_equal: bool) -> Comparison:
    """Compare a group's figures with those of its executor, which executed each stage by its mapping, too."""
    figures = [*_steps(costs, executed), *_words(costs, executed), *_held(costs, executed)]
    return Comparison(tuple(figures), values_equal)


def _steps(costs: GroupCosts, executed: Executed) -> Iterator[Figure]:
    """The steps in which each stage is each layer, and their cycles without those of bandwidths."""
    stages = costs.standing.group.stages
    for layer in dict.fromkeys([*costs.layers, *executed.layers]):
        stage = stages[layer.stage]
        sizes = " ".join(f"{dim}={size}" for dim, size in zip(stage.dims, layer.sizes, strict=True) if size > 1)
        adds = ", adding" if layer.accumulates else ""
        yield Figure(
            stage.name, f"{sizes or 'one word'}{adds}", "steps", costs.layers.get(layer, 0), executed.layers[layer]
        )
    for number, stage in enumerate(stages):
        own = [layer for layer in executed.counts if layer.stage == number]
        modelled = sum(costs.layers[layer] * int(costs.mapped[layer].costs.counts.cycles[0]) for layer in own)
        true = sum(executed.layers[layer] * int(executed.counts[layer].cycles[0]) for layer in own)
        yield Figure(stage.name, "", "cycles of loops", modelled, true)


def _words(costs: GroupCosts, executed: Executed) -> Iterator[Figure]:
    """The words at each level, of mappings, kept tensors and operators together."""
    true = _executed_words(costs, executed)
    model = level_words(costs)
    for place in dict.fromkeys([*model, *(place for place, own in true.items() if any(own))]):
        level, stage, tensor = place
        rows = zip(FIGURES, model.get(place, [0, 0, 0]), true.get(place, [0, 0, 0]), strict=True)
        for name, modelled, counted in rows:
            if modelled or counted:
                yield Figure(level, f"{stage}.{tensor}", name, modelled, counted)


def _executed_words(costs: GroupCosts, executed: Executed) -> Words:
    steps = []
    for layer, number in executed.layers.items():
        if layer in executed.counts:
            counts = executed.counts[layer]
            counts = counts.with_drains() if costs.charges.drain_reads else counts
            steps.append((layer, number, counts_by_memory(counts, costs.mapped[layer].batch.arch)))
    words = words_of_steps(costs, steps)
    for key in costs.standing.kept:
        kept = KeptTensor(executed.most[key], executed.moved[key], executed.distinct[key])
        tensor = next(own for own in costs.standing.group.stages[key[0]].tensors if own.name == key[1])
        add_transfer(words, costs, key[0], Transfer.of(tensor, kept))
    for stage, passed, places in _executed_passes(costs, executed):
        add_pass(words, costs, stage, passed, places)
    return words


def _executed_passes(costs: GroupCosts, executed: Executed) -> Iterator[tuple[int, Pass, int]]:
    """Each pass of operators with the places that the executor counted of it."""
    group, seen = costs.standing.group, dict[tuple[int, Pass], StepLayer]()
    for layer in costs.layers:
        for passed in layer_passes(group, costs.standing.level, layer):
            seen.setdefault((layer.stage, passed), layer)
    last = len(group.stages) - 1
    for (stage, passed), layer in seen.items():
        if passed.tensor == group.stages[stage].output:
            yield stage, passed, executed.passed[stage] if stage < last else executed.rescaled
        else:
            yield stage, passed, executed.rows[layer.accumulates]


def _held(costs: GroupCosts, executed: Executed) -> Iterator[Figure]:
    """The most words that stand in the keeper while each stage runs, and the largest tiles of kept tensors."""
    standing = costs.standing
    stages, keeper = standing.group.stages, standing.group.keeper
    for producer, words in standing.between.items():
        for number, stage in enumerate(stages):
            true = executed.between[producer, number]
            output = f"{stages[producer].name}.{stages[producer].output.name}"
            yield Figure(keeper, output, f"most words while {stage.name} runs", words.most(number), true)
    most: Mapping[tuple[int, str], int] = executed.most
    for (number, name), kept in standing.kept.items():
        yield Figure(keeper, f"{stages[number].name}.{name}", "most words", kept.most, most[number, name])
