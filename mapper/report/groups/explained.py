"""Why the figures of a group are what they are: the boxes of its stages step by step, what stays, what moves, sums."""

from collections.abc import Callable, Iterator

from ...fusion import GroupCosts, Interval, LoopWords, OuterLoop
from ...mapping import MappingBatch
from .group_text import layer_text, layers_of_stage

FIRST = 3  # steps that are written, and the last


def group_explanation(costs: GroupCosts, layer_explanation: Callable[[MappingBatch], str]) -> list[str]:
    """Explain the figures of a group, line by line; `layer_explanation` explains the counts of one mapping."""
    lines = [*_steps(costs), *_boxes(costs), *_between(costs), *_kept(costs), *_sums(costs)]
    for stage in range(len(costs.standing.group.stages)):
        for layer, number in layers_of_stage(costs, stage):
            lines += ["", layer_text(costs, layer, number) + ", in each"]
            lines += ["  " + line for line in layer_explanation(costs.mapped[layer].batch).splitlines()]
    return lines


def _steps(costs: GroupCosts) -> Iterator[str]:
    group = costs.standing.group
    loops = [f"{dim}: {group.stages[-1].size(dim):,} / {tile:,} -> {group.trips(dim):,}" for dim, tile in group.shared]
    product = " x ".join(f"{group.trips(dim):,}" for dim in group.loops)
    yield f"steps: {product} = {costs.standing.steps:,}   ({', '.join(loops)})" if loops else "steps: 1"


def _boxes(costs: GroupCosts) -> Iterator[str]:
    """What each stage computes along the dims that move, and how often."""
    group = costs.standing.group
    for stage, box in zip(group.stages, costs.standing.boxes, strict=True):
        yield f"{stage.name} computes"
        for dim, own in box.dims.items():
            if own.loop is not None:
                size, words = stage.size(dim), int(own.lengths.sum())
                again = f", {words - size:,} of them again" if words > size else ""
                yield f"  {dim}, moved by {own.loop}: {_shown(own)} = {words:,} of {size:,}{again}"
        for loop in sorted(box.once):
            yield f"  in the first step over {loop} alone: what it makes is retained"
        for layer, number in layers_of_stage(costs, group.stages.index(stage)):
            yield f"  {layer_text(costs, layer, number)}"


def _shown(own: Interval) -> str:
    """The intervals of the first steps and the last, from:to with the end left out."""
    ends = [f"{low}:{high}" for low, high in zip(own.low.tolist(), own.high.tolist(), strict=True)]
    return " ".join(ends if len(ends) <= FIRST + 1 else [*ends[:FIRST], "...", ends[-1]])


def _between(costs: GroupCosts) -> Iterator[str]:
    """What stands in the keeper of each tensor between stages."""
    group = costs.standing.group
    for producer, words in costs.standing.between.items():
        stage = group.stages[producer]
        yield f"{stage.name}.{stage.output.name} in {group.keeper}, {words.still:,} words along dims that no loop moves"
        for loop, own in zip(group.loops, words.loops, strict=True):
            yield f"  along {loop}: {_loop_words(own)}, {group.halo[loop]}"
        for number, other in enumerate(group.stages):
            if most := words.most(number):
                yield f"  at most {most:,} words while {other.name} runs"


def _loop_words(own: LoopWords) -> str:
    new, stays = own.new.tolist(), (own.inside + own.beginning).tolist()
    return f"{new[0]:,} words are new in the first step, {max(new[1:], default=0):,} in others, {max(stays):,} stay"


def _kept(costs: GroupCosts) -> Iterator[str]:
    """What moves of each kept tensor."""
    standing = costs.standing
    group = standing.group
    for (number, name), kept in standing.kept.items():
        stage, box, depth = group.stages[number], standing.boxes[number], group.depths[number, name]
        ranks = [box.along(rank) for rank in next(own.ranks for own in stage.tensors if own.name == name)]
        yield f"{stage.name}.{name} stays in {group.keeper}, {kept.most:,} words at most, {kept.moved:,} come in"
        for loop in group.loops[:depth]:
            along = next((own for own in ranks if own.loop == loop), None)
            own = OuterLoop.of(along, box.running(loop, group.trips(loop)))
            advance, anew = f"{own.stays:,} are in place as it advances", f"{own.turn:,} as it begins anew"
            yield f"  along {loop}, outside: tiles of {own.sizes:,} words together, {advance}, {anew}"


def _sums(costs: GroupCosts) -> Iterator[str]:
    """Energy and cycles as sums."""
    energies = [f"{number:,} x {costs.mapped[layer].energy_pj:,.6g}" for layer, number in costs.layers.items()]
    cycles = [f"{number:,} x {int(costs.mapped[layer].cycles):,}" for layer, number in costs.layers.items()]
    for what, energy, waits in (
        ("kept tensors", costs.transfer_pj, costs.transfer_cycles),
        ("operators", costs.pass_pj, costs.pass_cycles),
    ):
        if energy or waits:
            energies.append(f"{energy:,.6g} ({what})")
            cycles.append(f"{waits:,} ({what})")
    yield f"energy = {' + '.join(energies)} = {costs.energy_pj:,.6g} pJ"
    yield f"cycles = {' + '.join(cycles)} = {costs.cycles:,}"
