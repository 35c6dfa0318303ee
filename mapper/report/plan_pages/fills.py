"""Fills of boxes and bars as SVG: colours, then the same colours with patterns on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ..pictures import GREY, PALETTE

SIDE = 6  # points: a pattern is repeated each so many
# white lines and dots on a colour; the first has none
MARKS = (
    "",
    '<path d="M-1 7L7 -1M-1 1L1 -1M5 7L7 5" stroke="#fff" stroke-width="1.4"/>',
    '<circle cx="3" cy="3" r="1.5" fill="#fff"/>',
    '<path d="M0 3H6" stroke="#fff" stroke-width="1.8"/>',
    '<path d="M-1 -1L7 7M-1 5L1 7M5 -1L7 1" stroke="#fff" stroke-width="1.4"/>',
    '<path d="M3 0V6" stroke="#fff" stroke-width="1.8"/>',
    '<path d="M3 0V6M0 3H6" stroke="#fff" stroke-width="1.2"/>',
)
OTHERS = (GREY, "#C8C8C8", "#444444")


@dataclass(frozen=True)
class Fills:
    """Fills by name; `grey` are those beside the others, as of MACs."""

    prefix: str  # of the ids, which are one of a page
    names: Sequence[str]
    grey: Sequence[str] = ()

    def of(self, name: str) -> str:
        """The value of a fill attribute."""
        if name in self.grey:
            return OTHERS[self.grey.index(name) % len(OTHERS)]
        colour, mark = self._look(name)
        return f"url(#{self.prefix}{self.names.index(name)})" if mark else colour

    @property
    def patterns(self) -> str:
        """The patterns that these refer to."""
        return f"<defs>{''.join(self._patterns())}</defs>"

    def legend(self) -> list[tuple[str, str]]:
        """A small box of each, as SVG, with its name."""
        return [(self._box(name), name) for name in (*self.names, *self.grey)]

    def _look(self, name: str) -> tuple[str, str]:
        number = self.names.index(name)
        return PALETTE[number % len(PALETTE)], MARKS[number // len(PALETTE) % len(MARKS)]

    def _patterns(self) -> Iterator[str]:
        for number, name in enumerate(self.names):
            colour, mark = self._look(name)
            if mark:
                yield (
                    f'<pattern id="{self.prefix}{number}" width="{SIDE}" height="{SIDE}" patternUnits="userSpaceOnUse">'
                    f'<rect width="{SIDE}" height="{SIDE}" fill="{colour}"/>{mark}</pattern>'
                )

    def _box(self, name: str) -> str:
        return (
            f'<svg width="12" height="12" role="img" aria-label="{escape(name)}">'
            f'<rect width="12" height="12" fill="{self.of(name)}"/></svg>'
        )
