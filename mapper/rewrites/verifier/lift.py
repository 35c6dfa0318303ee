"""Widens proven equations: parameters that may have any value, as far as that can be proven."""

from collections.abc import Hashable, Iterator, Sequence

from ..equation import Equation
from ..operators import OPERATORS
from ..terms import INPUT, Term, Unknown, below, with_params
from .solver import Prover

Group = tuple[str, Hashable]  # a parameter's name, and a value that stands in an equation


def lifted(equation: Equation, prover: Prover) -> tuple[Equation, tuple[str, ...]] | None:
    """Return an equation with as many parameters unknown as can be proven, and the properties of its proof; None where
    the equation itself is not proven."""
    proof = prover.proof(equation)
    if proof is None:
        return None
    for name, value in _groups((*equation.left, *equation.right)):
        wider = _with_unknown(equation, (name, value))
        better = prover.proof(wider)
        if better is not None:
            equation, proof = wider, better
    return equation, proof


def _groups(roots: Sequence[Term]) -> list[Group]:
    """Return the values of parameters, each once."""
    return list(dict.fromkeys(group for own in below(roots) for group in _of(own)))


def _of(own: Term) -> Iterator[Group]:
    if own.op != INPUT:
        yield from zip(OPERATORS[own.op].params, own.params, strict=True)


def _with_unknown(equation: Equation, group: Group) -> Equation:
    """Return an equation with a value of a parameter unknown wherever it stands."""
    taken = {value for own in below((*equation.left, *equation.right)) for value in own.params}
    name = next(own for at in range(9) if Unknown(own := group[0] + "_" * at) not in taken)

    def change(own: Term) -> tuple[Hashable, ...]:
        if own.op == INPUT:
            return own.params
        return tuple(Unknown(name) if one == group else one[1] for one in _of(own))

    return Equation(with_params(equation.left, change), with_params(equation.right, change), equation.inputs)
