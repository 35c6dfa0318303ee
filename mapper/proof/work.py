"""Long work in pieces: between two of them the loop of a proof counts steps, evolves, tells and looks at the time."""

from collections.abc import Generator
from typing import NamedTuple


class Piece(NamedTuple):
    """What the loop is to do before a work goes on."""

    steps: int = 0  # of the proof, that what follows takes
    visible: bool = False  # whether something was done that progress shows


type Work[T] = Generator[Piece, None, T]
