"""The cycles of the model against a small weight-stationary array in Verilog that computes real products."""

import numpy as np
import pytest
from ruby_map.mapper.model import count

from ..systolic_rtl import Rtl, im2col, simulators
from .test_systolic import weight_stationary

SIMULATORS = simulators()
pytestmark = pytest.mark.skipif(
    not SIMULATORS, reason="needs Icarus Verilog or Verilator (packages iverilog, verilator)"
)
ARRAYS = {(3, 2), (4, 4), (1, 5), (5, 1), (2, 7)}
PRODUCTS = [(5, 7, 8), (2, 1, 3), (1, 4, 1), (6, 9, 10), (1, 1, 1), (9, 2, 5), (3, 20, 4)]  # m, n, k


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rtl")


def words(rng, *shape):
    """Signed bytes."""
    return rng.integers(-128, 128, shape)


@pytest.mark.parametrize(("rows", "columns"), sorted(ARRAYS))
def test_products_and_cycles(rows, columns, folder):
    """Each product is NumPy's and takes the cycles that the model counts, also where folds use a part of the array."""
    rng, array = np.random.default_rng(rows), Rtl.of(rows, columns, folder / f"{rows}x{columns}", SIMULATORS[0])
    for m, n, k in PRODUCTS:
        weights, inputs = words(rng, m, k), words(rng, k, n)
        cycles, product = array.product(weights, inputs)
        np.testing.assert_array_equal(product, weights @ inputs)
        assert cycles == count(weight_stationary(m, k, n, rows=rows, columns=columns)).cycles[0]


def test_a_convolution(folder):
    """C = 5, M = 4, 3 x 3 filters over 7 x 7 inputs, stride 2, by im2col, on 4 x 3 elements."""
    rng, array = np.random.default_rng(0), Rtl.of(4, 3, folder / "conv", SIMULATORS[0])
    weights, inputs = words(rng, 4, 5, 3, 3), words(rng, 5, 7, 7)
    cycles, product = array.product(weights.reshape(4, -1), im2col(inputs, (3, 3), 2))
    windows = np.lib.stride_tricks.sliding_window_view(inputs, (3, 3), axis=(1, 2))[:, ::2, ::2]
    np.testing.assert_array_equal(product.reshape(4, 3, 3), np.einsum("mcrs,cpqrs->mpq", weights, windows))
    assert cycles == count(weight_stationary(4, 45, 9, rows=4, columns=3)).cycles[0] == 12 * 2 * (2 * 4 + 3 + 9 - 2)


@pytest.mark.skipif("verilator" not in SIMULATORS, reason="needs Verilator (package verilator)")
@pytest.mark.deep
def test_the_trial_of_the_page(folder):
    """14 x 12 elements, C 64, M 60, 7 x 7 outputs, 3 x 3: 18,270 cycles, by Verilator."""
    rng, array = np.random.default_rng(0), Rtl.of(14, 12, folder / "trial", "verilator")
    weights, inputs = words(rng, 60, 576), words(rng, 576, 49)
    cycles, product = array.product(weights, inputs)
    np.testing.assert_array_equal(product, weights @ inputs)
    assert cycles == count(weight_stationary()).cycles[0] == 18_270
