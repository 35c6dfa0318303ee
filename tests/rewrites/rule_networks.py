"""Small networks in which the sources of rules stand, for tests that apply these; and what networks make."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import onnx
from ruby_map.mapper.rewrites import rewrites, rewritten, write_onnx
from ruby_map.mapper.rewrites.apply import Rule, Rules
from ruby_map.mapper.rewrites.evaluate import types_of
from ruby_map.mapper.rewrites.graphs import PART, WEIGHT, Source, Tensor, TensorGraph, made
from ruby_map.mapper.rewrites.match import Match, filled
from ruby_map.mapper.rewrites.shipped import rules, shipped
from ruby_map.mapper.rewrites.terms import INPUT, SPLITS, Term, below, given, inputs_of, term, unknowns
from ruby_map.mapper.rewrites.types import Type, size, sizes
from ruby_map.mapper.rewrites.verifier import VALUES

from ..onnx_runs import run

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


def placed(
    rule: Rule, inputs: Mapping[str, Type], weights: Sequence[str] = ()
) -> tuple[TensorGraph, list[TensorGraph]] | None:
    """The first network in which a rule has places, with what it is rewritten to at each."""
    for graph in networks(rule, inputs, weights):
        if made := [rewritten(graph, own) for own in rewrites(graph, Rules([rule]))]:
            return graph, made
    return None


def small_words(graph: TensorGraph, seed: int) -> dict[str, np.ndarray]:
    """Small whole numbers for each input of a graph."""
    rng = np.random.default_rng(seed)
    return {name: small_numbers(one.sizes, rng) for name, one in graph.inputs.items()}


def outputs_of(graph: TensorGraph, path: Path, words: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a network makes that is written: by names, of the dtypes and the sizes of the file."""
    write_onnx(graph, path)
    model = onnx.load(path)
    return dict(zip([one.name for one in model.graph.output], run(model, words), strict=True))


def differences(
    made: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], close: float
) -> Iterator[tuple[str, float]]:
    """The outputs that are not what is expected, with what is between them, as a part of the largest word."""
    assert list(made) == list(expected)
    for name, one in expected.items():
        own = made[name]
        assert (own.shape, own.dtype) == (one.shape, one.dtype)
        far = np.max(np.abs(own - one), initial=0) / np.max(np.abs(one), initial=1)
        if not far <= close:
            yield name, far


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
