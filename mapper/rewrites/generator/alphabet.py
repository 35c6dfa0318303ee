"""What graphs are enumerated over: small inputs, and operators with some values of their parameters."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from ..operators import NONE, RELU, SAME
from ..terms import SPLIT
from ..types import Type

Application = tuple[str, tuple[Hashable, ...]]  # an operator, and its parameters

_MAPS, _DENSE, _POINT, _DEPTHWISE, _PAIRS = (2, 4, 3, 3), (4, 4, 3, 3), (4, 4, 1, 1), (4, 1, 3, 3), (4, 2, 3, 3)
_CONVOLUTION, _POOL = ((1, 1), SAME), ((3, 3), (1, 1), SAME)


@dataclass(frozen=True)
class Alphabet:
    """Inputs by names, and operators. Inputs of one type are used in their order; `weights` are those that belong to a
    model: what is made of weights alone is a kernel or a matrix, and no data of a convolution."""

    inputs: Mapping[str, Type]
    weights: frozenset[str]
    operators: tuple[Application, ...]


# of what is made of weights alone: what can be done before the network is executed, and keeps sizes of kernels
OF_WEIGHTS = frozenset(("ewadd", "smul", "scale", "concat", SPLIT, "enlarge", "transpose", "matmul"))

STANDARD = Alphabet(
    {
        **dict.fromkeys(("x1", "x2", "x3"), (2, 4)),
        **dict.fromkeys(("w1", "w2", "w3"), (4, 4)),
        **dict.fromkeys(("i1", "i2", "i3"), _MAPS),
        **dict.fromkeys(("k1", "k2", "k3"), _DENSE),
        **dict.fromkeys(("p1", "p2"), _POINT),
        **dict.fromkeys(("d1", "d2"), _DEPTHWISE),
        "g1": _PAIRS,
        **dict.fromkeys(("b1", "b2"), (4,)),
        "s1": (),
    },
    frozenset(("w1", "w2", "w3", "k1", "k2", "k3", "p1", "p2", "d1", "d2", "g1", "b1", "b2", "s1")),
    (
        *((op, ()) for op in ("ewadd", "ewmul", "smul", "relu", "transpose", "matmul")),
        *((op, (axis,)) for op in ("concat", SPLIT) for axis in (0, 1)),
        ("conv", (*_CONVOLUTION, NONE)),
        ("conv", (*_CONVOLUTION, RELU)),
        ("gconv", (*_CONVOLUTION, NONE)),
        ("pool_avg", _POOL),
        ("pool_max", _POOL),
        ("enlarge", ((3, 3),)),
        ("scale", (0,)),
        ("scale", (1,)),
        ("bias", (1,)),
        ("i_matmul", (4,)),
        ("i_conv", (4, (3, 3))),
        ("c_pool", (4, (3, 3))),
        ("ones", ((2, 4),)),
        ("ones", (_MAPS,)),
    ),
)

# convolutions that share what they read, and of kernels of several sizes: with one operator more
CONVOLUTIONS = Alphabet(
    {
        **dict.fromkeys(("i1", "i2"), _MAPS),
        **dict.fromkeys(("k1", "k2"), _DENSE),
        **dict.fromkeys(("p1", "p2"), _POINT),
    },
    frozenset(("k1", "k2", "p1", "p2")),
    (
        ("ewadd", ()),
        ("relu", ()),
        *((op, (axis,)) for op in ("concat", SPLIT) for axis in (0, 1)),
        ("conv", (*_CONVOLUTION, NONE)),
        ("gconv", (*_CONVOLUTION, NONE)),
        ("enlarge", ((3, 3),)),
        ("i_conv", (4, (3, 3))),
    ),
)
