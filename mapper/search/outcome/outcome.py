"""The outcome of a search: the best mapping, the front, and what is proven about them."""

from dataclasses import dataclass

from ...mapping import MappingBatch
from .evidence import Evidence, Proven
from .statistics import Statistics


@dataclass(frozen=True)
class Answer:
    """What a cost model said of the best mapping by it."""

    command: str
    value: float | None  # less is better; None where it found no mapping valid
    failure: str = ""  # why the search ended where the model failed


@dataclass(frozen=True)
class Outcome(Proven):
    """The result of a search: the best mapping, as a batch of one, or None; its statistics; what it proved."""

    best: MappingBatch | None
    statistics: Statistics
    evidence: Evidence = Evidence()
    front: tuple[MappingBatch, ...] = ()  # batches of one: the mappings of the front, by their first axis
    answer: Answer | None = None  # of the cost model, where one was asked
