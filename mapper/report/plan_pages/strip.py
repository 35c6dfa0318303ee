"""What the memory of a plan holds, part by part, drawn as SVG: a column for each part, a box for each tensor."""

from collections.abc import Iterator
from html import escape

from ..plans import NetworkPlan
from .fills import Fills

COLUMN, HEIGHT, LEFT, TOP, FOOT = 26.0, 170.0, 64.0, 14.0, 34.0
FREE = "#f1f1f1"
BETWEEN = "between the layers of a group"


def strip_svg(plan: NetworkPlan) -> str:
    """Draw the room of the keeper over the parts: tensors that stay, then what stands between the layers of a group."""
    used = [own.placed.room_bits(own.costs.arch) + own.costs.group_bits for own in plan.decisions]
    usable = plan.keeper.usable_bits or max([1, *used])
    wide, high = LEFT + COLUMN * len(plan.decisions) + 8, TOP + HEIGHT + FOOT
    fills = strip_fills(plan)
    drawn = "".join((fills.patterns, *_axis(usable, len(plan.decisions)), *_tensors(plan, fills, usable)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" viewBox="0 0 {wide:.0f} '
        f'{high:.0f}" font-family="system-ui, sans-serif" font-size="11" role="img" '
        f'aria-label="what {escape(plan.keeper.name)} holds, part by part">{drawn}</svg>'
    )


def strip_fills(plan: NetworkPlan) -> Fills:
    """A fill for each tensor that stays, those that are made first first; grey: what stands between fused layers."""
    every = [own.tensor for own in plan.costs.plan.residents]
    between = any(own.costs.group_bits for own in plan.decisions)
    return Fills("stays", every, [BETWEEN] if between else [])


def _axis(usable: int, parts: int) -> Iterator[str]:
    """Yield the frame, the capacity, and the numbers of the parts."""
    yield f'<rect x="{LEFT}" y="{TOP}" width="{COLUMN * parts:.1f}" height="{HEIGHT}" fill="{FREE}"/>'
    for share in (0.0, 0.5, 1.0):
        y = TOP + HEIGHT * (1 - share)
        yield f'<line x1="{LEFT - 4}" x2="{LEFT + COLUMN * parts:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#bbb"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{escape(_bytes(usable * share))}</text>'
    step = 1 if parts <= 40 else 5
    for number in range(1, parts + 1, step):
        x = LEFT + COLUMN * (number - 0.5)
        yield f'<text x="{x:.1f}" y="{TOP + HEIGHT + 14}" text-anchor="middle" fill="#555">{number}</text>'
    yield f'<text x="{LEFT}" y="{TOP + HEIGHT + 29}" fill="#555">part</text>'


def _tensors(plan: NetworkPlan, fills: Fills, usable: int) -> Iterator[str]:
    """Yield a box for each tensor in each part, those that are there longest at the bottom; its name is its title."""
    for number, own in enumerate(plan.decisions):
        boxes = [(n, own.placed.graph.room_bits(plan.keeper, n)) for n in fills.names if n in own.placed.held]
        boxes.append((BETWEEN, own.costs.group_bits))
        x, base = LEFT + COLUMN * number, TOP + HEIGHT
        for name, bits in boxes:
            tall = HEIGHT * bits / usable
            base -= tall
            text = f"{name}: {_bytes(bits)}"
            if bits:
                yield (
                    f'<rect x="{x:.1f}" y="{base:.1f}" width="{COLUMN:.1f}" height="{max(tall, 0.8):.1f}" '
                    f'fill="{fills.of(name)}" fill-opacity="0.75" stroke="#fff" stroke-width="0.6">'
                    f"<title>{escape(text)}</title></rect>"
                )


def _bytes(bits: float) -> str:
    for size, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if bits / 8 >= size:
            return f"{bits / 8 / size:.3g} {unit}"
    return f"{bits / 8:.3g} B"
