"""Where the energies of a result come from, in a line."""

from ...energy import GIVEN, ComputeEnergy, EnergyTable, LevelEnergy

BUILT_IN = "built-in estimates"
_OTHERS = ("ERT file", "Accelergy", GIVEN)  # begin the sources that say themselves who gave the figures


def energy_sources(table: EnergyTable) -> str:
    """Name the sources of the energies, with their components where there are several; where some are built-in
    estimates, the options that give others."""
    components: dict[str, list[str]] = {}
    parts: list[LevelEnergy | ComputeEnergy] = [*table.levels, table.compute]
    for part in parts:
        source = part.source.partition("; area:")[0]
        components.setdefault(source if source.startswith(_OTHERS) else BUILT_IN, []).append(part.name)
    several = len(components) > 1
    sources = [f"{source}: {', '.join(names)}" if several else source for source, names in components.items()]
    more = ["--ert FILE or --energy accelergy gives others"] if BUILT_IN in components else []
    return "; ".join(sources + more)
