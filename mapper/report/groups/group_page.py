"""mapping.html of a group: its tiles as they move through the stages, step by step; the page is group_page.html."""

import json
from importlib.resources import files

from ...fusion import Between, GroupCosts, HeldWords, Interval
from ..loop_nest import loop_nest
from ..pictures import GREY, PALETTE
from .group_text import Json, group_lines, layers_of_stage


def group_html(costs: GroupCosts, above: str = "", link: str = "") -> str:
    """Fill the page with a group: one file, which asks for no other.

    `above`: what the group is of, with the address of its page. The page has the intervals of all stages along each
    shared loop, and puts the boxes of a step together by itself.
    """
    page = (files(__package__) / "group_page.html").read_text(encoding="utf-8")
    # inside a script element only its end tag and comments could be misread
    data = json.dumps(_data(costs) | {"above": above, "link": link}, allow_nan=False).replace("<", "\\u003c")
    return page.replace(">DATA<", f">{data}<", 1)


def _data(costs: GroupCosts) -> Json:
    standing = costs.standing
    group, level = standing.group, standing.arch.levels[standing.level]
    return {
        "title": f"{' + '.join(stage.name for stage in group.stages)} on {standing.arch.name}",
        "facts": [
            ["cycles", f"{costs.cycles:,}"],
            ["energy", f"{costs.energy_pj / 1e6:,.5g} \N{MICRO SIGN}J"],
            ["EDP", f"{costs.edp:.5g} pJ cycles"],
            *([text[:12].strip(), text[13:]] for text in group_lines(costs)),
        ],
        "keeper": group.keeper,
        "capacity": level.usable_bits,
        "loops": [{"dim": dim, "tile": tile, "trips": group.trips(dim)} for dim, tile in group.shared],
        "stages": [_stage(costs, number) for number in range(len(group.stages))],
        "between": [_between(costs, *entry) for entry in standing.between.items()],
        "kept": [
            {"name": f"{group.stages[stage].name}.{name}", "bits": kept.most * standing.bits(stage, name)}
            for (stage, name), kept in standing.kept.items()
        ],
        "reserved": list(group.reserved or (0,) * len(group.stages)),
        "statistics": standing.statistics_bits,
        "palette": list(PALETTE),
        "grey": GREY,
    }


def _stage(costs: GroupCosts, number: int) -> Json:
    """A stage: its dims with their intervals, the ranks of its output, and its nests."""
    group, box = costs.standing.group, costs.standing.boxes[number]
    stage = group.stages[number]
    layers = [
        {
            "sizes": list(layer.sizes),
            "adds": layer.accumulates,
            "steps": steps,
            "nest": loop_nest(costs.mapped[layer].batch).splitlines(),
        }
        for layer, steps in layers_of_stage(costs, number)
    ]
    return {
        "name": stage.name,
        "output": f"{stage.name}.{stage.output.name}",
        "dims": [
            {"name": dim, "size": size} | _interval(costs, box.dims[dim])
            for dim, size in zip(stage.dims, stage.sizes, strict=True)
        ],
        "ranks": [stage.dims.index(rank[0].dim) for rank in stage.output.ranks],
        "once": [group.loops.index(loop) for loop in sorted(box.once)],
        "layers": layers,
    }


def _interval(costs: GroupCosts, own: Interval) -> Json:
    """From `low` to below `high`, for each step of a shared loop; -1: none moves it."""
    loop = -1 if own.loop is None else costs.standing.group.loops.index(own.loop)
    return {"loop": loop, "low": own.low.tolist(), "high": own.high.tolist()}


def _between(costs: GroupCosts, producer: int, words: HeldWords) -> Json:
    """A tensor between stages: what is needed of it, and what stands in the keeper, by the words of each loop."""
    needed: Between = costs.standing.needed[producer]
    return {
        "producer": producer,
        "last": words.last,
        "bits": costs.standing.word_bits(producer),
        "needed": [_interval(costs, own) for own in needed.ranks],
        "once": [costs.standing.group.loops.index(loop) for loop in sorted(needed.once)],
        "still": words.still,
        "loops": [
            {
                **{name: getattr(own, name).tolist() for name in own.FIGURES if name != "all"},
                "all": own.all,
            }
            for own in words.loops
        ],
    }
