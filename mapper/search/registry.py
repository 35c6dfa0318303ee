"""The table of search strategies."""

from collections.abc import Mapping

from .auto import Auto
from .evolution import Evolution
from .optimal import Proof
from .strategies import PROPOSERS
from .strategy import Strategy

STRATEGIES: Mapping[str, Strategy] = {"auto": Auto(), **PROPOSERS, "evolve": Evolution(), "optimal": Proof()}
