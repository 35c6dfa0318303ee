"""A comparison as one HTML page without a server: page.html beside this module is its template."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from ..report.pictures import drawn_bytes
from ..report.table_files import Table
from .cases import CasePair, LayerPair, Matched
from .nests import NestPair, nest_lines, side_by_side
from .pictures import drawn, rows_of
from .summary import left_out, properties, summary, title_of
from .tables import case_table, layer_counts, layer_table, part_table, verdict_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NESTS = 60  # layers whose nests are on the page
ROWS = 2000  # of a table on the page
CAPTIONS = {
    "ratios": "How much B needs of what A needs: a dot for these mappings, a line for what the best ones may need.",
    "energy": "Where the energy goes.",
    "cycles": "Where the time goes: what full use of the MAC units would take, and the rest.",
}


@dataclass(frozen=True)
class Nests:
    """A layer as the page shows it: the nests of both sides beside one another, and the words that differ."""

    title: str
    lines: list[NestPair]
    counts: Table

    @property
    def differing(self) -> int:
        """The number of lines that differ."""
        return sum(line.differ for line in self.lines)


def is_page(head: bytes) -> bool:
    """Whether a file that begins so is such a page."""
    return b'<meta name="generator" content="ruby-report">' in head


def page_html(matched: Matched) -> str:
    """Write the page. Raises InputError where a stored mapping is none."""
    from jinja2 import Environment, StrictUndefined  # not before it is needed

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((files(__package__) / "page.html").read_text(encoding="utf-8"))
    rows, every = rows_of(matched)
    layers = _with_nests(matched)
    makers = (case_table, verdict_table, part_table, layer_table)
    tables = [table for make in makers if (table := make(matched)).rows]
    page = template.render(
        title=title_of(matched),
        letters=matched.letters,
        paths=[one.title for one in matched.folders],
        properties=list(properties(matched)),
        summary=summary(matched),
        pictures=[(CAPTIONS[name], svg) for name, draw in drawn(matched, rows) for svg in _svg(name, draw)],
        left_of_pictures=every - len(rows),
        tables=tables,
        most_rows=ROWS,
        nests=[_nests(matched, pair, layer) for pair, layer in layers[:NESTS]],
        left_of_nests=max(0, len(layers) - NESTS),
        left_out=left_out(matched),
    )
    return page + "\n"


def _svg(name: str, draw: Callable[[], "Figure"]) -> list[str]:
    """A picture as an element of the page, its words as text; none where it cannot be drawn."""
    texts = [content.decode() for _, content in drawn_bytes(name, draw, ["svg"])]
    return [text[text.index("<svg") :] for text in texts]


def _with_nests(matched: Matched) -> list[tuple[CasePair, LayerPair]]:
    """The layers that have mappings; where they are too many for the page, those that differ most come first."""
    every = [(pair, layer) for pair in matched.pairs for layer in pair.layers]
    every = [(pair, layer) for pair, layer in every if all(side.mapping is not None for side in layer.sides)]
    return every if len(every) <= NESTS else sorted(every, key=lambda one: -_difference(one[1]))


def _difference(layer: LayerPair) -> float:
    """By how much the EDP of the sides differs (cycles where energies are not known); of one side all of it."""
    costs = [float(side.edp or side.cycles or 0) * side.count for side in layer.sides]
    return abs(costs[-1] - (costs[0] if len(costs) > 1 else 0.0))


def _nests(matched: Matched, pair: CasePair, layer: LayerPair) -> Nests:
    sides = zip(layer.sides, matched.folders, strict=True)
    lines = [nest_lines(side, f"{one.path}: {layer.name}") for side, one in sides]
    title = f"{pair.label}: {layer.name}" if pair.label else layer.name
    return Nests(title, side_by_side(lines[0], lines[-1]), layer_counts(layer, matched.letters))
