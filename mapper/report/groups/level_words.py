"""What a group reads and writes at each level in all steps, by stage and tensor, and what each part of it costs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ....arch import unstacked
from ...fusion import GroupCosts, Pass, StepLayer, Transfer, layer_passes
from ...model import Counts
from ..tables import TextTable, energy_unit
from .group_text import Json, layers_of_stage

FIGURES = ("reads", "fills", "updates")
Words = dict[tuple[str, str, str], list[int]]  # level, stage, tensor -> reads, fills, updates


def level_words(costs: GroupCosts) -> Words:
    """Add up the words of all steps: of mappings, kept tensors and operators."""
    steps = ((layer, number, costs.mapped[layer].costs.counts) for layer, number in costs.layers.items())
    words = words_of_steps(costs, steps)
    for (stage, _), own in zip(costs.standing.kept, costs.transfers, strict=True):
        add_transfer(words, costs, stage, own)
    for layer, number in costs.layers.items():
        sizes = dict(zip(costs.standing.group.stages[layer.stage].dims, layer.sizes, strict=True))
        for passed in layer_passes(costs.standing.group, costs.standing.level, layer):
            add_pass(words, costs, layer.stage, passed, number * passed.words(sizes))
    return {place: own for place, own in words.items() if any(own)}


def words_of_steps(costs: GroupCosts, steps: Iterable[tuple[StepLayer, int, Counts]]) -> Words:
    """Add up the words of mappings, each of so many steps; counts are by memory."""
    words: Words = defaultdict(lambda: [0, 0, 0])
    for layer, number, counts in steps:
        stage, batch = costs.standing.group.stages[layer.stage], costs.mapped[layer].batch
        for i, level in enumerate(unstacked(batch.arch).levels):
            for v, tensor in enumerate(stage.tensors):
                own = np.array([getattr(counts, figure)[0, i, v] for figure in FIGURES]).astype(object)
                total = words[level.name, stage.name, tensor.name]
                total[:] = [before + number * int(new) for before, new in zip(total, own, strict=True)]
    return words


def add_transfer(words: Words, costs: GroupCosts, stage: int, moved: Transfer) -> None:
    """Add the words of a kept tensor at the outermost level and at the keeper."""
    levels, name = costs.standing.arch.levels, costs.standing.group.stages[stage].name
    outer = words[levels[0].name, name, moved.tensor.name]
    outer[:] = [outer[0] + moved.reads, outer[1], outer[2] + moved.updates]
    keeper = words[levels[costs.standing.level].name, name, moved.tensor.name]
    drained = moved.drains if costs.charges.drain_reads else 0
    keeper[:] = [keeper[0] + drained, keeper[1] + moved.fills, keeper[2]]


def add_pass(words: Words, costs: GroupCosts, stage: int, passed: Pass, places: int) -> None:
    """Add what an operator reads and writes at so many places."""
    name = costs.standing.group.stages[stage].name
    own = words[costs.standing.arch.levels[passed.level].name, name, passed.tensor.name]
    writes = passed.writes * places
    own[:] = [
        own[0] + passed.reads * places,
        own[1] + writes * (passed.level > 0),
        own[2] + writes * (not passed.level),
    ]


def words_json(words: Mapping[tuple[str, str, str], Sequence[int]]) -> dict[str, dict[str, Json]]:
    """Write them by level and stage.tensor."""
    levels: dict[str, dict[str, Json]] = {}
    for (level, stage, tensor), own in words.items():
        levels.setdefault(level, {})[f"{stage}.{tensor}"] = dict(zip(FIGURES, own, strict=True))
    return levels


def group_words_json(costs: GroupCosts) -> dict[str, dict[str, Json]]:
    """Write the words of a group at each level, by level and stage.tensor."""
    return words_json(level_words(costs))


def words_table(costs: GroupCosts) -> TextTable:
    """Tabulate them, the outermost level first."""
    order = {level.name: i for i, level in enumerate(costs.standing.arch.levels)}
    rows = sorted(level_words(costs).items(), key=lambda row: order[row[0][0]])
    cells = [[level, f"{stage}.{tensor}", *(f"{own:,}" for own in counts)] for (level, stage, tensor), counts in rows]
    shown = [["" if i and row[0] == cells[i - 1][0] else row[0], *row[1:]] for i, row in enumerate(cells)]
    return TextTable(["level", "tensor", *FIGURES], shown, left=(0, 1))


def parts_table(costs: GroupCosts) -> TextTable:
    """Tabulate energy and cycles of each stage, of kept tensors and of operators, in all steps."""
    parts = []
    for number, stage in enumerate(costs.standing.group.stages):
        own = [(steps, costs.mapped[layer]) for layer, steps in layers_of_stage(costs, number)]
        energy = sum(steps * mapped.energy_pj for steps, mapped in own)
        parts.append((stage.name, sum(n for n, _ in own), energy, sum(n * int(mapped.cycles) for n, mapped in own)))
    beside = [
        ("kept tensors", costs.transfer_pj, costs.transfer_cycles),
        ("operators", costs.pass_pj, costs.pass_cycles),
    ]
    parts += [(name, 0, energy, cycles) for name, energy, cycles in beside if energy or cycles]
    unit, size = energy_unit(costs.energy_pj)
    rows = [
        [
            *(name, f"{steps:,}" if steps else "", f"{energy / size:,.4g}", _share(energy, costs.energy_pj)),
            *(f"{cycles:,}", _share(cycles, costs.cycles)),
        ]
        for name, steps, energy, cycles in parts
    ]
    return TextTable(["part", "steps", f"energy [{unit}]", "share", "cycles", "share"], rows, left=(0,))


def _share(part: float, total: float) -> str:
    return f"{part / total:.1%}" if total else ""
