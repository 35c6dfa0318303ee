"""Arithmetic expressions in input files: parsed by `ast`, computed node by node, never evaluated as code."""

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping

from ..reading import near

MAX_LENGTH = 200  # characters
MAX_BITS = 200  # of any value on the way

Number = int | float


def _divide(left: Number, right: Number) -> Number:
    """The quotient, an integer where it can be: large sizes are not rounded."""
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        return left // right
    return left / right


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) * math.log2(max(abs(base), 2)) > MAX_BITS:
        raise ValueError(f"a power of at most {MAX_BITS} bits is expected")
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("a root of a negative number")
    return result


_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _divide,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "min": min,
    "max": max,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "sqrt": math.sqrt,
    "abs": abs,
    "int": int,
    "round": round,
    "pow": _power,
}


def parse(text: str) -> ast.expr:
    """The syntax tree of an expression; ValueError for text that is none, or that is too long."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"an expression of at most {MAX_LENGTH} characters is expected, got {len(text)}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"not an expression: {text!r}") from None


def unknown_name(name: str, kind: str, choices: Collection[str]) -> ValueError:
    """The error of a name that is none of `choices`; `kind` says what it should name."""
    known = f"; known: {', '.join(sorted(choices))}" if choices else ""
    return ValueError(f"unknown {kind} {name!r}{known}{near(name, choices)}")


def _named(name: str, names: Mapping[str, Number]) -> Number:
    if name not in names:
        raise unknown_name(name, "name", [known for known in names if known.isidentifier()])
    return names[name]


def value_of(node: ast.expr, names: Mapping[str, Number]) -> Number:
    """The value of a syntax tree, its names taken from `names`; ValueError for what is no arithmetic."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            return _named(name, names)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute()], keywords=[]):
            return _named(ast.unparse(node), names)  # of a list or mapping, which only `names` know
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return value_of(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](value_of(left, names), value_of(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in _FUNCTIONS:
                raise unknown_name(name, "function", _FUNCTIONS.keys())
            try:
                return _FUNCTIONS[name](*(value_of(arg, names) for arg in args))
            except TypeError:
                raise ValueError(f"{name} with {len(args)} arguments") from None
    raise ValueError(
        f"only numbers, names, + - * / // % ** and {', '.join(_FUNCTIONS)} are known: {ast.unparse(node)!r}"
    )


def arithmetic(text: str, names: Mapping[str, Number] | None = None) -> Number:
    """The value of an arithmetic expression; ValueError says what is wrong with it.

    >>> arithmetic("16 * 1024 / word", {"word": 2})
    8192
    """
    try:
        value = value_of(parse(text), {} if names is None else names)
    except ZeroDivisionError:
        raise ValueError(f"division by zero: {text!r}") from None
    except OverflowError:
        raise ValueError(f"too large: {text!r}") from None
    if not math.isfinite(value) or abs(value) >= 2**MAX_BITS:
        raise ValueError(f"a finite value below 2**{MAX_BITS} is expected: {text!r}")
    return value


def is_expression(text: str) -> bool:
    """Whether `text` computes something: contains an operator or a call, not a mere word or quoted number."""
    try:
        return isinstance(parse(text), ast.BinOp | ast.Call)
    except ValueError:
        return False


def names_in(text: str) -> set[str]:
    """The names that an expression uses, functions not among them; ValueError for what is no expression."""
    nodes = list(ast.walk(parse(text)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}
