"""The cycles of systolic axes are those of an array in Verilog, whose products are NumPy's."""

import importlib
import shutil
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(not shutil.which("iverilog"), reason="needs Icarus Verilog: iverilog")


@pytest.fixture
def study(monkeypatch):
    """The study that generates the array."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "experiments")
    return importlib.import_module("systolic")


@pytest.mark.parametrize("seed", range(6))
def test_the_model_has_the_cycles_of_the_registers(study, seed):
    """Any array, any product: remainders along rows and columns."""
    random = np.random.default_rng(seed)
    rows, columns, k, m, pixels = (int(n) for n in random.integers(1, [9, 9, 30, 30, 40]))
    inputs, weights = random.integers(-8, 8, (pixels, k)), random.integers(-8, 8, (k, m))
    products, cycles = study.run_array(rows, columns, inputs, weights)
    assert np.array_equal(products, inputs @ weights)
    assert study.modelled(rows, columns, k, m, pixels) == cycles
    folds = -(-k // rows) * -(-m // columns)
    assert cycles == folds * (2 * rows + columns + pixels - 2)


def test_an_array_that_loads_too_briefly_is_noticed(study):
    """One row of weights less: a cycle less for each fold, and wrong products."""
    random = np.random.default_rng(0)
    inputs, weights = random.integers(1, 8, (5, 6)), random.integers(1, 8, (6, 4))
    text = study.verilog(3, 2, 5, 4).replace("step = ROWS - 1; step >= 0", "step = ROWS - 1; step >= 1")
    products, cycles = study.run_array(3, 2, inputs, weights, text)
    assert not np.array_equal(products, inputs @ weights)
    assert cycles == study.modelled(3, 2, 6, 4, 5) - 4
