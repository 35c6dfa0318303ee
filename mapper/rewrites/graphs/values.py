"""What terms of networks compute: constants folded, and all else for tests."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..operators import Array
from ..terms import INPUT, Term, below
from .source import Source
from .table import NETWORK_OPERATORS, WEIGHT


def constants(terms: Iterable[Term]) -> frozenset[Term]:
    """Return those of some terms that are made of weights alone by operators of the table. Operands stand before what
    reads them, as `below` lists them."""
    known: set[Term] = set()
    for own in terms:
        if own.op == WEIGHT or (own.op in NETWORK_OPERATORS and known.issuperset(own.operands)):
            known.add(own)
    return frozenset(known)


def folded(source: Source, wanted: Mapping[Term, str]) -> dict[Term, NDArray[Any]]:
    """Return the values of constants, each computed once in float64 and cast to the dtype wanted of it; weights are as
    they are in the source."""
    done = {own: source.weights[own.name] for own in wanted if own.op == WEIGHT}
    with np.errstate(all="ignore"):  # too large or no numbers, as nodes of the model would make them
        for own, value in _values(source, wanted.keys() - done.keys(), {}):
            if own in wanted and own not in done:
                done[own] = value.astype(wanted[own])
    return done


def values_of_roots(source: Source, roots: Iterable[Term], inputs: Mapping[str, NDArray[Any]]) -> dict[Term, Array]:
    """Return what terms compute in float64 from inputs. Raises ValueError for opaque nodes."""
    wanted = frozenset(roots)
    return {own: value for own, value in _values(source, wanted, inputs) if own in wanted}


def _values(source: Source, roots: Iterable[Term], inputs: Mapping[str, NDArray[Any]]) -> Iterator[tuple[Term, Array]]:
    """Yield all that stands in terms with its value. A value is forgotten once all its readers are computed: of large
    weights few copies are in memory."""
    order = below(roots)
    left = Counter(operand for own in order for operand in own.operands)
    values: dict[Term, Array] = {}
    for own in order:
        if own.op == WEIGHT:
            values[own] = source.weights[own.name].astype(np.float64)
        elif own.op == INPUT:
            values[own] = inputs[own.name].astype(np.float64)
        elif own.op in NETWORK_OPERATORS:
            operands = [values[operand] for operand in own.operands]
            values[own] = NETWORK_OPERATORS[own.op].execute(own.params, operands, [one.shape for one in operands])
        else:
            raise ValueError(f"{own.op} {own.name} is not computed here")
        yield own, values[own]
        left.subtract(own.operands)
        for one in (own, *own.operands):
            if not left[one]:
                values.pop(one, None)
