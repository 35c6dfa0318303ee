"""Operators of networks that multiply nothing: what they do to the words of tensors."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Moves(StrEnum):
    """Which words an operator moves."""

    NONE = "none"  # the words stay where they are, in the order in which they are, or are changed as they pass
    OTHERS = "others"  # it changes the words of one input as these pass, and reads those of the others
    ALL = "all"  # it passes over what is there: it reads all inputs, and writes its output


class Makes(StrEnum):
    """Which output an operator has."""

    SAME = "same"  # of the sizes of its input
    LARGEST = "largest"  # of the sizes of its largest input, along which the others are repeated
    AS_MANY = "as_many"  # of as many words as its inputs have
    FEWER = "fewer"  # of no more words than its input
    ANY = "any"


@dataclass(frozen=True)
class Operator:
    """An operator: how often it reads and writes a word where it stands, and what it makes."""

    reads: int
    writes: int
    rows: bool = False  # whether it needs all words of a row at once: those along the dims that the reader adds up over
    makes: Makes = Makes.SAME
    several: bool = False  # whether it has more than one input

    @property
    def moves(self) -> Moves:
        """Which words it moves."""
        return Moves.OTHERS if not self.writes and self.reads else Moves.ALL if self.writes else Moves.NONE


_PASSING = (  # each word is changed as it passes
    "abs batch_norm bias cast clip dequantize dropout elu erf exp gelu hard_sigmoid hard_swish identity leaky_relu "
    "log negate power prelu quantize reciprocal relu relu6 scale sigmoid silu softplus sqrt tanh"
)
_NAMES: Mapping[Operator, str] = {
    Operator(0, 0): _PASSING,
    # the same words, under other indices
    Operator(0, 0, makes=Makes.AS_MANY): "reshape transpose",
    Operator(0, 0, makes=Makes.AS_MANY, several=True): "concat",
    Operator(0, 0, makes=Makes.FEWER): "slice",
    Operator(0, 0, makes=Makes.ANY): "expand pad",  # words again, and zeros
    Operator(1, 0, makes=Makes.LARGEST, several=True): "add divide maximum minimum multiply subtract where",
    # what a row shares is kept while it is made; one pass more applies it
    Operator(1, 1, rows=True): "layer_norm rms_norm softmax",
    Operator(1, 1): "cumulate group_norm instance_norm local_response_norm rotary",
    Operator(1, 1, makes=Makes.FEWER): "average_pool global_pool max_pool reduce top_k",
    Operator(1, 1, makes=Makes.ANY): "embedding resize",
    Operator(1, 1, makes=Makes.ANY, several=True): "other",
}
OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {name: operator for operator, names in _NAMES.items() for name in names.split()}
)


@dataclass(frozen=True)
class Causal:
    """A mask: a query sees no key after its own; the last query sees the last key."""

    query: str  # the dim of queries of the layer that reads the scores
    key: str  # its dim of keys
    queries: int  # of a head: where heads share keys, query i of head h has the index h * queries + i

    @property
    def hides(self) -> bool:
        """Whether some query sees not all keys: one alone sees all."""
        return self.queries > 1

    def seen(self, low: int, high: int, keys: int) -> int:
        """Count the keys that some query from `low` to below `high` sees, of so many `keys`; they are the first."""
        low_row, last = low % self.queries, (high - 1) % self.queries
        whole = high - low >= self.queries or last < low_row
        return keys - self.queries + 1 + (self.queries - 1 if whole else last)
