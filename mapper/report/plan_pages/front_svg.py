"""Energy and cycles of known plans, and what no plan is below, as SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from math import inf

from ...problem import Point
from ..pictures import PALETTE, symbol
from ..plans import NetworkPlan
from ..tables import energy_unit

WIDE, HIGH = 640.0, 360.0
LEFT, TOP, RIGHT, BOTTOM = 74.0, 14.0, 16.0, 46.0
MARGIN = 0.06  # of the span of the points, around them
TICKS = 6  # of an axis, at most


def front_svg(plan: NetworkPlan) -> str:
    """Draw the known plans, the layers one by one, the limits, and the chain of lines that no plan is below."""
    return _Chart(plan).svg()


class _Chart:
    """A picture with cycles from left to right, energy from below."""

    def __init__(self, plan: NetworkPlan) -> None:
        self.plan = plan
        own, alone = plan.costs, plan.alone
        self.best, self.alone = (float(own.cycles), own.energy_pj), (float(alone.cycles), alone.energy_pj)
        limits = [own for own in (plan.limits.cycles, plan.limits.energy_pj) if own < inf]
        points = [*plan.front, self.best, self.alone]
        cycles, energies = ([point[axis] for point in points] for axis in (0, 1))
        cycles += [plan.envelope.cycles, *(limits[:1] if plan.limits.cycles < inf else [])]
        energies += [plan.envelope.energy_pj, *(limits[-1:] if plan.limits.energy_pj < inf else [])]
        self.x, self.y = _span(cycles), _span(energies)
        self.unit, self.size = energy_unit(self.y[1])

    def at(self, point: Point) -> Point:
        """The place of cycles and energy."""
        (low, high), (least, most) = self.x, self.y
        x = LEFT + (point[0] - low) / (high - low) * (WIDE - LEFT - RIGHT)
        return x, HIGH - BOTTOM - (point[1] - least) / (most - least) * (HIGH - TOP - BOTTOM)

    def svg(self) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE:.0f}" height="{HIGH:.0f}" viewBox="0 0 {WIDE:.0f} '
            f'{HIGH:.0f}" font-family="system-ui, sans-serif" font-size="11" role="img" '
            f'aria-label="energy and cycles of plans">{"".join(self._shapes())}</svg>'
        )

    def _shapes(self) -> Iterator[str]:
        yield from self._below()
        yield from self._axes()
        yield from self._limits()
        for cycles, energy_pj in self.plan.front:
            yield self._dot((cycles, energy_pj), PALETTE[0], 2.6, "a plan")
        yield self._dot(self.alone, PALETTE[1], 5, "layers one by one")
        yield self._dot(self.best, PALETTE[2], 5, "the plan that is shown")

    def _below(self) -> Iterator[str]:
        """Shade what no plan is in."""
        corners = [self.at(own) for own in reversed(self.plan.envelope.corners)]
        right, bottom = WIDE - RIGHT, HIGH - BOTTOM
        edge = [(corners[0][0], TOP), *corners, (right, corners[-1][1]), (right, bottom), (LEFT, bottom), (LEFT, TOP)]
        places = " ".join(f"{_within(x, LEFT, right):.1f},{_within(y, TOP, bottom):.1f}" for x, y in edge)
        yield f'<polygon points="{places}" fill="#ddd"><title>no plan is here</title></polygon>'

    def _axes(self) -> Iterator[str]:
        right, bottom = WIDE - RIGHT, HIGH - BOTTOM
        yield f'<path d="M{LEFT},{TOP} V{bottom} H{right}" fill="none" stroke="#444"/>'
        for cycles in _ticks(self.x):
            x, _ = self.at((cycles, self.y[0]))
            yield f'<path d="M{x:.1f},{bottom} v4" stroke="#444"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{cycles:,.9g}</text>'
        for energy in _ticks((self.y[0] / self.size, self.y[1] / self.size)):
            _, y = self.at((self.x[0], energy * self.size))
            yield f'<path d="M{LEFT},{y:.1f} h-4" stroke="#444"/>'
            yield f'<text x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{energy:,.6g}</text>'
        unit = escape(symbol(self.unit))
        yield f'<text x="{(LEFT + right) / 2}" y="{HIGH - 8}" text-anchor="middle">cycles</text>'
        middle = (TOP + bottom) / 2
        yield f'<text transform="translate(13 {middle}) rotate(-90)" text-anchor="middle">energy [{unit}]</text>'

    def _limits(self) -> Iterator[str]:
        right, bottom = WIDE - RIGHT, HIGH - BOTTOM
        x, y = self.at((min(self.plan.limits.cycles, self.x[1]), min(self.plan.limits.energy_pj, self.y[1])))
        style = 'stroke="#D55E00" stroke-dasharray="5 3"'
        if self.plan.limits.cycles < inf:
            yield f'<path d="M{x:.1f},{TOP} V{bottom}" {style}><title>the deadline</title></path>'
        if self.plan.limits.energy_pj < inf:
            yield f'<path d="M{LEFT},{y:.1f} H{right}" {style}><title>the energy limit</title></path>'

    def _dot(self, point: Point, color: str, radius: float, what: str) -> str:
        x, y = self.at(point)
        title = f"{what}: {point[0]:,.0f} cycles, {point[1] / self.size:,.5g} {symbol(self.unit)}"
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}">'
        return f"{dot}<title>{escape(title)}</title></circle>"


def front_legend(plan: NetworkPlan) -> list[tuple[str, str]]:
    """The marks of the picture, each with what it stands for."""
    dot = '<circle cx="6" cy="6" r="5" fill="{}"/>'
    marks = [(dot.format(PALETTE[2]), "the plan that is shown"), (dot.format(PALETTE[1]), "layers one by one")]
    if plan.front:
        marks.append((f'<circle cx="6" cy="6" r="2.6" fill="{PALETTE[0]}"/>', "other plans that no known one beats"))
    if not plan.limits.none:
        line = '<path d="M0,6 H12" stroke="#D55E00" stroke-width="2" stroke-dasharray="5 3"/>'
        marks.append((line, "limits"))
    marks.append(('<rect width="12" height="12" fill="#ddd"/>', "proven: no plan is here"))
    return [(f'<svg width="12" height="12">{mark}</svg>', name) for mark, name in marks]


def _ticks(span: Point) -> list[float]:
    """Round numbers within a span."""
    from matplotlib.ticker import MaxNLocator  # not before it is needed

    low, high = span
    return [float(tick) for tick in MaxNLocator(TICKS).tick_values(low, high) if low <= tick <= high]


def _span(values: Sequence[float]) -> Point:
    """From below the least to above the most; not empty."""
    low, high = min(values), max(values)
    margin = MARGIN * (high - low) or 0.05 * high or 1.0
    return low - margin, high + margin


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
