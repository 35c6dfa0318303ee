"""The populations of a search, one after the other in this process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from ..variation import TIE
from .population import Generation, Population
from .population_spaces import PopulationSpaces

IDLE_POPULATIONS = 4  # populations in a row without improvement that end an evolution


@dataclass(eq=False)
class Populations:
    """The population that evolves, and what those before it brought."""

    inputs: PopulationSpaces
    number: int = 0  # of the population that evolves, or of the next
    lows: list[float] = field(default_factory=list)  # the best value after each population
    current: Population | None = None

    @property
    def settled(self) -> bool:
        """Whether the last populations brought nothing."""
        before = self.lows[-1 - IDLE_POPULATIONS :]
        return self.current is None and len(before) > IDLE_POPULATIONS and before[-1] >= before[0] * (1 - TIE)

    def generation(self, chunk: int) -> Generation:
        """Make generation `chunk` of the search, of this population or the next."""
        if self.current is None:
            self.current = Population(self.inputs, self.number)
        return self.current.generation(chunk)

    def end_if_over(self, best: float) -> None:
        """End the population if it no longer improves; `best` is the best value of the search."""
        if self.current is not None and self.current.over:
            self.end(best)

    def end(self, best: float) -> None:
        """Note that a population has ended, here or in another process."""
        self.number, self.current = self.number + 1, None
        self.lows.append(best)

    def plain(self) -> dict[str, Any]:
        """Convert to plain values for a checkpoint; `restore` reads them."""
        return {
            "number": self.number,
            "lows": [None if low == inf else low for low in self.lows],
            "population": None if self.current is None else self.current.plain(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from the values of `plain`."""
        self.number, self.lows = state["number"], [inf if low is None else low for low in state["lows"]]
        if state["population"] is not None:
            self.current = Population.of_plain(self.inputs, state["population"])
