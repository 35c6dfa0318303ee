"""Draws docs/house.svg, the picture of the import rule: `python -m tests.house_picture`, from the root.

Everything stands above what it imports. An arrow that a way through other boxes stands for is left out.
"""

from dataclasses import dataclass
from itertools import pairwise

from .house import PARTS, ROOMS, ROOT

PICTURE = ROOT / "docs/house.svg"
CONTENTS = {
    "workloads": "layers, networks, input files",
    "arch": "storage levels, fanout, compute, constraints",
    "energy": "energy per action, area",
    "runtime": "processes, deadlines, state on disk",
    "rewrites": "tensor graphs, rewritten by proven rules",
    "mapping": "mappings as arrays and as files",
    "problem": "machine, layer, energies, goal",
    "mapspace": "which mappings there are",
    "codegen": "mappings as programs, run and compared",
    "model": "what a mapping counts and costs",
    "bounds": "what no mapping can be below",
    "certificate": "proofs, checked without the search",
    "search": "mappings proposed, scored, recorded",
    "proof": "branch and bound, and the default search",
    "fusion": "layers that hand each other tiles",
    "networks": "plans: parts, what stays between",
    "plan_search": "the best plan, and a proof",
    "group_search": "the best fused group, proven",
    "calibration": "fits of measurements, predictions",
    "searchers": "the table of searches; the literature's",
    "store": "mappings found before, by problem",
    "report": "results printed, tabulated, drawn, written",
    "exploration": "a layer or a network, from inputs to a result",
    "rewrite_search": "rewritten networks, priced by plans",
    "comparison": "folders of results read again, compared",
    "designs": "sets of designs, and what comes next",
    "sweeps": "designs x workloads x mapspaces x seeds",
    "schemas": "every file and object, as JSON schemas",
    "commands": "what a user types",
}
# In pixels: a box, the gaps between floors and between boxes of a floor, the margin, an arrow's distance to a corner.
BOX, HEIGHT, FLOOR_GAP, BOX_GAP, MARGIN, CORNER = 280, 42, 22, 24, 16, 16
LANES, APART = 48, 4  # the width of all lanes at the right of the boxes, and from one arrow there to the next
WIDEST = 5  # boxes of a floor
FRAME = WIDEST * (BOX + BOX_GAP) - BOX_GAP + 2 * MARGIN + LANES
WIDTH = FRAME + 2 * MARGIN
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<title>The four parts and the rooms of mapper, each above what it may import</title>
<style>
  text {{ font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #333333; text-anchor: middle }}
  .name {{ font-size: 14px; font-weight: bold; fill: #000000 }}
  rect {{ stroke: #4a6079; stroke-width: 1; rx: 4px }}
  .part {{ fill: #f6efe0 }} .frame {{ fill: #faf6ec }} .room {{ fill: #e3ecf5 }}
  polyline {{ fill: none; stroke: #333333; stroke-width: 1.2; marker-end: url(#head) }}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M 0 0.5 L 8 4 L 0 7.5 z" fill="#333333"/></marker></defs>
<rect width="{width}" height="{height}" style="fill: #ffffff; stroke: none"/>
"""
Rule = dict[str, set[str]]  # name -> names that it may import; the lowest first


@dataclass(frozen=True)
class Box:
    """A part or a room in the picture: its upper left corner and its size, in pixels."""

    name: str
    kind: str
    left: float
    top: float
    width: float = BOX
    height: float = HEIGHT

    @property
    def middle(self) -> float:
        """The middle of its edges, from the left."""
        return self.left + self.width / 2

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    def svg(self) -> str:
        """The box with its name and its contents; of the frame around the rooms the name alone."""
        rect = f'<rect x="{self.left:g}" y="{self.top:g}" width="{self.width:g}" height="{self.height:g}"'
        text = f'<text x="{self.middle:g}" y="{self.top + 18:g}" class="name">{self.name}</text>'
        lines = [f'{rect} class="{self.kind}"/>', text]
        if self.name in CONTENTS:
            lines.append(f'<text x="{self.middle:g}" y="{self.top + 34:g}">{CONTENTS[self.name]}</text>')
        return "\n".join(lines)


def reached(name: str, arrows: Rule) -> set[str]:
    """All names that the arrows of one lead to, directly or through others."""
    return arrows[name].union(*(reached(other, arrows) for other in arrows[name]))


def reduced(rule: Rule) -> Rule:
    """The rule without each arrow that a way through other names stands for: its transitive reduction."""
    return {
        name: {other for other in below if not any(other in reached(third, rule) for third in below)}
        for name, below in rule.items()
    }


def floors(rule: Rule) -> list[list[str]]:
    """The names floor by floor, the lowest first: each above all that it imports, nearest to it from left to right."""
    floor: dict[str, int] = {}
    for name in rule:
        floor[name] = 1 + max((floor[other] for other in rule[name]), default=-1)
    rows: list[list[str]] = []
    for number in range(max(floor.values()) + 1):
        below = rows[-1] if rows else []
        places = {name: [below.index(other) for other in rule[name] if other in below] for name in rule}
        members = [name for name in rule if floor[name] == number]
        rows.append(sorted(members, key=lambda name: sum(places[name]) / max(len(places[name]), 1)))
    assert max(map(len, rows)) <= WIDEST, "a floor is wider than the picture: raise WIDEST"
    return rows


def boxes(rows: list[list[str]], kind: str, top: float) -> list[Box]:
    """The boxes of floors, the highest floor first and its upper edge at `top`; each floor is centred."""
    result = []
    for number, row in enumerate(reversed(rows)):
        left = (WIDTH - LANES - len(row) * (BOX + BOX_GAP) + BOX_GAP) / 2
        y = top + number * (HEIGHT + FLOOR_GAP)
        result += [Box(name, kind, left + place * (BOX + BOX_GAP), y) for place, name in enumerate(row)]
    return result


def route(start: Box, end: Box, others: list[Box], lane: int = 0) -> list[tuple[float, float]]:
    """The points of an arrow from the lower edge of a box to the upper edge of another.

    Straight down where both have room for it. Past other floors it leaves at the right, where no box stands; or it goes
    by the gaps between floors and a `lane` at the right of all boxes.
    """
    if end.top > start.top + start.height + FLOOR_GAP:
        y = start.top + start.height / 2
        points = [(start.right, y), (end.middle, y), (end.middle, end.top)]
        if start.right < end.middle and not any(crosses(points, box) for box in others):
            return points
        off = lane % 4 * APART
        bottom, x, far = start.top + start.height, start.right - CORNER, FRAME - LANES + MARGIN / 2 + lane * APART
        out, back, middle = bottom + APART + off, end.top - FLOOR_GAP + APART + off, end.middle + CORNER + off
        return [(x, bottom), (x, out), (far, out), (far, back), (middle, back), (middle, end.top)]
    left, right = max(start.left, end.left), min(start.right, end.right)
    x1 = x2 = (left + right) / 2
    if left > right:  # side by side: from corner to corner
        x1, x2 = right - CORNER, left + CORNER
        if start.left > end.left:
            x1, x2 = x2, x1
    return [(x1, start.top + start.height), (x2, end.top)]


def crosses(points: list[tuple[float, float]], box: Box) -> bool:
    """Whether a line of upright and level pieces runs through the inside of a box.

    >>> crosses([(0, 5), (99, 5)], Box("a", "room", 10, 0, 50, 20))
    True
    >>> crosses([(0, 20), (99, 20)], Box("a", "room", 10, 0, 50, 20))
    False
    """
    for (x1, y1), (x2, y2) in pairwise(points):
        across = min(x1, x2) < box.right and max(x1, x2) > box.left
        if across and min(y1, y2) < box.top + box.height and max(y1, y2) > box.top:
            return True
    return False


def arrow(points: list[tuple[float, float]]) -> str:
    """The line of an arrow through some points."""
    return '<polyline points="' + " ".join(f"{x:g},{y:g}" for x, y in points) + '"/>'


def picture() -> str:
    """The text of the SVG file."""
    rooms = boxes(floors(ROOMS), "room", 2 * MARGIN + 22)
    frame = Box("mapper", "frame", MARGIN, MARGIN, FRAME, rooms[-1].top + HEIGHT)
    parts = [frame, *boxes(floors(PARTS)[:-1], "part", frame.top + frame.height + FLOOR_GAP)]
    bottom = parts[-1].top + HEIGHT
    named = {box.name: box for box in (*parts, *rooms)}
    lines = [box.svg() for box in named.values()]
    lane = 0
    for rule in (PARTS, ROOMS):
        for name, below in reduced(rule).items():
            for other in sorted(below):
                others = [box for box in named.values() if box.kind != "frame" and box.name not in (name, other)]
                points = route(named[name], named[other], others, lane)
                lane += len(points) > 3
                lines.append(arrow(points))
    note = "An arrow that others stand for is left out; the table has all that a room may import."
    lines.append(f'<text x="{WIDTH / 2:g}" y="{bottom + 23:g}">{note}</text>')
    height = bottom + 23 + MARGIN
    return HEAD.format(width=WIDTH, height=f"{height:g}") + "\n".join(lines) + "\n</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
