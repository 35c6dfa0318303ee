"""Different rows: as np.unique gives them, and Ctrl-C stays Ctrl-C."""

import gc
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from ruby_map.mapper.mapping.batch import unique_rows

from ruby_map import mapper

LARGE = st.sampled_from([-(2**40), -1, 0, 2, 2**20, 2**40])  # several such columns are no one number


@given(
    st.one_of(
        arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-2, 2)),
        arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=LARGE),
        arrays(np.int8, array_shapes(min_dims=2, max_dims=2, max_side=8)),
        arrays(np.bool_, array_shapes(min_dims=3, max_dims=3)),
    )
)
def test_as_numpy_gives_them(rows):
    """The same rows in the same order and type, and the same places."""
    expected, places = np.unique(rows, axis=0, return_inverse=True)
    found, which = unique_rows(rows)
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist()
    assert which.tolist() == places.reshape(-1).tolist()


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (3, 2, 0), (0, 0)])
def test_without_rows_or_columns(shape):
    """No rows are none; rows without columns are all the same."""
    found, which = unique_rows(np.zeros(shape, np.int64))
    assert found.shape == (min(1, shape[0]), *shape[1:])
    assert which.tolist() == [0] * shape[0]


@pytest.mark.parametrize("high", [4, 2**40])
def test_ctrl_c(high):
    """Ctrl-C at any moment, as the interpreter may tell of it, is a KeyboardInterrupt."""
    rows = np.random.default_rng(0).integers(0, high, (50, 5))
    raised = []
    while len(raised) < 1000 and (error := interrupted(rows, len(raised))):
        raised.append(error)
    assert set(raised) == {KeyboardInterrupt}
    assert 20 < len(raised) < 1000


def interrupted(rows, step):
    """What comes out when Ctrl-C comes at this step; None when there are fewer."""
    left = iter(range(step))

    def trace(*_):
        if next(left, None) is None:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    gc.disable()  # nothing comes out of its callbacks
    try:
        sys.settrace(trace)
        unique_rows(rows)
    except BaseException as error:
        return type(error)
    finally:
        sys.settrace(before)
        gc.enable()
    return None


def test_nothing_else_compares_records():
    """No other code asks NumPy for different rows."""
    sources = Path(mapper.__file__).parent.rglob("*.py")
    assert [file.name for file in sources if re.search(r"np\.unique\(.*axis=", file.read_text())] == []
