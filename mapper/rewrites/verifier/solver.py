"""Proves equations from the table of properties with z3 (package `z3-solver`, extra `rewrites`).

Tensors are a sort of their own, operators functions on it, parameters whole numbers; what cannot be computed is one
element, BOTTOM. Properties hold for all elements, so what follows from them holds for all tensors whose terms can be
computed (TASO, section 3). Only E-matching is used: a proof is a finite number of instances of properties.
"""

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

from ..equation import Equation
from ..operators import OPERATORS
from ..terms import COMMUTING, INPUT, Term, Unknown, below, inputs_of, unknowns
from .properties import ALIKE, BOTH, LEFT, LEMMAS, NO, PROPERTIES, RIGHT, Property

EFFORT = 300_000  # z3 counts its own steps: what is proven does not depend on the machine
KEEPING = ("ewadd", "ewmul", "smul", "relu", "scale", "bias")  # operators that keep the type of what they read first


class Prover:
    """Proves equations from properties."""

    def __init__(self, properties: Sequence[Property] = (*PROPERTIES, *LEMMAS), effort: int = EFFORT) -> None:
        import z3

        self.z3 = z3
        self.properties, self.effort = properties, effort
        self._context = z3.Context()
        self._tensors = z3.DeclareSort("Tensor", self._context)
        self._numbers = z3.IntSort(self._context)
        self._types = z3.DeclareSort("Type", self._context)
        self._type = z3.Function("type", self._tensors, self._types)
        self._bottom = z3.Const("BOTTOM", self._tensors)
        self._labels: dict[Hashable, int] = {}

    @cached_property
    def _functions(self) -> dict[str, Any]:
        made = {}
        for name, operator in OPERATORS.items():
            sorts = [self._numbers] * len(operator.params) + [self._tensors] * operator.arity
            made[name] = self.z3.Function(name, *sorts, self._tensors)
        return made

    @cached_property
    def _solver(self) -> Any:
        """Return a solver that knows the properties."""
        solver = self.z3.Solver(ctx=self._context)
        solver.set("rlimit", self.effort)
        solver.set("auto_config", False)
        solver.set("mbqi", False)
        for own in self.properties:
            solver.assert_and_track(self._axiom(own), own.name)
        for name, turned in self._turned.items():
            solver.assert_and_track(turned, f"{name} turned")
        solver.add(*self._strict, *self._typed)
        return solver

    @cached_property
    def _turned(self) -> dict[str, Any]:
        """Return that operands of commuting operators may change places."""
        one, other = (self.z3.Const(name, self._tensors) for name in "xy")
        made = {}
        for name in sorted(COMMUTING):
            left, right = self._functions[name](one, other), self._functions[name](other, one)
            made[name] = self.z3.ForAll([one, other], left == right, patterns=[left])
        return made

    @cached_property
    def _strict(self) -> list[Any]:
        """Return that nothing can be computed of what cannot be computed."""
        made = []
        for _, params, operands, own in self._applications():
            for operand in operands:
                body = self.z3.Implies(own != self._bottom, operand != self._bottom)
                made.append(self.z3.ForAll([*params, *operands], body, patterns=[own]))
        return made

    def _applications(self) -> Iterator[tuple[str, list[Any], list[Any], Any]]:
        """Yield each operator with variables for its parameters and operands, and what it makes of these."""
        for name, operator in OPERATORS.items():
            params = [self.z3.Int(f"p{at}", self._context) for at in range(len(operator.params))]
            operands = [self.z3.Const(f"x{at}", self._tensors) for at in range(operator.arity)]
            yield name, params, operands, self._functions[name](*params, *operands)

    @cached_property
    def _typed(self) -> list[Any]:
        """Return that the type of what an operator makes follows from those of its operands, or is the first."""
        made = []
        for name, params, operands, own in self._applications():
            if not operands:
                continue
            types = [self._type(operand) for operand in operands]
            sorts = [self._numbers] * len(params) + [self._types] * len(operands)
            follows = [self._type(own) == self.z3.Function(f"type of {name}", *sorts, self._types)(*params, *types)]
            if name in KEEPING:
                follows += [self._type(own) == one for one in types[: 2 if name in COMMUTING else 1]]
            body = self.z3.Implies(own != self._bottom, self.z3.And(*follows))
            made.append(self.z3.ForAll([*params, *operands], body, patterns=[own]))
        return made

    def proof(self, equation: Equation) -> tuple[str, ...] | None:
        """Return the names of the properties from which an equation follows; None where no proof is found."""
        used: dict[str, None] = {}
        for one, other in zip(equation.left, equation.right, strict=True):
            names = self._of_output(equation, one, other)
            if names is None:
                return None
            used.update(dict.fromkeys(names))
        return tuple(sorted(used))

    def _of_output(self, equation: Equation, one: Term, other: Term) -> list[str] | None:
        solver = self._solver
        solver.push()
        made = self._terms((*equation.left, *equation.right))
        solver.add(*(term != self._bottom for term in made.values()))
        pairs = zip(equation.left, equation.right, strict=True)
        solver.add(*(self._type(made[left]) == self._type(made[right]) for left, right in pairs))
        solver.add(made[one] != made[other])
        proven = solver.check() == self.z3.unsat
        names = [str(name) for name in solver.unsat_core()] if proven else None
        solver.pop()
        return names

    def _axiom(self, own: Property) -> Any:
        """Return a property for all tensors and parameters."""
        made = self._terms((own.left, own.right))
        left, right = made[own.left], made[own.right]
        variables = [made[one] for one in inputs_of((own.left, own.right))]
        variables += [self.z3.Int(name, self._context) for name in sorted(own.params)]
        both = [left, right]
        defined = {NO: [], LEFT: [left], RIGHT: [right], BOTH: both, ALIKE: both}[own.guard]
        conditions = [term != self._bottom for term in defined]
        if own.guard == ALIKE:
            conditions.append(self._type(left) == self._type(right))
        if own.distinct:
            conditions.append(self.z3.Distinct(*(self.z3.Int(name, self._context) for name in own.distinct)))
        equal = left == right
        body = self.z3.Implies(self.z3.And(*conditions), equal) if conditions else equal
        if not variables:
            return body
        return self.z3.ForAll(variables, body, patterns=self._patterns(own, left, right, len(variables)))

    def _patterns(self, own: Property, left: Any, right: Any, variables: int) -> list[Any]:
        """Return the terms whose presence calls for a property: those that have all variables."""
        if own.guard == BOTH:
            return [self.z3.MultiPattern(left, right)]
        made = {own.left: left, own.right: right}
        return [made[side] for side in made if side.op != INPUT and _variables(side) == variables]

    def _terms(self, roots: Sequence[Term]) -> dict[Term, Any]:
        made: dict[Term, Any] = {}
        for own in below(roots):
            if own.op == INPUT:
                made[own] = self.z3.Const(own.name, self._tensors)
            else:
                params = [self._param(value) for value in own.params]
                made[own] = self._functions[own.op](*params, *(made[operand] for operand in own.operands))
        return made

    def _param(self, value: Hashable) -> Any:
        """Return a parameter: unknown, or a number that stands for the value alone."""
        if isinstance(value, Unknown):
            return self.z3.Int(value.name, self._context)
        return self.z3.IntVal(self._labels.setdefault(value, len(self._labels)), self._context)


def _variables(side: Term) -> int:
    return len({own.name for own in unknowns([side])}) + len(inputs_of([side]))
