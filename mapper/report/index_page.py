"""index.html of a network: its layers, each with a link to the page of its mapping; the template is index_page.html."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from ..problem import at_most
from .network_result import NetworkResult
from .page_template import filled_page
from .plan_pages import part_folders
from .plans import part_name
from .result import Result
from .tables import energy_unit

NOT_PROVEN = "not proven"


def index_html(
    network: NetworkResult,
    folders: Mapping[int, str],
    pictures: Sequence[str],
    facts: Mapping[str, str] | None = None,
) -> str:
    """Fill the page; `folders` has the folder of each layer with a mapping, by its place among the layers.

    With `facts`, names and texts that stand above the layers, it links no files of figures.
    """
    layers = [(number, *layer) for number, layer in enumerate(network.layers)]
    counted = network.layers[0][0].table.counted
    energies = [layer.energy_pj for _, layer, _ in layers if layer.found]
    unit, size = energy_unit(max(energies, default=1.0) if counted else 1.0)
    head = ["layer", "count", "cycles", *([f"energy [{unit}]", "EDP [pJ cycles]"] if counted else []),
            "utilisation", "proof"]  # fmt: skip
    rows = [(f"{quote(folders[number])}/mapping.html" if number in folders else "", _cells(layer, count, counted, size))
            for number, layer, count in layers]  # fmt: skip
    title = f"{network.name} on {network.layers[0][0].arch.name}"
    plan = network.plan is not None
    values = {"title": title, "head": head, "rows": rows, "pictures": pictures, "plan": plan, "parts": _parts(network),
              "facts": facts}  # fmt: skip
    return filled_page(__package__, "index_page.html", **values)


def _parts(network: NetworkResult) -> list[tuple[int, str, str]]:
    """The parts of a plan that have pages: number, address, and name."""
    plan = network.plan
    if plan is None:
        return []
    folders = part_folders(plan).items()
    return [(i + 1, f"{quote(own)}/mapping.html", part_name(plan.decisions[i].placed)) for i, own in folders]


def _cells(layer: Result, count: int, counted: bool, size: float) -> list[str]:
    """A row: the layer, figures of one occurrence, and what is proven."""
    if not layer.found:
        return [layer.workload.name, f"{count:,}", "no valid mapping"]
    costs = [f"{layer.energy_pj / size:,.5g}", f"{layer.edp:.5g}"] if counted else []
    return [layer.workload.name, f"{count:,}", f"{layer.cycles:,}", *costs, f"{layer.utilization:.1%}", _proof(layer)]


def _proof(layer: Result) -> str:
    if layer.gap is None:
        return NOT_PROVEN
    return "optimal" if layer.optimal else f"within {at_most(layer.gap)}"
