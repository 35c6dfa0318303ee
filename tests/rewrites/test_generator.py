"""What is enumerated: all graphs, each once; what is pruned is another equation, and nothing that is pruned is lost."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pytest
from ruby_map.mapper.rewrites.equation import Equation, canonical, holds, operators_of
from ruby_map.mapper.rewrites.evaluate import types_of
from ruby_map.mapper.rewrites.generator import Alphabet, Graphs, Pool, Pruner, generated, renamed
from ruby_map.mapper.rewrites.match import contains
from ruby_map.mapper.rewrites.terms import Term, given, inputs_of, term
from ruby_map.mapper.rewrites.text import term_of, texts_of

SMALL = Alphabet(
    {"x1": (3, 3), "x2": (3, 3)},
    frozenset(),
    (("ewadd", ()), ("matmul", ()), ("relu", ()), ("concat", (0,)), ("split", (0,))),
)


def _applied(tensors: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    """The tensors that each operator of the alphabet makes of some."""
    for one, other in product(tensors, repeat=2):
        if one is not other:
            yield (term("ewadd", (), (one, other)),)
            yield (term("matmul", (), (one, other)),)
            yield (term("concat", (0,), (one, other)),)
    for own in tensors:
        yield (term("relu", (), (own,)),)
        yield term("split0", (0,), (own,)), term("split1", (0,), (own,))


def _sinks(nodes: Sequence[tuple[Term, ...]]) -> frozenset[Term]:
    read = {operand for node in nodes for operand in node[0].operands}
    return frozenset(own for node in nodes for own in node if own not in read)


def _by_hand(operators: int) -> set[frozenset[Term]]:
    """The outputs of all graphs: written down without any of the generator's shortcuts."""
    inputs, rng = [given(name) for name in SMALL.inputs], np.random.default_rng(3)
    words = {name: rng.integers(-40, 41, made).astype(float) for name, made in SMALL.inputs.items()}
    graphs: set[frozenset[tuple[Term, ...]]] = {frozenset()}
    every: set[frozenset[Term]] = set()
    for _ in range(operators):
        graphs = {
            graph | {node}
            for graph in graphs
            for node in _applied([*inputs, *(own for made in graph for own in made)])
            if node not in graph
        }
        every |= {_sinks(list(graph)) for graph in graphs if _counts(graph, words)}
    return every


def _counts(graph: frozenset[tuple[Term, ...]], words: dict[str, np.ndarray]) -> bool:
    """Whether all can be computed, all tensors differ, inputs are used in turn, and all hangs together."""
    from ruby_map.mapper.rewrites.evaluate import values_of

    roots = [own for node in graph for own in node]
    types = types_of(roots, SMALL.inputs)
    if None in types.values():
        return False
    values = values_of(roots, words, types)
    tensors = [(types[own], values[own].tobytes()) for own in {*roots, *map(given, words)} if own in values]
    tensors += [(SMALL.inputs[name], own.tobytes()) for name, own in words.items() if given(name) not in values]
    names = {own.name for own in inputs_of(roots)}
    return len(set(tensors)) == len(tensors) and names in ({"x1"}, {"x1", "x2"}) and _hangs_together(graph)


def _hangs_together(graph: frozenset[tuple[Term, ...]]) -> bool:
    pieces = [set(node) | set(node[0].operands) for node in graph]
    while len(pieces) > 1:
        other = next((one for one in pieces[1:] if one & pieces[0]), None)
        if other is None:
            return False
        pieces.remove(other)
        pieces[0] |= other
    return True


@pytest.mark.parametrize("operators", [1, 2, 3])
def test_all_graphs_are_enumerated_each_once(operators: int) -> None:
    pool = Pool(SMALL, 0)
    graphs = Graphs(pool, 0)
    graphs.enumerate(operators)
    found = [
        frozenset(pool.term(tensor) for tensor in graphs.outputs(graphs.graph(number, place)))
        for number, level in enumerate(graphs.levels, 1)
        for place in range(len(level.nodes))
    ]
    assert len(found) == len(set(found))
    assert set(found) == _by_hand(operators)


def test_fingerprints_are_equal_where_outputs_are() -> None:
    pool = Pool(SMALL, 0)
    graphs = Graphs(pool, 0)
    graphs.enumerate(3)
    every = [
        (int(level.fingerprints[place]), graphs.outputs(graphs.graph(number, place)))
        for number, level in enumerate(graphs.levels, 1)
        for place in range(0, len(level.nodes), 7)
    ]
    by_marks: dict[tuple[int, ...], set[int]] = {}
    for fingerprint, outputs in every:
        by_marks.setdefault(tuple(sorted(pool.marks[own] for own in outputs)), set()).add(fingerprint)
    assert all(len(own) == 1 for own in by_marks.values())
    assert len(set.union(*by_marks.values())) == len(by_marks)


def test_what_two_operators_say_is_found() -> None:
    """Laws that every book has, among what is generated of two operators on two matrices."""
    made = generated(SMALL, 2).equations
    for left, right in (("relu(relu(x))", "relu(x)"), ("matmul(matmul(x, y), x)", "matmul(x, matmul(y, x))")):
        wanted = Equation((term_of(left),), (term_of(right),), {"x": (3, 3), "y": (3, 3)})
        assert any(contains(own, wanted) for own in made), left


def test_joined_tensors_are_rectified_together() -> None:
    made = generated(SMALL, 3).equations
    left, right = term_of("relu(concat(x, y, axis=0))"), term_of("concat(relu(x), relu(y), axis=0)")
    wanted = Equation((left,), (right,), {"x": (3, 3), "y": (3, 3)})
    assert any(contains(own, wanted) for own in made)


def test_pruned_equations_hold_and_are_no_larger() -> None:
    pool = Pool(SMALL, 0)
    graphs = Graphs(pool, 0)
    graphs.enumerate(3)
    rng = np.random.default_rng(4)
    pruner = Pruner(rng)
    for alike in list(graphs.equals())[::9]:
        sides = [sorted(graphs.outputs(graphs.graph(*own)), key=pool.marks.__getitem__) for own in alike]
        for one, other in list(combinations(sides, 2))[:2]:
            left, right = (tuple(map(pool.term, side)) for side in (one, other))
            names = {own.name for own in inputs_of((*left, *right))}
            own = Equation(left, right, {name: SMALL.inputs[name] for name in names})
            if not holds(own, rng, 20):
                continue  # equal by chance, as far as fingerprints go
            for part in pruner.smallest(own):
                assert holds(part, rng, 4), texts_of(left)
                assert sum(part.operators) <= operators_of(left) + operators_of(right)


def test_equations_with_inputs_renamed_are_one() -> None:
    own = Equation((term_of("relu(matmul(x1, x2))"),), (term_of("relu(matmul(x1, x2))"),), SMALL.inputs)
    other = Equation((term_of("relu(matmul(x2, x1))"),), (term_of("relu(matmul(x2, x1))"),), SMALL.inputs)
    assert len(list(renamed([own, other]))) == 1
    assert canonical(own).sides == canonical(other).sides


def test_a_number_of_random_inputs_tells_factors_of_any_sign() -> None:
    """relu(s x) is s relu(x) for factors that are not negative: few random ones are not enough to see it."""
    own = Equation((term_of("smul(relu(x), s)"),), (term_of("relu(smul(x, s))"),), {"x": (2, 3), "s": ()})
    assert not holds(own, np.random.default_rng(5), 20)
