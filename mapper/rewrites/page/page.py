"""One page of all shipped substitutions, substitutions.html filled: it asks for no other file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

from ..production import Proven
from ..shipped import shipped
from ..terms import operators_in
from .picture import side_svg

PAGE_HEAD = "<!doctype html>\n<!-- the substitutions of ruby-rewrite -->\n"  # by which a page is known as ours

# by stage: what is counted, our key, and TASO's number for graphs of up to 4 operators (sections 2.3 and 7)
STAGES: tuple[tuple[str, str, int | None], ...] = (
    ("graphs, both parts together", "graphs", None),
    ("pairs that compute the same on random inputs", "equal on more inputs", 28_744),
    ("without those that are others with inputs renamed", "inputs renamed", 17_346),
    ("without what both sides have in common", "common subgraphs", 743),
    ("of both parts, each once", "with each other", None),
    ("of these: said by one that was proven before", "of others", None),
    ("of these: smaller ones in turn say it", "of smaller ones in turn", None),
    ("of these: not proven, so not used", "not proven", None),
    ("shipped", "proven", None),
)
LATER = "of these: said by one that was proven later"


@dataclass(frozen=True)
class Entry:
    """An equation as the page shows it."""

    name: str
    proven: Proven

    @property
    def pictures(self) -> tuple[str, str]:
        """Both sides, drawn."""
        left, right = self.proven.equation.sides
        return side_svg(left), side_svg(right)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Both sides as text, output by output."""
        return list(zip(*self.proven.equation.texts(), strict=True))

    @cached_property
    def operators(self) -> tuple[str, ...]:
        """The operators of both sides, each once; both parts of a split are one."""
        left, right = self.proven.equation.sides
        return tuple(sorted({*operators_in((*left, *right)).values()}))


def substitutions_html() -> str:
    """Return the page of the shipped substitutions."""
    counts, named = shipped()
    return page_html(counts, [Entry(name, own) for name, own in named])


def page_html(counts: Mapping[str, int], entries: Sequence[Entry]) -> str:
    """Return a page of equations; names and texts are escaped."""
    from jinja2 import Environment, StrictUndefined  # not before it is needed

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((files(__package__) / "substitutions.html").read_text(encoding="utf-8"))
    operators = sorted({op for own in entries for op in own.operators})
    return PAGE_HEAD + template.render(stages=list(_stages(counts)), operators=operators, entries=entries) + "\n"


def _stages(counts: Mapping[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the table of stages: what is counted, how many here, how many TASO has."""
    for stage, key, of_taso in STAGES:
        if key == "proven":
            gone = ("of others", "of smaller ones in turn", "not proven", "proven")
            yield LATER, f"{counts['with each other'] - sum(counts.get(one, 0) for one in gone):,}", ""
        yield stage, f"{counts.get(key, 0):,}", "" if of_taso is None else f"{of_taso:,}"
