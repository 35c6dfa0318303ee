"""A group with its mappings as text, nests with shared loops outside and stages inside, and as JSON values."""

from collections.abc import Iterable
from typing import Any

import yaml

from ...fusion import GroupCosts, StepLayer
from ...mapping import write_mapping
from ..loop_nest import loop_nest

Json = dict[str, Any]
LIVES = {"group": "all steps", "plan": "for other parts, too"}  # how long tensors stay, else inside a loop


def shared_over(dims: Iterable[str]) -> str:
    """Name the groups that a claim is about by the dims that their loops may be over, to follow "no group"."""
    loops = " or ".join(dims)
    return f" whose shared loops are over {loops}" if loops else " without shared loops"


def held_words(costs: GroupCosts) -> dict[str, int]:
    """The most words of each tensor between stages that stand in the keeper, by the stage that makes it."""
    stages = costs.standing.group.stages
    return {
        stages[producer].name: max(map(words.most, range(len(stages))))
        for producer, words in costs.standing.between.items()
    }


def layers_of_stage(costs: GroupCosts, stage: int) -> list[tuple[StepLayer, int]]:
    """The layers that a stage is in steps, each with their number, the most frequent first."""
    own = [(layer, number) for layer, number in costs.layers.items() if layer.stage == stage]
    return sorted(own, key=lambda entry: (-entry[1], entry[0].sizes, entry[0].accumulates))


def group_json(costs: GroupCosts) -> Json:
    """How the layers are executed together."""
    group = costs.standing.group
    return {
        "stages": [stage.name for stage in group.stages],
        "shared": [[dim, tile] for dim, tile in group.shared],
        "keeper": group.keeper,
        "halo": group.halo,
        "life": group.life,
        "held_words": held_words(costs),
    }


def stages_json(costs: GroupCosts) -> list[Json]:
    """The stages with the mappings of the layers that they are in steps."""
    return [
        {"name": stage.name, "layers": [_layer_json(costs, *entry) for entry in layers_of_stage(costs, number)]}
        for number, stage in enumerate(costs.standing.group.stages)
    ]


def _layer_json(costs: GroupCosts, layer: StepLayer, number: int) -> Json:
    mapped = costs.mapped[layer]
    return {
        "steps": number,
        "sizes": dict(zip(costs.standing.group.stages[layer.stage].dims, layer.sizes, strict=True)),
        "accumulates": layer.accumulates,
        "energy_pj": mapped.energy_pj,
        "cycles": int(mapped.cycles),
        "mapping": write_mapping(mapped.batch),
        "nest": loop_nest(mapped.batch).splitlines(),
    }


def group_lines(costs: GroupCosts) -> list[str]:
    """What is shared, what stands in the keeper, and how long."""
    group = costs.standing.group
    shared = ", ".join(f"{dim} {tile:,}" for dim, tile in group.shared) or "none: each stage runs once, as a whole"
    words = [f"{stage} {number:,}" for stage, number in held_words(costs).items()]
    lines = [f"shared       {shared}"]
    if words:
        lines.append(f"{group.keeper:<12} holds what is made by {', '.join(words)} words at most")
    if group.halo:
        lines.append(f"halo         {', '.join(f'{dim} {rule}' for dim, rule in group.halo.items())}")
    stays = [f"{name} ({LIVES.get(life, f'inside {life}')})" for name, life in group.life.items() if life != "stage"]
    return [*lines, f"kept         {', '.join(stays) or 'no other tensor'}"]


def nest_lines(costs: GroupCosts) -> list[str]:
    """The shared loops, and inside the stages, each with the nest of its most frequent steps."""
    lines, depth, group = list[str](), 0, costs.standing.group
    for dim, tile in group.shared:
        lines.append("  " * depth + f"for {dim} in tiles of {tile:,}  # {group.trips(dim):,} steps, shared")
        depth += 1
    for stage in range(len(group.stages)):
        for i, (layer, number) in enumerate(layers_of_stage(costs, stage)):
            lines.append("  " * depth + layer_text(costs, layer, number))
            if not i:
                nest = loop_nest(costs.mapped[layer].batch).splitlines()
                lines += ["  " * (depth + 1) + line for line in nest]
    return lines


def layer_text(costs: GroupCosts, layer: StepLayer, number: int) -> str:
    """Name a stage as it is in some steps: its sizes over 1, and how many steps."""
    stage = costs.standing.group.stages[layer.stage]
    sizes = " ".join(f"{dim}={size}" for dim, size in zip(stage.dims, layer.sizes, strict=True) if size > 1)
    return f"{stage.name}: {sizes}{', adding' if layer.accumulates else ''}  # in {number:,} step{'s'[: number > 1]}"


def plan_yaml(costs: GroupCosts) -> str:
    """The group with its mappings as the text of a plan file, which `ruby-model` reads."""
    group = {key: value for key, value in group_json(costs).items() if key != "held_words"}
    return values_yaml({"group": group, "stages": written_stages(costs)})


def written_stages(costs: GroupCosts) -> list[Json]:
    """The stages as they stand in a plan file: the mappings of the layers that they are in steps, without figures."""
    keys = ("sizes", "accumulates", "mapping")
    return [
        {"name": stage["name"], "layers": [{key: layer[key] for key in keys} for layer in stage["layers"]]}
        for stage in stages_json(costs)
    ]


def values_yaml(values: Json) -> str:
    """The values of a plan file as its text: what holds no other lists or mappings is on one line."""
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=1000)
