"""Terms as text, `conv(x, concat(v, w, axis=0), stride=s, pad='same', act='none')`, and back."""

import ast
from collections.abc import Hashable, Iterable

from .operators import OPERATORS
from .terms import INPUT, Term, Unknown, below, given, term


def text_of(own: Term) -> str:
    """Return a term as text: inputs and unknown parameters by their names.

    >>> text_of(term("concat", (Unknown("axis"),), (given("x"), given("y"))))
    'concat(x, y, axis=axis)'
    """
    made: dict[Term, str] = {}
    for one in below([own]):
        if one.op == INPUT:
            made[one] = one.name
            continue
        operands = [made[operand] for operand in one.operands]
        names = OPERATORS[one.op].params
        params = [f"{name}={_shown(value)}" for name, value in zip(names, one.params, strict=True)]
        made[one] = f"{one.op}({', '.join([*operands, *params])})"
    return made[own]


def _shown(value: Hashable) -> str:
    return str(value) if isinstance(value, Unknown) else repr(value)


def texts_of(roots: Iterable[Term]) -> list[str]:
    """Return terms as texts."""
    return [text_of(root) for root in roots]


def term_of(text: str) -> Term:
    """Return the term of a text. Raises ValueError where it is none."""
    try:
        return _term(ast.parse(text, mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"{text!r} is no term") from None


def _term(tree: ast.expr) -> Term:
    if isinstance(tree, ast.Name):
        return given(tree.id)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ValueError(f"{ast.unparse(tree)!r} is neither an input nor an operator on operands")
    op = tree.func.id
    if op not in OPERATORS:
        raise ValueError(f"unknown operator {op!r}; known: {', '.join(OPERATORS)}")
    operator, said = OPERATORS[op], {keyword.arg: keyword.value for keyword in tree.keywords}
    if len(tree.args) != operator.arity or list(said) != list(operator.params):
        params = ", ".join(operator.params) or "no parameters"
        raise ValueError(f"{op} has {operator.arity} operands and {params}, got {ast.unparse(tree)!r}")
    return term(op, tuple(map(_value, said.values())), tuple(map(_term, tree.args)))


def _value(tree: ast.expr) -> Hashable:
    if isinstance(tree, ast.Name):
        return Unknown(tree.id)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | str):
        return tree.value
    if isinstance(tree, ast.Tuple):
        return tuple(map(_value, tree.elts))
    raise ValueError(f"{ast.unparse(tree)!r} is no value of a parameter")
