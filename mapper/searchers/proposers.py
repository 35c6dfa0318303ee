"""The table of strategies that propose mappings chunk by chunk: a new proposer is a file and a line here."""

from collections.abc import Mapping

from ..search import NO_VICTORY, Chunked, Exhaustive, RandomDraws, Strategy
from .anneal import Anneal
from .genetic import Genetic
from .learners import Bayes, Gbt, Surrogate
from .pruned import Pruned
from .sketch import Sketch

SETTLED = 100_000  # valid mappings in a row without improvement that end a search which learns
LEARNS = (
    f"a search that learns ends after {SETTLED:,} valid mappings without improvement: leave this out, or use patience"
)

PROPOSERS: Mapping[str, Strategy] = {
    "random": Chunked(RandomDraws()),
    "exhaustive": Chunked(Exhaustive(), NO_VICTORY),
    "anneal": Chunked(Anneal(), LEARNS, SETTLED),
    "genetic": Chunked(Genetic(), LEARNS, SETTLED),
    "sketch": Chunked(Sketch(), LEARNS, SETTLED),
    "pruned": Chunked(Pruned()),
    "gbt": Chunked(Gbt()),
    "surrogate": Chunked(Surrogate()),
    "bayes": Chunked(Bayes()),
}
