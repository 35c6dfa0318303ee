"""Figures of a batch while they come in, an array per level and tensor."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..mapping import Bools, Ints, Numbers
from .nests import NestAnalysis


@dataclass(eq=False)
class FigureColumns:
    """Arrays of figures, by name and by level and tensor; what never comes in is 0."""

    nest: NestAnalysis
    where: Ints | None = None  # the mappings that `nest` is about; None: all
    figures: dict[tuple[str, tuple[int, ...]], Numbers] = field(default_factory=dict)
    flags: dict[tuple[int, ...], Bools] = field(default_factory=dict)
    whole: NestAnalysis | None = None  # of all mappings

    def of(self, where: Ints | None) -> "FigureColumns":
        """The same columns, taking figures of the mappings `where` alone."""
        nest = self.nest if where is None else NestAnalysis(self.nest.batch.take(where))
        return FigureColumns(nest, where, self.figures, self.flags, self.nest)

    def add(self, name: str, place: tuple[int, ...], words: Numbers) -> None:
        """Add `words` to the figure `name` at a (level, tensor) or (level,)."""
        key = (name, place)
        words = self.spread(words)
        self.figures[key] = self.figures[key] + words if key in self.figures else words

    def flag(self, place: tuple[int, int], exact: Bools) -> None:
        """Take note of where the reads of a (level, tensor) are only a bound."""
        flags = self.spread(~exact)
        self.flags[place] = self.flags[place] | flags if place in self.flags else flags

    def spread(self, figures: Any) -> Any:
        """Figures of the mappings `where` as those of all, the others 0."""
        if self.where is None:
            return figures
        assert self.whole is not None
        spread = np.zeros(len(self.whole.batch), figures.dtype)
        spread[self.where] = figures
        return spread

    def inexact(self, *shape: int) -> Bools:
        """All flags. # (mapping, *shape)"""
        none = self.nest.no()
        return self.nest.together([self.flags.get(place, none) for place in np.ndindex(shape)], *shape)

    def stacked(self, name: str, *shape: int) -> Numbers:
        """All columns of one figure. # (mapping, *shape)"""
        zero = self.nest.zeros()
        columns = [self.figures.get((name, place), zero) for place in np.ndindex(shape)]
        return self.nest.together(columns, *shape)
