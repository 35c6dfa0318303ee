"""Layouts of a DRAM that a search chose from: what it chose, and of how many."""

from dataclasses import dataclass

from ..problem import Json, first_objective

Layout = tuple[tuple[str, tuple[str, ...]], ...]  # (tensor, dims) pairs, as a section `dram` has them


@dataclass(frozen=True)
class Layouts:
    """A layout chosen with the mapping: a rank innermost of each tensor whose layout the file does not give."""

    chosen: Layout
    number: int  # of layouts that differ, that of the machine's file among them
    searched: int  # of them, before Ctrl-C
    given: float  # the objective of the best mapping found in the layout of the file

    @property
    def of_all(self) -> str:
        """What a proof about all of them is about."""
        return f", in any of {self.number:,} layouts,"

    def text(self, objective: str) -> str:
        """The line of a report."""
        chosen = ", ".join(f"{tensor}: [{', '.join(dims)}]" for tensor, dims in self.chosen)
        several = f"{self.number:,}" if self.searched == self.number else f"the {self.searched:,} searched"
        before = f"with that of the file the {first_objective(objective).title} found is {self.given:.5g}"
        return f"layout       {{{chosen}}}, the best of {several}, a rank of each tensor innermost; {before}"

    def json(self) -> Json:
        """The same as an object."""
        chosen = {tensor: list(dims) for tensor, dims in self.chosen}
        return {"layout": chosen, "number": self.number, "searched": self.searched, "given": self.given}
