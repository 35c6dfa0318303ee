"""Index expressions: sums of dims with integer coefficients, as the ranks of a tensor are written."""

import ast
from collections.abc import Collection, Mapping

from .numeric import parse, unknown_name, value_of

Linear = tuple[int, dict[str, int]]  # the constant, and the coefficient of each dim


def _linear(node: ast.expr, dims: Collection[str], names: Mapping[str, int]) -> Linear:
    match node:
        case ast.Name(id=name) if name in dims:
            return 0, {name: 1}
        case ast.Name(id=name) if name not in names:
            raise unknown_name(name, "dim or coefficient", {*dims, *names})
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            sign = 1 if isinstance(op, ast.Add) else -1
            (const, coefs), (other_const, other_coefs) = _linear(left, dims, names), _linear(right, dims, names)
            summed = {dim: coefs.get(dim, 0) + sign * other_coefs.get(dim, 0) for dim in coefs | other_coefs}
            return const + sign * other_const, summed
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            (const, coefs), (other_const, other_coefs) = _linear(left, dims, names), _linear(right, dims, names)
            if coefs and other_coefs:
                raise ValueError(f"a product of two dims is no index expression: {ast.unparse(node)!r}")
            scaled = {dim: coef * other_const for dim, coef in coefs.items()}
            return const * other_const, scaled | {dim: coef * const for dim, coef in other_coefs.items()}
    value = value_of(node, names)
    if not isinstance(value, int):
        raise ValueError(f"an index expression has integer coefficients: {ast.unparse(node)!r}")
    return value, {}


def linear(text: str, dims: Collection[str], names: Mapping[str, int] | None = None) -> dict[str, int]:
    """The coefficient of each dim in an index expression; ValueError says what is wrong with it.

    >>> linear("P*stride + R", {"P", "R"}, {"stride": 2})
    {'P': 2, 'R': 1}
    """
    try:
        const, coefs = _linear(parse(text), dims, {} if names is None else names)
    except ZeroDivisionError:
        raise ValueError(f"division by zero: {text!r}") from None
    except OverflowError:
        raise ValueError(f"too large: {text!r}") from None
    if const or not coefs:
        raise ValueError(f"an index expression is a sum of dims without a constant, got {text!r}")
    for dim, coef in coefs.items():
        if coef < 1:
            raise ValueError(f"the coefficient of {dim} must be at least 1, got {coef} in {text!r}")
    return coefs
