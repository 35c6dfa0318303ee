"""Results without energies: figures that nobody knows are left empty, and are not 0."""

from typing import Any

UNKNOWN = ("energy_pj", "component_pj", "edp", "area_um2", "network", "compute", "watts", "tops_per_watt")


def without_energies(value: Any) -> Any:
    """Plain values with nothing in place of energies and of what is made of them."""
    if isinstance(value, dict):
        return {key: None if key in UNKNOWN else without_energies(part) for key, part in value.items()}
    return [without_energies(part) for part in value] if isinstance(value, list) else value
