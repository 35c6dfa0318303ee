"""A place of a network where an operator is applied."""

from dataclasses import dataclass
from math import prod

from .operator import OPERATORS, Makes, Moves, Operator


@dataclass(frozen=True)
class Operation:
    """An operation of a network: it moves words, and multiplies nothing."""

    name: str
    op: str  # a key of OPERATORS
    inputs: tuple[str, ...]  # layers, operations, or inputs of the network
    sizes: tuple[int, ...]  # of its output
    count: int = 1

    @property
    def operator(self) -> Operator:
        """What is done to the words."""
        return OPERATORS[self.op]

    @property
    def between(self) -> bool:
        """Whether it may stand between two layers that hand each other tiles."""
        own = self.operator
        return own.makes is Makes.SAME and (own.rows or own.moves is Moves.NONE)

    @property
    def words(self) -> int:
        """The words of its output."""
        return prod(self.sizes)
