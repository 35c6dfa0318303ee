"""All tensors that small graphs make, computed once: what each is, of which operator, and a number of its words."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product

import numpy as np

from ..operators import OPERATORS, Array
from ..terms import COMMUTING, SPLIT, SPLITS, Term, given, term
from ..types import Type, sizes
from .alphabet import OF_WEIGHTS, Alphabet

ROUNDS = 3  # of random inputs whose outputs a mark is made of: few words are equal by chance in all of them
DENOMINATOR = 3**8  # words are whole multiples of one over it: averages of at most four pools of 3 x 3


@dataclass(frozen=True)
class Made:
    """An operator on tensors, by their numbers, and the tensors that it makes."""

    op: str
    params: tuple[Hashable, ...]
    operands: tuple[int, ...]
    outputs: tuple[int, ...]


class Pool:
    """Tensors and operators, by numbers in the order in which they were met; the inputs come first."""

    def __init__(self, alphabet: Alphabet, seed: int) -> None:
        self.alphabet = alphabet
        self.types: list[Type] = []
        self.marks: list[int] = []  # a number of what a tensor is: of its type and its words
        self.nodes: list[Made] = []
        self._terms: list[Term] = []
        self._values: list[tuple[Array, ...]] = []
        self._weights: list[bool] = []
        self._known: dict[tuple[Hashable, ...], int | None] = {}
        self._fitting: dict[Type, list[tuple[str, tuple[Hashable, ...], tuple[int | None, ...]]]] = {}
        rng = np.random.default_rng(seed)
        for name, made in alphabet.inputs.items():
            values = tuple(rng.integers(-4, 5, sizes(made)).astype(np.float64) for _ in range(ROUNDS))
            self._add(given(name), made, values, name in alphabet.weights)
        self.inputs = len(self.types)

    def term(self, tensor: int) -> Term:
        """Return the term of a tensor."""
        return self._terms[tensor]

    def of_inputs(self) -> list[int]:
        """Return the operators that can be applied to inputs, and constants."""
        every = []
        for op, params in self.alphabet.operators:
            arity = 1 if op == SPLIT else OPERATORS[op].arity
            every += [self._node(op, params, own) for own in product(range(self.inputs), repeat=arity)]
        return list(dict.fromkeys(node for node in every if node is not None))

    def of_tensor(self, tensor: int) -> Iterator[int]:
        """Yield the operators that can be applied to a tensor, and inputs."""
        made = self.types[tensor]
        if made not in self._fitting:
            self._fitting[made] = [
                (op, params, operands)
                for op, params in self.alphabet.operators
                for operands in self._beside(op)
                if self._types(op, params, tuple(tensor if own is None else own for own in operands))
            ]
        for op, params, operands in self._fitting[made]:
            node = self._node(op, params, tuple(tensor if own is None else own for own in operands))
            if node is not None:
                yield node

    def of_both(self, one: int, other: int) -> Iterator[int]:
        """Yield the operators that can be applied to two tensors."""
        for op, params in self.alphabet.operators:
            if op != SPLIT and OPERATORS[op].arity == 2:
                for operands in ((one, other), (other, one)):
                    node = self._node(op, params, operands)
                    if node is not None:
                        yield node

    def _beside(self, op: str) -> Iterator[tuple[int | None, ...]]:
        """Yield the operands of an operator: None is the tensor in question, all others are inputs."""
        if op == SPLIT or OPERATORS[op].arity == 1:
            yield (None,)
        elif OPERATORS[op].arity == 2:
            for own in range(self.inputs):
                yield (None, own)
                yield (own, None)

    def _types(self, op: str, params: tuple[Hashable, ...], operands: tuple[int, ...]) -> list[Type]:
        """Return the types of what an operator makes; none where it cannot be applied."""
        own = [self.types[operand] for operand in operands]
        made = [OPERATORS[name].types(params, own) for name in _terms_of(op)]
        known = [one for one in made if one is not None]
        return known if len(known) == len(made) else []

    def _node(self, op: str, params: tuple[Hashable, ...], operands: tuple[int, ...]) -> int | None:
        """Return the number of an operator on operands; None where it cannot be applied, or is not of interest."""
        if op in COMMUTING:
            operands = tuple(sorted(operands))
        key = (op, params, operands)
        if key not in self._known:
            types = self._types(op, params, operands) if self._of_interest(op, operands) else []
            self._known[key] = self._made(op, params, operands, types) if types else None
        return self._known[key]

    def _of_interest(self, op: str, operands: tuple[int, ...]) -> bool:
        weights = [self._weights[operand] for operand in operands]
        if len(set(operands)) < len(operands) or (operands and all(weights) and op not in OF_WEIGHTS):
            return False
        if op == "concat":
            return weights[0] == weights[1]
        if op == "gconv" and weights == [False, True] and self._four(operands):  # of one group it is a conv
            (_, channels, *_), (_, of_group, *_) = (sizes(self.types[operand]) for operand in operands)
            return channels > of_group
        return op not in ("conv", "gconv") or weights == [False, True]

    def _four(self, operands: tuple[int, ...]) -> bool:
        return all(len(self.types[operand]) == 4 for operand in operands)

    def _made(self, op: str, params: tuple[Hashable, ...], operands: tuple[int, ...], types: list[Type]) -> int:
        weight = all(self._weights[own] for own in operands) if operands else op != "ones"
        own = [self.types[operand] for operand in operands]
        outputs = []
        for name, made in zip(_terms_of(op), types, strict=True):
            execute = OPERATORS[name].execute
            values = tuple(
                execute(params, [self._values[operand][at] for operand in operands], own) for at in range(ROUNDS)
            )
            of = tuple(self._terms[operand] for operand in operands)
            outputs.append(self._add(term(name, params, of), made, values, weight))
        self.nodes.append(Made(op, params, operands, tuple(outputs)))
        return len(self.nodes) - 1

    def _add(self, own: Term, made: Type, values: tuple[Array, ...], weight: bool) -> int:
        mark = blake2b(repr(made).encode(), digest_size=8)
        for one in values:
            mark.update(np.rint(one * DENOMINATOR).astype(np.int64).tobytes())
        self.types.append(made)
        self.marks.append(int.from_bytes(mark.digest(), "little"))
        self._terms.append(own)
        self._values.append(values)
        self._weights.append(weight)
        return len(self.types) - 1


def _terms_of(op: str) -> tuple[str, ...]:
    return SPLITS if op == SPLIT else (op,)
