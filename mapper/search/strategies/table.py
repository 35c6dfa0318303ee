"""The table of strategies that propose mappings chunk by chunk: a new proposer is a file and a line here."""

from collections.abc import Mapping

from ..run import Chunked
from ..strategy import Strategy
from .exhaustive import NO_VICTORY, Exhaustive
from .random_draws import RandomDraws

PROPOSERS: Mapping[str, Strategy] = {
    "random": Chunked(RandomDraws()),
    "exhaustive": Chunked(Exhaustive(), NO_VICTORY),
}
