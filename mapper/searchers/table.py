"""The table of search strategies."""

from collections.abc import MutableMapping

from ..proof import Auto, Proof
from ..search import Strategy
from ..search.evolution import Evolution
from .milp import OneShot
from .proposers import PROPOSERS

STRATEGIES: MutableMapping[str, Strategy] = {  # a program may put in a row of its own
    "auto": Auto(),
    **PROPOSERS,
    "evolve": Evolution(),
    "milp": OneShot(),
    "optimal": Proof(),
}
