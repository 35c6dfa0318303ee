"""Small networks in which the sources of rules stand, for tests that apply these."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from ruby_map.mapper.rewrites.apply import Rule
from ruby_map.mapper.rewrites.evaluate import types_of
from ruby_map.mapper.rewrites.graphs import PART, WEIGHT, Source, Tensor, TensorGraph, made
from ruby_map.mapper.rewrites.match import Match, filled
from ruby_map.mapper.rewrites.operators import VALUES
from ruby_map.mapper.rewrites.shipped import rules, shipped
from ruby_map.mapper.rewrites.terms import INPUT, SPLITS, Term, below, given, inputs_of, term, unknowns
from ruby_map.mapper.rewrites.types import Type, size, sizes

BESIDE = ((3, 3), (5, 5))  # kernels that those of the shipped equations can be enlarged to
Side = tuple[Term, ...]


def shipped_rules() -> list[tuple[Rule, Mapping[str, Type]]]:
    """The shipped rules, each with the types that its inputs were found with."""
    sides = [
        (Rule("", *pair), own.equation.inputs)
        for _, own in shipped()[1]
        for pair in (own.equation.sides, own.equation.sides[::-1])
    ]
    every = [inputs for rule, inputs in sides if rule.usable]
    return list(zip(rules(), every, strict=True))


def networks(rule: Rule, inputs: Mapping[str, Type], weights: Sequence[str] = ()) -> Iterator[TensorGraph]:
    """Yield networks whose outputs are the source of a rule, one for all values of its parameters with which it can be
    computed. Inputs are graph inputs, or weights of small whole numbers.

    Where the target has a kernel that the source does not have, large ones read each image beside.
    """
    rng = np.random.default_rng(len(rule.name))
    held = {name: small_numbers(sizes(inputs[name]), rng) for name in weights}
    tensors = {name: Tensor("float32", sizes(one)) for name, one in inputs.items() if name not in held}
    source = Source(tensors, held)
    leaves = {name: term(WEIGHT, (name,)) if name in held else given(name) for name in inputs}
    for side, types in _sides(rule, inputs):
        outputs = dict(zip(("one", "other"), _terms(source, side, types, leaves), strict=False))
        if any(name.rstrip("_") == "kernel" for name in rule.free):
            outputs |= _large_windows(source, side, types, leaves)
        yield TensorGraph(outputs, source)


def small_numbers(shape: Sequence[int], rng: np.random.Generator) -> np.ndarray:
    """Whole numbers whose sums of products float32 holds, also of three convolutions in a row."""
    return rng.integers(-2, 3, shape).astype(np.float32)


def second_operands(rule: Rule) -> list[str]:
    """The inputs of a source but the first: weights, in most networks."""
    return [own.name for own in inputs_of(rule.source)[1:]]


def _sides(rule: Rule, inputs: Mapping[str, Type]) -> Iterator[tuple[Side, Mapping[Term, Type]]]:
    names = list(dict.fromkeys(own.name for own in unknowns(rule.source)))
    for values in product(*(_values(name, inputs) for name in names)):
        side = filled(rule.source, Match({}, dict(zip(names, values, strict=True))))
        types = types_of(side, inputs)
        known = {own: one for own, one in types.items() if one is not None}
        if len(known) == len(types):
            yield side, known


def _values(name: str, inputs: Mapping[str, Type]) -> Sequence[Hashable]:
    name = name.rstrip("_")
    if name == "axis":
        return 1, 0
    if name == "size":
        return range(1, 9)
    if name == "sizes":
        return [sizes(made) for made in inputs.values() if made] or [(2, 4)]
    return VALUES[name]


def _terms(source: Source, side: Side, types: Mapping[Term, Type], leaves: Mapping[str, Term]) -> list[Term]:
    """The terms of a network that those of a side are: splits are parts at the places where tensors were joined."""
    become: dict[Term, Term] = {}
    for own in below(side):
        operands = tuple(become[operand] for operand in own.operands)
        if own.op == INPUT:
            become[own] = leaves[own.name]
        elif own.op in SPLITS:
            ((axis,), (whole,)) = own.params, own.operands
            first, second = types[whole][axis]
            places = (0, size(first)) if own.op == "split0" else (size(first), size(first) + size(second))
            become[own] = made(source, PART, (axis, *places), operands)
        else:
            become[own] = made(source, own.op, own.params, operands)
    return [become[root] for root in side]


def _large_windows(
    source: Source, side: Side, types: Mapping[Term, Type], leaves: Mapping[str, Term]
) -> dict[str, Term]:
    window = ((1, 1), "same", "none")
    made_terms = {}
    for own in inputs_of(side):
        if len(types[own]) == 4:
            kernels = [term("ones", ((1, size(types[own][1]), *kernel),)) for kernel in BESIDE]
            reading = [made(source, "conv", window, (leaves[own.name], one)) for one in kernels]
            made_terms |= {f"beside {own.name} {at}": one for at, one in enumerate(reading)}
    return made_terms
