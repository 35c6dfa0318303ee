"""plan.html of a network: its plan part by part, what the memory holds, its graph; the template is plan_page.html."""

from collections.abc import Mapping
from types import SimpleNamespace
from urllib.parse import quote

from ..graphs import graph_svg
from ..page_template import filled_page
from ..plans import NetworkPlan, front_text, levels_table, limits_text, plan_table, proof_text, widest_gaps
from ..tables import energy_unit
from .front_svg import front_legend, front_svg
from .level_bars import level_bars_svg, level_fills
from .part_pages import part_folders
from .strip import strip_fills, strip_svg

BAR = 6.0  # rem: the widest
CLASSES = {"tiles": "text tiles", "saved": "saved"}  # of columns


def plan_html(plan: NetworkPlan, facts: Mapping[str, str]) -> str:
    """Fill the page; `facts` are told below its title."""
    network, machine = plan.costs.plan.graph.network, plan.costs.parts[0].arch
    unit, size = energy_unit(plan.alone.energy_pj)
    shown = plan.counted and bool(plan.front or not plan.limits.none)
    levels, parts = levels_table(plan), plan_table(plan)
    return filled_page(
        __package__,
        "plan_page.html",
        title=f"{network.name} on {machine.name}: plan",
        facts=[*facts.items()],
        keeper=plan.costs.plan.keeper,
        totals_head=["cycles", *(["energy"] if plan.counted else []), plan.objective.label],
        totals=_totals(plan),
        proof=proof_text(plan),
        gaps=widest_gaps(plan),
        limits="" if plan.limits.none else limits_text(plan),
        front_text=front_text(plan) if plan.front else "",
        front=front_svg(plan) if shown else "",
        front_legend=front_legend(plan) if shown else [],
        unit=unit,
        components=_components(plan, size) if plan.counted else [],
        strip=strip_svg(plan),  # its texts are escaped
        strip_legend=strip_fills(plan).legend(),
        bars=level_bars_svg(plan) if plan.counted else "",
        bars_legend=level_fills(plan).legend(),
        parts=parts,
        classes=[CLASSES.get(column.name, "" if column.form else "text") for column in parts.columns],
        rows=_rows(plan, parts.cells),
        levels=levels,
        graph=_graph(plan),
    )


def _graph(plan: NetworkPlan) -> str:
    """Draw the graph with fused groups on bands, and the edges of tensors that stay."""
    own = plan.costs.plan
    groups = [list(part.names) if len(part.layers) > 1 else [] for part in own.parts]  # numbered as the parts
    marks = {
        (stays.tensor, reader): "stays on chip"
        for stays in own.residents
        for reader in own.graph.readers[stays.tensor]
        if own.place[reader] <= own.place[stays.until]
    }
    return graph_svg(own.graph.network, groups, marks)


def _totals(plan: NetworkPlan) -> list[list[str]]:
    rows, known = [], plan.counted
    for name, costs in (("layers one by one", plan.alone), ("plan", plan.costs)):
        unit, size = energy_unit(costs.energy_pj)
        value = plan.objective.value(costs.energy_pj, float(costs.cycles))
        energy = [f"{costs.energy_pj / size:,.5g} {unit}"] if known else []
        rows.append([name, f"{costs.cycles:,}", *energy, f"{value:.5g}"])
    none = [""] * (2 if known else 1)
    rows.append(["saved", *none, f"{plan.saved:.2%}"])
    return rows if plan.impossible else [*rows, ["no plan is below", *none, f"{plan.lower_bound:.5g}"]]


def _components(plan: NetworkPlan, size: float) -> list[list[str]]:
    """Rows of the levels: the energy one by one and of the plan with shares, and what is saved; then the sums."""
    rows, whole = [], (plan.alone.energy_pj, plan.costs.energy_pj)
    for name in plan.components:
        pair = plan.alone.component_pj.get(name, 0.0), plan.costs.component_pj.get(name, 0.0)
        rows.append([name, *_pair(pair, whole, size)])
    return [*rows, ["together", *_pair(whole, whole, size)]]


def _pair(pair: tuple[float, float], whole: tuple[float, float], size: float) -> list[str]:
    shown = list[str]()
    for pj, every in zip(pair, whole, strict=True):
        shown += [f"{pj / size:,.4g}", f"{pj / every:.1%}" if every else ""]
    before, after = pair
    return [*shown, f"{1 - after / before:.1%}" if before else ""]


def _rows(plan: NetworkPlan, every: list[list[str]]) -> list[SimpleNamespace]:
    """The rows of parts with the width of their bars, and the page of each that has layers."""
    most = max(max((abs(own.saved) for own in plan.decisions), default=0.0), 1e-12)
    folders, rows = part_folders(plan), []
    for number, (own, cells) in enumerate(zip(plan.decisions, every, strict=True)):
        width = f"{BAR * abs(own.saved) / most:.2f}"
        link = f"{quote(folders[number])}/mapping.html" if number in folders else ""
        rows.append(SimpleNamespace(cells=cells, saved=own.saved, width=width, link=link))
    return rows
