"""The figures of one mapping as plain values, as `--json` and cost models get them."""

from ....arch import unstacked
from ...mapping import MappingBatch
from ..cost import Costs
from ..exactness import HELD
from .by_memory import by_memory

Figures = dict[str, object]

# what results have where the machine has a clock
RATES = ("milliseconds", "watts", "tops", "tops_per_watt", "tokens_per_second", "joules_per_token")
TOTALS = ("cycles", "energy_pj", "edp", "utilization")


def plain(value: float) -> int | float:
    """Turn a number into what JSON shows: `420`, not `420.0`; digits that a float does not have are not made up."""
    value = value if isinstance(value, int) else float(value)
    return int(value) if value.is_integer() and abs(value) <= HELD else value


def short(figure: float) -> str:
    """Four digits, without a power of ten where a figure is large.

    >>> short(1234567.8), short(0.012345)
    ('1,234,568', '0.01235')
    """
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:.4g}"


def total_figures(costs: Costs, number: int) -> Figures:
    """Return the totals of mapping `number`."""
    waits = costs.counts.fill_drain[number]  # over 0 with every mapping on a systolic array
    totals: Figures = {name: plain(getattr(costs, name)[number]) for name in TOTALS}
    return totals | ({"fill_drain_cycles": plain(waits)} if waits else {})


def level_figures(batch: MappingBatch, costs: Costs) -> list[Figures]:
    """List for each mapping the cycles, energy and counts of each memory and each tensor that it keeps.

    Counts are totals over all instances. `costs` are those of levels or of memories (by_memory.py).
    """
    names, kept = [level.name for level in unstacked(batch.arch).levels], batch.kept
    costs = by_memory(costs, batch.arch) if costs.level_energy_pj.shape[1] > len(names) else costs
    counts, energy_pj = costs.counts, costs.level_energy_pj
    arrays = {
        "tile_words": counts.tile_words,
        "reads": counts.reads,
        "fills": counts.fills,
        "updates": counts.updates,
        "energy_pj": energy_pj,
    }
    return [
        {
            name: {
                "instances": plain(counts.instances[m, i]),
                "cycles": plain(costs.level_cycles[m, i]),
                "energy_pj": plain(energy_pj[m, i].sum()),
                "tensors": {
                    tensor.name: {what: plain(array[m, i, t]) for what, array in arrays.items()}
                    for t, tensor in enumerate(batch.workload.tensors)
                    if kept[m, i, t]
                },
            }
            for i, name in enumerate(names)
        }
        for m in range(len(batch))
    ]
