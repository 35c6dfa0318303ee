"""Searches propose, score and record mappings until a stop rule ends them."""

from .engines import ENGINES
from .exhaustive import NO_VICTORY, Exhaustive
from .proposer import CHUNK, Learning, NonLearning, Scored, random_batch, stream
from .random_draws import RandomDraws
from .recorder import Recorder, RecordThreshold, Scores, Stop
from .recording import RetainingSearch
from .rounds import Rounds
from .run import Chunked
from .strategy import Observers, Strategy, Task, is_unfinished
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
    "RetainingSearch",
    "Rounds",
    "Scored",
    "Scores",
    "Stop",
    "Strategy",
    "Task",
    "RecordThreshold",
    "NonLearning",
    "Valuation",
    "Observers",
    "is_unfinished",
    "random_batch",
    "stream",
]
