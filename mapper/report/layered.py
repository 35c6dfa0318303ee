"""What results of a layer, of a network, and of whatever is made of layers have in common."""

from abc import abstractmethod

from ...arch import Architecture
from ...workloads import Workload
from .described import ProblemResult
from .rates import Rated


class Layered[R: ProblemResult](Rated):
    """A result made of those of layers, each with how often it counts."""

    layers: tuple[tuple[R, int], ...]  # in turn, with how often each counts
    missing: int  # layers that an interruption left out

    @property
    @abstractmethod
    def title(self) -> str:
        """The name, and what transformations made of it."""

    @property
    def workloads(self) -> list[Workload]:
        """The layers."""
        return [result.workload for result, _ in self.layers]

    @property
    def machine(self) -> Architecture:
        """The machine, one for all layers."""
        return self.layers[0][0].arch

    @property
    def counted(self) -> bool:
        """Whether the energies of the machine are known."""
        return self.layers[0][0].table.counted

    @property
    def some_found(self) -> bool:
        """Whether some layer has a mapping."""
        return any(result.found for result, _ in self.layers)
