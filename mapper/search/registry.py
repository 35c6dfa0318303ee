"""The table of search strategies."""

from collections.abc import MutableMapping

from .auto import Auto
from .evolution import Evolution
from .milp import OneShot
from .optimal import Proof
from .strategies import PROPOSERS
from .strategy import Strategy

STRATEGIES: MutableMapping[str, Strategy] = {  # a program may put in a row of its own
    "auto": Auto(),
    **PROPOSERS,
    "evolve": Evolution(),
    "milp": OneShot(),
    "optimal": Proof(),
}
