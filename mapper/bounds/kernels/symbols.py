"""Records what NumPy would compute, operation by operation, so that a program can compute it for many rows at once.

A bound is written once, as a function of arrays (relaxation.py). Given symbols in place of arrays it does not compute
anything: each operation on a symbol makes another symbol. Equal operations are made once.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, override

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...mapping import Floats, Ints

# in the order of the operations in _machine.c
OPERATIONS = (
    "load", "output", "take", "add", "subtract", "multiply", "divide", "maximum", "minimum", "ceil", "rint",
    "greater", "greater_equal", "less", "less_equal", "equal", "and", "or", "isinf", "select",
)  # fmt: skip

_NAMES = {"true_divide": "divide", "bitwise_and": "and", "logical_and": "and", "bitwise_or": "or", "logical_or": "or"}
_COMPUTED: dict[str, Callable[..., Any]] = {
    name: getattr(np, {"and": "logical_and", "or": "logical_or"}.get(name, name))
    for name in OPERATIONS
    if name not in ("load", "output", "take", "select")
}
_NOTHING = {"multiply": 1.0, "divide": 1.0, "add": 0.0, "subtract": 0.0, "and": 1.0, "or": 0.0}  # as the second operand


class UnknownOperationError(TypeError):
    """An expression has an operation that is not recorded: NumPy has to compute it."""


class Operation(NamedTuple):
    """An operation, and the numbers of the symbols that it takes; of a load table and column, of a take the lookup."""

    name: str
    operands: tuple[int, ...]


class Recording:
    """The operations of an expression, in an order in which they can be computed."""

    def __init__(self) -> None:
        self.operations: list[Operation | float] = []  # or a constant
        self.lookups: list[Any] = []  # arrays # (entry,) each
        self._known: dict[Operation | tuple[str, bytes], int] = {}

    def load(self, table: int, column: int) -> "Symbol":
        """The entry of a column at the row of a table."""
        return self._made(Operation("load", (table, column)))

    def constant(self, value: float) -> "Symbol":
        """A number, the same for all rows."""
        key = "constant", np.float64(value).tobytes()
        if key not in self._known:
            self._known[key] = len(self.operations)
            self.operations.append(float(value))
        return Symbol(self, self._known[key])

    def take(self, lookup: Any, index: "Symbol") -> "Symbol":
        """The entry of an array at an index."""
        self.lookups.append(np.ascontiguousarray(lookup, np.float64))
        return self._made(Operation("take", (index.number, len(self.lookups) - 1)))

    def of(self, name: str, *operands: Any) -> "Symbol":
        """The result of an operation. Raises UnknownOperationError where it is not one of OPERATIONS."""
        name = _NAMES.get(name, name)
        if name not in OPERATIONS:
            raise UnknownOperationError(name)
        symbols = [self.symbol(operand) for operand in operands]
        values = [self.operations[symbol.number] for symbol in symbols]
        numbers = [value for value in values if isinstance(value, float)]
        if len(numbers) == len(values) and name in _COMPUTED:
            with np.errstate(all="ignore"):
                return self.constant(float(_COMPUTED[name](*numbers)))
        if name == "select" and isinstance(values[0], float):
            return symbols[1] if values[0] else symbols[2]
        if len(symbols) == 2 and (same := self._same(name, symbols)) is not None:
            return same
        return self._made(Operation(name, tuple(symbol.number for symbol in symbols)))

    def symbol(self, value: Any) -> "Symbol":
        """A symbol, or a number as one. Raises UnknownOperationError for an array of several."""
        if isinstance(value, Symbol):
            return value
        if np.size(value) != 1:
            raise UnknownOperationError("an array of numbers")
        return self.constant(float(np.asarray(value).reshape(())))

    def _same(self, name: str, symbols: "Sequence[Symbol]") -> "Symbol | None":
        """The operand that an operation returns as it is, as x * 1 is x."""
        first, second = symbols
        either = name not in ("divide", "subtract")
        for own, neutral in ((first, second), (second, first))[: 2 if either else 1]:
            if self.operations[neutral.number] == _NOTHING.get(name):
                return own
        return None

    def _made(self, operation: Operation) -> "Symbol":
        if operation not in self._known:
            self._known[operation] = len(self.operations)
            self.operations.append(operation)
        return Symbol(self, self._known[operation])


class Symbol(NDArrayOperatorsMixin):
    """The result of an operation, for whatever rows; NumPy's functions take it for an array of one number."""

    __slots__ = ("number", "recording")

    def __init__(self, recording: Recording, number: int) -> None:
        self.recording, self.number = recording, number

    @override
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> "Symbol":
        """Record an operation; with `where` what it is elsewhere is the one entry of `out`."""
        if method != "__call__" or set(keywords) - {"out", "where"}:
            raise UnknownOperationError(f"{ufunc.__name__}.{method}")
        made = self.recording.of(ufunc.__name__, *inputs)
        if "where" not in keywords:
            return made
        (elsewhere,) = keywords["out"]
        return self.recording.of("select", keywords["where"], made, elsewhere)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> Any:
        """Record one of the functions that bounds are made of."""
        if function is np.shape:
            return ()
        if function is np.where:
            return self.recording.of("select", *arguments)
        if function is np.clip:
            value, least, most = arguments
            return self.recording.of("minimum", self.recording.of("maximum", value, least), most)
        raise UnknownOperationError(function.__name__)

    def any(self) -> bool:
        """Some number may be what is asked for."""
        return True

    def astype(self, kind: type) -> "Symbol":
        """Whole numbers stay what they are; where it is rounded before."""
        return self

    @override
    def __hash__(self) -> int:
        return self.number


def take(lookup: Floats, index: Ints) -> Floats:
    """The entries of an array at indices, which may be a symbol: `np.take` asks the array alone what it is."""
    return index.recording.take(lookup, index) if isinstance(index, Symbol) else lookup[index]
