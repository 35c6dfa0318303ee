"""What an operator is: its parameters, and what it makes of its operands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Type

Array = NDArray[np.float64]
Params = Sequence[Any]  # the values of an operator's parameters, in the order of their names
Types = Callable[[Params, Sequence[Type]], Type | None]
Executes = Callable[[Params, Sequence[Array], Sequence[Type]], Array]


@dataclass(frozen=True)
class Operator:
    """A tensor operator, of TASO's table 2 but for `scale` and `bias`. `types` gives the type of what it makes, None
    where it cannot be applied to such operands; `execute` computes it, on operands to which it can be applied."""

    params: tuple[str, ...]
    arity: int
    types: Types
    execute: Executes
    commutes: bool = False  # whether its two operands may change places
