"""Arithmetic and index expressions in input files: parsed by `ast`, computed node by node, never evaluated."""

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping

from .reading import near

MAX_LENGTH = 200  # characters
MAX_BITS = 200  # of any value on the way

Number = int | float


def _divide(left: Number, right: Number) -> Number:
    """Division that stays an integer where it can: large sizes are not rounded."""
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
}


def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise ValueError(f"an expression of at most {MAX_LENGTH} characters is expected, got {len(text)}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"not an expression: {text!r}") from None


def _unknown(name: str, kind: str, choices: Collection[str]) -> ValueError:
    known = f"; known: {', '.join(sorted(choices))}" if choices else ""
    return ValueError(f"unknown {kind} {name!r}{known}{near(name, choices)}")


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Name(id=name):
            if name not in names:
                raise _unknown(name, "name", names.keys())
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, names), _value(right, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in _FUNCTIONS:
                raise _unknown(name, "function", _FUNCTIONS.keys())
            try:
                return _FUNCTIONS[name](*(_value(arg, names) for arg in args))
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
        value = _value(_parse(text), names or {})
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
        return isinstance(_parse(text), ast.BinOp | ast.Call)
    except ValueError:
        return False


def names_in(text: str) -> set[str]:
    """The names that an expression uses, functions not among them; ValueError for what is no expression."""
    nodes = list(ast.walk(_parse(text)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    return {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}


Linear = tuple[int, dict[str, int]]  # constant, coefficients


def _linear(node: ast.expr, dims: Collection[str], names: Mapping[str, int]) -> Linear:
    match node:
        case ast.Name(id=name) if name in dims:
            return 0, {name: 1}
        case ast.Name(id=name) if name not in names:
            raise _unknown(name, "dim or coefficient", {*dims, *names})
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            sign = 1 if isinstance(op, ast.Add) else -1
            (const, coefs), (other_const, others) = _linear(left, dims, names), _linear(right, dims, names)
            summed = {dim: coefs.get(dim, 0) + sign * others.get(dim, 0) for dim in coefs | others}
            return const + sign * other_const, summed
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            (const, coefs), (other_const, others) = _linear(left, dims, names), _linear(right, dims, names)
            if coefs and others:
                raise ValueError(f"a product of two dims is no index expression: {ast.unparse(node)!r}")
            scaled = {dim: coef * other_const for dim, coef in coefs.items()}
            return const * other_const, scaled | {dim: coef * const for dim, coef in others.items()}
    value = _value(node, names)
    if not isinstance(value, int):
        raise ValueError(f"an index expression has integer coefficients: {ast.unparse(node)!r}")
    return value, {}


def linear(text: str, dims: Collection[str], names: Mapping[str, int] | None = None) -> dict[str, int]:
    """The coefficient of each dim in an index expression; ValueError says what is wrong with it.

    >>> linear("P*stride + R", {"P", "R"}, {"stride": 2})
    {'P': 2, 'R': 1}
    """
    const, coefs = _linear(_parse(text), dims, names or {})
    if const or not coefs:
        raise ValueError(f"an index expression is a sum of dims without a constant, got {text!r}")
    for dim, coef in coefs.items():
        if coef < 1:
            raise ValueError(f"the coefficient of {dim} must be at least 1, got {coef} in {text!r}")
    return coefs
