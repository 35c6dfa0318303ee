"""Terms: equal ones are one object, and text says all of them."""

import pickle
import re

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st
from ruby_map.mapper.rewrites.equation import Equation, canonical, holds, operators_of
from ruby_map.mapper.rewrites.match import contains, filled, matches
from ruby_map.mapper.rewrites.terms import Term, Unknown, below, given, inputs_of, rebuilt, term
from ruby_map.mapper.rewrites.text import term_of, text_of

LEAVES = st.sampled_from([given("x"), given("y"), given("z")])


def _grown(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    one = st.sampled_from(["relu", "transpose"]).flatmap(lambda op: inner.map(lambda own: term(op, (), (own,))))
    two = st.sampled_from([("ewadd", ()), ("matmul", ()), ("concat", (0,)), ("concat", (Unknown("axis"),))])
    both = st.tuples(two, inner, inner).map(lambda made: term(made[0][0], made[0][1], made[1:]))
    return one | both


TERMS = st.recursive(LEAVES, _grown, max_leaves=6)


@hypothesis_given(TERMS)
def test_text_and_back(own: Term) -> None:
    assert term_of(text_of(own)) is own


@hypothesis_given(TERMS)
def test_pickled_terms_are_the_same_objects(own: Term) -> None:
    assert pickle.loads(pickle.dumps(own)) is own


@hypothesis_given(TERMS, TERMS)
def test_operands_that_may_change_places_stand_in_one_order(one: Term, other: Term) -> None:
    assert term("ewadd", (), (one, other)) is term("ewadd", (), (other, one))
    assert (term("matmul", (), (one, other)) is term("matmul", (), (other, one))) == (one is other)


@hypothesis_given(TERMS)
def test_operands_stand_before_what_reads_them(own: Term) -> None:
    order = below([own])
    assert len(set(order)) == len(order)
    for at, one in enumerate(order):
        assert all(order.index(operand) < at for operand in one.operands)


@hypothesis_given(TERMS, st.permutations(["a", "b", "c"]))
def test_a_pattern_matches_what_it_is_filled_with(own: Term, names: list[str]) -> None:
    """Inputs renamed: the pattern is found again, and filling it gives the term."""
    become = {given(old): given(new) for old, new in zip("xyz", names, strict=True)}
    (other,) = rebuilt([own], become)
    found = next(matches([(own, other)]), None)
    assert found is not None
    assert filled([own], found) == (other,)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("matmul(x)", "matmul has 2 operands and no parameters, got 'matmul(x)'"),
        ("concat(x, y)", "concat has 2 operands and axis, got 'concat(x, y)'"),
        ("nothing(x)", "unknown operator 'nothing'"),
        ("x + y", "'x + y' is neither an input nor an operator on operands"),
        ("relu(x", "'relu(x' is no term"),
        ("concat(x, y, axis=1 + 1)", "'1 + 1' is no value of a parameter"),
        ("(" * 10_000 + "x" + ")" * 10_000, "is no term"),
    ],
)
def test_texts_that_are_no_terms(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        term_of(text)


def _equation(left: str, right: str, **inputs: tuple[int, ...]) -> Equation:
    return Equation(*(tuple(map(term_of, side.split("; "))) for side in (left, right)), inputs)


def test_equations_that_differ_in_names_and_orders_are_one() -> None:
    one = _equation("matmul(x, w); relu(x)", "relu(x); matmul(x, w)", x=(2, 4), w=(4, 4))
    other = _equation("matmul(a, b); relu(a)", "relu(a); matmul(a, b)", a=(2, 4), b=(4, 4))
    assert canonical(one).sides == canonical(other.swapped()).sides
    sums = ("ewadd(ewadd(x, y), z)", "ewadd(ewadd(z, x), y)")
    three = dict.fromkeys("xyz", (2, 4))
    assert canonical(_equation(*sums, **three)).sides == canonical(_equation(*sums[::-1], **three)).sides


def test_a_wider_equation_contains_narrower_ones() -> None:
    wider = _equation("relu(concat(x, y, axis=axis))", "concat(relu(x), relu(y), axis=axis)", x=(2, 4), y=(2, 4))
    own = _equation("relu(concat(relu(a), a, axis=1))", "concat(relu(relu(a)), relu(a), axis=1)", a=(2, 4))
    assert contains(wider, own)
    assert contains(wider, own.swapped())
    assert not contains(own, wider)
    mixed = _equation("relu(concat(a, b, axis=1))", "concat(relu(a), relu(b), axis=0)", a=(2, 4), b=(2, 4))
    assert not contains(wider, mixed)


def test_both_parts_of_a_split_are_one_operator() -> None:
    parts = tuple(term_of(f"split{at}(relu(concat(x, y, axis=1)), axis=1)") for at in (0, 1))
    assert operators_of(parts) == 3
    assert operators_of((given("x"),)) == 0
    assert [own.name for own in inputs_of(parts)] == ["x", "y"]


def test_equations_are_tried_on_whole_numbers() -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    inputs = {"x": (2, 4), "w": (4, 4), "v": (4, 4)}
    merged = "split0(matmul(x, concat(w, v, axis=1)), axis=1); split1(matmul(x, concat(w, v, axis=1)), axis=1)"
    assert holds(_equation("matmul(x, w); matmul(x, v)", merged, **inputs), rng)
    assert not holds(_equation("matmul(x, v); matmul(x, w)", merged, **inputs), rng)
    assert not holds(_equation("relu(matmul(x, w)); matmul(x, v)", merged, **inputs), rng)
    assert not holds(_equation("matmul(w, x)", "matmul(w, x)", **inputs), rng)  # cannot be computed
