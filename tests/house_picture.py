"""Draws docs/house.svg, the picture of the import rule: `python -m tests.house_picture`, from the root.

Everything stands above what it imports. An arrow that a way through other boxes stands for is left out.
"""

from dataclasses import dataclass

from .house import PARTS, ROOMS, ROOT

PICTURE = ROOT / "docs/house.svg"
CONTENTS = {
    "workloads": "layers, networks, input files",
    "arch": "storage levels, fanout, compute, constraints",
    "energy": "energy per action, area",
    "runtime": "processes, deadlines, state on disk",
    "mapping": "mappings as arrays and as files",
    "mapspace": "which mappings there are",
    "codegen": "mappings as programs, run and compared",
    "model": "what a mapping counts and costs",
    "bounds": "what no mapping can be below",
    "certificate": "proofs, checked without the search",
    "search": "mappings proposed, scored, recorded",
    "proof": "branch and bound, and the default search",
    "searchers": "the table of searches; the literature's",
    "store": "mappings found before, by problem",
    "report": "results printed, tabulated, drawn, written",
    "exploration": "a layer or a network, from inputs to a result",
    "comparison": "folders of results read again, compared",
    "sweeps": "designs x workloads x mapspaces x seeds",
    "schemas": "every file and object, as JSON schemas",
    "commands": "what a user types",
}
# In pixels: a box, the gaps between floors and between boxes of a floor, the margin, an arrow's distance to a corner.
BOX, HEIGHT, FLOOR_GAP, BOX_GAP, MARGIN, CORNER = 300, 42, 22, 24, 16, 16
FRAME = 3 * BOX + 2 * BOX_GAP + 2 * MARGIN
WIDTH = FRAME + 2 * MARGIN
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<title>The four parts and the seventeen rooms of mapper, each above what it may import</title>
<style>
  text {{ font-family: Helvetica, Arial, sans-serif; font-size: 12px; fill: #333333; text-anchor: middle }}
  .name {{ font-size: 14px; font-weight: bold; fill: #000000 }}
  rect {{ stroke: #4a6079; stroke-width: 1; rx: 4px }}
  .part {{ fill: #f6efe0 }} .frame {{ fill: #faf6ec }} .room {{ fill: #e3ecf5 }}
  line, polyline {{ fill: none; stroke: #333333; stroke-width: 1.2; marker-end: url(#head) }}
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


def barred(rule: Rule) -> Rule:
    """What the arrows left in the picture lead to although the rule forbids it, by name."""
    arrows = reduced(rule)
    return {name: more for name in rule if (more := reached(name, arrows) - rule[name])}


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
    return rows


def boxes(rows: list[list[str]], kind: str, top: float) -> list[Box]:
    """The boxes of floors, the highest floor first and its upper edge at `top`; each floor is centred."""
    result = []
    for number, row in enumerate(reversed(rows)):
        left = (WIDTH - len(row) * (BOX + BOX_GAP) + BOX_GAP) / 2
        y = top + number * (HEIGHT + FLOOR_GAP)
        result += [Box(name, kind, left + place * (BOX + BOX_GAP), y) for place, name in enumerate(row)]
    return result


def arrow(start: Box, end: Box) -> str:
    """A line from the lower edge of a box to the upper edge of another: straight down where both have room for it.

    Past other floors it leaves at the right, where no box stands.
    """
    if end.top > start.top + start.height + FLOOR_GAP:
        y = start.top + start.height / 2
        return f'<polyline points="{start.right:g},{y:g} {end.middle:g},{y:g} {end.middle:g},{end.top:g}"/>'
    left, right = max(start.left, end.left), min(start.right, end.right)
    x1 = x2 = (left + right) / 2
    if left > right:  # side by side: from corner to corner
        x1, x2 = right - CORNER, left + CORNER
        if start.left > end.left:
            x1, x2 = x2, x1
    return f'<line x1="{x1:g}" y1="{start.top + start.height:g}" x2="{x2:g}" y2="{end.top:g}"/>'


def note() -> list[str]:
    """How to read the arrows, line by line."""
    but = ", ".join(f"{name} not {' and '.join(sorted(more))}" for name, more in barred(ROOMS).items())
    first = "A box may import all that its arrows lead to, directly or through others"
    return [f"{first};", f"but {but}."] if but else [f"{first}."]


def picture() -> str:
    """The text of the SVG file."""
    rooms = boxes(floors(ROOMS), "room", 2 * MARGIN + 22)
    frame = Box("mapper", "frame", MARGIN, MARGIN, FRAME, rooms[-1].top + HEIGHT)
    parts = [frame, *boxes(floors(PARTS)[:-1], "part", frame.top + frame.height + FLOOR_GAP)]
    bottom = parts[-1].top + HEIGHT
    named = {box.name: box for box in (*parts, *rooms)}
    lines = [box.svg() for box in named.values()]
    for rule in (PARTS, ROOMS):
        for name, below in reduced(rule).items():
            lines += [arrow(named[name], named[other]) for other in sorted(below)]
    for number, text in enumerate(note(), 1):
        lines.append(f'<text x="{WIDTH / 2:g}" y="{bottom + 6 + 17 * number:g}">{text}</text>')
    height = bottom + 6 + 17 * len(note()) + MARGIN
    return HEAD.format(width=WIDTH, height=f"{height:g}") + "\n".join(lines) + "\n</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
