"""Terms: expressions of tensors, each an operator with parameters on operands; equal ones are one object."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, override
from weakref import WeakValueDictionary

from .operators import OPERATORS

PART = "part"  # a slice along an axis between two places, as networks have them
SPLITS = ("split0", "split1")  # the same in rules: of what was joined along the axis
SPLIT = "split"  # the operator whose parts these are
INPUT = "input"  # the operator of what is given: its parameter is a name
COMMUTING = frozenset(name for name, operator in OPERATORS.items() if operator.commutes)


@dataclass(frozen=True)
class Unknown:
    """A parameter of a rule that any value may take, the same wherever it stands."""

    name: str

    @override
    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class Term:
    """A tensor: what an operator makes of its operands. `term` and `given` make one: equal ones are one object."""

    op: str
    params: tuple[Hashable, ...]
    operands: tuple["Term", ...]
    key: bytes = field(repr=False)  # of what the term is: by it operands are put in order

    @property
    def name(self) -> str:
        """The name of an input."""
        return str(self.params[0])

    @override
    def __repr__(self) -> str:
        return f"<{self.op} {self.params}>"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return term, (self.op, self.params, self.operands)


Make = Callable[[str, tuple[Hashable, ...], tuple[Term, ...]], Term]

_ALL: WeakValueDictionary[tuple[Hashable, ...], Term] = WeakValueDictionary()


def term(op: str, params: tuple[Hashable, ...] = (), operands: tuple[Term, ...] = ()) -> Term:
    """Return the term of an operator, its parameters in the order of the table, and its operands.

    Operands that may change places stand in one order, so terms that differ in it alone are one.
    """
    if len(operands) == 2 and operands[0].key > operands[1].key and op in COMMUTING:
        operands = operands[::-1]
    key = (op, params, *map(id, operands))  # a term keeps its operands, so an id is not given anew while it lives
    own = _ALL.get(key)
    if own is None:
        mark = blake2b(repr((op, params)).encode(), digest_size=12)
        for operand in operands:
            mark.update(operand.key)
        own = _ALL[key] = Term(op, params, operands, mark.digest())
    return own


def given(name: str) -> Term:
    """Return the input of a name."""
    return term(INPUT, (name,))


def below(roots: Iterable[Term]) -> list[Term]:
    """List all terms that stand in others, each once, operands first.

    >>> x = given("x")
    >>> [one.op for one in below([term("relu", (), (x,)), x])]
    ['input', 'relu']
    """
    order: dict[Term, None] = {}
    waiting = [(root, False) for root in reversed(list(roots))]
    while waiting:
        own, ready = waiting.pop()
        if ready:
            order[own] = None
        elif own not in order:
            waiting.append((own, True))
            waiting += [(operand, False) for operand in reversed(own.operands) if operand not in order]
    return list(order)


def inputs_of(roots: Iterable[Term]) -> list[Term]:
    """List the inputs in terms, in the order in which they are met."""
    return [own for own in below(roots) if own.op == INPUT]


def names_in(roots: Iterable[Term]) -> frozenset[str]:
    """Return the names of the inputs in terms."""
    return frozenset(own.name for own in inputs_of(roots))


def operators_in(roots: Iterable[Term]) -> dict[Hashable, str]:
    """Return the names of the operators in terms, by what each is; both parts of a split are one.

    >>> joined = term("concat", (0,), (given("x"), given("y")))
    >>> list(operators_in(term(op, (0,), (joined,)) for op in SPLITS).values())
    ['concat', 'split']
    """
    operators: dict[Hashable, str] = {}
    for own in below(roots):
        if own.op in SPLITS:
            operators[own.params, own.operands] = SPLIT
        elif own.op != INPUT:
            operators[own] = own.op
    return operators


def rebuilt(roots: Sequence[Term], become: Mapping[Term, Term], make: Make = term) -> tuple[Term, ...]:
    """Return terms with some of what stands in them replaced, whatever these contain themselves; `make` makes those
    that read what is replaced."""
    made = dict(become)
    for own in below(roots):
        if own not in made:
            operands = tuple(made[operand] for operand in own.operands)
            made[own] = own if operands == own.operands else make(own.op, own.params, operands)
    return tuple(made[root] for root in roots)


def with_params(roots: Sequence[Term], change: Callable[[Term], tuple[Hashable, ...]]) -> tuple[Term, ...]:
    """Return terms whose parameters `change` says."""
    made: dict[Term, Term] = {}
    for own in below(roots):
        made[own] = term(own.op, change(own), tuple(made[operand] for operand in own.operands))
    return tuple(made[root] for root in roots)


def unknowns(roots: Iterable[Term]) -> Iterator[Unknown]:
    """Yield the unknown parameters of terms, each time that one stands there."""
    for own in below(roots):
        yield from (value for value in own.params if isinstance(value, Unknown))
