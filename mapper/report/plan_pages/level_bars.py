"""Where the energy of each part goes, as SVG: a bar by level, above a thin one of its layers one by one."""

from collections.abc import Iterator, Mapping
from html import escape

from ...model.figures import LEAKAGE, NETWORK
from ...networks import PartCosts
from ..graphs import cut
from ..pictures import symbol
from ..plans import Decision, NetworkPlan, part_name
from ..tables import energy_unit
from .fills import Fills

LEFT, WIDE, RIGHT, TOP = 270.0, 620.0, 190.0, 6.0  # points of names, of the longest bar, of figures
BAR, THIN, STEP = 13.0, 5.0, 26.0
TEXT = 11.0


def level_fills(plan: NetworkPlan) -> Fills:
    """A fill for each level; MACs, network and leakage are grey."""
    beside = [plan.costs.parts[0].arch.compute.name, NETWORK, LEAKAGE]
    names = plan.components
    return Fills("level", [name for name in names if name not in beside], [name for name in beside if name in names])


def level_bars_svg(plan: NetworkPlan) -> str:
    """Draw the energy of the parts in turn, all executions."""
    fills, decisions = level_fills(plan), plan.decisions
    most = max((max(own.costs.energy_pj, own.alone_pj) * own.count for own in decisions), default=0.0) or 1.0
    wide, high = LEFT + WIDE + RIGHT, TOP + STEP * len(decisions) + 4
    rows = (text for number, own in enumerate(decisions) for text in _row(plan, fills, number, own, most))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} '
        f'{high:.0f}" font-family="system-ui, sans-serif" font-size="{TEXT:.0f}" role="img" '
        f'aria-label="energy of each part by level">{fills.patterns}{"".join(rows)}</svg>'
    )


def _row(plan: NetworkPlan, fills: Fills, number: int, own: Decision, most: float) -> Iterator[str]:
    y, times = TOP + STEP * number, f" ×{own.count}" if own.count > 1 else ""
    name = cut(f"{number + 1}  {part_name(own.placed)}", LEFT - 18 - 7 * len(times), TEXT)
    yield f'<text x="{LEFT - 8}" y="{y + BAR - 3:.1f}" text-anchor="end">{escape(name + times)}</text>'
    scale = WIDE * own.count / most
    yield from _bar(plan, fills, (own.costs,), scale, (y, BAR))
    yield from _bar(plan, fills, own.alone, scale, (y + BAR + 1, THIN))
    end = LEFT + scale * max(own.costs.energy_pj, own.alone_pj)
    unit, size = energy_unit(own.count * own.costs.energy_pj)
    figures = f"{own.count * own.costs.energy_pj / size:,.4g} {symbol(unit)}, {own.count * own.costs.cycles:,} cycles"
    yield f'<text x="{end + 6:.1f}" y="{y + BAR - 3:.1f}" fill="#444">{escape(figures)}</text>'


def _bar(
    plan: NetworkPlan, fills: Fills, parts: tuple[PartCosts, ...], scale: float, place: tuple[float, float]
) -> Iterator[str]:
    """Yield the boxes of a bar, the outermost level first."""
    x, (y, tall) = LEFT, place
    energies = _energies(parts)
    for name in plan.components:
        pj = energies.get(name, 0.0)
        if pj:
            unit, size = energy_unit(pj)
            title = escape(f"{name}: {pj / size:,.4g} {symbol(unit)}, {pj / sum(energies.values()):.1%}")
            yield (
                f'<rect x="{x:.2f}" y="{y:.1f}" width="{pj * scale:.2f}" height="{tall:.0f}" fill="{fills.of(name)}" '
                f'fill-opacity="{0.85 if tall > THIN else 0.45}"><title>{title}</title></rect>'
            )
        x += pj * scale


def _energies(parts: tuple[PartCosts, ...]) -> Mapping[str, float]:
    """The energy of parts by level, once."""
    energies = dict[str, float]()
    for item in (item for part in parts for item in part.items):
        for name, pj in item.energies_pj.items():
            energies[name] = energies.get(name, 0.0) + pj
    return energies
