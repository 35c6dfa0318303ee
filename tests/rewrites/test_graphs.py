"""Tensor graphs: the one form of parts and joins computes the same, types are known, constants are folded once."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from ruby_map.mapper.rewrites.graphs import (
    CONCAT,
    NETWORK_OPERATORS,
    OPAQUE,
    OUTPUT,
    PART,
    WEIGHT,
    Opaque,
    Port,
    Source,
    Tensor,
    TensorGraph,
    computed,
    folded,
    joined,
    made,
    normal,
    part,
)
from ruby_map.mapper.rewrites.terms import below, given, term

SIZES = {"x": (4, 6), "y": (4, 3), "z": (4, 1)}
SOURCE = Source({name: Tensor("float32", sizes) for name, sizes in SIZES.items()}, {})
X, Y, Z = given("x"), given("y"), given("z")
AXIS = 1


def values():
    generator = np.random.default_rng(7)
    return {name: generator.standard_normal(sizes) for name, sizes in SIZES.items()}


def value(own, source=SOURCE):
    return computed(TensorGraph({"out": own}, source), values())["out"]


def raw(axis, begin, end, own):
    """A part as it is written, in no form."""
    return term(PART, (axis, begin, end), (own,))


def both(one, other, axis=AXIS):
    return term(CONCAT, (axis,), (one, other))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (raw(1, 0, 6, X), X),
        (raw(1, 1, 3, raw(1, 2, 6, X)), raw(1, 3, 5, X)),
        (raw(1, 1, 3, both(X, Y)), raw(1, 1, 3, X)),
        (raw(1, 7, 9, both(X, Y)), raw(1, 1, 3, Y)),
        (raw(1, 6, 9, both(X, Y)), Y),
        (raw(1, 9, 10, both(both(X, Y), Z)), Z),
        (raw(1, 1, 2, raw(1, 5, 8, both(X, Y))), raw(1, 0, 1, Y)),
        (both(raw(1, 0, 2, X), raw(1, 2, 5, X)), raw(1, 0, 5, X)),
        (both(both(raw(1, 0, 2, X), raw(1, 2, 5, X)), raw(1, 5, 6, X)), X),
        (both(raw(1, 0, 2, X), both(raw(1, 2, 5, X), raw(1, 5, 6, X))), X),
        (both(both(Y, raw(1, 0, 2, X)), raw(1, 2, 6, X)), both(Y, X)),
        (both(raw(1, 0, 2, X), both(raw(1, 2, 6, X), Y)), both(X, Y)),
    ],
)
def test_what_places_say_has_one_form(written, expected):
    """It computes what was written."""
    assert normal(SOURCE, [written]) == (expected,)
    assert np.array_equal(value(written), value(expected))


@pytest.mark.parametrize(
    "written",
    [
        raw(1, 5, 8, both(X, Y)),  # of both
        raw(0, 1, 2, both(X, Y)),  # along another axis
        both(raw(1, 2, 4, X), raw(1, 0, 2, X)),  # in another order
        both(raw(1, 0, 2, X), raw(1, 3, 5, X)),  # a gap
        both(raw(0, 0, 2, X), raw(0, 2, 4, X)),  # along another axis
        both(raw(1, 0, 1, X), raw(1, 1, 2, Y)),  # of two tensors
    ],
)
def test_what_says_something_else_stays(written):
    assert normal(SOURCE, [written]) == (written,)


@st.composite
def arrangements(draw):
    """Terms of parts and joins along two axes, of which all are of four rows before parts along rows."""
    made_terms = [X, Y, Z]
    for _ in range(draw(st.integers(1, 8))):
        one = draw(st.sampled_from(made_terms))
        if draw(st.booleans()):
            fits = [own for own in made_terms if SOURCE.sizes(own)[0] == SOURCE.sizes(one)[0]]
            made_terms.append(both(one, draw(st.sampled_from(fits))))
        else:
            axis = draw(st.sampled_from((0, 1, 1, 1)))
            begin = draw(st.integers(0, SOURCE.sizes(one)[axis] - 1))
            made_terms.append(raw(axis, begin, draw(st.integers(begin + 1, SOURCE.sizes(one)[axis])), one))
    return made_terms[-1]


@for_all(arrangements())
def test_the_one_form_computes_what_was_written(written):
    """And it is a fixed point, of the same sizes, with no more operators."""
    (own,) = normal(SOURCE, [written])
    assert np.array_equal(value(own), value(written))
    assert SOURCE.sizes(own) == SOURCE.sizes(written)
    assert normal(SOURCE, [own]) == (own,)
    assert len(below([own])) <= len(below([written]))


@pytest.mark.parametrize("places", [(1, 0, 7), (1, -1, 2), (1, 3, 3), (0, 4, 5)])
def test_places_that_are_not_those_of_the_tensor_are_refused(places):
    with pytest.raises(ValueError, match="places"):
        part(SOURCE, X, *places)
    with pytest.raises(ValueError, match="places"):
        made(SOURCE, PART, places, (X,))


def test_joins_are_made_in_their_one_form():
    assert made(SOURCE, CONCAT, (1,), (raw(1, 0, 2, X), raw(1, 2, 6, X))) is X
    assert joined(SOURCE, 0, X, X) is both(X, X, 0)


def test_types_are_plain_and_say_what_is_not_known():
    """A join has a size along its axis; what cannot be computed, and a node, has none."""
    node = Opaque("Softmax", b"", (Port(SOURCE.inputs["x"]),), (Port(Tensor("float32", (4, 6))), Port(None)))
    source = Source(SOURCE.inputs, {"w": np.ones((6, 2), np.float32), "h": np.ones((6, 2))}, {"s": node})
    opaque = term(OPAQUE, ("s",), (X,))
    first, second = (term(OUTPUT, (number,), (opaque,)) for number in (0, 1))
    outputs = {
        "join": both(X, Y),
        "first": term("ewadd", (), (first, X)),
        "second": term("relu", (), (second,)),
        "wrong": term("ewadd", (), (X, Y)),
        "product": term("matmul", (), (X, term(WEIGHT, ("w",)))),
        "mixed": term("matmul", (), (X, term(WEIGHT, ("h",)))),
    }
    graph = TensorGraph(outputs, source)
    sizes = {name: graph.types[own] for name, own in outputs.items()}
    expected = {"join": (4, 9), "first": (4, 6), "second": None, "wrong": None, "product": (4, 2), "mixed": None}
    assert sizes == expected
    assert graph.types[opaque] is None
    assert source.tensor(outputs["product"]) == Tensor("float32", (4, 2))
    with pytest.raises(ValueError, match="not known"):
        source.sizes(second)
    with pytest.raises(ValueError, match="opaque s"):
        computed(graph.with_outputs({"first": first}), values())


def test_what_is_made_of_weights_alone_is_a_constant():
    weights = {"k": np.arange(4, dtype=np.float32).reshape(2, 2, 1, 1), "n": np.ones((2, 2, 1, 3), np.float32)}
    kernel, other = (term(WEIGHT, (name,)) for name in weights)
    source = Source({"x": Tensor("float32", (2, 2))}, weights)
    large = term("ewadd", (), (term("enlarge", ((3, 3),), (kernel,)), term("i_conv", (2, (3, 3)))))
    mixed = term("matmul", (), (X, term("i_matmul", (2,))))
    graph = TensorGraph({"large": large, "mixed": mixed, "other": other}, source)
    assert graph.constants == {*below([large, other]), term("i_matmul", (2,))}
    done = folded(source, {large: "float32", other: "float32", term("i_matmul", (2,)): "float16"})
    expected = np.zeros((2, 2, 3, 3), np.float32)
    expected[:, :, 1, 1] = weights["k"][:, :, 0, 0] + np.eye(2)
    assert np.array_equal(done[large], expected)
    assert done[large].dtype == np.float32
    assert done[other] is weights["n"]
    assert done[term("i_matmul", (2,))].dtype == np.float16


def test_constants_that_share_another_compute_it_once(monkeypatch):
    """One reads it twice."""
    calls = []
    product = NETWORK_OPERATORS["ewmul"]
    counting = replace(product, execute=lambda *given: calls.append(1) or product.execute(*given))
    monkeypatch.setitem(NETWORK_OPERATORS, "ewmul", counting)
    weights = {"w": np.full((2, 2), 3, np.float32)}
    square = term("ewmul", (), (term(WEIGHT, ("w",)),) * 2)
    wanted = {term("ewadd", (), (square, square)): "float32", term("relu", (), (square,)): "float64", square: "float32"}
    done = folded(Source({}, weights), wanted)
    assert len(calls) == 1
    assert [int(done[own][0, 0]) for own in wanted] == [18, 9, 9]
    assert [str(done[own].dtype) for own in wanted] == list(wanted.values())


def test_a_graph_of_other_outputs_has_the_same_source():
    graph = TensorGraph({"out": X}, SOURCE)
    assert graph.terms == (X,)
    other = graph.with_outputs({"out": both(X, Y)})
    assert other.terms == (X, Y, both(X, Y))
    assert (other.source, other.inputs, other.weights) == (SOURCE, SOURCE.inputs, {})
