"""The layers of a network as tables: what each costs, what bounds it and how far it is proven; where energy goes."""

import re
from collections.abc import Sequence

from ..model.figures import COMPUTE, binding, component_energies, short
from ..problem import ROUNDING, at_most
from .result import Result
from .tables import TextTable, energy_unit

LETTERS = 7  # of a line of a head

Layers = Sequence[tuple[Result, int]]  # with mappings, and how often each occurs


def layer_tables(layers: Layers, every: bool = True) -> list[TextTable]:
    """Make the table of the layers' figures, then that of their shares; `every`: these are all layers of the network.

    Columns that say nothing of any layer are left out: latencies without a clock, gaps without a proof, energies that
    are not known.
    """
    return [_figures(layers), _shares(layers, every)]


def _figures(layers: Layers) -> TextTable:
    """A row per layer: cycles, what bounds them, energy, gap; of one occurrence."""
    unit, size = energy_unit(max(result.energy_pj for result, _ in layers))
    counted = layers[0][0].table.counted
    columns: list[tuple[str, list[str]]] = [
        ("layer", [result.workload.name for result, _ in layers]),
        ("count", [f"{count}" for _, count in layers]),
        ("cycles", [f"{result.cycles:,}" for result, _ in layers]),
        ("latency\n[ms]", ["" if result.milliseconds is None else short(result.milliseconds) for result, _ in layers]),
        ("utilisation", [f"{result.utilization:.1%}" for result, _ in layers]),
        ("bound by", [bound_words(result) for result, _ in layers]),
        (f"energy\n[{unit}]", [f"{result.energy_pj / size:,.4g}" * counted for result, _ in layers]),
        ("EDP\n[pJ cycles]", [f"{result.edp:.4g}" * counted for result, _ in layers]),
        ("gap", [_gap(result) for result, _ in layers]),
    ]
    heads, rows = _telling(columns)
    return TextTable(heads, rows, left=(0, heads.index("bound by")), title="per layer, once")


def _telling(columns: Sequence[tuple[str, list[str]]]) -> tuple[list[str], list[tuple[str, ...]]]:
    """The heads and the rows of those columns that say something of some layer."""
    shown = [(head, cells) for head, cells in columns if any(cells)]
    return [head for head, _ in shown], list(zip(*(cells for _, cells in shown), strict=True))


def _shares(layers: Layers, every: bool) -> TextTable:
    """A row per layer: its shares of the network, with counts, and those of its parts in its energy; then the whole."""
    time = sum(count * result.cycles for result, count in layers)
    title = f"shares of {'the network' if every else 'these layers together'}, with counts"
    if not layers[0][0].table.counted:
        cells = [[result.workload.name, f"{count * result.cycles / time:.1%}"] for result, count in layers]
        return TextTable(["layer", "cycles"], cells, left=(0,), title=title)
    parts = [component_energies(result.arch, result.valid_costs) for result, _ in layers]
    names = list(dict.fromkeys(name for own in parts for name in own))
    whole = {name: sum(n * own.get(name, 0.0) for own, (_, n) in zip(parts, layers, strict=True)) for name in names}
    total = sum(count * result.energy_pj for result, count in layers)
    rows = [
        [result.workload.name, _share(count * result.cycles, time), _share(count * result.energy_pj, total)]
        + [_share(own.get(name, 0.0), result.energy_pj) for name in names]
        for own, (result, count) in zip(parts, layers, strict=True)
    ]
    name = "all layers" if every else "these layers"
    rows.append([name, _share(time, time), _share(total, total), *(_share(whole[part], total) for part in names)])
    head = ["layer", "cycles", "energy", *map(_broken, names)]
    return TextTable(
        rows=rows, head=head, left=(0,), title=f"{title}; then the energy of each layer by level", tight=True
    )


def bound_words(result: Result) -> str:
    """What bounds the cycles of a layer, in few words: `compute`, `DRAM reads`, `buffer writes`."""
    limits = binding(result.arch, result.valid_costs)
    return ", ".join(f"{limit.level} {limit.bandwidth.words}" for limit in limits) or COMPUTE


def _gap(result: Result) -> str:
    if result.gap is None:
        return ""
    return "optimal" if result.gap <= ROUNDING and result.optimal else at_most(result.gap)


def _share(part: float, whole: float) -> str:
    return f"{part / whole if whole else 0.0:.1%}"


def _broken(name: str) -> str:
    """The name of a level in lines of at most LETTERS, broken between its words, as `PE` `Weight` `Buffer`."""
    lines = [""]
    for word in re.findall(r"[A-Z]?[^A-Z_]+_?|[A-Z]+(?=[A-Z][a-z])|[A-Z_]+", name):
        if lines[-1] and len(lines[-1] + word) > LETTERS:
            lines.append("")
        lines[-1] += word
    return "\n".join(lines)
