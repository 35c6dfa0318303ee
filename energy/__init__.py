"""Energy and area per action, each figure with its source."""

from .spec import ComputeEnergy, EnergyTable, LevelEnergy

__all__ = ["ComputeEnergy", "EnergyTable", "LevelEnergy"]
