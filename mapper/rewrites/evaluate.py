"""Types of terms, and what terms compute."""

from collections.abc import Iterable, Mapping

from .operators import OPERATORS, Array
from .terms import INPUT, Term, below
from .types import Type


def types_of(roots: Iterable[Term], of_inputs: Mapping[str, Type]) -> dict[Term, Type | None]:
    """Return the types of terms and of all that stand in them; None of what cannot be computed."""
    made: dict[Term, Type | None] = {}
    for own in below(roots):
        operands = [made[operand] for operand in own.operands]
        known = [one for one in operands if one is not None]
        if own.op == INPUT:
            made[own] = of_inputs[own.name]
        else:
            made[own] = OPERATORS[own.op].types(own.params, known) if len(known) == len(operands) else None
    return made


def values_of(
    roots: Iterable[Term], of_inputs: Mapping[str, Array], types: Mapping[Term, Type | None]
) -> dict[Term, Array]:
    """Return what terms compute, and all that stand in them; `types` are theirs, none of them None."""
    made: dict[Term, Array] = {}
    for own in below(roots):
        if own.op == INPUT:
            made[own] = of_inputs[own.name]
            continue
        kinds = [types[operand] for operand in own.operands]
        known = [kind for kind in kinds if kind is not None]
        made[own] = OPERATORS[own.op].execute(own.params, [made[operand] for operand in own.operands], known)
    return made
