"""Searches propose, score and record mappings until a stop rule ends them."""

from .engines import ENGINES
from .exhaustive import NO_VICTORY, Exhaustive
from .proposer import CHUNK, Learning, Scored, Unlearning, random_batch, stream
from .random_draws import RandomDraws
from .recorder import Recorder, Scores, Stop, ToBeat
from .recording import Keeping
from .rounds import Rounds
from .run import Chunked
from .strategy import Strategy, Task, Watch, goes_on
from .values import Valuation

__all__ = [
    "CHUNK",
    "Chunked",
    "ENGINES",
    "Exhaustive",
    "Learning",
    "NO_VICTORY",
    "RandomDraws",
    "Recorder",
    "Keeping",
    "Rounds",
    "Scored",
    "Scores",
    "Stop",
    "Strategy",
    "Task",
    "ToBeat",
    "Unlearning",
    "Valuation",
    "Watch",
    "goes_on",
    "random_batch",
    "stream",
]
