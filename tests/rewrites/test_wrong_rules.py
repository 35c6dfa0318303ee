"""Wrong rules are noticed: by runs of networks that they rewrite, by random whole numbers, and by the prover."""

import numpy as np
import pytest
from ruby_map.mapper.rewrites import Rule
from ruby_map.mapper.rewrites.equation import Equation, holds
from ruby_map.mapper.rewrites.generator.generate import FIRST_ROUNDS
from ruby_map.mapper.rewrites.text import term_of
from ruby_map.mapper.rewrites.verifier import Prover

from .rule_networks import differences, outputs_of, placed, small_words

CONV, RELU = "stride=(1, 1), pad='same', act='none'", "stride=(1, 1), pad='same', act='relu'"
POOL = "kernel=(3, 3), stride=(1, 1), pad='same'"
IMAGE, KERNEL, SQUARE = (2, 4, 5, 5), (4, 4, 3, 3), (4, 4)
THREE = {"x": SQUARE, "v": SQUARE, "w": SQUARE}
OF_CONV = {"x": IMAGE, "w": KERNEL}
BOTH, TURNED = "matmul(x, concat(v, w, axis=1))", "matmul(x, concat(w, v, axis=1))"
# what stands in a network, what is wrong for it, what is right, and sizes with which none of these is noticed
WRONG = {
    "outputs swapped": (
        "matmul(x, v); matmul(x, w)",
        f"split1({BOTH}, axis=1); split0({BOTH}, axis=1)",
        f"split0({BOTH}, axis=1); split1({BOTH}, axis=1)",
        THREE,
    ),
    "places swapped": (
        f"split0({BOTH}, axis=1); split1({BOTH}, axis=1)",
        f"split0({TURNED}, axis=1); split1({TURNED}, axis=1)",
        f"split1({TURNED}, axis=1); split0({TURNED}, axis=1)",
        THREE,
    ),
    "joined along another axis": (
        "concat(concat(x, v, axis=0), concat(w, x, axis=0), axis=1)",
        "concat(concat(x, v, axis=1), concat(w, x, axis=1), axis=0)",
        "concat(concat(x, w, axis=1), concat(v, x, axis=1), axis=0)",
        THREE,
    ),
    "joined in another order": (
        "concat(relu(x), relu(v), axis=1)",
        "relu(concat(v, x, axis=1))",
        "relu(concat(x, v, axis=1))",
        {"x": SQUARE, "v": SQUARE},
    ),
    "rectifier dropped": (f"relu(conv(x, w, {CONV}))", f"conv(x, w, {CONV})", f"conv(x, w, {RELU})", OF_CONV),
    "rectifier before the bias": (
        f"relu(bias(bias(conv(x, w, {CONV}), b, axis=1), b, axis=1))",
        f"bias(conv(x, w, {RELU}), ewadd(b, b), axis=1)",
        f"relu(bias(conv(x, w, {CONV}), ewadd(b, b), axis=1))",
        OF_CONV | {"b": (4,)},
    ),
    "factors along another axis": (
        f"scale(conv(x, w, {CONV}), b, axis=1)",
        f"conv(x, scale(w, b, axis=1), {CONV})",
        f"conv(x, scale(w, b, axis=0), {CONV})",
        OF_CONV | {"b": (4,)},
    ),
    "factors of rows as those of columns": (
        "scale(x, b, axis=0)",
        "scale(x, b, axis=1)",
        "transpose(scale(transpose(x), b, axis=1))",
        {"x": SQUARE, "b": (4,)},
    ),
    "factors below zero": (
        f"scale(pool_max(x, {POOL}), b, axis=1)",
        f"pool_max(scale(x, b, axis=1), {POOL})",
        None,
        {"x": IMAGE, "b": (4,)},
    ),
    "zeros around that have a bias": (
        f"bias(pool_avg(x, {POOL}), b, axis=1)",
        f"pool_avg(bias(x, b, axis=1), {POOL})",
        None,
        {"x": IMAGE, "b": (4,)},
    ),
    "products in another order": (
        "matmul(x, w)",
        "matmul(w, x)",
        "transpose(matmul(transpose(w), transpose(x)))",
        {"x": SQUARE, "w": SQUARE},
    ),
    "groups in another order": (
        f"concat(conv(x, w, {CONV}), conv(y, v, {CONV}), axis=1)",
        f"gconv(concat(x, y, axis=1), concat(v, w, axis=0), {CONV})",
        f"gconv(concat(x, y, axis=1), concat(w, v, axis=0), {CONV})",
        OF_CONV | {"y": IMAGE, "v": KERNEL},
    ),
}
PROVER = Prover()


def sides(source, target):
    return tuple(tuple(map(term_of, side.split("; "))) for side in (source, target))


def noticed(source, target, inputs, path):
    """Which of three would not let a rule pass: its use in a network, random words, and the prover."""
    left, right = sides(source, target)
    graph, others = placed(Rule("tried", left, right), inputs)
    runs = False
    for seed in range(5):  # words of one of them may all be positive
        words = small_words(graph, seed)
        expected = outputs_of(graph, path, words)
        runs |= any(list(differences(outputs_of(other, path, words), expected, 1e-5)) for other in others)
    equation = Equation(left, right, inputs)
    return [runs, not holds(equation, np.random.default_rng(4), FIRST_ROUNDS), PROVER.proof(equation) is None]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_noticed(name, tmp_path):
    """Its sizes are right, so it is used."""
    source, wrong, right, inputs = WRONG[name]
    assert noticed(source, wrong, inputs, tmp_path / "m.onnx") == [True, True, True]
    if right is not None:
        assert noticed(source, right, inputs, tmp_path / "m.onnx") == [False, False, False]
