"""Where the energy of a mapping goes: to each memory, the MACs, and to wires and leakage where they are charged."""

from ....arch import Architecture
from ..cost import Costs

NETWORK, LEAKAGE = "network", "leakage"


def component_energies(arch: Architecture, costs: Costs) -> dict[str, float]:
    """Return the pJ of each level, the outermost first, of the MACs, and of network and leakage where charged.

    `costs` are those of one mapping by memory of `arch` (by_memory.py). The values add up to its energy.
    """
    energies = {level.name: float(costs.level_energy_pj[0, i].sum()) for i, level in enumerate(arch.levels)}
    energies[arch.compute.name] = float(costs.compute_energy_pj)
    if costs.options.has_interconnect:
        energies[NETWORK] = float(costs.interconnect_energy_pj[0].sum())
    if leak := float(costs.leak_energy_pj[0]):
        energies[LEAKAGE] = leak
    return energies
