"""The faults that `make mutants` puts into the project can be put there."""

from .house import ROOT
from .mutants import MUTANTS


def test_every_fault_has_its_place() -> None:
    """The text that it changes is there once: a change of the code that moves it moves the fault too."""
    assert [each.name for each in MUTANTS if (ROOT / each.file).read_text().count(each.old) != 1] == []
