"""The table of searches: a new one is a file and a line here."""

from collections.abc import MutableMapping

from ..proof import Auto, Proof
from ..search import NO_VICTORY, Chunked, Exhaustive, RandomDraws, Strategy
from ..search.evolution import Evolution
from .anneal import Anneal
from .genetic import Genetic
from .learners import Bayes, Gbt, Surrogate
from .milp import OneShot
from .pruned import Pruned
from .sketch import Sketch

IDLE_MAPPINGS = 100_000  # valid mappings in a row without improvement that end a search which learns
LEARNS = (
    f"a search that learns ends after {IDLE_MAPPINGS:,} valid mappings without improvement: "
    "leave this out, or use patience"
)

STRATEGIES: MutableMapping[str, Strategy] = {  # a program may put in a row of its own
    "auto": Auto(),
    "random": Chunked(RandomDraws()),
    "exhaustive": Chunked(Exhaustive(), NO_VICTORY),
    "anneal": Chunked(Anneal(), LEARNS, IDLE_MAPPINGS),
    "genetic": Chunked(Genetic(), LEARNS, IDLE_MAPPINGS),
    "sketch": Chunked(Sketch(), LEARNS, IDLE_MAPPINGS),
    "pruned": Chunked(Pruned()),
    "gbt": Chunked(Gbt()),
    "surrogate": Chunked(Surrogate()),
    "bayes": Chunked(Bayes()),
    "evolve": Evolution(),
    "milp": OneShot(),
    "optimal": Proof(),
}
