"""What can be minimised: how each objective follows from energy and cycles, and what it is called where."""

from collections.abc import Mapping

from ..mapping import Floats

POWERS: Mapping[str, tuple[int, int]] = {"edp": (1, 1), "energy": (1, 0), "delay": (0, 1)}  # of energy and of cycles
FIGURES = {"edp": "edp", "energy": "energy_pj", "delay": "cycles"}  # attributes of costs and results, keys of files
UNITS = {"edp": "EDP [pJ cycles]", "energy": "energy [pJ]", "delay": "delay [cycles]"}  # in tables and pictures


def value(objective: str, energy_pj: Floats, cycles: Floats) -> Floats:
    """The objective of energies and cycles. # (mapping,)

    Raises KeyError for a name that is none of them: what it means is not guessed where things are proven.
    """
    by_energy, by_cycles = POWERS[objective]
    if by_energy and by_cycles:
        return energy_pj * cycles
    return energy_pj if by_energy else cycles


def first(objective: str) -> str:
    """The first of a list of objectives: what proofs and traces are about."""
    return objective.split(",")[0].strip()
