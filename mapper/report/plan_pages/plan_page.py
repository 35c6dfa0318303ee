"""plan.html of a network: its plan part by part, what the memory holds, its graph; the template is plan_page.html."""

from importlib.resources import files
from types import SimpleNamespace

from ..graphs import graph_svg
from ..plans import Decision, NetworkPlan, proof_text, tiles_text
from ..tables import energy_unit
from .strip import legend, strip_svg

BAR = 12.0  # rem: the widest


def plan_html(plan: NetworkPlan) -> str:
    """Fill the page."""
    from jinja2 import Environment, StrictUndefined  # not before it is needed

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((files(__package__) / "plan_page.html").read_text(encoding="utf-8"))
    network, machine = plan.costs.plan.graph.network, plan.costs.parts[0].arch
    unit, size = energy_unit(max(own.costs.energy_pj for own in plan.decisions))
    most = max(max((abs(own.saved) for own in plan.decisions), default=0.0), 1e-12)
    head = ["", "layers", "operations", "count", "tiles", "cycles", f"energy [{unit}]", "one by one: cycles"]
    return (
        template.render(
            title=f"{network.name} on {machine.name}: plan",
            keeper=plan.costs.plan.keeper,
            totals_head=["cycles", "energy", plan.objective.label],
            totals=_totals(plan),
            proof=proof_text(plan),
            strip=strip_svg(plan),  # its texts are escaped
            legend=legend(plan),
            head=[*head, f"energy [{unit}]", "saved"],
            words={1, 2, 4, 9},
            rows=[_row(number, own, size, most) for number, own in enumerate(plan.decisions, 1)],
            graph=_graph(plan),
        )
        + "\n"
    )


def _graph(plan: NetworkPlan) -> str:
    """Draw the graph with fused groups on bands, and the edges of tensors that stay."""
    own = plan.costs.plan
    groups = [list(part.names) for part in own.parts if len(part.layers) > 1]
    marks = {
        (stays.tensor, reader): "stays on chip"
        for stays in own.residents
        for reader in own.graph.readers[stays.tensor]
        if own.place[reader] <= own.place[stays.until]
    }
    return graph_svg(own.graph.network, groups, marks)


def _totals(plan: NetworkPlan) -> list[list[str]]:
    rows = []
    for name, costs in (("layers one by one", plan.alone), ("plan", plan.costs)):
        unit, size = energy_unit(costs.energy_pj)
        value = plan.objective.value(costs.energy_pj, float(costs.cycles))
        rows.append([name, f"{costs.cycles:,}", f"{costs.energy_pj / size:,.5g} {unit}", f"{value:.5g}"])
    return [*rows, ["no plan is below", "", "", f"{plan.lower_bound:.5g}"]]


def _row(number: int, own: Decision, size: float, most: float) -> SimpleNamespace:
    part = own.placed.part
    cells = [
        f"{number}",
        "+".join(part.layers),
        "+".join((*part.between, *part.operations)),
        f"{own.count:,}",
        tiles_text(own.placed),
        f"{own.costs.cycles:,}",
        f"{own.costs.energy_pj / size:,.4g}",
        f"{own.alone_cycles:,}",
        f"{own.alone_pj / size:,.4g}",
    ]
    width = f"{BAR * abs(own.saved) / most:.2f}"
    return SimpleNamespace(cells=cells, saved=own.saved, width=width, text=f"{own.saved:.2%}")
