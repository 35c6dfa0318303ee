"""The table of search strategies: a new one is its file and a line here."""

from collections.abc import Mapping

from .optimal import Proof
from .run import Chunked
from .strategies import NO_VICTORY, Exhaustive, RandomDraws
from .strategy import Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "random": Chunked(RandomDraws()),
    "exhaustive": Chunked(Exhaustive(), NO_VICTORY),
    "optimal": Proof(),
}
