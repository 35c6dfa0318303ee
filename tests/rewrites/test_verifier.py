"""The table of properties: checked by execution, without contradiction, none in vain; and what is proven from it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from ruby_map.mapper.rewrites.equation import Equation
from ruby_map.mapper.rewrites.operators import OPERATORS
from ruby_map.mapper.rewrites.terms import given
from ruby_map.mapper.rewrites.text import term_of
from ruby_map.mapper.rewrites.verifier import LEMMAS, PROPERTIES, Property, Prover, executed, lifted, typed

from ..conftest import DEEP

EVERY = (*PROPERTIES, *LEMMAS)
BY_NAME = {own.name: own for own in EVERY}


def _said(own: Property) -> Equation:
    return Equation((own.left,), (own.right,), {})


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
def test_properties_hold_on_types_of_all_kinds(own: Property) -> None:
    assert not list(islice(typed(own, 3000 if DEEP else 150, np.random.default_rng(7)), 1))


@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
def test_properties_hold_on_all_small_tensors(own: Property) -> None:
    assert not list(islice(executed(own, 1, np.random.default_rng(8)), 1))


@pytest.mark.deep
@pytest.mark.parametrize("own", EVERY, ids=lambda own: own.name)
def test_properties_hold_on_all_tensors_of_sizes_to_four(own: Property) -> None:
    assert not list(islice(executed(own, 4, np.random.default_rng(9)), 1))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("average as gconv", {"guard": "both"}),  # of one channel and two kernels there are two outputs
        ("conv adds data", {"guard": ""}),  # strides leave out where sizes differ
        ("first part", {"guard": ""}),
        ("two groups", {"guard": ""}),
        ("bias across an axis", {"distinct": ()}),
        ("relu of concat", {"right_text": "concat(relu(y), relu(x), axis=e)"}),
        ("pool_max of relu", {"right_text": "relu(pool_avg(x, kernel=kernel, stride=stride, pad=pad))"}),
        ("conv enlarged", {"left_text": "conv(x, y, stride=stride, pad='valid', act=act)"}),
    ],
)
def test_what_is_wrong_with_a_property_is_seen(name: str, change: dict[str, str]) -> None:
    wrong, rng = replace(BY_NAME[name], **change), np.random.default_rng(1)
    assert any(True for _ in executed(wrong, 2, rng)) or any(True for _ in typed(wrong, 4000, rng))


@pytest.mark.parametrize("op", [name for name, operator in OPERATORS.items() if operator.commutes])
def test_operands_may_change_places(op: str) -> None:
    rng = np.random.default_rng(2)
    one, other = rng.integers(-4, 5, (2, 3, 4)).astype(float)
    types = [(3, 4), (3, 4)]
    made = [OPERATORS[op].execute((), operands, types) for operands in ([one, other], [other, one])]
    assert np.array_equal(*made)


# terms that stand on neither side of a lemma, and from which it follows
HINTS = {
    "transpose of concat 1": (
        "transpose(transpose(x))",
        "transpose(transpose(y))",
        "transpose(transpose(concat(transpose(x), transpose(y), axis=0)))",
    ),
    "transpose of scale 1": ("transpose(transpose(x))", "transpose(transpose(scale(transpose(x), b, axis=0)))"),
    "transpose of bias 1": ("transpose(transpose(x))", "transpose(transpose(bias(transpose(x), b, axis=0)))"),
    "matmul of ewadd on the left": (
        "transpose(transpose(matmul(ewadd(x, z), y)))",
        "transpose(transpose(matmul(x, y)))",
        "transpose(transpose(matmul(z, y)))",
        "transpose(transpose(ewadd(matmul(x, y), matmul(z, y))))",
    ),
    "matmul of concat on the left": (
        "transpose(transpose(matmul(concat(x, z, axis=0), y)))",
        "transpose(transpose(matmul(x, y)))",
        "transpose(transpose(matmul(z, y)))",
        "transpose(transpose(concat(matmul(x, y), matmul(z, y), axis=0)))",
    ),
    "matmul of smul on the left": (
        "transpose(transpose(smul(matmul(x, y), s)))",
        "transpose(transpose(matmul(smul(x, s), y)))",
    ),
    "matmul of scale on the left": (
        "transpose(transpose(scale(matmul(x, y), b, axis=0)))",
        "transpose(transpose(matmul(scale(x, b, axis=0), y)))",
    ),
    "identity of matmul on the left": (
        "transpose(transpose(x))",
        "transpose(transpose(matmul(i_matmul(size=n), x)))",
        "matmul(transpose(x), i_matmul(size=n))",
    ),
}


@pytest.mark.parametrize("own", LEMMAS, ids=lambda own: own.name)
def test_lemmas_follow_from_properties(own: Property) -> None:
    hints = tuple(map(term_of, HINTS[own.name]))
    assert Prover(PROPERTIES).proof(Equation((own.left, *hints), (own.right, *hints), {})) is not None


@pytest.mark.parametrize("own", PROPERTIES if DEEP else PROPERTIES[::6], ids=lambda own: own.name)
def test_no_property_follows_from_the_others(own: Property) -> None:
    assert Prover([other for other in EVERY if other is not own]).proof(_said(own)) is None


def test_properties_contradict_each_other_nowhere() -> None:
    assert Prover().proof(Equation((given("x"),), (given("y"),), {})) is None


WRONG: Sequence[tuple[str, str]] = (
    ("ewadd(x, y)", "ewmul(x, y)"),
    ("matmul(x, y)", "matmul(y, x)"),
    ("relu(ewadd(x, y))", "ewadd(relu(x), relu(y))"),
    ("smul(relu(x), s)", "relu(smul(x, s))"),
    ("conv(x, ewadd(y, z), stride=(1, 1), pad='same', act='relu')",
     "ewadd(conv(x, y, stride=(1, 1), pad='same', act='relu'), conv(x, z, stride=(1, 1), pad='same', act='relu'))"),
    ("conv(x, enlarge(y, kernel=k), stride=s, pad='valid', act='none')",
     "conv(x, y, stride=s, pad='valid', act='none')"),
    ("conv(x, i_conv(size=n, kernel=k), stride=(2, 2), pad='same', act='none')", "x"),
    ("split0(concat(x, y, axis=0), axis=1)", "x"),
    ("concat(x, y, axis=e)", "concat(y, x, axis=e)"),
    ("concat(concat(x, y, axis=1), z, axis=1)", "concat(x, concat(y, z, axis=1), axis=1)"),
    ("gconv(concat(x, z, axis=1), concat(y, w, axis=0), stride=s, pad=p, act=a)",
     "concat(gconv(x, w, stride=s, pad=p, act=a), gconv(z, y, stride=s, pad=p, act=a), axis=1)"),
    ("pool_avg(relu(x), kernel=k, stride=s, pad=p)", "relu(pool_avg(x, kernel=k, stride=s, pad=p))"),
    ("bias(scale(x, a, axis=1), b, axis=1)", "scale(bias(x, b, axis=1), a, axis=1)"),
    ("bias(conv(x, y, stride=s, pad=p, act=a), b, axis=1)", "conv(bias(x, b, axis=1), y, stride=s, pad=p, act=a)"),
)  # fmt: skip


@pytest.mark.parametrize("sides", WRONG, ids=lambda sides: sides[0])
def test_wrong_equations_are_not_proven(sides: tuple[str, str]) -> None:
    left, right = map(term_of, sides)
    assert Prover().proof(Equation((left,), (right,), {})) is None


def test_parameters_become_unknown_as_far_as_that_is_proven() -> None:
    merged = "conv(x, ewadd(i_conv(size=4, kernel=(3, 3)), y), stride=(1, 1), pad='same', act='none')"
    apart = "ewadd(x, conv(x, y, stride=(1, 1), pad='same', act='none'))"
    wider = lifted(Equation((term_of(merged),), (term_of(apart),), {}), Prover())
    assert wider is not None
    says = "conv(x, ewadd(i_conv(size=size, kernel=kernel), y), stride=(1, 1), pad='same', act='none')"
    assert wider[0].left == (term_of(says),)
    assert {"conv adds kernels", "identity of conv"} <= set(wider[1])
