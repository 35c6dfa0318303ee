"""Cost models of users: commands that are asked for the value of a mapping, a line each (docs/cost-models.md)."""

from .asking import ask
from .faults import ANSWERED, cost_model_faults
from .nests import nest_keys

__all__ = ["ANSWERED", "ask", "cost_model_faults", "nest_keys"]
